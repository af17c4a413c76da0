/* cc -std=c99 -O2 get.c $(pkg-config --cflags --libs sdd) -o get
 *
 * Downloads pictures, all at once, and writes the pixels of each into a file:
 *     get [-o DIR] [-H "Name: value"]... URL...
 * Picture N goes to DIR/N-NAME.ppm, where NAME is the last part of its URL; one that is not opaque
 * goes to DIR/N-NAME.pam, netpbm's format with alpha. -H sets a header field. Exit status 0: success. */
#define _POSIX_C_SOURCE 200809L /* getopt, isatty */
#include <ctype.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define PAM_HEAD "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"

/* One URL. It needs no lock: the callbacks run on one thread of the library, one after the other. */
struct job {
    char name[48];
    double part; /* the part that has arrived, 0 to 1 */
};

static struct job *jobs;
static int job_count, finished, failed, on_terminal;
static const char *directory = ".";

/* Copies the last part of the URL's path, with only characters that are safe in a file name and a terminal. */
static void set_name(struct job *job, const char *url)
{
    const char *end = url + strcspn(url, "?#"), *from = end;
    size_t size = 0;
    while (from > url && from[-1] != '/') from--;
    for (; from < end && size + 1 < sizeof job->name; from++)
        job->name[size++] = isalnum((unsigned char)*from) || strchr("._-", *from) ? *from : '_';
}

static int write_picture(const struct job *job, sdd_image *image)
{
    int width = sdd_image_width(image), height = sdd_image_height(image), opaque = 1;
    size_t stride = sdd_image_stride(image); /* from row to row: use this, not width * 4 */
    const uint8_t *pixels = sdd_image_pixels(image);
    char path[4096];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) opaque &= pixels[(size_t)y * stride + (size_t)x * 4 + 3] == 255;
    snprintf(path, sizeof path, "%s/%d-%s.%s", directory, (int)(job - jobs) + 1, job->name, opaque ? "ppm" : "pam");
    FILE *file = fopen(path, "wb");
    if (file == NULL) return 0;
    fprintf(file, opaque ? "P6\n%d %d\n255\n" : PAM_HEAD, width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) fwrite(pixels + (size_t)y * stride + (size_t)x * 4, 1, opaque ? 3 : 4, file);
    int bad = ferror(file);
    return fclose(file) == 0 && !bad;
}

static void progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    double sum = 0;
    (void)token, (void)url;
    if (expected > 0) /* otherwise it is not known, or not yet */
        ((struct job *)user_data)->part = (double)received / (double)expected;
    for (int i = 0; i < job_count; i++) sum += jobs[i].part;
    if (on_terminal)
        fprintf(stderr, "\r\033[K[%-40.*s] %d of %d", (int)(sum / job_count * 40),
                "========================================", finished, job_count);
}

/* Called once for each URL, whatever happens. The image is borrowed: sdd_image_retain() would keep it. */
static void completed(const sdd_result *result, void *user_data)
{
    struct job *job = user_data;
    int written = result->failure.status == SDD_OK && write_picture(job, result->image);
    job->part = 1;
    finished++;
    failed += !written;
    if (on_terminal) fputs("\r\033[K", stderr);
    if (result->failure.status != SDD_OK)
        printf("%-20s %s: %s\n", job->name, sdd_status_name(result->failure.status), result->failure.message);
    else if (!written)
        printf("%-20s cannot be written to %s\n", job->name, directory);
    else
        printf("%-20s %5d x %-5d %9zu bytes %6d ms  HTTP %d\n", job->name, sdd_image_width(result->image),
               sdd_image_height(result->image), sdd_bytes_size(result->bytes), (int)(result->metrics->total_us / 1000),
               result->failure.http_status);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT; /* reused: each submission copies it */
    int option, bad = 0;
    while ((option = getopt(argc, argv, "o:H:")) != -1) {
        char *colon = option == 'H' ? strchr(optarg, ':') : NULL;
        if (option == 'o')
            directory = optarg;
        else if (colon != NULL) /* NULL: the shared downloader, which the whole program uses */
            *colon = '\0', bad |= sdd_set_header(NULL, optarg, colon + 1 + strspn(colon + 1, " ")) != SDD_OK;
        else
            bad = 1;
    }
    job_count = argc - optind;
    if (bad || job_count < 1 || (jobs = calloc((size_t)job_count, sizeof *jobs)) == NULL)
        return fprintf(stderr, "usage: get [-o DIR] [-H \"Name: value\"]... URL...\n"), 2;
    on_terminal = isatty(STDERR_FILENO);
    request.progress = progress;
    request.completed = completed;
    for (int i = 0; i < job_count; i++) { /* six run at a time, the others wait */
        struct job *job = request.user_data = &jobs[i];
        set_name(job, request.url = argv[optind + i]);
        if (sdd_downloader_submit(NULL, &request) == 0) return fprintf(stderr, "get: cannot start\n"), 1;
    }
    sdd_downloader_idle_wait(NULL, -1);
    free(jobs);
    return failed == 0 ? 0 : 1;
}
