/* sdd info: reads the beginning of files and bodies, as far as the facts about a picture stand there. */
#include "commands.h"
#include "job.h"
#include "output.h"
#include "picture.h"
#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_PIECE = 65536, MOST_UNDER_WAY = 64, MOST_REQUESTS = 128 };

struct info_run {
    const struct settings *settings;
    struct session session;
    size_t under_way;
    uint64_t number, failed, ended;
    int show, status;
    bool stopping;
};

/* A URL whose beginning is being read, piece by piece, into a file in memory. */
struct reading {
    struct info_run *run;
    struct picture picture;
    int fd;
    int64_t piece; /* bytes of the piece that is asked for */
    int64_t until; /* now_us() at which --max-time is over; 0: never */
    bool enough;
    bool unpacks; /* all of the body is asked for, which the library unpacks: parts of a packed one say nothing */
    bool is_known, needs_all; /* picture_needs_all(), once the format is known */
    char *url;
    sdd_response *response;
};

/* A ThumbHash is made of the whole picture. */
static bool reads_all(const struct info_run *run) { return run->settings->full || run->settings->thumbhash; }

/* The most bytes that are read of a file or URL. */
static int64_t most_of(const struct info_run *run)
{
    return run->settings->max_size > 0 ? run->settings->max_size : MOST_OF_FILE;
}

/* Prints a picture and counts its outcome. */
static void finish(struct info_run *run, struct picture *picture, int fd)
{
    sdd_failure *failure = &picture->failure;
    if (failure->status != SDD_OK) {
        failure->http_status = picture->http_status;
        if (picture->exit_status == EXIT_FINE) picture->exit_status = class_status(failure);
        if (failure->message == NULL && failure->detail == SDD_DETAIL_IMAGE_EMPTY) failure->message = "It is empty.";
        if (failure->message == NULL) failure->message = "It is no picture whose format is known, or it is damaged.";
        run->status = combine_status(run->status, picture->exit_status, run->failed++ == 0);
    }
    run->ended++;
    picture->shown = failure->status == SDD_OK && run->show != SHOW_NONE && picture->whole;
    picture_print(picture, run->settings);
    if (picture->shown) {
        struct stat file;
        void *data = fstat(fd, &file) == 0 ? mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                                           : MAP_FAILED;
        if (data != MAP_FAILED) {
            show_bytes(data, (size_t)file.st_size, run->show);
            munmap(data, (size_t)file.st_size);
        }
    }
    sdd_image_release(picture->image);
    sdd_bytes_release(picture->hash);
}

/* ---------------------------------------------------------------------------------------------------------- files */

static void fail(struct info_run *run, const char *name, int error)
{
    struct picture picture = { .source = name,
                               .number = ++run->number,
                               .failure = own_failure(SDD_ERROR_FILE_NOT_READABLE, 0, strerror(error)),
                               .size = -1 };
    finish(run, &picture, -1);
}

static void read_file(struct info_run *run, const char *name)
{
    bool standard = strcmp(name, "-") == 0;
    struct picture picture = { .source = standard ? "standard input" : name, .size = -1 };
    struct stat file;
    int fd = open_source(name, most_of(run), &picture.size);
    if (fd < 0) {
        if (stop_signal() == 0) fail(run, picture.source, errno);
        return;
    }
    fstat(fd, &file);
    picture.read = file.st_size;
    picture.whole = picture.size <= picture.read;
    if (!picture.whole && reads_all(run)) {
        close(fd);
        fail(run, picture.source, EFBIG);
        return;
    }
    if (picture.whole) picture.size = picture.read;
    picture.number = ++run->number;
    picture_read(&picture, &run->session, fd);
    finish(run, &picture, fd);
    close(fd);
}

/* ----------------------------------------------------------------------------------------------------------- URLs */

static void reading_free(struct reading *reading)
{
    reading->run->under_way--;
    sdd_response_release(reading->response);
    close(reading->fd);
    free(reading->url);
    free(reading);
}

/* Tells whether a server has packed the body although it was asked not to. */
static bool is_packed(sdd_response *response)
{
    const char *coding = response == NULL ? NULL : sdd_response_header(response, "Content-Encoding");
    return coding != NULL && *coding != 0 && strcasecmp(coding, "identity") != 0;
}

/* The facts of the bytes so far: SDD_OK, SDD_ERROR_INCOMPLETE, or that these bytes are no picture. */
static sdd_status probe(struct reading *reading, int64_t size)
{
    if (reading->needs_all) return SDD_ERROR_INCOMPLETE;
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    void *data = size <= 0 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, reading->fd, 0);
    if (data == MAP_FAILED) return SDD_ERROR_INCOMPLETE;
    sdd_status status = sdd_image_probe(data, (size_t)size, &info);
    if (status == SDD_ERROR_BAD_IMAGE_DATA && !reading->is_known && sdd_image_sniff(data, (size_t)size) != 0) {
        reading->is_known = true;
        reading->needs_all = picture_needs_all(data, (size_t)size);
        if (reading->needs_all) status = SDD_ERROR_INCOMPLETE;
    }
    munmap(data, (size_t)size);
    return status;
}

static int64_t size_so_far(const struct reading *reading)
{
    struct stat file;
    return fstat(reading->fd, &file) == 0 ? file.st_size : 0;
}

/* Ends a transfer whose server sends the whole body, once enough of it is there. */
static void on_progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    struct reading *reading = user_data;
    (void)url, (void)expected;
    if (reads_all(reading->run) || reading->enough || received <= 0) return;
    sdd_response *response = NULL;
    if (reading->response == NULL && sdd_token_get_response(token, &response) == SDD_OK) reading->response = response;
    bool asks_again = is_packed(reading->response) && !reading->unpacks;
    if (!asks_again && probe(reading, size_so_far(reading)) == SDD_ERROR_INCOMPLETE) return;
    reading->enough = true;
    sdd_cancel(token);
}

/* The size of the whole body: "bytes 0-65535/123456" of a Content-Range, or the Content-Length. */
static int64_t whole_size(sdd_response *response)
{
    const char *range = sdd_response_header(response, "Content-Range"),
               *slash = range == NULL ? NULL : strchr(range, '/');
    const char *length = sdd_response_header(response, "Content-Length");
    int64_t size = -1;
    if (is_packed(response)) return -1;
    if (slash != NULL) return parse_number(slash + 1, 0, INT64_MAX, &size) ? size : -1;
    return length != NULL && sdd_response_status(response) == 200 && parse_number(length, 0, INT64_MAX, &size) ? size
                                                                                                               : -1;
}

static void read_response(struct picture *picture, sdd_response *response)
{
    if (response == NULL) return;
    picture->http_status = sdd_response_status(response);
    picture->type = sdd_response_mime_type(response);
    picture->final_url = sdd_response_url(response);
    picture->modified = sdd_response_header(response, "Last-Modified");
    picture->tag = sdd_response_header(response, "ETag");
    if (picture->size < 0) picture->size = whole_size(response);
}

static void ask(struct reading *reading);

/* Begins again, with a body that the library unpacks. */
static void ask_unpacked(struct reading *reading)
{
    reading->unpacks = true;
    reading->enough = false;
    reading->picture.read = 0;
    sdd_response_release(reading->response);
    reading->response = NULL;
    if (ftruncate(reading->fd, 0) == 0) lseek(reading->fd, 0, SEEK_SET);
    ask(reading);
}

/* Why no further piece is asked for, although the facts are not there yet; SDD_OK: one is. */
static sdd_failure no_further(const struct reading *reading)
{
    const struct picture *picture = &reading->picture;
    if (picture->read >= most_of(reading->run))
        return own_failure(SDD_ERROR_BODY_TOO_LARGE, 0, "The bytes that may be read do not have the facts.");
    if (picture->requests >= MOST_REQUESTS)
        return own_failure(SDD_ERROR_PROTOCOL, 0, "The server sends too little of each range that it is asked for.");
    return (sdd_failure){ 0 };
}

static void on_end(const sdd_result *result, void *user_data)
{
    struct reading *reading = user_data;
    struct picture *picture = &reading->picture;
    sdd_status status = result->failure.status;
    bool good = status == SDD_OK || (status == SDD_ERROR_CANCELLED && reading->enough);
    int64_t before = picture->read;
    if (result->response != NULL) {
        sdd_response_release(reading->response);
        reading->response = sdd_response_retain(result->response);
    }
    if (good && is_packed(reading->response) && !reads_all(reading->run) && !reading->unpacks) {
        ask_unpacked(reading);
        return;
    }
    picture->read = size_so_far(reading);
    read_response(picture, reading->response);
    if (!good && result->failure.http_status == 416) {
        picture->failure = own_failure(SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_EMPTY, NULL);
    } else if (!good) {
        picture->failure = result->failure;
        reading->run->stopping |= stop_signal() != 0;
    } else {
        bool partial = picture->http_status == 206, over = picture->size >= 0 && picture->read >= picture->size;
        bool goes_on = !reading->enough && partial && !over && picture->read > before &&
                       probe(reading, picture->read) == SDD_ERROR_INCOMPLETE;
        sdd_failure failure = no_further(reading);
        if (goes_on && failure.status == SDD_OK) {
            ask(reading);
            return;
        }
        picture->whole = status == SDD_OK && (!partial || over);
        if (picture->whole) picture->size = picture->read;
        picture_read(picture, &reading->run->session, reading->fd);
        if (goes_on && picture->failure.status != SDD_OK) picture->failure = failure;
    }
    if (!(picture->failure.status == SDD_ERROR_CANCELLED && stop_signal() != 0))
        finish(reading->run, picture, reading->fd);
    reading_free(reading);
}

/* Asks for the next piece, or for all of the URL. */
static void ask(struct reading *reading)
{
    struct info_run *run = reading->run;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    char range[64];
    session_fill(&run->session, &transfer);
    if (reading->until > 0) { /* it is the limit of all pieces together; 0 would be the default */
        int64_t left = (reading->until - now_us()) / 1000;
        transfer.total_timeout_ms = left > 0 ? left : 1;
    }
    request.transfer = &transfer;
    request.url = reading->url;
    bool asks_all = reads_all(run) || reading->unpacks;
    request.options = run->session.options | SDD_OPTION_BYTES_ONLY;
    if (!asks_all) request.options |= SDD_OPTION_BODY_AS_SENT;
    request.sink = SDD_SINK_FD, request.sink_fd = reading->fd;
    request.progress = on_progress, request.completed = on_end, request.user_data = reading;
    int64_t left = most_of(run) - reading->picture.read;
    snprintf(range, sizeof range, "%lld-%lld", (long long)reading->picture.read,
             (long long)(reading->picture.read + (reading->piece < left ? reading->piece : left) - 1));
    if (!asks_all) request.range = range;
    if (reading->piece < left) reading->piece *= 4;
    reading->picture.requests++;
    if (sdd_downloader_submit(run->session.downloader, &request) != 0) return;
    reading->picture.failure = last_failure();
    finish(run, &reading->picture, reading->fd);
    reading_free(reading);
}

/* data: and file: URLs have no ranges: their bytes are all there at once. */
static void read_at_once(struct reading *reading)
{
    struct info_run *run = reading->run;
    struct picture *picture = &reading->picture;
    sdd_bytes *bytes = NULL;
    if (sdd_get(run->session.downloader, reading->url, SDD_OPTION_BYTES_ONLY, -1, NULL, &bytes, NULL) != SDD_OK)
        picture->failure = last_failure();
    else {
        write_all(reading->fd, sdd_bytes_data(bytes), sdd_bytes_size(bytes));
        picture->size = picture->read = (int64_t)sdd_bytes_size(bytes);
        picture->whole = true;
        picture_read(picture, &run->session, reading->fd);
    }
    sdd_bytes_release(bytes);
    finish(run, picture, reading->fd);
    reading_free(reading);
}

static void read_url(struct info_run *run, const char *url)
{
    struct reading *reading = need(calloc(1, sizeof *reading));
    reading->run = run;
    reading->url = need_copy(url);
    reading->picture = (struct picture){ .source = reading->url, .number = ++run->number, .size = -1 };
    reading->piece = FIRST_PIECE;
    if (run->settings->max_time > 0) reading->until = now_us() + run->settings->max_time * 1000;
    reading->fd = memfd_create("sdd", MFD_CLOEXEC);
    run->under_way++;
    if (run->settings->public_only && has_file_url(url)) {
        reading->picture.failure = file_refused();
        reading->picture.exit_status = EXIT_LIMIT;
        finish(run, &reading->picture, reading->fd);
        reading_free(reading);
    } else if (reading->fd < 0) {
        reading->picture.failure = own_failure(SDD_ERROR_NO_RESOURCES, 0, strerror(errno));
        finish(run, &reading->picture, -1);
        reading_free(reading);
    } else if (strncasecmp(url, "data:", 5) == 0 || strncasecmp(url, "file:", 5) == 0)
        read_at_once(reading);
    else
        ask(reading);
}

int run_info(struct settings *settings, char **arguments, size_t count)
{
    struct info_run run = { .settings = settings };
    size_t next = 0;
    if (count == 0) usage_error("no file and no URL");
    check_show(settings, false);
    session_open(&run.session, settings);
    run.show = show_begin(settings->show);
    while (next < count || run.under_way > 0) {
        if (stop_signal() != 0 || output_failed()) {
            next = count;
            sdd_downloader_cancel_all(run.session.downloader);
        }
        while (next < count && run.under_way < MOST_UNDER_WAY && stop_signal() == 0 && !output_failed()) {
            const char *argument = arguments[next++];
            (is_url(argument) ? read_url : read_file)(&run, argument);
        }
        if (run.under_way > 0) session_wait(&run.session, -1, -1);
    }
    session_close(&run.session);
    if (stop_signal() != 0) return EXIT_SIGNAL + stop_signal();
    return run.failed > 0 && run.ended > run.failed ? EXIT_SOME_FAILED : run.status;
}
