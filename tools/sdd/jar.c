#include "jar.h"
#include "files.h"
#include "options.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stat before; /* all 0 for a jar that does not exist */
static bool is_lost;

/* Tells whether a file can be made in the directory where the jar is, or its target if it is a link: the library writes
   a jar to a file beside it, which then replaces it. */
static bool can_be_written(const char *path)
{
    char *target = realpath(path, NULL), *end = NULL;
    struct text folder = { 0 };
    if (target == NULL && errno != ENOENT) return false;
    text_puts(&folder, target == NULL ? path : target);
    free(target);
    end = folder.data + directory_size(folder.data);
    *end = 0;
    bool can = access(end == folder.data ? "." : folder.data, W_OK | X_OK) == 0;
    int error = errno;
    text_free(&folder);
    errno = error;
    return can;
}

void jar_begin(const char *path)
{
    if (can_be_written(path)) {
        memset(&before, 0, sizeof before);
        stat(path, &before);
        return;
    }
    complain("--cookie-jar: %s cannot be written: %s", path, strerror(errno));
    exit(EXIT_FILES);
}

void jar_end(const char *path)
{
    struct stat after = { 0 };
    is_lost = stat(path, &after) != 0 || after.st_ino == before.st_ino;
    if (is_lost) complain("--cookie-jar: %s could not be written, and its new cookies are lost", path);
}

bool jar_is_lost(void) { return is_lost; }
