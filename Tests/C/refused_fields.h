/*
 * refused_fields.h - for test_refused_fields.c: gives structs with a wrong field to the library, and checks how it
 * refuses them. Makes the wrong values that follow from the kind of a field.
 */
#ifndef REFUSED_FIELDS_H
#define REFUSED_FIELDS_H

#include "readers.h"
#include "record.h"
#include "refusals.h"

#include <math.h>

static int forged; /* its address is not a handle */

/* ------------------------------------------------------------------ giving a struct to the library */

/* The library's message on the last struct, and the detail of a request. */
static char told[1024];
static sdd_detail told_detail;

static sdd_status refused_by_call(sdd_token token)
{
    if (token == 0) return sdd_last_error(NULL);
    CHECK_STATUS(sdd_downloader_idle_wait(good_downloader, -1), SDD_OK);
    return SDD_OK;
}

/* Waits for the end of a request that was accepted, which sends nothing. */
static sdd_status ended(sdd_token token, record *r)
{
    if (token == 0) {
        CHECK(r->completed_count == 0 && r->freed_count == 0);
        return sdd_last_error(NULL);
    }
    record_wait(r);
    snprintf(told, sizeof told, "%s", r->message);
    told_detail = r->detail;
    sdd_status status = r->error;
    if (status == SDD_ERROR_INVALID_DOWNLOAD_OPERATION)
        CHECK(r->stage == SDD_STAGE_SUBMIT && r->metrics.attempts == 0 && r->http_status == 0 && r->response == NULL);
    record_clear(r);
    return status;
}

#define REQUEST_READER(type, submit_it) \
    READER(type, { \
        record r = RECORD_INIT; \
        type request = *given; \
        if (request.completed) request.completed = record_completed; \
        request.user_data = &r; \
        request.user_data_free = record_freed; \
        return ended(submit_it, &r); \
    })
REQUEST_READER(sdd_download_request, sdd_downloader_submit(good_downloader, &request))
REQUEST_READER(sdd_load_request, sdd_loader_submit(good_loader, &request))
READER(sdd_prefetch_list, return refused_by_call(sdd_prefetch(good_loader, given));)
READER(sdd_transfer_options, {
    sdd_download_request request = record_request(NULL, "http://127.0.0.1:1/");
    request.transfer = given;
    return read_sdd_download_request(&request);
})

/* Other calls that take these structs. */
static sdd_status decode_with(const void *given)
{
    sdd_image *made = (sdd_image *)&made;
    sdd_status status = sdd_image_decode("x", 1, given, &made);
    CHECK(made == NULL);
    return status;
}

static sdd_status transform_with(const void *given)
{
    sdd_image *made = (sdd_image *)&made;
    sdd_status status = sdd_image_transform(good_image, given, 1, &made);
    CHECK((made == NULL) == (status != SDD_OK));
    sdd_image_release(made);
    return status;
}

static sdd_status put_with(const void *given)
{
    sdd_cache_item item = *(const sdd_cache_item *)given;
    item.user_data_free = never_sdd_user_data_free_fn;
    return refused_by_call(sdd_cache_put(good_cache, good_downloader, &item));
}

static sdd_status query_with(const void *given)
{
    sdd_cache_query_options query = *(const sdd_cache_query_options *)given;
    query.completed = never_sdd_result_fn;
    query.user_data_free = never_sdd_user_data_free_fn;
    return refused_by_call(sdd_cache_query(good_cache, good_downloader, &query));
}

static const reader more_readers[] = {
    READ(sdd_download_request), READ(sdd_load_request), READ(sdd_prefetch_list), READ(sdd_transfer_options),
    READ_BY(sdd_decode_options, decode_with), READ_BY(sdd_transform, transform_with), READ_BY(sdd_cache_item, put_with),
    READ_BY(sdd_cache_query_options, query_with),
};
enum { READERS = sizeof readers / sizeof *readers, MORE_READERS = sizeof more_readers / sizeof *more_readers };

static const reader *reader_at(int number)
{
    return number < READERS ? &readers[number] : &more_readers[number - READERS];
}

/* Returns the first reader of a struct, or NULL. */
static const reader *reader_of(const struct_row *row)
{
    for (int i = 0; i < READERS + MORE_READERS; i++)
        if (reader_at(i)->row == row) return reader_at(i);
    return NULL;
}

/* ----------------------------------------------------------------------------------------- refusals */

static char refused[STRUCT_COUNT][64]; /* by the numbers of struct and field */

static char *refused_mark(const struct_row *row, const field_row *field)
{
    for (int i = 0; i < STRUCT_COUNT; i++)
        if (header_structs[i] == row) return &refused[i][field - row->fields];
    FAIL("%s is not in the tables", row->name);
}

/* Checks that the library refuses a struct, whichever way it gets it, and names the field first. */
static void refuses(const struct_row *row, const char *field, sdd_status expected, sdd_detail detail, const void *given)
{
    char name[96];
    int count = 0;
    size_t length = (size_t)snprintf(name, sizeof name, "%s.%s", row->name, field);
    for (int i = 0; i < READERS + MORE_READERS; i++) {
        if (reader_at(i)->row != row) continue;
        forget_sentence();
        told[0] = 0;
        told_detail = 0;
        sdd_status status = reader_at(i)->read(given);
        if (told[0] == 0) snprintf(told, sizeof told, "%s", sdd_last_error_message());
        if (detail == 0) told_detail = last_detail();
        if (status != expected || told_detail != detail)
            FAIL("%s: %s, %d: %s", name, sdd_status_name(status), (int)told_detail, told);
        if (strncmp(told, name, length) != 0 || (told[length] != ':' && told[length] != '['))
            FAIL("the message does not name %s: %s", name, told);
        if (strlen(told) < length + 10 || told[strlen(told) - 1] != '.') FAIL("not a sentence: %s", told);
        count++;
    }
    CHECK(count > 0);
    *refused_mark(row, field_named(row, field)) = 1;
}

/* The kind of transform that reads a field; all other fields are read by SDD_TRANSFORM_RESIZE. */
static const struct { const char *field; sdd_transform_kind kind; } kinds[] = {
    { "flip", SDD_TRANSFORM_FLIP },
    { "degrees", SDD_TRANSFORM_ROTATE },
    { "keep_size", SDD_TRANSFORM_ROTATE },
    { "border", SDD_TRANSFORM_BORDER },
    { "radius", SDD_TRANSFORM_ROUND_CORNERS },
    { "corners", SDD_TRANSFORM_ROUND_CORNERS },
    { "key", SDD_TRANSFORM_CALLBACK },
    { "callback", SDD_TRANSFORM_CALLBACK },
};

/* Makes a struct in which this field will be wrong. */
static void make_base(const struct_row *row, const char *field, void *given)
{
    int is_waited_for = row == &row_of_sdd_cache_item || row == &row_of_sdd_cache_query_options;
    make_good(row, given);
    for (size_t i = 0; i < row->count && !is_waited_for; i++)
        if (strcmp(row->fields[i].name, "user_data_free") == 0) set_never(given, &row->fields[i]);
    if (row == &row_of_sdd_download_request)
        *(sdd_download_request *)given = record_request(NULL, "http://127.0.0.1:1/");
    if (row == &row_of_sdd_load_request) {
        ((sdd_load_request *)given)->url = "http://127.0.0.1:1/";
        ((sdd_load_request *)given)->completed = record_completed;
    }
    if (row == &row_of_sdd_cache_config) { /* a cache that cannot be made, because of its directory */
        ((sdd_cache_config *)given)->levels = SDD_CACHE_DEFAULT;
        ((sdd_cache_config *)given)->directory = "/dev/null/none";
    }
    if (row == &row_of_sdd_loader_config) {
        ((sdd_loader_config *)given)->no_cache = 0;
        ((sdd_loader_config *)given)->cache = good_cache;
    }
    if (row != &row_of_sdd_transform) return;
    sdd_transform *transform = given;
    transform->height = 1;
    transform->callback = never_sdd_transform_fn;
    transform->key = "never";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].field, field) == 0) transform->kind = kinds[i].kind;
}

/* Details of requests that end because of a field; the others end with SDD_DETAIL_OPERATION_BAD_NUMBER. */
static const struct { const char *field; sdd_detail detail; } details[] = {
    { "options", SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS },     { "method", SDD_DETAIL_OPERATION_BAD_METHOD },
    { "body", SDD_DETAIL_OPERATION_BAD_BODY },               { "body_size", SDD_DETAIL_OPERATION_BAD_BODY },
    { "range", SDD_DETAIL_OPERATION_BAD_RANGE },             { "referrer", SDD_DETAIL_OPERATION_BAD_HEADER },
    { "headers", SDD_DETAIL_OPERATION_BAD_HEADER },          { "header_count", SDD_DETAIL_OPERATION_BAD_HEADER },
    { "accepted_status_codes", SDD_DETAIL_OPERATION_BAD_ACCEPT }, { "integrity", SDD_DETAIL_OPERATION_BAD_INTEGRITY },
    { "accepted_content_types", SDD_DETAIL_OPERATION_BAD_ACCEPT }, { "ca_file", SDD_DETAIL_OPERATION_BAD_CREDENTIAL },
    { "expected_bytes", SDD_DETAIL_OPERATION_BAD_INTEGRITY }, { "sink", SDD_DETAIL_OPERATION_BAD_SINK },
    { "sink_fd", SDD_DETAIL_OPERATION_BAD_SINK },
};

/* Fields of a load that are read when it begins, as those of a download. */
static const char *const late_fields[] = { "options", "priority", "integrity", "expected_bytes" };

/* Returns the detail of a request that ends because of a field; 0 if no request begins. */
static sdd_detail detail_of(const struct_row *row, const char *field)
{
    int is_late = row == &row_of_sdd_download_request || row == &row_of_sdd_transfer_options;
    for (int i = 0; i < 4; i++) is_late |= row == &row_of_sdd_load_request && strcmp(late_fields[i], field) == 0;
    if (!is_late || strcmp(field, "struct_size") == 0 || strcmp(field, "completed") == 0) return 0;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (strcmp(details[i].field, field) == 0) return details[i].detail;
    return SDD_DETAIL_OPERATION_BAD_NUMBER;
}

/* Checks that a call fails with this status because of a field, or that a request ends. */
static void refuses_or_ends(const struct_row *row, const char *field, sdd_status expected, const void *given)
{
    sdd_detail detail = detail_of(row, field);
    refuses(row, field, detail ? SDD_ERROR_INVALID_DOWNLOAD_OPERATION : expected, detail, given);
}

/* Checks that a struct is refused inside those that point to it, too. */
static void refuses_inside(const struct_row *row, const char *field_name, sdd_status expected, const void *given)
{
    char name[96];
    sdd_detail detail = detail_of(row, field_name);
    snprintf(name, sizeof name, "%s.%s", row->name, field_name);
    if (row == &row_of_sdd_decode_options) detail = SDD_DETAIL_OPERATION_BAD_DECODE;
    if (row == &row_of_sdd_credential) detail = SDD_DETAIL_OPERATION_BAD_CREDENTIAL;
    for (int i = 0; i < READERS + MORE_READERS; i++) {
        const struct_row *outer = reader_at(i)->row;
        for (size_t at = 0; at < outer->count && reader_of(outer) == reader_at(i); at++) {
            const field_row *field = &outer->fields[at];
            char around[1024] __attribute__((aligned(16)));
            if (field->kind != KIND_OPTIONS || strcmp(field->target, row->name) != 0) continue;
            make_base(outer, field->name, around);
            set_pointer(around, field, given);
            if (at + 1 < outer->count && strstr(field[1].name, "_count")) set_number(around, &field[1], 1);
            forget_sentence();
            told[0] = 0;
            told_detail = 0;
            sdd_status status = reader_at(i)->read(around);
            if (told[0] == 0) snprintf(told, sizeof told, "%s", sdd_last_error_message());
            int is_end = status == SDD_ERROR_INVALID_DOWNLOAD_OPERATION;
            if (!is_end && status != expected)
                FAIL("%s in %s: %s: %s", name, outer->name, sdd_status_name(status), told);
            if (is_end && told_detail != detail) FAIL("%s in %s: %d: %s", name, outer->name, (int)told_detail, told);
            if (strncmp(told, name, strlen(name)) != 0) FAIL("%s in %s: %s", name, outer->name, told);
        }
    }
}

/* Sets a field to a value, and others that the value needs. */
#define WRONG(type, field, ...) \
    do { \
        type given; \
        make_base(&row_of_##type, #field, &given); \
        given.field = __VA_ARGS__; \
        refuses_or_ends(&row_of_##type, #field, INVALID, &given); \
        refuses_inside(&row_of_##type, #field, INVALID, &given); \
    } while (0)

/* ------------------------------------------------------------ values that follow from a field's kind */

/* Fields whose wrong values stand in the program alone. */
static const char *const by_hand[] = { "sdd_download_request.sink_fd", "sdd_batch_config.count" };

/* Numbers that have no upper limit. */
static const char *const unlimited[] = {
    "sdd_animation_frame.duration_us", "sdd_limits.max_scans", "sdd_cookie.expires_ms", "sdd_decode_options.target_width",
    "sdd_decode_options.target_height",
    "sdd_decode_options.scale_down_limit_bytes", "sdd_encode_options.max_width", "sdd_encode_options.max_height",
    "sdd_encode_options.max_bytes", "sdd_transform.width", "sdd_transform.height", "sdd_transform.radius",
    "sdd_transform.border",
    "sdd_cache_config.max_memory_count", "sdd_tensor.width", "sdd_tensor.height", "sdd_download_request.expected_bytes",
    "sdd_load_request.expected_bytes",
};

/* Texts that may be empty, and keys, in which any character may be. */
static const char *const maybe_empty[] = {
    "sdd_credential.username", "sdd_credential.password", "sdd_cookie.value", "sdd_transfer_options.referrer",
};
static const char *const any_text[] = {
    "sdd_cache_item.key", "sdd_cache_query_options.key", "sdd_load_request.cache_key",
};

/* Fields that take any value, beside those of can_take_all(). */
static const char *const take_all[] = {
    "sdd_batch_config.ids", "sdd_download_request.url", "sdd_load_request.url", "sdd_transform.x", "sdd_transform.y",
    "sdd_transform.colour",
};

/* Fields that take SDD_NO_LIMIT, and whose own comment does not say so. */
static const char *const other_limits[] = {
    "sdd_cache_config.max_memory_count",
    "sdd_transfer_options.queue_timeout_ms", "sdd_transfer_options.connect_timeout_ms",
    "sdd_transfer_options.first_byte_timeout_ms", "sdd_transfer_options.download_timeout_ms",
    "sdd_transfer_options.total_timeout_ms", "sdd_transfer_options.low_speed_time_ms",
};

static int is_listed(const struct_row *row, const field_row *field, const char *const *list, size_t count)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", row->name, field->name);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0) return 1;
    return 0;
}
#define IS_LISTED(list) is_listed(row, field, list, sizeof list / sizeof *list)

static void try_value(const struct_row *row, const field_row *field, sdd_status expected, const void *value)
{
    char given[1024] __attribute__((aligned(16)));
    make_base(row, field->name, given);
    memcpy(given + field->offset, value, field->size);
    refuses_or_ends(row, field->name, expected, given);
    refuses_inside(row, field->name, expected, given);
}

static void try_number(const struct_row *row, const field_row *field, int64_t number)
{
    int32_t small = (int32_t)number;
    sdd_status expected = field->kind == KIND_BITS && field->size == 8 ? SDD_ERROR_UNSUPPORTED : INVALID;
    try_value(row, field, expected, field->size == 4 ? (const void *)&small : (const void *)&number);
}

/* A count of an array that is missing, and one that no array has. */
static void try_count(const struct_row *row, const field_row *field)
{
    static const char *const nothing[8];
    const field_row *array = field - 1;
    char given[1024] __attribute__((aligned(16)));
    make_base(row, field->name, given);
    set_pointer(given, array, NULL);
    set_number(given, field, 1);
    refuses_or_ends(row, array->name, INVALID, given);
    make_base(row, field->name, given);
    set_pointer(given, array, nothing);
    set_number(given, field, -1);
    refuses_or_ends(row, field->name, INVALID, given);
}

/* Checks that a field takes SDD_NO_LIMIT. */
static void takes_no_limit(const struct_row *row, const field_row *field)
{
    char given[1024] __attribute__((aligned(16))), name[96];
    snprintf(name, sizeof name, "%s.%s:", row->name, field->name);
    make_good(row, given);
    set_number(given, field, SDD_NO_LIMIT);
    forget_sentence();
    told[0] = 0;
    if (reader_of(row)->read(given) == SDD_OK) return;
    if (strstr(told, name) || strstr(sdd_last_error_message(), name)) FAIL("%s SDD_NO_LIMIT is refused", name);
}

/* Checks that the message names the numbers that are allowed: "one of SDD_FIT_." */
static void names_numbers(const numbers_row *numbers)
{
    const char *named = strstr(told, "one of SDD_");
    if (named == NULL) FAIL("no numbers are named: %s", told);
    size_t length = strcspn(named + 7, "., "), whole = strlen(numbers->prefix);
    if (length < whole || strncmp(numbers->prefix, named + 7, whole) != 0)
        FAIL("not %s: %s", numbers->prefix, told);
}

/* Numbers that none of these fields has. */
static void try_numbers(const struct_row *row, const field_row *field)
{
    static const int64_t numbers[] = { -1, INT32_MIN, 99, INT32_MAX };
    int has_own_formats = field->numbers == &numbers_of_sdd_image_format; /* of applications, from 1000 */
    static const size_t too_large = 1 << 20;
    const numbers_row *known = field->numbers;
    switch (field->kind) {
    case KIND_SIZE:
        try_number(row, field, 0), try_number(row, field, 7), try_number(row, field, 9), try_number(row, field, -1);
        try_value(row, field, SDD_ERROR_UNSUPPORTED, &too_large);
        break;
    case KIND_FLAG: try_number(row, field, 2), try_number(row, field, -1); break;
    case KIND_BITS:
        try_number(row, field, 2 * known->values[known->count - 1]);
        try_number(row, field, field->size == 8 ? INT64_MIN : -1);
        break;
    case KIND_ENUM:
        for (int i = 0; i < (has_own_formats ? 3 : 4); i++) try_number(row, field, numbers[i]);
        if (!has_own_formats) names_numbers(known);
        for (size_t i = 0; i < known->count; i++)
            if (!is_among(known, known->values[i] + 1) && !(has_own_formats && known->values[i] >= 1000))
                try_number(row, field, known->values[i] + 1);
        break;
    default:
        if (field->is_limit || IS_LISTED(other_limits)) takes_no_limit(row, field);
        else try_number(row, field, -1);
        try_number(row, field, -2);
        try_number(row, field, field->size == 4 ? INT32_MIN : INT64_MIN);
        if (!IS_LISTED(unlimited)) try_number(row, field, field->size == 4 ? INT32_MAX : INT64_MAX);
    }
}

static int is_checked_object(const field_row *field)
{
    return field->kind == KIND_HANDLE && (strcmp(field->target, "sdd_downloader") == 0 ||
           strcmp(field->target, "sdd_cache") == 0 || strcmp(field->target, "sdd_loader") == 0);
}

static void try_field(const struct_row *row, const field_row *field)
{
    static const char *const empty = "", *const line_break = "\n", *const no_unicode = "\xff";
    static const double no_fractions[] = { NAN, 1.5, -1 };
    const void *nothing = NULL, *no_object = &forged;
    const void *other_object = strcmp(field->target, "sdd_cache") == 0 ? (void *)good_downloader : (void *)good_cache;
    int is_pointer = field->kind == KIND_TEXT || field->kind == KIND_CALLBACK;
    if (is_pointer && is_needed(row, field)) try_value(row, field, INVALID, &nothing);
    if (IS_LISTED(by_hand) || IS_LISTED(take_all)) return;
    if (field->kind <= KIND_NUMBER) try_numbers(row, field);
    if (field->kind == KIND_TEXT) {
        try_value(row, field, INVALID, &no_unicode);
        if (!IS_LISTED(any_text)) try_value(row, field, INVALID, &line_break);
        if (!IS_LISTED(maybe_empty)) try_value(row, field, INVALID, &empty);
    }
    if (field->kind == KIND_COUNT && strstr(field->name, "count")) try_count(row, field);
    if (is_checked_object(field)) try_value(row, field, SDD_ERROR_CLOSED, &no_object);
    if (is_checked_object(field)) try_value(row, field, SDD_ERROR_CLOSED, &other_object);
    /* Any finite number is an angle. */
    for (int i = 0; i < 3 && field->kind == KIND_REAL; i++)
        if (i == 0 || row != &row_of_sdd_transform) try_value(row, field, INVALID, &no_fractions[i]);
}

static void values_of_no_field_of_its_kind(void)
{
    for (int i = 0; i < READERS + MORE_READERS; i++) {
        const struct_row *row = reader_at(i)->row;
        for (size_t at = 0; at < row->count && reader_of(row) == reader_at(i); at++) try_field(row, &row->fields[at]);
    }
}

#endif
