/* sdd bench: downloads URLs again and again, and prints rates and percentiles. */
#include "commands.h"
#include "bars.h"
#include "job.h"
#include "json.h"
#include "output.h"
#include "session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { FRAME_MS = 100 };

/* The times of one kind, in microseconds; 0 is a time that did not happen and is left out. */
struct times {
    const char *name, *member;
    int64_t *items;
    size_t count;
};

enum { FIRST_BYTE, TRANSFER, DECODE, TOTAL, KINDS };

struct bench {
    const struct settings *settings;
    struct session session;
    char **urls;
    size_t url_count;
    int64_t started, ended, failed, under_way;
    int64_t bytes, decoded, new_connections;
    int64_t began, shown_at, shown_bytes;
    double rate;
    struct times times[KINDS];
    int status, http_version;
    sdd_failure failure; /* the first one, whose message is `message` */
    struct text message; /* with its URL */
};

static void on_end(const sdd_result *result, void *user_data)
{
    struct bench *bench = user_data;
    const int64_t now[KINDS] = { result->metrics->first_byte_us, result->metrics->transfer_us,
                                 result->metrics->decode_us, result->metrics->total_us };
    bench->under_way--;
    if (result->failure.status == SDD_ERROR_CANCELLED && stop_signal() != 0) return;
    bench->ended++;
    if (result->failure.status != SDD_OK) {
        if (bench->failed == 0) {
            text_printf(&bench->message, "%s: %s", result->url, result->failure.message);
            bench->failure = result->failure;
        }
        bench->status = combine_status(bench->status, class_status(&result->failure), bench->failed == 0);
        bench->failed++;
        return;
    }
    bench->bytes += result->metrics->body_bytes;
    bench->new_connections += result->metrics->connection_reused == 0;
    bench->http_version = result->metrics->http_version;
    if (result->image != NULL) bench->decoded++;
    for (int i = 0; i < KINDS; i++)
        if (now[i] > 0 && (i != DECODE || bench->settings->decode))
            bench->times[i].items[bench->times[i].count++] = now[i];
}

static void start(struct bench *bench)
{
    const struct settings *settings = bench->settings;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    session_fill(&bench->session, &transfer);
    request.transfer = &transfer;
    request.url = bench->urls[(size_t)bench->started % bench->url_count];
    request.options = bench->session.options;
    if (settings->decode) {
        /* Requests that would send the same at the same time share a transfer, unless their limits differ. */
        int64_t most = settings->max_size > 0 ? settings->max_size : 64 << 20;
        transfer.max_body_bytes = most + bench->started % 1000000;
    } else {
        request.options |= SDD_OPTION_BYTES_ONLY;
        request.sink = SDD_SINK_DISCARD;
    }
    request.completed = on_end, request.user_data = bench;
    bench->started++;
    bench->under_way++;
    if (sdd_downloader_submit(bench->session.downloader, &request) != 0) return;
    usage_failure("");
}

/* ------------------------------------------------------------------------------------------------------- results */

static int by_time(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return a < b ? -1 : a > b;
}

/* The time that a share of all is not above (nearest rank). */
static double percentile(const struct times *times, double share)
{
    if (times->count == 0) return 0;
    size_t rank = (size_t)ceil(share * (double)times->count);
    return (double)times->items[rank == 0 ? 0 : rank - 1] / 1000;
}

static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static const char *version_text(int version)
{
    return version == 10   ? "HTTP/1.0"
           : version == 11 ? "HTTP/1.1"
           : version == 20 ? "HTTP/2"
           : version == 30 ? "HTTP/3"
                           : "-";
}

static void print_json(const struct bench *bench, double seconds)
{
    struct text line = { 0 };
    double good = (double)(bench->ended - bench->failed);
    json_begin(&line);
    json_string(&line, "url", bench->urls[0]);
    json_number(&line, "urls", (int64_t)bench->url_count);
    json_boolean(&line, "ok", bench->failed == 0);
    json_number(&line, "requests", bench->ended);
    json_number(&line, "failed", bench->failed);
    if (bench->failed > 0) json_error(&line, &bench->failure, bench->message.data);
    json_number(&line, "parallel", bench->settings->parallel);
    json_real(&line, "seconds", seconds);
    json_number(&line, "bytes", bench->bytes);
    json_real(&line, "requests_per_second", good / seconds);
    json_real(&line, "bytes_per_second", (double)bench->bytes / seconds);
    json_number(&line, "connections", bench->new_connections);
    json_string(&line, "http", version_text(bench->http_version));
    json_number(&line, "decoded", bench->decoded);
    json_real(&line, "cpu_seconds", processor_seconds());
    for (int i = 0; i < KINDS; i++) {
        if (bench->times[i].count == 0) continue;
        json_open(&line, bench->times[i].member, '{');
        json_real(&line, "min", percentile(&bench->times[i], 0));
        json_real(&line, "p50", percentile(&bench->times[i], 0.5));
        json_real(&line, "p90", percentile(&bench->times[i], 0.9));
        json_real(&line, "p99", percentile(&bench->times[i], 0.99));
        json_real(&line, "max", percentile(&bench->times[i], 1));
        json_close(&line, '}');
    }
    json_end(&line);
    text_free(&line);
}

static void print_text(const struct bench *bench, double seconds)
{
    struct text page = { 0 };
    double good = (double)(bench->ended - bench->failed);
    text_printf(&page, "requests:    %" PRId64 ", %" PRId64 " at a time, %" PRId64 " failed\n", bench->ended,
                bench->settings->parallel, bench->failed);
    text_printf(&page, "time:        %.3f s, of a processor %.3f s\n", seconds, processor_seconds());
    text_printf(&page, "rate:        %.1f requests/s, %s/s\n", good / seconds,
                bytes_text((int64_t)((double)bench->bytes / seconds)));
    text_printf(&page, "bodies:      %s, %s each\n", bytes_text(bench->bytes),
                bytes_text(good > 0 ? bench->bytes / (int64_t)good : 0));
    text_printf(&page, "connections: %" PRId64 ", %s\n\n", bench->new_connections, version_text(bench->http_version));
    text_printf(&page, "%-12s %10s %10s %10s %10s %10s  ms\n", "", "fastest", "median", "90 %", "99 %", "slowest");
    for (int i = 0; i < KINDS; i++)
        if (bench->times[i].count > 0)
            text_printf(&page, "%-12s %10.2f %10.2f %10.2f %10.2f %10.2f\n", bench->times[i].name,
                        percentile(&bench->times[i], 0), percentile(&bench->times[i], 0.5),
                        percentile(&bench->times[i], 0.9), percentile(&bench->times[i], 0.99),
                        percentile(&bench->times[i], 1));
    print_out(page.data, page.size);
    text_free(&page);
}

static void draw(struct bench *bench)
{
    if (!bars_due()) return;
    int64_t now = now_us();
    double seconds = (double)(now - bench->shown_at) / 1e6;
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    if (sdd_downloader_get_statistics(bench->session.downloader, &statistics) != SDD_OK) return;
    bench->rate = (double)(bench->bytes - bench->shown_bytes) / (seconds > 0 ? seconds : 1) * 0.3 + bench->rate * 0.7;
    bench->shown_bytes = bench->bytes;
    bench->shown_at = now;
    struct bars_total total = { .ended = (uint64_t)bench->ended,
                                .failed = (uint64_t)bench->failed,
                                .known = (uint64_t)bench->settings->count,
                                .all_known = true,
                                .bytes = bench->bytes,
                                .rate = bench->rate };
    bars_draw(NULL, 0, 0, &total);
}

int run_bench(struct settings *settings, char **arguments, size_t count)
{
    static const char *const names[KINDS][2] = { { "first byte", "first_byte_ms" },
                                                 { "transfer", "transfer_ms" },
                                                 { "decode", "decode_ms" },
                                                 { "total", "total_ms" } };
    struct bench bench = { .settings = settings, .urls = arguments, .url_count = count };
    if (count == 0) usage_error("no URL");
    for (size_t i = 0; i < count; i++) {
        struct text url = { 0 };
        add_whole_url(&url, arguments[i]);
        arguments[i] = url.data; /* for as long as the program runs */
    }
    for (int i = 0; i < KINDS; i++) {
        bench.times[i] = (struct times){ .name = names[i][0], .member = names[i][1] };
        bench.times[i].items = need(calloc((size_t)settings->count, sizeof(int64_t)));
    }
    session_open(&bench.session, settings);
    bars_begin(!settings->quiet && !settings->no_progress && !settings->json);
    bench.began = bench.shown_at = now_us();
    /* A few requests wait behind those that run, so that a slot is never empty. */
    while ((bench.started < settings->count && stop_signal() == 0) || bench.under_way > 0) {
        if (stop_signal() != 0) sdd_downloader_cancel_all(bench.session.downloader);
        while (bench.started < settings->count && bench.under_way < settings->parallel * 2 && stop_signal() == 0)
            start(&bench);
        session_wait(&bench.session, -1, bars_active() ? FRAME_MS : -1);
        draw(&bench);
    }
    double seconds = (double)(now_us() - bench.began) / 1e6;
    bars_clear();
    for (int i = 0; i < KINDS; i++) qsort(bench.times[i].items, bench.times[i].count, sizeof(int64_t), by_time);
    if (settings->json)
        print_json(&bench, seconds);
    else if (!settings->quiet)
        print_text(&bench, seconds);
    if (bench.failed > 0 && !settings->json)
        complain("%" PRId64 " failed, the first: %s", bench.failed, bench.message.data);
    text_free(&bench.message);
    for (int i = 0; i < KINDS; i++) free(bench.times[i].items);
    session_close(&bench.session);
    if (stop_signal() != 0) return EXIT_SIGNAL + stop_signal();
    return bench.failed > 0 && bench.ended > bench.failed ? EXIT_SOME_FAILED : bench.status;
}
