// Files that no other user can have made or changed.
#ifndef SDD_TRUSTED_H
#define SDD_TRUSTED_H

#include <stdbool.h>
#include <stdint.h>

/// The reasons why a folder or file is not trusted.
enum sddsys_distrust {
    SDDSYS_TRUSTED,
    SDDSYS_MISSING,     // it does not exist
    SDDSYS_UNREADABLE,  // another error; see `system_error`
    SDDSYS_OTHER_OWNER, // it belongs neither to root nor to the process's effective user
    SDDSYS_WRITABLE,    // group or others may write to it
    SDDSYS_NOT_A_FOLDER,
    SDDSYS_NOT_A_FILE, // a symbolic link, a device, ...
    SDDSYS_TOO_LONG    // a path of more than SDDSYS_PATH_SIZE bytes, or too many symbolic links
};

enum { SDDSYS_PATH_SIZE = 4096 };

struct sddsys_trust {
    enum sddsys_distrust distrust;
    int32_t system_error;
    /// The path without symbolic links; if it is not trusted, up to the part that is the reason.
    char path[SDDSYS_PATH_SIZE];
};

/// Opens a folder if it and each directory above it belong to root or the effective user, and group and others may not
/// write to them. Directories above the folder may be writable if they have the sticky bit, because the entries of
/// other users cannot be replaced there. Symbolic links on the way are followed if the same holds for them.
/// - Parameter path: an absolute path.
/// - Returns: a descriptor (O_PATH), or -1.
int sddsys_open_trusted_folder(const char *path, struct sddsys_trust *trust);

/// Checks a file in a folder from `sddsys_open_trusted_folder`: it must be a regular file, no symbolic link, belong to
/// root or the effective user, and group and others may not write to it.
enum sddsys_distrust sddsys_check_trusted_file(int folder, const char *name, int32_t *system_error);

/// Whether a file has all bytes that its ELF headers ask to be mapped. For a shared object that was cut, dlopen(3) ends
/// the process. Says nothing about a file that is no shared object.
int sddsys_is_whole_object(int folder, const char *name);

/// Returns the value of an environment variable; NULL if there is none, and in a program that gains privileges.
const char *sddsys_secure_variable(const char *name);

/// Whether this process has privileges that the user who started it does not have.
bool sddsys_gains_privileges(void);

/// Returns the absolute path from which the system has loaded the object that contains this function; NULL if it is
/// unknown. The same in the whole life of the process.
const char *sddsys_own_path(void);

#endif
