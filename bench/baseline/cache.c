/* The disk cache of W9 and W9d: a folder with a file for each URL, named by a hash of the URL. Nothing is checked. */
#define _GNU_SOURCE
#include "baseline.h"
#include "../checksum.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_path(char *path, size_t size, const char *url)
{
    const uint64_t hash = checksum((const uint8_t *)url, strlen(url), CHECKSUM_START);
    snprintf(path, size, "%s/%016llx", arguments.cache, (unsigned long long)hash);
}

void store_in_cache(const char *url, const struct body *body)
{
    char path[4096];
    make_path(path, sizeof path, url);
    mkdir(arguments.cache, 0755);
    const int file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, body->bytes, body->size) != (ssize_t)body->size) give_up("--cache is not writable");
    close(file);
}

static int read_file(const char *path, struct body *body)
{
    struct stat facts;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    if (fstat(file, &facts) == 0 && (body->bytes = malloc((size_t)facts.st_size + 1))) {
        const ssize_t count = read(file, body->bytes, (size_t)facts.st_size);
        body->size = count < 0 ? 0 : (size_t)count;
    }
    close(file);
    return body->bytes && body->size == (size_t)facts.st_size ? 0 : -1;
}

void read_all(char **urls, size_t count)
{
    char path[4096];
    for (size_t i = 0; i < count; i++) {
        struct body body = { .index = i };
        make_path(path, sizeof path, urls[i]);
        if (read_file(path, &body)) {
            count_failed(urls[i], "the cache does not have it");
            free(body.bytes);
        } else if (arguments.decodes) {
            decode_later(body, urls[i]);
        } else {
            count_ok(&body, NULL);
            free(body.bytes);
        }
    }
    finish_decoding();
}
