/*
 * every_call.h - calls every function that takes a downloader, a cache, a loader or a batch with a dead handle: one
 * that was destroyed, that belongs to the parent process, or that never existed.
 */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H

#include "good_values.h"

static char has_failed[CALL_COUNT]; /* which calls have failed so far */

/* Checks that the message names the call, its argument, and why the handle is not valid. */
static inline void check_told_dead(const char *call, const char *argument, const void *dead)
{
    const char *told = sdd_last_error_message();
    char begins[100];
    snprintf(begins, sizeof begins, "%s: %s: %s", call, argument, dead ? "0x" : "NULL ");
    int says = strstr(told, " is no living ") || strstr(told, " of this process: it is the parent's") ||
               strstr(told, "NULL stands for the shared ") || strstr(told, "batch: NULL is not allowed");
    if (strncmp(told, begins, strlen(begins)) != 0 || !says) FAIL("the message does not explain %s: %s", begins, told);
}

/* Checks that a call fails with this status, and changes nothing but objects that it would return. */
static inline void check_call_fails(const call_row *call, const made_arguments *made, sdd_status expected)
{
    sdd_set_priority(0, 99);
    int64_t given = call->call(made->values);
    int is_status = strcmp(call->result, "sdd_status") == 0;
    int64_t nothing = is_status ? expected : strstr(call->name, "_event_fd") ? -1 : 0;
    if (given != nothing) FAIL("%s gives %lld, not %lld", call->name, (long long)given, (long long)nothing);
    if (sdd_last_error(NULL) != expected) FAIL("%s: %s", call->name, sdd_last_error_message());
    check_untouched(call, made);
    has_failed[call - header_calls] = 1;
}

/* Calls every function that takes an object of this type with this one, which is dead, and living ones for the rest.
   NULL stands for the shared one, which cannot be closed or destroyed. */
static inline void every_call_with(const char *type, void *dead, sdd_status expected)
{
    static const uint8_t pixel[4];
    int count = 0, can_be_shared = strcmp(type, "sdd_batch") != 0;
    if (good_image == NULL) CHECK_STATUS(sdd_image_create(1, 1, SDD_PIXEL_FORMAT_RGBA8, pixel, 0, &good_image), SDD_OK);
    for (int i = 0; i < CALL_COUNT; i++) {
        const call_row *call = &header_calls[i];
        int ends = strstr(call->name, "_destroy") || strstr(call->name, "_close");
        if (dead == NULL && can_be_shared && ends) continue;
        for (size_t at = 0; at < call->count; at++) {
            made_arguments made;
            if (call->parameters[at].kind != KIND_HANDLE || strcmp(call->parameters[at].target, type) != 0) continue;
            make_arguments(call, &made);
            made.values[at].pointer = dead;
            check_call_fails(call, &made, expected);
            check_told_dead(call->name, call->parameters[at].name, dead);
            count++;
        }
    }
    CHECK(count > 5);
}

/* Calls every function that takes a token or a transfer with one that belongs to nothing under way. A token identifies
   its request by itself, so these calls never report a dead handle. */
static inline void every_token_call_finds_nothing(sdd_token token)
{
    for (int i = 0; i < CALL_COUNT; i++) {
        const call_row *call = &header_calls[i];
        made_arguments made;
        const char *first = call->count > 0 ? call->parameters->type : "";
        if (strcmp(first, "sdd_token") != 0 && strcmp(first, "sdd_transfer") != 0) continue;
        make_arguments(call, &made);
        made.values[0].number = (int64_t)token;
        check_call_fails(call, &made, SDD_ERROR_NOT_FOUND);
    }
}

static inline void every_call_gives(sdd_downloader *dead, sdd_token token, sdd_status expected)
{
    every_call_with("sdd_downloader", dead, expected);
    every_token_call_finds_nothing(token);
}

/* `downloader` is alive, or NULL. */
static inline void every_cache_call_gives(sdd_downloader *downloader, sdd_cache *dead, sdd_status expected)
{
    sdd_downloader *before = good_downloader;
    good_downloader = downloader;
    every_call_with("sdd_cache", dead, expected);
    good_downloader = before;
}

static inline void every_batch_call_gives(sdd_batch *dead, sdd_status expected)
{
    every_call_with("sdd_batch", dead, expected);
}

static inline void every_load_gives(sdd_loader *dead, sdd_status expected)
{
    every_call_with("sdd_loader", dead, expected);
}

#endif
