/*
 * refusals.h - calls that must fail, each with the expected status and message.
 */
#ifndef REFUSALS_H
#define REFUSALS_H

#include "every_call.h"

/* Sets a known message, so that the next one is certain to be of the next failing call. */
static inline void forget_sentence(void)
{
    if (sdd_set_priority(0, 4711) != SDD_ERROR_INVALID_ARGUMENT) FAIL("4711 is accepted as a priority");
}

/* Whether the message begins with "sdd_struct.field: ". */
static inline int names_a_field(const char *said)
{
    size_t length = strcspn(said, ".: ");
    return strncmp(said, "sdd_", 4) == 0 && said[length] == '.';
}

/* Checks that the message is one sentence on one line, names this call, and contains this part. */
static inline void check_sentence(int number, const char *part, int is_of_request)
{
    const char *call = header_calls[number].name;
    const char *said = sdd_last_error_message();
    size_t length = strlen(said);
    if (strstr(said, " 4711 ") != NULL) FAIL("%s: no message is set", call);
    if (strstr(said, part) == NULL) FAIL("%s: \"%s\" is not in: %s", call, part, said);
    if (length < 12 || said[length - 1] != '.' || strchr(said, '\n') != NULL) FAIL("not a sentence: %s", said);
    int names_call = strncmp(said, call, strlen(call)) == 0 && said[strlen(call)] == ':';
    if (!is_of_request && !names_call && !names_a_field(said)) FAIL("the message does not name %s: %s", call, said);
    has_failed[number] = 1;
}

/* A call that returns a status. */
#define REFUSES(call, arguments, expected, part) \
    do { \
        forget_sentence(); \
        sdd_status refused_ = call arguments; \
        if (refused_ != (expected)) FAIL("%s%s is %s", #call, #arguments, sdd_status_name(refused_)); \
        check_sentence(number_of_##call, part, 0); \
    } while (0)

/* A blocking call whose message is that of the request or of the picture. */
#define REFUSES_AS_REQUEST(call, arguments, expected, part) \
    do { \
        forget_sentence(); \
        sdd_status refused_ = call arguments; \
        if (refused_ != (expected)) FAIL("%s%s is %s", #call, #arguments, sdd_status_name(refused_)); \
        check_sentence(number_of_##call, part, 1); \
    } while (0)

/* A call that fails by returning `nothing`: 0, NULL or -1. */
#define GIVES(nothing, call, arguments, part) \
    do { \
        forget_sentence(); \
        if ((intptr_t)call arguments != (nothing)) FAIL("%s%s does not fail", #call, #arguments); \
        check_sentence(number_of_##call, part, 0); \
    } while (0)

/* A call that starts a request, and gives 0 in place of its token. */
#define STARTS_NOT(call, arguments, expected, part) \
    do { \
        GIVES(0, call, arguments, part); \
        CHECK_STATUS(sdd_last_error(NULL), expected); \
    } while (0)

#endif
