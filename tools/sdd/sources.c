/* Arguments that are files or URLs, and checksums. */
#include "job.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

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

bool add_file_url(struct text *url, const char *path, int *fd)
{
    struct stat facts;
    char *whole = realpath(path, NULL);
    *fd = -1;
    if (whole == NULL) return false;
    if (stat(whole, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        free(whole);
        errno = EISDIR;
        return false;
    }
    if (strchr(whole, '?') != NULL) {
        *fd = open(whole, O_RDONLY | O_CLOEXEC);
        free(whole);
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
