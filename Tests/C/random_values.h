/*
 * random_values.h - for test_random_calls.c: random numbers, the call counts of every function of sdd.h, a watch for
 * calls that do not return, and argument values: good, wrong, and at the limits of their type.
 */
#ifndef RANDOM_VALUES_H
#define RANDOM_VALUES_H

#include "record.h"
#include "interface.h"
#include "server.h"

#include <limits.h>
#include <stdatomic.h>

/* ------------------------------------------------------------------------------------------- chance */

static uint64_t seed;

/* The random state of a thread; callbacks use the state of the thread they run on. */
static __thread uint64_t own_state;
static atomic_ullong state_count;

/* splitmix64 */
static inline uint64_t random_bits(void)
{
    if (own_state == 0) own_state = seed + (atomic_fetch_add(&state_count, 1) + 1) * 1000003;
    uint64_t z = (own_state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint32_t chance(uint32_t below) { return (uint32_t)(random_bits() >> 32) % below; }
static inline int one_in(uint32_t count) { return chance(count) == 0; }

/* --------------------------------------------------------------------- call counts of every function */

static atomic_llong function_counts[CALL_COUNT];

static inline int count_missing(void)
{
    int missing = 0;
    for (int i = 0; i < CALL_COUNT; i++) missing += function_counts[i] == 0;
    return missing;
}

static inline void check_all_functions(void)
{
    for (int i = 0; i < CALL_COUNT; i++)
        if (function_counts[i] == 0) fprintf(stderr, "%s was never called\n", header_calls[i].name);
    CHECK_EQUAL(count_missing(), 0);
}

/* -------------------------------------------------------------------- a watch for calls that hang */

typedef struct watched {
    _Atomic(const char *) name; /* the call that the thread is in, or NULL */
    atomic_llong since;         /* milliseconds */
    struct watched *next;
} watched;

static _Atomic(watched *) all_watched;
static __thread watched *own_watched;

/* Records that the thread is now in this call. Returns the call that it was in before. */
static inline const char *watch_call(const char *name)
{
    if (own_watched == NULL) {
        own_watched = calloc(1, sizeof *own_watched);
        own_watched->next = atomic_load(&all_watched);
        while (!atomic_compare_exchange_weak(&all_watched, &own_watched->next, own_watched)) continue;
    }
    atomic_store(&own_watched->since, milliseconds_now());
    return atomic_exchange(&own_watched->name, name);
}

/* Records that a call has returned: the thread is in the outer call again, or in none. */
static inline void watch_outer_call(const char *const *outer) { watch_call(*outer); }

/* Ends the test if a call takes half as long as the whole test may. */
static inline void check_no_call_hangs(void)
{
    const char *given = getenv("SDD_TEST_SECONDS");
    long long limit = (given ? atoi(given) : 120) * 500LL, now = milliseconds_now();
    for (watched *w = atomic_load(&all_watched); w; w = w->next) {
        const char *name = atomic_load(&w->name);
        long long since = atomic_load(&w->since);
        if (name && now - since > limit) FAIL("%s has not returned for %lld ms", name, now - since);
    }
}

static inline const char *count_function(int number)
{
    atomic_fetch_add(&function_counts[number], 1);
    return watch_call(header_calls[number].name);
}

/* Calls a function of sdd.h. */
#define CALL(name, ...) \
    ({ \
        __attribute__((cleanup(watch_outer_call), unused)) const char *outer_ = count_function(number_of_##name); \
        name(__VA_ARGS__); \
    })

/* ------------------------------------------------------------------------------------------- values */

static inline int32_t number32(void)
{
    static const int32_t all[] = { 1, 2, 3, 7, 100, 1000, -1, -2, INT32_MAX, INT32_MIN, 0 };
    return all[chance(sizeof all / sizeof *all)];
}

static inline int64_t number64(void)
{
    static const int64_t all[] = { 1, 2, 10, 100, 5000, 1 << 20, -1, -2, -3, INT64_MAX, INT64_MIN, INT32_MAX, 0 };
    return all[chance(sizeof all / sizeof *all)];
}

/* Returns mostly the meant value, sometimes any other. */
static inline int32_t mostly32(int32_t meant) { return one_in(12) ? number32() : meant; }
static inline int64_t mostly64(int64_t meant) { return one_in(12) ? number64() : meant; }

/* Returns one of the bits SDD_OPTION_, or one that is none of them. */
static inline uint64_t random_option(void) { return 1ull << chance(23); }

/* Returns a descriptor that is not open. */
static inline int32_t wrong_descriptor(void) { return one_in(2) ? -1 : one_in(2) ? INT32_MAX : INT32_MIN; }

/* Returns a finite time to wait. */
static inline int64_t short_wait(void) { return (int64_t)chance(8); }

static char long_text[70001];

static inline const char *text(void)
{
    static const char *const all[] = {
        "", "x", "image/png", "*/*", "200-299", "bytes=0-", "0-99", "\xff\xfe\x80", "a\r\nb: c", "a\tb", "GET", "HEAD",
        "POST", "sha256-AAAA", "Accept", "X-Random", "127.0.0.1", "example.org", "../../etc", "%00", "\"", "{}", long_text,
    };
    return one_in(10) ? NULL : all[chance(sizeof all / sizeof *all)];
}

static inline const char *mostly_text(const char *meant) { return one_in(12) ? text() : meant; }

/* Fields that only a test that knows their meaning sets: files that would be written, descriptors that are in use, and
   what the model must know. */
static const char *const set_by_hand[] = {
    "cookie_file", "directory", "name", "sink", "sink_fd", "url", "options", "delivery", "decode_threads", "share_wait_ms",
};

/* Sets fields of a struct that hold no pointer and no count, `count` of them by chance, to good and wrong values. */
static inline void randomize(const struct_row *row, void *given, uint32_t count)
{
    while (count-- > 0) {
        const field_row *field = &row->fields[chance((uint32_t)row->count)];
        char *place = (char *)given + field->offset;
        const numbers_row *numbers = field->numbers;
        int64_t number = field->size == 4 ? number32() : number64();
        double fraction = (double)chance(8) / 4 - 0.5;
        const char *words = text();
        int is_known = 0;
        for (size_t i = 0; i < sizeof set_by_hand / sizeof *set_by_hand; i++)
            is_known |= strcmp(set_by_hand[i], field->name) == 0;
        if (is_known || field->kind == KIND_SIZE) continue;
        if (field->kind == KIND_REAL) memcpy(place, &fraction, sizeof fraction);
        if (field->kind == KIND_TEXT) memcpy(place, &words, sizeof words);
        if (field->kind > KIND_NUMBER) continue;
        if (numbers && !one_in(3)) number = numbers->values[chance((uint32_t)numbers->count)];
        if (field->kind == KIND_FLAG && !one_in(3)) number = chance(2);
        int32_t small = (int32_t)number;
        memcpy(place, field->size == 4 ? (const void *)&small : (const void *)&number, field->size);
    }
}
#define RANDOMIZE(type, given, count) randomize(&row_of_##type, given, count)

/* Memory for a struct whose struct_size may be greater or less than its real size. */
#define PLACE(type) \
    union { \
        type s; \
        uint8_t room[4352]; \
    }

/* Returns a struct_size, mostly the true one; the bytes beyond the known struct are mostly zero. */
static inline size_t random_size(size_t truth, uint8_t *room)
{
    if (!one_in(25)) return truth;
    size_t size;
    switch (chance(8)) {
    case 0: return 0;
    case 1: return chance(64);
    case 2: size = truth + 8 * (1 + chance(20)); break;
    case 3: return SIZE_MAX;
    case 4: return 4104;
    case 5: return truth - chance(4);
    default: size = truth > 8 ? truth - 8 * (1 + chance((uint32_t)(truth / 8) - 1)) : truth; break;
    }
    if (size > truth && one_in(3)) room[truth + chance((uint32_t)(size - truth))] = 1;
    return size;
}

/* Whether a reader that trusts struct_size sees a field. */
#define SEES(size, type, field) ((size) >= offsetof(type, field) + sizeof(((type *)0)->field))

/* -------------------------------------------------------------------------------------------- URLs */

/* Returns a URL on the fault server, or a wrong one. `target` gets the seed of the good body's pattern, or "" if there
   is none, and `size` the size of the body. */
static inline const char *url(char target[64], size_t *size)
{
    static const char *const wrong[] = {
        "", "nonsense", "http://", "http://[", "ftp://127.0.0.1/x", "file:///etc/hostname", "data:,hello",
        "data:image/png;base64,AAAA", "http://127.0.0.1:1/", "http://user:word@127.0.0.1:1/", "http://\xff/", "archive://one",
        "archive://two", "http://127.0.0.1:99999/", "http://a b/", long_text,
    };
    uint32_t kind = chance(100), sort = chance(12);
    target[0] = 0;
    *size = 100 + sort * 997;
    if (kind < 35) {
        snprintf(target, 64, "/ok?size=%zu%s", *size, sort % 3 ? "" : "&framing=chunked");
        return at(target);
    }
    if (kind < 40) {
        snprintf(target, 64, "/gzip?size=%zu", *size);
        return at(target);
    }
    if (kind < 45) {
        snprintf(target, 64, "/ok?size=%zu", *size);
        return atf("/redirect?to=%s", target);
    }
    if (kind < 60) return atf("/file/png/rgb8.png?header=Cache-Control:%%20max-age=60&n=%u", sort);
    if (kind < 66) return atf("/file/jpeg/progressive-420.jpg?%u", sort);
    if (kind < 69) return atf("/file/frames/every-operation.png?%u", sort);
    if (kind < 71) return at("/file/metadata/kinds.png");
    if (kind < 74) return atf("/status/%u?%u", 200 + chance(4) * 101, sort);
    if (kind < 77) return atf("/reset?after=%u", sort * 20);
    if (kind < 80) return atf("/cut?size=%zu", *size);
    if (kind < 82) return atf("/trickle?file=large/progressive.jpg&piece=9000&every=1&n=%u", sort);
    if (kind < 84) return atf("/silence?%u", sort);
    if (kind < 86) return atf("/stall?size=5000&after=%u", sort * 300);
    if (kind < 87) return atf("/ranged?size=9000&cuts=3000,6000&n=%u", sort);
    if (kind < 88) return atf("/gzip-cut?size=%zu", *size);
    if (kind < 89) return atf("/tagged?file=png/rgb8.png&n=%u", sort);
    if (kind < 90) return NULL;
    return wrong[chance(sizeof wrong / sizeof *wrong)];
}

static inline const char *any_url(void)
{
    char target[64];
    size_t size;
    return url(target, &size);
}

/* Returns a handle that never existed. NULL is not among them. */
static inline void *forged(void)
{
    static const uintptr_t all[] = { 1, 8, 4095, 0xdeadbeef, UINTPTR_MAX, UINTPTR_MAX - 7 };
    return one_in(4) ? (void *)&long_text : (void *)all[chance(sizeof all / sizeof *all)];
}

#endif
