/* sdd get and sdd thumbnail: many URLs, a window of them at a time. */
#include "commands.h"
#include "bars.h"
#include "formats.h"
#include "job.h"
#include "names.h"
#include "output.h"
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LETTERS_AND_DIGITS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { SMALLEST_WINDOW = 256, FRAME_MS = 100, MOST_COUNTING_US = 5000000 };

/* Checks what one option says against the others. */
static void check_settings(const struct settings *settings)
{
    const char *wrong = settings->output == NULL ? NULL : template_error(settings->output);
    const char *colour = settings->background;
    if (wrong != NULL)
        usage_error("--output: \"%s\": fields are {n}, {name}, {ext}, {host}, {width} and {height}; {{ is a brace",
                    wrong);
    if (settings->output != NULL && is_template(settings->output) && template_leaves(settings->output))
        usage_error("--output: \"%s\": behind the first field no part of the path may be empty, \".\" or \"..\"",
                    settings->output);
    check_formats(settings);
    if (settings->directory != NULL && *settings->directory == 0) usage_error("--directory: the name is empty");
    if (settings->rate_limit > 0 && settings->http_version > 11)
        usage_error("--limit-rate needs HTTP/1.1: transfers that share a connection cannot be slowed down");
    if (settings->force && (settings->no_clobber || settings->resume))
        usage_error("--force excludes --no-clobber and --resume");
    if (colour != NULL && (strlen(colour) != 6 || strspn(colour, "0123456789abcdefABCDEF") != 6))
        usage_error("--background: \"%s\" is not six hexadecimal digits, such as ffffff", colour);
    if (settings->offline && settings->refresh) usage_error("--offline and --refresh exclude each other");
    if (settings->cache_dir != NULL && settings->cache == CACHE_USE_NONE && !settings->resume && !settings->offline)
        usage_error("--cache-dir needs --cache, --offline or --resume");
    if (settings->refresh && settings->cache == CACHE_USE_NONE) usage_error("--refresh needs --cache");
    if ((settings->no_clobber || settings->resume) && has_size_field(settings->output))
        usage_error(
            "--no-clobber and --resume need names that are known before the download, without {width} and {height}");
    if ((settings->no_clobber || settings->resume) && settings->content_disposition)
        usage_error("--no-clobber and --resume need names that are known before the download, without "
                    "--content-disposition");
    if (settings->any && (settings->width > 0 || settings->height > 0 || settings->format != 0 || settings->still))
        usage_error("--any excludes --size, --to and --still: what is no picture cannot be made anew");
}

/* Refuses "[001-100]" and "[a-z]", which curl takes for a pattern: a URL has brackets around IPv6 addresses alone. */
static void refuse_pattern(const char *url)
{
    for (const char *at = strchr(url, '['); at != NULL; at = strchr(at + 1, '[')) {
        size_t first = strspn(at + 1, LETTERS_AND_DIGITS), rest = 0;
        if (first == 0 || at[1 + first] != '-') continue;
        rest = strspn(at + 2 + first, LETTERS_AND_DIGITS);
        if (rest > 0 && strchr("]:", at[2 + first + rest]) != NULL && at[2 + first + rest] != 0)
            usage_error(
                "%s: patterns as curl's \"%.*s]\" are not expanded; the shell's {1..100} are, and a bracket that "
                "is meant is %%5B",
                url, (int)(2 + first + rest), at);
    }
}

/* -o NAME and -o -, or /dev/stdout, are for one URL. */
static void check_output(struct run *run, size_t count)
{
    const struct settings *settings = run->settings;
    bool one = count == 1 && settings->inputs.count == 0;
    struct stat facts;
    if (settings->output == NULL) return;
    if (*settings->output == 0) usage_error("--output: the name is empty");
    if (settings->output[strlen(settings->output) - 1] == '/') {
        complain("%s: this is the name of a directory; use --directory", settings->output);
        exit(EXIT_FILES);
    }
    struct file_path path = { 0 };
    struct text name = { 0 };
    name_add_plain(&name, settings->output);
    path_begin(&path, &run->target, name.data, name.size);
    int fd = output_descriptor(path.text.data);
    run->to_stdout = strcmp(settings->output, "-") == 0 || fd == 1;
    run->target.explicit_name = !is_template(settings->output);
    if (run->target.explicit_name && !one)
        usage_error("--output %s is the name of one file; use fields for several, as in '{n:04}-{name}.{ext}'",
                    settings->output);
    if (run->to_stdout) {
        if (settings->json) usage_error("--output %s and --json would mix on standard output", settings->output);
        if (isatty(1)) usage_error("standard output is a terminal; --show shows pictures there");
    }
    bool is_new = run->target.explicit_name && !run->to_stdout && fd < 0 && !settings->force && !settings->no_clobber &&
                  !settings->resume;
    if (is_new && stat(path.text.data, &facts) == 0 && (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode))) {
        complain("%s: %s", path.text.data, file_error(EEXIST));
        exit(EXIT_FILES);
    }
    text_free(&path.text), text_free(&name);
}

/* Tells whether lines on standard output may show up between the bars: a terminal, or a pipe to a program on it. */
static bool shares_terminal(void)
{
    struct stat facts;
    return isatty(1) || (fstat(1, &facts) == 0 && S_ISFIFO(facts.st_mode));
}

static void summary(const struct run *run)
{
    struct text line = { 0 };
    double seconds = (double)(now_us() - run->began) / 1e6;
    uint64_t done = run->ended - run->failed - run->skipped;
    text_printf(&line, "%" PRIu64 " %s, %s in %.1f s", done, done == 1 ? "file" : "files", bytes_text(run->bytes),
                seconds);
    if (run->body_bytes > 0 && seconds > 0)
        text_printf(&line, " (%s/s)", bytes_text((int64_t)((double)run->body_bytes / seconds)));
    if (run->skipped > 0) text_printf(&line, ", %" PRIu64 " existed", run->skipped);
    if (run->failed > 0) text_printf(&line, ", %" PRIu64 " failed", run->failed);
    if (run->unfinished > 0) text_printf(&line, ", %" PRIu64 " not finished", run->unfinished);
    if (stop_signal() != 0)
        complain("interrupted: %s", line.data);
    else
        bars_line(line.data, 0);
    text_free(&line);
}

/* Counts the URLs that a run has not begun when it is interrupted: those of files, and of a pipe what is in it. A program
   that goes on writing is not waited for. */
static void count_rest(struct run *run)
{
    int64_t end = now_us() + MOST_COUNTING_US;
    struct url_item item;
    while (now_us() < end && list_next(&run->list, &item) == LIST_ITEM) {
        run->unfinished++;
        item_free(&item);
    }
    run->unfinished += run->list.pending.url != NULL; /* its options might have followed */
}

static void stop_run(struct run *run)
{
    run->stopping = true;
    sdd_loader_cancel_all(run->session.loader);
    sdd_downloader_cancel_all(run->session.downloader);
    if (!output_failed()) count_rest(run);
}

static int sooner(int one, int other) { return one < 0 ? other : other < 0 || one < other ? one : other; }

/* The longest wait for events, so that bars move, a rate is kept and bodies are looked at; -1: no limit. */
static int longest_wait(struct run *run)
{
    int frame = bars_active() ? FRAME_MS : -1;
    return sooner(sooner(frame, rate_keep(&run->rate_limit, run->session.downloader)), jobs_peek(run));
}

/* Draws the bars if it is time. */
static void run_draw(struct run *run)
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

static void run_all(struct run *run)
{
    size_t window = (size_t)run->settings->parallel * (run->settings->rate_limit > 0 ? 1 : 4);
    bool more = true;
    if (window < SMALLEST_WINDOW && run->settings->rate_limit == 0) window = SMALLEST_WINDOW;
    while (more || run->under_way > 0) {
        int readable = -1;
        if (!run->stopping && (stop_signal() != 0 || output_failed())) stop_run(run);
        if (run->stopping) more = false;
        while (more && run->under_way < window && !rate_is_over(&run->rate_limit) && !output_failed()) {
            struct url_item item;
            enum list_answer answer = list_next(&run->list, &item);
            if (answer == LIST_ITEM) job_add(run, &item);
            if (answer == LIST_END) more = false;
            if (answer == LIST_WAIT) readable = run->list.fd;
            if (answer == LIST_WAIT || stop_signal() != 0) break;
        }
        jobs_begin(run);
        int longest = longest_wait(run);
        /* With neither a request nor an input nor a pause to wait for, nothing would end the wait. */
        if (run->under_way > 0 || readable >= 0 || (more && rate_is_over(&run->rate_limit)))
            session_wait(&run->session, readable, longest);
        run_draw(run);
    }
}

int run_get(struct settings *settings, char **arguments, size_t count)
{
    struct run run = { .settings = settings, .began = now_us() };
    if (count == 0 && settings->inputs.count == 0)
        usage_error("no %s; -i FILE reads a list, and -i - standard input",
                    settings->command == GET ? "URL" : "file or URL");
    if (settings->command == THUMBNAIL && settings->width == 0 && settings->height == 0)
        settings->width = settings->height = 256;
    check_settings(settings);
    if (settings->offline && settings->cache == CACHE_USE_NONE) settings->cache = CACHE_USE_ANY;
    for (size_t i = 0; i < count; i++)
        if (settings->command == GET || is_url(arguments[i])) refuse_pattern(arguments[i]);
    run.convert = settings->format != 0 || settings->still || changes_pictures(settings);
    run.target.directory = settings->directory;
    run.target.force = settings->force;
    target_begin(&run.target);
    check_output(&run, count);
    check_show(settings, run.to_stdout);
    if (settings->json || run.to_stdout) print_out("", 0); /* ends the run now if there is no standard output */
    if (settings->checksum != NULL && (count != 1 || settings->inputs.count > 0))
        usage_error("--checksum is for one URL; lists say checksum=HASH for each");
    run.list = (struct url_list){ .arguments = arguments,
                                  .argument_count = count,
                                  .files = settings->inputs.items,
                                  .file_count = settings->inputs.count,
                                  .fd = -1 };
    run.rate_limit.bytes_per_second = settings->rate_limit;
    session_open(&run.session, settings);
    if (!settings->any) peek_prepare(&run.session);
    run.show = show_begin(settings->show);
    bars_begin(!settings->quiet && !settings->no_progress && !(settings->json && shares_terminal()));
    run_all(&run);
    bars_clear();
    if (stop_signal() != 0 || (bars_active() && !settings->quiet && run.number > 1)) summary(&run);
    list_close(&run.list);
    session_close(&run.session);
    if (stop_signal() != 0) return EXIT_SIGNAL + stop_signal();
    if (run.list.trouble > 0) {
        run.status = combine_status(run.status, EXIT_FILES, run.statuses == 0);
        run.statuses++;
    }
    return run.statuses > 0 && run.ended > run.failed ? EXIT_SOME_FAILED : run.status;
}
