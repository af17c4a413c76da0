#include "report.h"
#include "bars.h"
#include "json.h"
#include "names.h"
#include "output.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

void report_read(struct report *report, const sdd_result *result)
{
    report->failure = result->failure;
    report->exit_status = class_status(&result->failure);
    report->origin = result->origin;
    report->attempts = result->metrics->attempts;
    report->saved_bytes = result->metrics->saved_bytes;
    report->resumed_bytes = result->metrics->resumed_bytes;
    report->total_us = result->metrics->total_us;
    report->first_byte_us = result->metrics->first_byte_us;
    report->end_unproven = result->metrics->end_unproven != 0;
    text_clear(&report->type);
    text_clear(&report->final_url);
    if (result->response != NULL) {
        text_puts(&report->type, sdd_response_mime_type(result->response));
        text_puts(&report->final_url, sdd_response_url(result->response));
    }
}

void report_free(struct report *report)
{
    text_free(&report->type);
    text_free(&report->final_url);
}

void report_fail(struct report *report, sdd_failure failure, int exit_status)
{
    failure.http_status = report->failure.http_status;
    report->failure = failure;
    report->exit_status = exit_status;
}

void json_error(struct text *line, const sdd_failure *failure, const char *message)
{
    json_string(line, "error", sdd_status_name(failure->status));
    json_number(line, "code", failure->status);
    json_number(line, "detail", failure->detail);
    json_string(line, "class", class_name(failure->error_class));
    struct text words = { 0 };
    add_words(&words, message);
    json_string(line, "message", text_string(&words));
    text_free(&words);
}

/* Adds the sentence about a failure. */
static void add_message(struct text *sentence, const struct report *report)
{
    const char *message = report->failure.message;
    add_words(sentence, *message != 0 ? message : sdd_status_message(report->failure.status));
    add_hint(sentence, &report->failure);
}

static void print_json(const struct report *report)
{
    struct text line = { 0 };
    bool good = report->failure.status == SDD_OK;
    json_begin(&line);
    json_number(&line, "n", (int64_t)report->number);
    json_string(&line, "url", report->url);
    json_boolean(&line, "ok", good);
    if (report->skipped) json_boolean(&line, "skipped", true);
    if (good) json_string(&line, "path", report->path);
    if (good && !report->skipped) {
        json_number(&line, "bytes", report->bytes);
        json_number(&line, "body_bytes", report->body_bytes);
        json_string(&line, "format", format_name(report->format));
        if (report->width > 0) json_number(&line, "width", report->width);
        if (report->height > 0) json_number(&line, "height", report->height);
        json_string(&line, "origin", origin_name(report->origin));
        if (report->end_unproven) json_boolean(&line, "end_unproven", true);
    }
    if (!good) {
        struct text message = { 0 };
        add_message(&message, report);
        json_error(&line, &report->failure, message.data);
        text_free(&message);
        json_boolean(&line, "retryable", report->failure.retryable != 0);
        if (report->failure.curl_code != 0) json_number(&line, "curl_code", report->failure.curl_code);
        if (report->failure.system_error != 0) json_number(&line, "errno", report->failure.system_error);
    }
    if (report->failure.http_status != 0) json_number(&line, "status", report->failure.http_status);
    if (report->type.size > 0) json_string(&line, "type", report->type.data);
    if (report->final_url.size > 0) json_string(&line, "final_url", report->final_url.data);
    if (report->attempts > 0) json_number(&line, "attempts", report->attempts);
    if (report->resumed_bytes > 0) json_number(&line, "resumed_bytes", report->resumed_bytes);
    if (report->saved_bytes > 0) json_number(&line, "saved_bytes", report->saved_bytes);
    if (!report->skipped) {
        json_real(&line, "first_byte_ms", (double)report->first_byte_us / 1000);
        json_real(&line, "total_ms", (double)report->total_us / 1000);
    }
    json_end(&line);
    text_free(&line);
}

/* "a.jpg   1.2 MiB  640x480 jpeg  0.42 s" */
static void print_line(const struct report *report)
{
    struct text line = { 0 };
    int columns = 80, rows = 24;
    terminal_size(2, &columns, &rows);
    size_t label = columns > 64 ? (size_t)(columns - 44 > 60 ? 60 : columns - 44) : 20;
    text_add_columns(&line, report->path == NULL ? "-" : report->path, label, terminal_is_utf8());
    if (report->skipped)
        text_puts(&line, "  exists");
    else {
        text_printf(&line, " %9s", bytes_text(report->bytes));
        char size[32] = "";
        if (report->width > 0) snprintf(size, sizeof size, "%dx%d", (int)report->width, (int)report->height);
        text_printf(&line, "  %10s %-5s", size, report->format == 0 ? "" : format_name(report->format));
        text_printf(&line, " %6.2f s", (double)report->total_us / 1e6);
        if (report->origin != SDD_ORIGIN_NETWORK) text_puts(&line, " cached");
    }
    bars_line(line.data, 0);
    text_free(&line);
}

void report_print(const struct report *report, const struct settings *settings)
{
    if (settings->json) print_json(report);
    if (report->failure.status == SDD_OK) {
        if (!settings->json && !settings->quiet && bars_active()) print_line(report);
        return;
    }
    if (settings->json && !bars_active()) return;
    if (report->failure.status == SDD_ERROR_CANCELLED) return;
    struct text message = { 0 };
    add_message(&message, report);
    complain("%s: %s", report->url == NULL ? "" : report->url, message.data);
    text_free(&message);
}
