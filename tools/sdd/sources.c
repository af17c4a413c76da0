/* Arguments that are files or URLs, and checksums. */
#include "job.h"
#include "output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_url(const char *argument)
{
    const char *scheme = strstr(argument, "://");
    if (strncasecmp(argument, "data:", 5) == 0) return true;
    if (scheme == NULL || scheme == argument) return false;
    for (const char *at = argument; at < scheme; at++)
        if (!isalnum((unsigned char)*at) && strchr("+-.", *at) == NULL) return false;
    return true;
}

/* Tells whether a URL has a scheme: in "localhost:8080/a.jpg" a number follows the colon. */
static bool has_scheme(const char *url)
{
    size_t size = strcspn(url, ":/?#");
    if (url[size] != ':' || !isalpha((unsigned char)url[0])) return false;
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)url[i]) && strchr("+-.", url[i]) == NULL) return false;
    return !isdigit((unsigned char)url[size + 1]);
}

void add_whole_url(struct text *url, const char *given)
{
    bool is_host = isalnum((unsigned char)given[0]) || given[0] == '[';
    if (strncmp(given, "//", 2) == 0)
        text_puts(url, "http:");
    else if (is_host && !has_scheme(given))
        text_puts(url, "http://");
    text_puts(url, given);
}

bool has_file_url(const char *urls)
{
    for (const char *at = urls; at != NULL; at = strchr(at, '\t')) {
        if (*at == '\t') at++;
        if (strncasecmp(at, "file:", 5) == 0) return true;
    }
    return false;
}

sdd_failure file_refused(void)
{
    static const char message[] = "With --public-only neither file: URLs are read nor files that a list names.";
    sdd_failure failure = own_failure(SDD_ERROR_FILE_NOT_READABLE, 0, message);
    failure.error_class = SDD_CLASS_LIMIT;
    return failure;
}

/* Copies standard input, a pipe, a device or a file into a file in memory. Returns it, or -1 with errno: EFBIG if there is
   more, unless the beginning is enough. */
static int copy_of(int from, int64_t most, bool beginning_is_enough)
{
    char piece[65536];
    int64_t size = 0;
    int fd = memfd_create("sdd", MFD_CLOEXEC), error = fd < 0 ? errno : 0;
    while (error == 0) {
        ssize_t count = wait_readable(from) ? read(from, piece, sizeof piece) : -1;
        if (count < 0 && (errno == EINTR || errno == EAGAIN) && stop_signal() == 0) continue;
        if (count < 0) error = stop_signal() != 0 ? EINTR : errno;
        if (count <= 0) break;
        if (beginning_is_enough && count > most - size) count = (ssize_t)(most - size);
        if (count == 0) break;
        size += count;
        error = size > most ? EFBIG : write_all(fd, piece, (size_t)count);
    }
    if (error == 0) return fd;
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
}

int open_source(const char *name, int64_t most, int64_t *size)
{
    struct stat facts;
    if (strcmp(name, "-") == 0) return copy_of(0, most, false);
    /* So opening a named pipe does not wait for its writer: reading does, and Ctrl-C ends that. */
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_file = fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
    if (fd < 0 || (is_file && size == NULL)) return fd;
    int copy = -1, error = EISDIR;
    if (!S_ISDIR(facts.st_mode)) {
        copy = copy_of(fd, most, is_file);
        error = errno;
    }
    if (is_file) *size = facts.st_size;
    close(fd);
    errno = error;
    return copy;
}

bool add_file_url(struct text *url, const char *path, int64_t most, int *fd)
{
    struct stat facts;
    *fd = -1;
    if (stat(path, &facts) != 0) return false;
    char *whole = S_ISREG(facts.st_mode) ? realpath(path, NULL) : NULL;
    if (whole == NULL || strchr(whole, '?') != NULL) {
        free(whole);
        *fd = open_source(path, most, NULL);
        if (*fd >= 0) text_printf(url, "file:///proc/self/fd/%d", *fd);
        return *fd >= 0;
    }
    text_puts(url, "file://");
    for (const char *at = whole; *at != 0; at++) {
        unsigned char byte = (unsigned char)*at;
        if (isalnum(byte) || strchr("/-._~", byte) != NULL)
            text_putc(url, (char)byte);
        else
            text_printf(url, "%%%02X", byte);
    }
    free(whole);
    return true;
}

bool read_checksum(const char *given, struct text *integrity)
{
    static const char *const names[] = { "sha256:", "sha256=", "sha-256=", "sha-256:", "sha256-" };
    const char *value = given;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(given, names[i], strlen(names[i])) == 0) value = given + strlen(names[i]);
    size_t size = strlen(value), digits = strspn(value, "0123456789abcdefABCDEF");
    bool base64 = strncasecmp(given, "sha256-", 7) == 0 && size == 44 && value[43] == '=';
    if (!base64 && (size != 64 || digits != 64)) return false;
    text_puts(integrity, "sha256-");
    for (const char *at = value; *at != 0; at++) text_putc(integrity, base64 ? *at : (char)tolower((unsigned char)*at));
    return true;
}
