/* cc -std=c99 -O2 thumbnail.c $(pkg-config --cflags --libs sdd) -o thumbnail
 *
 * thumbnail: makes a thumbnail of a picture from a file or a URL.
 *
 *     thumbnail [-s PIXELS] [-k KIB] [-c RADIUS] PICTURE TARGET
 *
 * It has at most PIXELS (160) a side. It is scaled while it is decoded, so that a large picture is never completely in
 * memory. -k: at most that many kibibytes. -c: round corners. TARGET is a JPEG, or a PNG if any pixel is transparent,
 * as with round corners. Exit status 0: success.
 */
#define _XOPEN_SOURCE 700 /* getopt, realpath */
#include <errno.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int say(const char *what, const char *why)
{
    fprintf(stderr, "thumbnail: %s: %s\n", what, why);
    return 1;
}

/* Returns the URL of a file, with special characters as %XX. Free it; NULL if there is no such file. */
static char *url_of_file(const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~";
    char *path = realpath(name, NULL), *url = path ? malloc(8 + 3 * strlen(path)) : NULL, *end = url;
    if (url) {
        end += sprintf(end, "file://");
        for (const char *c = path; *c; c++) end += sprintf(end, strchr(plain, *c) ? "%c" : "%%%02X", (unsigned char)*c);
    }
    free(path);
    return url;
}

/* Returns the picture, scaled while it was decoded, with one reference. */
static sdd_status load(const char *url, int32_t side, sdd_image **image)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_downloader *downloader;
    sdd_status status;

    network.allow_file_urls = 1;
    status = sdd_downloader_create(&config, &downloader);
    if (status != SDD_OK) return status;
    decode.target_width = decode.target_height = side;
    status = sdd_downloader_set_decode_options(downloader, &decode);
    if (status == SDD_OK) status = sdd_get(downloader, url, 0, 30000, image, NULL, NULL);
    sdd_downloader_destroy(downloader);
    return status;
}

static int write_thumbnail(sdd_image *image, int64_t most_bytes, const char *target)
{
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT; /* chooses the format */
    sdd_bytes *bytes = NULL;
    options.quality = 85;
    options.max_bytes = most_bytes;
    if (sdd_image_encode(image, &options, &bytes) != SDD_OK) return say(target, sdd_last_error_message());
    FILE *file = fopen(target, "wb");
    size_t size = sdd_bytes_size(bytes);
    int good = file != NULL && fwrite(sdd_bytes_data(bytes), 1, size, file) == size;
    good = file != NULL && fclose(file) == 0 && good;
    sdd_bytes_release(bytes);
    return good ? 0 : say(target, strerror(errno));
}

int main(int argc, char **argv)
{
    sdd_transform corners = SDD_TRANSFORM_INIT;
    sdd_image *image = NULL, *made = NULL;
    long side = 160, kibibytes = 0;
    int option, bad = 0;

    corners.kind = SDD_TRANSFORM_ROUND_CORNERS;
    while ((option = getopt(argc, argv, "s:k:c:")) != -1) {
        if (option == 's')
            side = atol(optarg);
        else if (option == 'k')
            kibibytes = atol(optarg);
        else if (option == 'c')
            corners.radius = (int32_t)atol(optarg);
        else
            bad = 1;
    }
    if (bad || argc - optind != 2 || side < 1 || side > 100000 || kibibytes < 0 || kibibytes > 1000000) {
        fprintf(stderr, "usage: thumbnail [-s PIXELS] [-k KIB] [-c RADIUS] PICTURE TARGET\n");
        return 2;
    }
    const char *picture = argv[optind];
    char *url = strstr(picture, "://") ? strdup(picture) : url_of_file(picture);
    if (!url) return say(picture, strerror(errno));
    sdd_status status = load(url, (int32_t)side, &image);
    free(url);
    /* An empty list of transforms gives the same image with one more reference: release it in either case. */
    if (status == SDD_OK) status = sdd_image_transform(image, &corners, corners.radius != 0, &made);
    sdd_image_release(image);
    if (status != SDD_OK) return say(picture, sdd_last_error_message());
    int failed = write_thumbnail(made, kibibytes * 1024, argv[optind + 1]);
    if (!failed) printf("%s: %d x %d\n", argv[optind + 1], (int)sdd_image_width(made), (int)sdd_image_height(made));
    sdd_image_release(made);
    return failed;
}
