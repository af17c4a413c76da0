/*
 * sdd-decoder: a process that decodes pictures apart from the application that asked for them.
 *
 *     sdd-decoder LIBRARY MEMORY PIXELS SECONDS [CODER]
 *
 * libsdd starts it for a downloader with SDD_DECODE_ISOLATED, with its own file as LIBRARY, so that both processes run
 * the same version. All it does is in sdd_decoder_main(). Where that cannot be loaded, it tells the application why.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { NOT_STARTED_BY_LIBSDD = 64 };

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *symbol = library != NULL ? dlsym(library, "sdd_decoder_main") : NULL;
    int (*decoder_main)(int, char **);
    int status = NOT_STARTED_BY_LIBSDD;

    if (symbol == NULL && argc > 1) {
        const char *reason = dlerror();
        if (reason != NULL) (void)send(0, reason, strnlen(reason, 300), MSG_NOSIGNAL);
    }
    if (symbol != NULL) {
        *(void **)&decoder_main = symbol;
        status = decoder_main(argc, argv);
    }
    if (status == NOT_STARTED_BY_LIBSDD)
        (void)fprintf(stderr,
                      "sdd-decoder: libsdd starts this program to decode pictures apart from the application.\n");
    return status;
}
