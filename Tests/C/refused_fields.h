/*
 * refused_fields.h - struct fields that a call must refuse by name, and a comparison of the tested fields with all
 * fields in the header.
 */
#ifndef REFUSED_FIELDS_H
#define REFUSED_FIELDS_H

#include "refusals.h"

static char refused_fields[600][96];
static int refused_field_count;

/* Checks that the message names the field first. */
static inline void check_named(const char *said, const char *owner, const char *field)
{
    char name[96];
    size_t length = (size_t)snprintf(name, sizeof name, "%s.%s", owner, field);
    CHECK(length < sizeof name);
    if (strncmp(said, name, length) != 0 || (said[length] != ':' && said[length] != '['))
        FAIL("the message does not name %s: %s", name, said);
    if (strlen(said) < length + 10 || said[strlen(said) - 1] != '.') FAIL("not a sentence: %s", said);
    for (int i = 0; i < refused_field_count; i++)
        if (strcmp(refused_fields[i], name) == 0) return;
    CHECK(refused_field_count < 600);
    strcpy(refused_fields[refused_field_count++], name);
}

/* Checks that a call refuses a struct with this wrong field. */
#define CALL_REFUSES(owner, field, expected, call) \
    do { \
        forget_sentence(); \
        sdd_status refused_ = (call); \
        if (refused_ != (expected)) FAIL("%s.%s: %s", owner, field, sdd_status_name(refused_)); \
        check_named(sdd_last_error_message(), owner, field); \
    } while (0)

#define INVALID SDD_ERROR_INVALID_ARGUMENT
#define UNSUPPORTED SDD_ERROR_UNSUPPORTED

/* Like CHECK_EQUAL, but usable in an expression. */
static inline void check_equal(long long actual, long long expected, const char *what)
{
    if (actual != expected) FAIL("%s is %lld, not %lld", what, actual, expected);
}
#define CHECK_EQUAL_(actual, expected) check_equal((long long)(actual), expected, #actual)

static inline int is_listed(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0) return 1;
    return 0;
}

/* Fields with the application's own data accept any value, in every struct. */
static inline int takes_all(const char *name, const char *const *list, size_t count)
{
    const char *field = strchr(name, '.') + 1;
    if (strcmp(field, "user_data") == 0 || strcmp(field, "user_data_free") == 0) return 1;
    return is_listed(name, list, count);
}

static inline int is_refused_field(const char *name)
{
    for (int i = 0; i < refused_field_count; i++)
        if (strcmp(refused_fields[i], name) == 0) return 1;
    return 0;
}

/* Checks that each field of the structs in `filled` either was refused or accepts any value, but not both. */
static inline void check_every_field(
    const char *const *filled, size_t filled_count, const char *const *take_all, size_t take_count)
{
    /* Reads fields as check-docs.sh does, one to a line; a pointer to a function has its name in parentheses. */
    FILE *fields = popen("for header in include/sdd/*.h; do cc -w -fpreprocessed -dD -E -P $header; done | tr '\\n' ' ' |"
                         " sed -E 's/typedef struct/\\ntypedef struct/g; s/; */;\\n/g' |"
                         " awk '/^typedef struct sdd_[a-z0-9_]+ \\{/ { owner = $3; sub(/.*\\{/, \"\") }"
                         "      /^ *\\}/ { owner = \"\" }"
                         "      owner { if ($0 ~ /\\(\\*/) { sub(/\\).*/, \"\") } else { sub(/ *;.*/, \"\") }"
                         "              gsub(/[^A-Za-z0-9_]/, \" \"); n = split($0, word, \" \"); if (n) print owner \".\" word[n] }'",
                         "r");
    char name[200];
    int count = 0, known = 0, missing = 0;
    CHECK(fields != NULL);
    while (fscanf(fields, "%199s", name) == 1) {
        int is_filled = 0;
        for (size_t i = 0; i < filled_count; i++)
            is_filled |= strncmp(filled[i], name, strlen(filled[i])) == 0 && name[strlen(filled[i])] == '.';
        if (!is_filled) continue;
        count++;
        known += is_refused_field(name);
        if (is_refused_field(name) != takes_all(name, take_all, take_count)) continue;
        fprintf(stderr, is_refused_field(name) ? "%s is refused, and is said to take all\n" : "%s was not refused\n", name);
        missing++;
    }
    CHECK_EQUAL(pclose(fields), 0);
    CHECK_EQUAL(missing, 0);
    CHECK(known > 0 && known <= refused_field_count);
    CHECK(count > 80);
}

#endif
