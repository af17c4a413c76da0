#include "job.h"
#include "bars.h"
#include "names.h"
#include "show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static void job_end(struct job *job)
{
    struct run *run = job->run;
    struct report *report = &job->report;
    if (job->previous != NULL) job->previous->next = job->next;
    if (job->next != NULL) job->next->previous = job->previous;
    if (run->first == job) run->first = job->next;
    if (run->last == job) run->last = job->previous;
    run->under_way--;
    if (report->error == SDD_ERROR_CANCELLED && run->stopping) {
        run->unfinished++;
    } else {
        run->ended++;
        run->skipped += report->skipped;
        if (report->error != SDD_OK) {
            run->failed++;
            run->status = combine_status(run->status, report->exit_status, run->statuses++ == 0);
        } else
            run->bytes += report->bytes;
    }
    report_print(report, run->settings);
    report_free(report);
    item_free(&job->item);
    if (job->fd >= 0) close(job->fd);
    free(job->url);
    text_free(&job->base);
    free(job);
}

static void job_fail(struct job *job, sdd_status error, int32_t detail, int exit_status, const char *message)
{
    report_fail(&job->report, error, detail, exit_status);
    job->report.message = message;
    job_end(job);
}

/* ---------------------------------------------------------------------------------------------------------- files */

static void make_name(const struct job *job, int32_t format, bool converted, struct text *name)
{
    const struct run *run = job->run;
    struct name_facts facts = { .url = job->item.url,
                                .base = text_string(&job->base),
                                .number = job->report.number,
                                .format = format,
                                .converted = converted,
                                .width = job->report.width,
                                .height = job->report.height };
    if (job->item.output != NULL)
        name_add_safe(name, job->item.output, strlen(job->item.output));
    else if (run->target.explicit_name)
        text_puts(name, run->settings->output);
    else
        name_make(name,
                  run->settings->output == NULL && run->settings->command == THUMBNAIL ? "{name}-thumb.{ext}"
                                                                                       : run->settings->output,
                  &facts);
}

static void job_write(struct job *job, const void *data, size_t size)
{
    struct run *run = job->run;
    struct report *report = &job->report;
    struct text name = { 0 }, path = { 0 }, message = { 0 };
    sdd_image_facts facts = SDD_IMAGE_FACTS_INIT;
    bool converted = run->convert && report->format != sdd_image_sniff(data, size);
    report->format = sdd_image_sniff(data, size);
    report->bytes = (int64_t)size;
    if (sdd_image_probe(data, size, &facts) == SDD_OK) {
        bool turned = facts.orientation > 4 && run->convert;
        report->width = turned ? facts.height : facts.width;
        report->height = turned ? facts.width : facts.height;
    }
    if (run->to_stdout) {
        print_out(data, size);
        report->path = "-";
        job_end(job);
        return;
    }
    make_name(job, report->format, converted || (run->convert && run->settings->format != 0), &name);
    int error = write_file(&run->target, text_string(&name), data, size, &path);
    report->path = text_string(&path);
    if (error != 0) {
        text_printf(&message, "%s: %s", report->path,
                    error == EEXIST ? "it exists; --force replaces files" : strerror(error));
        report->system_error = error;
        job_fail(job, SDD_ERROR_SINK, 0, EXIT_FILES, message.data);
    } else {
        if (run->show != SHOW_NONE) {
            bars_clear();
            show_bytes(data, size, run->show);
        }
        job_end(job);
    }
    text_free(&name), text_free(&path), text_free(&message);
}

/* Tells whether the file of a job exists already, whatever format it would have. */
static bool file_exists(struct job *job, struct text *path)
{
    const struct run *run = job->run;
    int32_t format = 0; /* first the name that a body of unknown format has */
    size_t next = 0;
    do {
        struct text name = { 0 };
        struct stat facts;
        if (run->convert && run->settings->format != 0 && format != run->settings->format) continue;
        make_name(job, format, run->convert && format != 0, &name);
        text_clear(path);
        target_path(&run->target, text_string(&name), path);
        text_free(&name);
        if (stat(path->data, &facts) == 0) return true;
    } while ((format = format_at(next++)) != 0);
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- loads */

static void on_progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    struct job *job = user_data;
    (void)token, (void)url;
    if (received > job->received) job->run->body_bytes += received - job->received;
    if (received < job->received) job->shown_received = 0; /* another attempt */
    job->started = true;
    job->received = received;
    job->expected = expected;
}

static void on_encoded(const sdd_result *result, void *user_data)
{
    struct job *job = user_data;
    if (result->error != SDD_OK)
        job_fail(job, result->error, result->detail, class_status(result->error, result->detail), result->message);
    else
        job_write(job, sdd_bytes_data(result->bytes), sdd_bytes_size(result->bytes));
}

static uint32_t colour(const char *digits) { return digits == NULL ? 0 : (uint32_t)strtoul(digits, NULL, 16); }

static void job_encode(struct job *job, sdd_image *image)
{
    const struct settings *settings = job->run->settings;
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_status status = SDD_OK;
    int32_t format = sdd_image_format(image);
    options.format = settings->format;
    if (options.format == 0 && (format == SDD_IMAGE_FORMAT_JPEG || format == SDD_IMAGE_FORMAT_PNG))
        options.format = format;
    options.quality = settings->quality > 0 ? (int32_t)settings->quality : 0;
    options.max_bytes = settings->max_output > 0 ? settings->max_output : 0;
    options.background = colour(settings->background);
    options.progressive = settings->progressive;
    job->report.format = format;
    if (sdd_image_encode_async(image, job->run->session.downloader, &options, on_encoded, job, NULL, &status) == 0)
        job_fail(job, status, 0, class_status(status, 0), sdd_last_error_message());
}

/* Tells whether a picture is wanted just as the server sent it. */
static bool as_it_is(const struct run *run, int32_t format)
{
    const struct settings *settings = run->settings;
    return !run->convert ||
           (settings->width == 0 && settings->height == 0 && format == settings->format &&
            settings->quality == NOT_GIVEN && settings->max_output == NOT_GIVEN && !settings->progressive);
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
    }
    text_free(&name);
}

static void on_loaded(const sdd_result *result, void *user_data)
{
    struct job *job = user_data;
    struct run *run = job->run;
    size_t size = sdd_bytes_size(result->bytes);
    const uint8_t *data = sdd_bytes_data(result->bytes);
    report_read(&job->report, result);
    job->report.body_bytes = size > 0 ? (int64_t)size : result->metrics->body_bytes;
    if (result->error != SDD_OK) {
        job->report.message = result->message;
        job_end(job);
        return;
    }
    read_name(job, result->response);
    if (result->image != NULL && !as_it_is(run, sdd_image_format(result->image))) {
        job_encode(job, result->image);
        return;
    }
    if (!run->settings->any && sdd_image_sniff(data, size) == 0) {
        struct text message = { 0 };
        text_printf(&message, "It is no picture: %s of type %s; --any accepts it.", bytes_text((int64_t)size),
                    job->report.type.size == 0 ? "unknown" : job->report.type.data);
        job_fail(job, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT, EXIT_PICTURE, message.data);
        text_free(&message);
        return;
    }
    job->report.format = sdd_image_sniff(data, size);
    job_write(job, data, size);
}

static void fill_load(const struct run *run, sdd_load_request *load, sdd_decode_options *decode)
{
    const struct settings *settings = run->settings;
    bool scaled = settings->width > 0 || settings->height > 0;
    load->options = run->session.options;
    if (!run->convert && !settings->verify) load->options |= SDD_OPTION_BYTES_ONLY;
    if (run->convert && !scaled && !settings->verify) load->options |= SDD_OPTION_AVOID_DECODE_IMAGE;
    if (settings->resume) load->options |= SDD_OPTION_RESUME;
    if (settings->cache == CACHE_USE_HTTP) load->options |= SDD_OPTION_USE_HTTP_CACHE;
    if (settings->cache == CACHE_USE_ANY && settings->refresh) load->options |= SDD_OPTION_FROM_LOADER_ONLY;
    /* By the rules of HTTP, session_open() has asked for it in a header field. */
    if (settings->offline && settings->cache == CACHE_USE_ANY) load->options |= SDD_OPTION_FROM_CACHE_ONLY;
    if (settings->cache == CACHE_USE_NONE) /* it may be there all the same, for the parts of --resume */
        load->query = load->store = load->original_query = load->original_store = SDD_CACHE_NONE;
    if (!scaled) return;
    decode->target_width = settings->width, decode->target_height = settings->height;
    decode->fit = settings->fit;
    decode->allow_enlarging = settings->enlarge;
    load->decode = decode;
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
    sdd_download_request download = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    struct text integrity = { 0 }, all = { 0 };
    const char *others[64];
    sdd_status status = SDD_OK;
    const char *checksum = job->item.checksum != NULL ? job->item.checksum : run->settings->checksum;
    text_puts(&all, job->url);
    fill_load(run, &load, &decode);
    session_fill(&run->session, &download);
    if (job->fd >= 0) /* the number of a descriptor is no name for a cache */
        load.query = load.store = load.original_query = load.original_store = SDD_CACHE_NONE;
    load.alternative_count = split_urls(all.data, others, 64);
    load.alternatives = load.alternative_count > 0 ? others : NULL;
    load.url = all.data;
    load.download = &download;
    load.total_timeout_ms = download.total_timeout_ms;
    load.progress = on_progress, load.completed = on_loaded, load.user_data = job;
    if (checksum != NULL && !read_checksum(checksum, &integrity)) {
        job_fail(job, SDD_ERROR_INVALID_ARGUMENT, 0, EXIT_USAGE,
                 "The checksum is not a SHA-256, 64 hexadecimal digits.");
    } else {
        if (checksum != NULL)
            download.integrity = integrity.data, load.options &= ~(uint64_t)SDD_OPTION_STOP_WHEN_COMPLETE;
        if (sdd_loader_submit(run->session.loader, &load, &status) == 0)
            job_fail(job, status, 0, class_status(status, 0), sdd_last_error_message());
    }
    text_free(&integrity);
    text_free(&all);
}

void job_start(struct run *run, struct url_item *item)
{
    struct job *job = need(calloc(1, sizeof *job));
    struct text path = { 0 }, url = { 0 };
    job->run = run;
    job->item = *item;
    job->expected = job->fd = -1;
    job->report.url = job->item.url;
    job->report.number = ++run->number;
    job->previous = run->last;
    if (run->last != NULL) run->last->next = job;
    run->last = job;
    if (run->first == NULL) run->first = job;
    run->under_way++;
    char *all = need_copy(item->url);
    job->item.url[strcspn(job->item.url, "\t")] = 0;
    name_from_url(&job->base, job->item.url);
    if ((run->settings->no_clobber || run->settings->resume) && !run->to_stdout && file_exists(job, &path)) {
        job->report.skipped = true;
        job->report.path = path.data;
        job_end(job);
    } else if (run->settings->command == THUMBNAIL && !is_url(all) && !add_file_url(&url, all, &job->fd)) {
        job->report.system_error = errno;
        job_fail(job, SDD_ERROR_FILE_NOT_READABLE, 0, EXIT_FILES, strerror(errno));
    } else {
        job->url = need_copy(url.size > 0 ? url.data : all);
        job_submit(job);
    }
    free(all);
    text_free(&path);
    text_free(&url);
}

/* ------------------------------------------------------------------------------------------------------- bars */

void run_draw(struct run *run)
{
    if (!bars_due()) return;
    struct bar bars[64];
    size_t count = 0, hidden = 0;
    int64_t now = now_us();
    double seconds = (double)(now - run->shown_at) / 1e6;
    if (seconds > 10 || seconds <= 0) seconds = 0.1;
    for (struct job *job = run->first; job != NULL; job = job->next) {
        if (!job->started) continue;
        double rate = (double)(job->received - job->shown_received) / seconds;
        job->rate = job->rate == 0 ? rate : job->rate * 0.8 + rate * 0.2;
        job->shown_received = job->received;
        if (count == sizeof bars / sizeof *bars)
            hidden++;
        else
            bars[count++] = (struct bar){ text_string(&job->base), job->received, job->expected, job->rate };
    }
    double rate = (double)(run->body_bytes - run->shown_bytes) / seconds;
    run->rate = run->rate == 0 ? rate : run->rate * 0.8 + rate * 0.2;
    run->shown_bytes = run->body_bytes;
    run->shown_at = now;
    struct bars_total total = { .ended = run->ended,
                                .failed = run->failed,
                                .known = run->number,
                                .all_known = run->list.next_file == run->list.file_count && run->list.fd < 0 &&
                                             run->list.next_argument == run->list.argument_count,
                                .bytes = run->body_bytes,
                                .rate = run->rate };
    bars_draw(bars, count, hidden, &total);
}
