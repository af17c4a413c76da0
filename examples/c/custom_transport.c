/* cc -std=c99 -O2 -pthread custom_transport.c $(pkg-config --cflags --libs sdd) -o custom_transport
 *
 * custom_transport: pictures without a server. Adds two URL schemes to a downloader:
 *
 *     archive:NAME   a file of one folder, read by a thread of the program
 *     instant:WORD   for tests: responds at once, to "dot" with a picture of one pixel, to "broken" with half of it,
 *                    to "silent" with only a header, and to everything else with status 404
 *
 *     custom_transport [-c] FOLDER URL...
 *
 * Queue, priorities, limits, sharing and decoding are as for HTTP. -c cancels each download as soon as its
 * response arrives. Exit status 0: each URL ended with a picture.
 */
#define _POSIX_C_SOURCE 200809L /* getopt, openat */
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- archive: the files of a folder. `start` must not block, so a thread reads the files. */

struct job {
    sdd_transfer transfer;
    struct job *next;
    char url[];
};

struct archive {
    int folder;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the three fields below */
    pthread_cond_t changed;
    struct job *jobs; /* waiting jobs, the oldest first */
    int ends;
};

/* Decodes percent-encoding: "%41" is "A". URLs are ASCII, so other characters of file names are encoded. */
static int decode(char *text)
{
    char *to = text;

    for (; *text != '\0'; text++) {
        char digits[3] = "";
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        if (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]) || strncmp(text, "%00", 3) == 0)
            return 0;
        memcpy(digits, text + 1, 2);
        *to++ = (char)strtol(digits, NULL, 16);
        text += 2;
    }
    *to = '\0';
    return 1;
}

/* Opens the file of a URL. URLs are untrusted: only plain files in the folder itself that are not hidden are opened. */
static int open_file(int folder, char *url, struct stat *info)
{
    char *name = strchr(url, ':') + 1; /* there is one: the library has found the scheme */
    int file;

    if (!decode(name) || name[0] == '.' || strchr(name, '/') != NULL) return -1;
    file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* no links; no wait for pipes */
    if (file >= 0 && (fstat(file, info) != 0 || !S_ISREG(info->st_mode))) {
        close(file);
        return -1;
    }
    return file;
}

/* Sends the response. Each of the three calls returns SDD_ERROR_NOT_FOUND once the transfer has been cancelled. */
static void serve(int folder, struct job *job)
{
    struct stat info;
    char block[65536];
    ssize_t got = 1;
    int file = open_file(folder, job->url, &info);
    sdd_status status = SDD_OK;

    if (file < 0) {
        sdd_transfer_finish(job->transfer, SDD_ERROR_FILE_NOT_READABLE, "Not in the archive.");
        return;
    }
    /* Status 0: this scheme has no status. With the size, progress reports which part has arrived. */
    status = sdd_transfer_respond(job->transfer, 0, NULL, 0, info.st_size);
    while (status == SDD_OK && (got = read(file, block, sizeof block)) > 0)
        status = sdd_transfer_write(job->transfer, block, (size_t)got);
    close(file);
    if (status == SDD_OK) sdd_transfer_finish(job->transfer, got == 0 ? SDD_OK : SDD_ERROR_FILE_NOT_READABLE, NULL);
}

static void *run_archive(void *user_data)
{
    struct archive *archive = user_data;
    struct job *job;

    for (;;) {
        pthread_mutex_lock(&archive->mutex);
        while (archive->jobs == NULL && !archive->ends) pthread_cond_wait(&archive->changed, &archive->mutex);
        job = archive->jobs;
        if (job != NULL) archive->jobs = job->next;
        pthread_mutex_unlock(&archive->mutex);
        if (job == NULL) return NULL;
        serve(archive->folder, job); /* without the lock, since the library may call this transport meanwhile */
        free(job);
    }
}

static void archive_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    struct archive *archive = user_data;
    size_t size = strlen(request->url) + 1;
    struct job *job = malloc(sizeof *job + size), **end = &archive->jobs;

    if (job == NULL) {
        sdd_transfer_finish(transfer, SDD_ERROR_TRANSPORT, "No memory.");
        return;
    }
    job->transfer = transfer;
    job->next = NULL;
    memcpy(job->url, request->url, size); /* valid only during this call */
    pthread_mutex_lock(&archive->mutex);
    while (*end != NULL) /* a short list: the downloader limits the number of transfers */
        end = &(*end)->next;
    *end = job;
    pthread_cond_signal(&archive->changed);
    pthread_mutex_unlock(&archive->mutex);
}

/* Drops a transfer that is no longer wanted. If its file is being read, sdd_transfer_write() fails. */
static void archive_cancel(sdd_transfer transfer, void *user_data)
{
    struct archive *archive = user_data;
    struct job *job, **link = &archive->jobs;
    pthread_mutex_lock(&archive->mutex);
    while (*link != NULL && (*link)->transfer != transfer) link = &(*link)->next;
    if ((job = *link) != NULL) *link = job->next;
    pthread_mutex_unlock(&archive->mutex);
    free(job);
}

/* Called when the downloader has ended: every transfer has been finished or cancelled. */
static void archive_free(void *user_data)
{
    struct archive *archive = user_data;

    pthread_mutex_lock(&archive->mutex);
    archive->ends = 1;
    pthread_cond_signal(&archive->changed);
    pthread_mutex_unlock(&archive->mutex);
    pthread_join(archive->thread, NULL);
    pthread_cond_destroy(&archive->changed);
    pthread_mutex_destroy(&archive->mutex);
    close(archive->folder);
    free(archive);
}

static int add_archive(sdd_downloader *downloader, const char *folder)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    struct archive *archive = calloc(1, sizeof *archive);
    sdd_status status;

    if (archive == NULL || (archive->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        perror(folder);
        free(archive);
        return 0;
    }
    pthread_mutex_init(&archive->mutex, NULL); /* with no attributes, these two cannot fail */
    pthread_cond_init(&archive->changed, NULL);
    if (pthread_create(&archive->thread, NULL, run_archive, archive) != 0) {
        close(archive->folder);
        free(archive);
        return 0;
    }
    transport.scheme = "archive";
    transport.start = archive_start;
    transport.cancel = archive_cancel;
    transport.user_data = archive;
    transport.user_data_free = archive_free;
    status = sdd_downloader_add_transport(downloader, &transport);
    if (status != SDD_OK) {
        fprintf(stderr, "archive: %s\n", sdd_last_error_message());
        archive_free(archive); /* it was refused, so the program still owns it */
    }
    return status == SDD_OK;
}

/* ---- instant: responds within `start`, so that tests need neither a server nor a wait. */

/* A PNG of one pixel. */
/* clang-format off */
static const unsigned char dot[] = {
    0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0,
    0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, 'I', 'D', 'A', 'T', 0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf,
    0xa4, 0x71, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82
};
/* clang-format on */

static void instant_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    static const sdd_header headers[] = { { "Content-Type", "image/png" } };
    const char *word = strchr(request->url, ':') + 1;
    int silent = strcmp(word, "silent") == 0, broken = strcmp(word, "broken") == 0;
    int known = silent || broken || strcmp(word, "dot") == 0;
    sdd_status status;

    (void)user_data;
    status = sdd_transfer_respond(transfer, known ? 200 : 404, headers, (size_t)known, known ? (int64_t)sizeof dot : 0);
    if (status == SDD_OK && known && !silent)
        status = sdd_transfer_write(transfer, dot, broken ? sizeof dot / 2 : sizeof dot);
    if (status == SDD_OK && !silent) sdd_transfer_finish(transfer, broken ? SDD_ERROR_CONNECTION_LOST : SDD_OK, NULL);
}

/* Called once for a transfer that has not been finished, on a thread of the library or on the one that destroys the
 * downloader. */
static void instant_cancel(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
    printf("instant: told to stop\n");
}

static int add_instant(sdd_downloader *downloader)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;

    transport.scheme = "instant";
    transport.start = instant_start;
    transport.cancel = instant_cancel;
    return sdd_downloader_add_transport(downloader, &transport) == SDD_OK;
}

/* ---- the program */

static void progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    (void)received, (void)url, (void)user_data;
    if (expected >= 0)     /* it is -1 before the response */
        sdd_cancel(token); /* SDD_ERROR_NOT_FOUND if it has ended, which is harmless */
}

static void completed(const sdd_result *result, void *user_data)
{
    int *pictures = user_data;

    if (result->failure.status != SDD_OK) {
        printf("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
        return;
    }
    printf("%s: %d x %d\n", result->url, (int)sdd_image_width(result->image), (int)sdd_image_height(result->image));
    ++*pictures;
}

int main(int argc, char **argv)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    int cancels = argc > 1 && strcmp(argv[1], "-c") == 0, first = 2 + cancels;
    int pictures = 0, good = 1;

    if (argc <= first) {
        fprintf(stderr, "usage: custom_transport [-c] FOLDER URL...\n");
        return 2;
    }
    config.delivery = SDD_DELIVERY_APPLICATION; /* callbacks run inside sdd_downloader_idle_wait(), on this thread */
    if (sdd_downloader_create(&config, &downloader) != SDD_OK) return 1;
    if (!add_archive(downloader, argv[first - 1]) || !add_instant(downloader)) {
        sdd_downloader_destroy(downloader);
        return 1;
    }
    for (int i = first; i < argc; i++)
        good = sdd_download(downloader, argv[i], 0, cancels ? progress : NULL, completed, &pictures) != 0 && good;
    good = sdd_downloader_idle_wait(downloader, -1) == SDD_OK && good;
    good = sdd_downloader_destroy(downloader) == SDD_OK && good;
    return good && pictures == argc - first ? 0 : 1;
}
