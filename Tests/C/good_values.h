/*
 * good_values.h - values that the library takes: for each struct that it reads, one with the fields that it needs, and
 * for each call its arguments. Callbacks are functions that end the test when they are called.
 */
#ifndef GOOD_VALUES_H
#define GOOD_VALUES_H

#include "check.h"
#include "interface.h"

#define INVALID SDD_ERROR_INVALID_ARGUMENT

/* Living objects, which the program makes. NULL: none, or the shared one. */
static sdd_downloader *good_downloader;
static sdd_cache *good_cache;
static sdd_loader *good_loader;
static sdd_batch *good_batch;
static sdd_image *good_image;
static sdd_bytes *good_bytes;
static sdd_response *good_response;
static sdd_cookies *good_cookies;
static sdd_draft *good_draft;

static inline void *good_object(const char *type)
{
    const struct { const char *type; void *object; } all[] = {
        { "sdd_downloader", good_downloader }, { "sdd_cache", good_cache },       { "sdd_loader", good_loader },
        { "sdd_batch", good_batch },           { "sdd_image", good_image },       { "sdd_bytes", good_bytes },
        { "sdd_response", good_response },     { "sdd_cookies", good_cookies },   { "sdd_draft", good_draft },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].type, type) == 0) return all[i].object;
    FAIL("%s is an object that good_values.h does not know", type);
}

static const char *const no_urls[] = { NULL, NULL };
static const char *const *const all_no_urls = no_urls;
static uint8_t good_pixels[64] __attribute__((aligned(64)));
static const uint8_t *const all_good_pixels = good_pixels;

/* A PNG of one pixel, with the title "one". */
static const unsigned char good_png[] = { 137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0,
    0, 0, 1, 8, 0, 0, 0, 0, 58, 126, 155, 85, 0, 0, 0, 9, 116, 69, 88, 116, 84, 105, 116, 108, 101, 0, 111, 110, 101,
    179, 210, 190, 222, 0, 0, 0, 10, 73, 68, 65, 84, 120, 156, 99, 104, 0, 0, 0, 130, 0, 129, 119, 205, 114, 182, 0, 0, 0, 0,
    73, 69, 78, 68, 174, 66, 96, 130 };

/* The fields that a struct needs, in their order. A callback has no value here. */
static const struct {
    const char *owner, *field, *text;
    int64_t number;
    const void *place; /* where a pointer is read from */
} needs[] = {
    { "sdd_credential", "username", "user", 0, NULL },
    { "sdd_credential", "password", "secret", 0, NULL },
    { "sdd_cookie", "name", "name", 0, NULL },
    { "sdd_cookie", "value", "value", 0, NULL },
    { "sdd_cookie", "domain", "example.org", 0, NULL },
    { "sdd_header", "name", "X", 0, NULL },
    { "sdd_header", "value", "y", 0, NULL },
    { "sdd_transport", "scheme", "archive", 0, NULL },
    { "sdd_transport", "start", NULL, 0, NULL },
    { "sdd_transport", "cancel", NULL, 0, NULL },
    { "sdd_coder", "name", "never", 0, NULL },
    { "sdd_coder", "format", NULL, SDD_IMAGE_FORMAT_APPLICATION, NULL },
    { "sdd_coder", "can_decode", NULL, 0, NULL },
    { "sdd_coder", "open", NULL, 0, NULL },
    { "sdd_coder", "feed", NULL, 0, NULL },
    { "sdd_coder", "next", NULL, 0, NULL },
    { "sdd_coder", "close", NULL, 0, NULL },
    { "sdd_animation_frame", "image", NULL, 0, &good_image },
    { "sdd_transform", "kind", NULL, SDD_TRANSFORM_RESIZE, NULL },
    { "sdd_transform", "width", NULL, 9, NULL },
    { "sdd_pixel_allocator", "allocate", NULL, 0, NULL },
    { "sdd_pixel_allocator", "release", NULL, 0, NULL },
    { "sdd_memory_store", "get", NULL, 0, NULL },
    { "sdd_memory_store", "put", NULL, 0, NULL },
    { "sdd_memory_store", "remove", NULL, 0, NULL },
    { "sdd_memory_store", "clear", NULL, 0, NULL },
    { "sdd_entry_store", "get", NULL, 0, NULL },
    { "sdd_entry_store", "put", NULL, 0, NULL },
    { "sdd_entry_store", "remove", NULL, 0, NULL },
    { "sdd_entry_store", "clear", NULL, 0, NULL },
    { "sdd_cache_config", "levels", NULL, SDD_CACHE_MEMORY, NULL }, /* else it would be the user's own, on disk */
    { "sdd_cache_item", "key", "key", 0, NULL },
    { "sdd_cache_item", "image", NULL, 0, &good_image },
    { "sdd_cache_query_options", "key", "key", 0, NULL },
    { "sdd_loader_config", "downloader", NULL, 0, &good_downloader },
    { "sdd_loader_config", "no_cache", NULL, 1, NULL },
    { "sdd_batch_config", "urls", NULL, 0, &all_no_urls },
    { "sdd_batch_config", "count", NULL, 2, NULL },
    { "sdd_batch_config", "downloader", NULL, 0, &good_downloader },
    { "sdd_tensor", "pixels", NULL, 0, &all_good_pixels },
    { "sdd_tensor", "slot_count", NULL, 2, NULL },
    { "sdd_tensor", "width", NULL, 1, NULL },
    { "sdd_tensor", "height", NULL, 1, NULL },
};

static inline void set_number(void *given, const field_row *field, int64_t number)
{
    int32_t small = (int32_t)number;
    double real = (double)number;
    const void *value = field->size == 4 ? (const void *)&small : &number;
    if (field->kind == KIND_REAL) value = &real;
    memcpy((char *)given + field->offset, value, field->size);
}

static inline void set_pointer(void *given, const field_row *field, const void *pointer)
{
    memcpy((char *)given + field->offset, &pointer, sizeof pointer);
}

static inline void set_never(void *given, const field_row *field)
{
    memcpy((char *)given + field->offset, &field->never, sizeof field->never);
}

/* Makes a struct that the library takes. Returns how much of it an application must have known for that. */
static inline size_t make_good(const struct_row *row, void *given)
{
    size_t least = sizeof(size_t);
    if (row->init) memcpy(given, row->init, row->size);
    else memset(given, 0, row->size);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (strcmp(needs[i].owner, row->name) != 0) continue;
        const field_row *field = field_named(row, needs[i].field);
        if (field->kind == KIND_CALLBACK) set_never(given, field);
        else if (field->kind == KIND_TEXT) set_pointer(given, field, needs[i].text);
        else if (needs[i].place) memcpy((char *)given + field->offset, needs[i].place, field->size);
        else set_number(given, field, needs[i].number);
        if (field->offset + field->size > least) least = field->offset + field->size;
    }
    return least;
}

/* Whether a struct is refused without this field. */
static inline int is_needed(const struct_row *row, const field_row *field)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(needs[i].owner, row->name) == 0 && strcmp(needs[i].field, field->name) == 0) return 1;
    return 0;
}

/* ------------------------------------------------------------------------------ arguments of calls */

enum { MOST_ARGUMENTS = 12 };

/* Arguments with the memory that they point to. */
typedef struct made_arguments {
    argument values[MOST_ARGUMENTS];
    char memory[MOST_ARGUMENTS][1024] __attribute__((aligned(16)));
    char before[MOST_ARGUMENTS][1024];
} made_arguments;

/* Makes a struct for a call: of requests, stores and queries, calls that wait refuse callbacks, the others need one. */
static inline void make_argument_struct(const call_row *call, const field_row *parameter, void *given)
{
    const struct_row *row = struct_named(parameter->target);
    CHECK(row->size <= 1024);
    make_good(row, given);
    for (size_t i = 0; i < row->count && strstr(call->name, "_wait") == NULL; i++)
        if (strcmp(row->fields[i].name, "completed") == 0 || strcmp(row->fields[i].name, "user_data_free") == 0)
            set_never(given, &row->fields[i]);
}

/* Returns a number; of an enumeration the second one, since the first is the default, which some calls do not take. */
static inline int64_t good_number(const call_row *call, const field_row *parameter)
{
    const numbers_row *numbers = parameter->numbers;
    if (numbers) return parameter->kind == KIND_BITS ? 0 : numbers->values[numbers->count > 1];
    if (strcmp(parameter->name, "capacity") == 0) return 100;
    if (strcmp(parameter->name, "size") == 0) return sizeof good_png;
    if (strcmp(parameter->name, "index") == 0) return 0;
    if (strcmp(parameter->name, "http_status") == 0) return 200;
    return strcmp(parameter->name, "timeout_ms") == 0 && strstr(call->name, "_set_") == NULL ? -1 : 1;
}

/* Makes arguments that a call takes; handles are those of this file, or NULL. */
static inline void make_arguments(const call_row *call, made_arguments *made)
{
    CHECK(call->count <= MOST_ARGUMENTS);
    for (size_t i = 0; i < call->count; i++) {
        const field_row *parameter = &call->parameters[i];
        argument *value = &made->values[i];
        memset(made->memory[i], 7, sizeof made->memory[i]);
        value->pointer = made->memory[i];
        switch (parameter->kind) {
        case KIND_TEXT:
            strcpy(made->memory[i], strcmp(parameter->name, "url") == 0 ? "http://127.0.0.1/" : "name");
            break;
        case KIND_OPTIONS:
        case KIND_RECORD: make_argument_struct(call, parameter, value->pointer); break;
        case KIND_CALLBACK: value->function = parameter->never; break;
        case KIND_HANDLE: value->pointer = good_object(parameter->target); break;
        case KIND_POINTER:
            if (strcmp(parameter->name, "bytes") == 0) memcpy(made->memory[i], good_png, sizeof good_png);
            break;
        case KIND_OUT: break;
        default: value->number = good_number(call, parameter);
        }
        memcpy(made->before[i], made->memory[i], sizeof made->memory[i]);
    }
}

/* Checks that a call which has failed has returned no object and has written nothing else, but -1 for a descriptor. */
static inline void check_untouched(const call_row *call, const made_arguments *made)
{
    for (size_t i = 0; i < call->count; i++) {
        const field_row *parameter = &call->parameters[i];
        void *pointer;
        if (made->values[i].pointer != made->memory[i]) continue;
        memcpy(&pointer, made->memory[i], sizeof pointer);
        if (parameter->kind == KIND_OUT && pointer != NULL) FAIL("%s: %s is no NULL", call->name, parameter->name);
        int32_t number, is_descriptor = strcmp(parameter->name, "fd") == 0;
        memcpy(&number, made->memory[i], sizeof number);
        if (is_descriptor && number != -1) FAIL("%s: %s is not -1", call->name, parameter->name);
        /* Borrowed texts and data are NULL with a size of 0, and numbers of bytes and entries 0. */
        int is_lent = strstr(parameter->type, "**") || strcmp(parameter->type, "int64_t *") == 0 ||
                      strcmp(parameter->name, "size") == 0;
        if (parameter->kind == KIND_OUT || is_descriptor || is_lent) continue;
        if (memcmp(made->memory[i], made->before[i], sizeof made->memory[i]) != 0)
            FAIL("%s: %s is written", call->name, parameter->name);
    }
}

#endif
