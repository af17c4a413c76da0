#ifndef SDDHELPER_OBJECTS_H
#define SDDHELPER_OBJECTS_H

/// Returns "LD_PRELOAD=..." with the paths from which the dependencies of this library, and of a coder's object, have
/// been loaded, as far as that is not where the C library is; NULL if there are none of that kind. A helper has an empty
/// environment, and would not find what LD_LIBRARY_PATH, or the path in the application's own file, has led to.
/// - Parameter object: its path; NULL for none.
/// - Returns: to be freed.
char *sddhelper_preload(const char *object);

#endif
