/* cc -std=c99 -O2 progressive.c $(pkg-config --cflags --libs sdd) -o progressive
 *
 * progressive: shows a picture while it arrives. Each preview is written to a file.
 *
 *     progressive [-o DIR] URL
 *
 * Writes preview-1.png, preview-2.png, ... and final.png to DIR (the current one), and prints when each arrived and how
 * many of its rows are valid. A progressive JPEG and an interlaced PNG have all rows from the first preview on, and
 * become sharper. Exit status 0: success.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, getopt */
#include <errno.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int say(const char *what, const char *why)
{
    fprintf(stderr, "progressive: %s: %s\n", what, why);
    return 1;
}

static long milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int write_file(const char *path, sdd_bytes *bytes)
{
    FILE *file = fopen(path, "wb");
    size_t size = sdd_bytes_size(bytes);
    int good = file != NULL && fwrite(sdd_bytes_data(bytes), 1, size, file) == size;
    return file != NULL && fclose(file) == 0 && good;
}

static int write_picture(sdd_image *image, const char *directory, const char *name, long milliseconds)
{
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    sdd_bytes *bytes = NULL;
    char path[4096];

    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return say(directory, strerror(ENAMETOOLONG));
    options.format = SDD_IMAGE_FORMAT_PNG;
    if (sdd_image_encode(image, &options, &bytes) != SDD_OK) return say(path, sdd_last_error_message());
    int good = write_file(path, bytes);
    sdd_bytes_release(bytes);
    if (!good) return say(path, strerror(errno));
    sdd_image_get_info(image, &info);
    printf("%6ld ms  %s: %d of %d rows\n", milliseconds, name, (int)info.good_rows, (int)sdd_image_height(image));
    return 0;
}

/* Events wait until they are taken: previews that arrive while one is being written replace each other. Their results
 * are lent until the next call. */
static int take_events(sdd_downloader *downloader, const char *url, const char *directory)
{
    const long start = milliseconds_now();
    int previews = 0;

    for (;;) {
        sdd_event event = SDD_EVENT_INIT;
        size_t count = 0;
        sdd_status status = sdd_downloader_wait(downloader, &event, 1, -1, &count);
        if (status != SDD_OK) return say(url, sdd_last_error_message());
        if (count == 0) continue;
        const int is_last = event.kind == SDD_EVENT_COMPLETED;
        int failed = 0;
        if (is_last && event.result->failure.status != SDD_OK) {
            failed = say(url, event.result->failure.message);
        } else if (is_last || event.kind == SDD_EVENT_PREVIEW) {
            char name[32] = "final.png";
            if (!is_last) snprintf(name, sizeof name, "preview-%d.png", ++previews);
            failed = write_picture(event.result->image, directory, name, milliseconds_now() - start);
        }
        if (failed || is_last) return failed;
    }
}

int main(int argc, char **argv)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_downloader *downloader;
    const char *directory = ".";
    int option, failed = 1;

    while ((option = getopt(argc, argv, "o:")) == 'o') directory = optarg;
    if (option != -1 || argc - optind != 1) {
        fprintf(stderr, "usage: progressive [-o DIR] URL\n");
        return 2;
    }
    config.delivery = SDD_DELIVERY_APPLICATION; /* events wait for this thread */
    if (sdd_downloader_create(&config, &downloader) != SDD_OK) return say("cannot begin", sdd_last_error_message());
    request.url = argv[optind];
    request.options = SDD_OPTION_PREVIEW_EVENTS;
    if (sdd_downloader_submit(downloader, &request) == 0)
        say(request.url, sdd_last_error_message());
    else
        failed = take_events(downloader, request.url, directory);
    sdd_downloader_destroy(downloader);
    return failed;
}
