/* cc -std=c99 -O2 to_pam.c $(pkg-config --cflags --libs sdd) -o to_pam
 *
 * to_pam: decodes a file, and writes its pixels to standard output as a PAM file.
 *
 *     to_pam [-w WIDTH] [CODER.so...] FILE
 *
 * It loads the coders; without any, libsdd decodes what it and the installed coders can. -w limits the width of the
 * picture. Exit status 0: success.
 */
#define _POSIX_C_SOURCE 200809L /* realpath */
#define _XOPEN_SOURCE 700
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_pam(sdd_image *image)
{
    int width = sdd_image_width(image), height = sdd_image_height(image);
    printf("P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", width, height);
    for (int y = 0; y < height; y++)
        fwrite(sdd_image_pixels(image) + (size_t)y * sdd_image_stride(image), 4, (size_t)width, stdout);
    return fflush(stdout) == 0;
}

/* Returns the file: URL of a path. Every byte is encoded as %XX, which is allowed. */
static char *url_of(const char *name)
{
    char *path = realpath(name, NULL), *url = path ? malloc(8 + 3 * strlen(path)) : NULL, *end = url;
    if (url != NULL) {
        end += sprintf(end, "file://");
        for (const char *byte = path; *byte != '\0'; byte++)
            end += sprintf(end, *byte == '/' ? "/" : "%%%02X", (unsigned char)*byte);
    }
    free(path);
    return url;
}

int main(int argc, char **argv)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_downloader *downloader = NULL;
    sdd_image *image = NULL;
    sdd_status status;
    char *url;
    int first = 1, is_good = 0;
    if (argc > 2 && strcmp(argv[1], "-w") == 0) {
        options.target_width = (int32_t)strtol(argv[2], NULL, 10);
        first = 3;
    }
    if (first >= argc) {
        fprintf(stderr, "usage: to_pam [-w WIDTH] [CODER.so...] FILE\n");
        return 2;
    }
    for (int i = first; i < argc - 1; i++) {
        if (sdd_process_load_coder_wait(argv[i]) != SDD_OK) {
            fprintf(stderr, "%s\n", sdd_last_error_message());
            return 1;
        }
    }
    network.allow_file_urls = 1;
    status = sdd_downloader_create(&config, &downloader);
    if (status == SDD_OK) status = sdd_downloader_set_decode_options(downloader, &options);
    url = url_of(argv[argc - 1]);
    if (status == SDD_OK && url != NULL) status = sdd_get(downloader, url, 0, -1, &image, NULL, NULL);
    if (status != SDD_OK || url == NULL)
        fprintf(stderr, "%s: %s\n", argv[argc - 1], url ? sdd_last_error_message() : "no such file");
    if (image != NULL) is_good = write_pam(image);
    free(url);
    sdd_image_release(image);
    if (downloader != NULL) sdd_downloader_destroy(downloader);
    return !is_good;
}
