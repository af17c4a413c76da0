#include "job.h"
#include "bars.h"
#include "convert.h"
#include "failures.h"
#include "formats.h"
#include "names.h"
#include "output.h"
#include "paths.h"
#include "show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* A body that has been arriving for so long is looked at: most pictures are there before. */
enum { PATIENCE_US = 200000 };

static void job_end(struct job *job)
{
    struct run *run = job->run;
    struct report *report = &job->report;
    if (job->previous != NULL) job->previous->next = job->next;
    if (job->next != NULL) job->next->previous = job->previous;
    if (run->first == job) run->first = job->next;
    if (run->last == job) run->last = job->previous;
    run->under_way--;
    if (report->failure.status == SDD_ERROR_CANCELLED && run->stopping) {
        run->unfinished++;
    } else {
        run->ended++;
        run->skipped += report->skipped;
        if (report->failure.status != SDD_OK) {
            run->failed++;
            run->status = combine_status(run->status, report->exit_status, run->statuses++ == 0);
        } else
            run->bytes += report->bytes;
    }
    report_print(report, run->settings);
    report_free(report);
    item_free(&job->item);
    peek_end(job->peek);
    if (job->fd >= 0) close(job->fd);
    free(job->url);
    free(job->first);
    text_free(&job->base);
    free(job);
}

void job_fail(struct job *job, sdd_failure failure, int exit_status)
{
    report_fail(&job->report, failure, exit_status);
    job_end(job);
}

/* Fails by the library's call before. */
static void job_refuse(struct job *job)
{
    sdd_failure failure = last_failure();
    job_fail(job, failure, class_status(&failure));
}

/* ---------------------------------------------------------------------------------------------------------- files */

static void job_write(struct job *job, const void *data, size_t size)
{
    struct run *run = job->run;
    struct report *report = &job->report;
    struct file_path path = { 0 };
    struct text message = { 0 };
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    bool converted = job->convert && report->format != sdd_image_sniff(data, size);
    report->format = sdd_image_sniff(data, size);
    report->bytes = (int64_t)size;
    if (sdd_image_probe(data, size, &info) == SDD_OK) {
        bool turned = info.orientation > 4 && job->convert;
        report->width = turned ? info.stored_height : info.stored_width;
        report->height = turned ? info.stored_width : info.stored_height;
    }
    if (run->to_stdout) {
        print_out(data, size);
        report->path = "-";
        job_end(job);
        return;
    }
    make_path(job, report->format, converted || (job->convert && job->format != 0), &path);
    int error = write_file(&run->target, &path, data, size);
    report->path = text_string(&path.text);
    if (error != 0) {
        text_printf(&message, "%s: %s", report->path, file_error(error));
        sdd_failure failure = own_failure(SDD_ERROR_SINK, 0, message.data);
        failure.system_error = error;
        job_fail(job, failure, EXIT_FILES);
    } else {
        if (run->show != SHOW_NONE) {
            bars_clear();
            show_bytes(data, size, run->show);
        }
        job_end(job);
    }
    text_free(&path.text), text_free(&message);
}

/* ---------------------------------------------------------------------------------------------------------- loads */

static void on_no_picture(void *user_data)
{
    struct job *job = user_data;
    job->is_no_picture = true;
    sdd_cancel(job->token);
}

static const char *checksum_of(const struct job *job)
{
    return job->item.checksum != NULL ? job->item.checksum : job->run->settings->checksum;
}

/* Tells whether the first bytes of a job's body may be looked at. A load with alternatives goes on with the next one, and
   must not be cancelled. The look must join the load's transfer: a second request may get another answer, and costs the
   server as much as the first. None joins a load with cookies, with a checksum or with a part to be continued. */
static bool may_peek(const struct job *job)
{
    const struct settings *settings = job->run->settings;
    return !settings->any && !settings->resume && settings->cookie_jar == NULL && checksum_of(job) == NULL &&
           strchr(job->url, '\t') == NULL;
}

static void on_progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    struct job *job = user_data;
    struct run *run = job->run;
    if (received > job->received) {
        run->body_bytes += received - job->received;
        rate_count(&run->rate_limit, received - job->received);
    }
    if (received < job->received) job->shown_received = 0; /* another attempt */
    job->started = true;
    job->token = token;
    job->received = received;
    job->expected = expected;
    if (job->received > 0 && job->peek_at == 0 && may_peek(job) && strncasecmp(url, "http", 4) == 0)
        job->peek_at = now_us() + PATIENCE_US;
}

int jobs_peek(struct run *run)
{
    int64_t now = now_us(), first = INT64_MAX;
    for (struct job *job = run->stopping ? NULL : run->first; job != NULL; job = job->next) {
        if (job->peek_at == 0 || job->has_peeked || job->received == job->expected) continue;
        if (job->peek_at <= now) {
            job->has_peeked = true;
            job->peek = peek_begin(&run->session, job->url, on_no_picture, job);
        } else if (job->peek_at < first)
            first = job->peek_at;
    }
    return first == INT64_MAX ? -1 : (int)((first - now) / 1000) + 1;
}

static void on_encoded(const sdd_result *result, void *user_data)
{
    struct job *job = user_data;
    if (result->failure.status != SDD_OK)
        job_fail(job, result->failure, class_status(&result->failure));
    else
        job_write(job, sdd_bytes_data(result->bytes), sdd_bytes_size(result->bytes));
}

static void job_encode(struct job *job, sdd_image *image, const sdd_image_info *info)
{
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    bool loses_frames = !fill_encoding(job->run->settings, job->format, info, &options);
    if (loses_frames && !job->run->settings->quiet)
        complain("%s: no animation is written as %s: the file has the first of %d frames", job->report.url,
                 format_title(options.format), (int)info->frame_count);
    job->report.format = info->format;
    if (sdd_downloader_encode(job->run->session.downloader, image, &options, on_encoded, job, NULL) == 0)
        job_refuse(job);
}

static void read_name(struct job *job, sdd_response *response)
{
    const char *given = job->run->settings->content_disposition ? sdd_response_header(response, "Content-Disposition")
                                                                : NULL;
    if (given == NULL) return;
    struct text name = { 0 };
    if (name_from_header(&name, given)) {
        text_clear(&job->base);
        text_puts(&job->base, name.data);
        job->number = 0; /* it was that of another name */
    }
    text_free(&name);
}

static void job_submit(struct job *job);

/* Loads a body again that broke off, or fails: the library has taken it for a success. */
static void load_again(struct job *job, int32_t format)
{
    job->attempts += job->report.attempts;
    job->report.attempts = job->attempts;
    if (job->attempts >= job->run->settings->tries || job->run->stopping) {
        fail_broken_off(job, format);
        return;
    }
    job->received = job->shown_received = 0;
    job_submit(job);
}

static void on_loaded(const sdd_result *result, void *user_data)
{
    struct job *job = user_data;
    struct run *run = job->run;
    size_t size = sdd_bytes_size(result->bytes);
    const uint8_t *data = sdd_bytes_data(result->bytes);
    report_read(&job->report, result);
    job->report.body_bytes = size > 0 ? (int64_t)size : result->metrics->body_bytes;
    if (result->origin == SDD_ORIGIN_NETWORK || result->failure.status != SDD_OK)
        rate_count(&run->rate_limit, result->metrics->body_bytes - job->received);
    if (job->is_no_picture && result->failure.status == SDD_ERROR_CANCELLED) {
        fail_without_picture(job, job->expected);
        return;
    }
    if (is_no_picture(&result->failure)) {
        fail_without_picture(job, result->metrics->body_bytes);
        return;
    }
    if (result->failure.status != SDD_OK) {
        job_end(job);
        return;
    }
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    if (breaks_off(job, sdd_image_sniff(data, size))) {
        load_again(job, sdd_image_sniff(data, size));
        return;
    }
    read_name(job, result->response);
    if (job->convert && sdd_image_get_info(result->image, &info) == SDD_OK &&
        !is_as_wanted(run->settings, job->format, &info)) {
        job_encode(job, result->image, &info);
        return;
    }
    int32_t format = sdd_image_sniff(data, size);
    if (!run->settings->any && format == 0)
        fail_without_picture(job, (int64_t)size);
    else if (job->format > 0 && format != job->format)
        fail_with_name(job, format);
    else {
        job->report.format = format;
        job_write(job, data, size);
    }
}

static void fill_load(const struct job *job, sdd_load_request *load, sdd_decode_options *decode)
{
    const struct run *run = job->run;
    const struct settings *settings = run->settings;
    bool scaled = settings->width > 0 || settings->height > 0;
    load->options = run->session.options;
    if (!job->convert && !settings->verify) load->options |= SDD_OPTION_BYTES_ONLY;
    if (job->convert && !scaled && !settings->verify) load->options |= SDD_OPTION_AVOID_DECODE_IMAGE;
    if (settings->resume) load->options |= SDD_OPTION_RESUME;
    if (settings->cache == CACHE_USE_HTTP) load->options |= SDD_OPTION_USE_HTTP_CACHE;
    if (settings->cache == CACHE_USE_ANY && settings->refresh) load->options |= SDD_OPTION_FROM_LOADER_ONLY;
    /* By the rules of HTTP, session_open() has asked for it in a header field. */
    if (settings->offline && settings->cache == CACHE_USE_ANY) load->options |= SDD_OPTION_FROM_CACHE_ONLY;
    if (settings->cache == CACHE_USE_NONE) /* it may be there all the same, for the parts of --resume */
        load->query = load->store = load->original_query = load->original_store = SDD_CACHE_NONE;
    if (!job->convert) return;
    decode->colour = settings->colour;
    load->decode = decode;
    if (!scaled) return;
    decode->target_width = settings->width, decode->target_height = settings->height;
    decode->fit = settings->fit;
    decode->allow_enlarging = settings->enlarge;
    load->store = SDD_CACHE_NONE; /* the result is a file; the cache keeps originals */
    if (settings->cache == CACHE_USE_NONE && !settings->resume && !settings->verify)
        load->options |= SDD_OPTION_STOP_WHEN_COMPLETE;
}

/* Splits "URL<TAB>URL<TAB>URL" into the first and `others`, which point into it. */
static size_t split_urls(char *urls, const char **others, size_t most)
{
    size_t count = 0;
    for (char *tab = strchr(urls, '\t'); tab != NULL && count < most; tab = strchr(tab, '\t')) {
        while (*tab == '\t') *tab++ = 0;
        if (*tab != 0) others[count++] = tab;
    }
    return count;
}

static void job_submit(struct job *job)
{
    struct run *run = job->run;
    sdd_load_request load = SDD_LOAD_REQUEST_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    struct text integrity = { 0 }, all = { 0 };
    const char *others[64];
    const char *checksum = checksum_of(job);
    text_puts(&all, job->url);
    fill_load(job, &load, &decode);
    session_fill(&run->session, &transfer);
    transfer.max_attempts -= job->attempts;
    if (job->fd >= 0) /* the number of a descriptor is no name for a cache */
        load.query = load.store = load.original_query = load.original_store = SDD_CACHE_NONE;
    load.alternative_count = split_urls(all.data, others, 64);
    load.alternatives = load.alternative_count > 0 ? others : NULL;
    load.url = all.data;
    load.transfer = &transfer;
    load.progress = on_progress, load.completed = on_loaded, load.user_data = job;
    if (checksum != NULL && !read_checksum(checksum, &integrity)) {
        const char *message = "The checksum is not a SHA-256, 64 hexadecimal digits.";
        job_fail(job, own_failure(SDD_ERROR_INVALID_ARGUMENT, 0, message), EXIT_USAGE);
    } else {
        if (checksum != NULL)
            load.integrity = integrity.data, load.options &= ~(sdd_options)SDD_OPTION_STOP_WHEN_COMPLETE;
        if (sdd_loader_submit(run->session.loader, &load) == 0) job_refuse(job);
    }
    text_free(&integrity);
    text_free(&all);
}

/* Makes the URLs of a job, separated by TABs, of what its list says, and the name that its file has by them. */
static void name_urls(struct job *job)
{
    struct text url = { 0 };
    char *given = need_copy(job->item.url);
    for (char *part = given, *end = NULL; part != NULL; part = end) {
        end = strchr(part, '\t');
        if (end != NULL) *end++ = 0;
        if (*part == 0) continue;
        if (url.size > 0) text_putc(&url, '\t');
        add_whole_url(&url, part);
    }
    job->url = need_copy(text_string(&url));
    job->first = need(strndup(job->url, strcspn(job->url, "\t")));
    job->item.url[strcspn(job->item.url, "\t")] = 0;
    name_from_url(&job->base, job->first);
    text_free(&url);
    free(given);
}

/* Makes the URL of a job for a file. Returns false, with errno, if it cannot be read. */
static bool open_file(struct job *job)
{
    struct text url = { 0 };
    int64_t most = job->run->settings->max_size > 0 ? job->run->settings->max_size : MOST_OF_FILE;
    bool good = add_file_url(&url, job->first, most, &job->fd);
    job->url = need_copy(text_string(&url));
    text_free(&url);
    return good;
}

static struct job *job_make(struct run *run, struct url_item *item)
{
    struct job *job = need(calloc(1, sizeof *job));
    job->run = run;
    job->item = *item;
    job->expected = job->fd = -1;
    job->report.url = job->item.url;
    job->report.number = ++run->number;
    job->format = wanted_format(run->settings, item->output != NULL ? item->output : run->settings->output);
    job->convert = run->convert || can_encode(job->format);
    job->previous = run->last;
    if (run->last != NULL) run->last->next = job;
    run->last = job;
    if (run->first == NULL) run->first = job;
    if (run->unbegun == NULL) run->unbegun = job;
    run->under_way++;
    return job;
}

void job_add(struct run *run, struct url_item *item)
{
    struct job *job = job_make(run, item);
    if (run->settings->command != THUMBNAIL || is_url(item->url))
        name_urls(job);
    else {
        job->first = need_copy(item->url);
        name_from_file(&job->base, job->first);
    }
    claim_name(job);
}

/* Tells whether --public-only refuses a job. */
static bool is_refused(const struct job *job)
{
    if (!job->run->settings->public_only) return false;
    return job->url == NULL ? !job->item.is_argument : has_file_url(job->url);
}

static void job_begin(struct job *job)
{
    const struct run *run = job->run;
    struct text found = { 0 };
    if (job->format == FORMAT_NONE) {
        const char *message =
            "The extension of its \"out=\" is none of pictures; --to says the format of files with any name.";
        job_fail(job, own_failure(SDD_ERROR_INVALID_ARGUMENT, 0, message), EXIT_USAGE);
    } else if ((run->settings->no_clobber || run->settings->resume) && !run->to_stdout && file_exists(job, &found)) {
        job->report.skipped = true;
        job->report.path = found.data;
        job_end(job);
    } else if (is_refused(job)) {
        job_fail(job, file_refused(), EXIT_LIMIT);
    } else if (job->url == NULL && !open_file(job)) {
        int error = errno;
        sdd_failure failure = own_failure(SDD_ERROR_FILE_NOT_READABLE, 0, strerror(error));
        failure.system_error = error;
        job_fail(job, failure, EXIT_FILES);
    } else
        job_submit(job);
    text_free(&found);
}

void jobs_begin(struct run *run)
{
    for (size_t count = 1; run->unbegun != NULL; count++) {
        struct job *job = run->unbegun;
        run->unbegun = job->next;
        job_begin(job);
        if (count % 64 == 0) session_wait(&run->session, -1, 0);
    }
}
