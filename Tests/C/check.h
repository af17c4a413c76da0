/*
 * check.h - the common base of all programs in this folder: checks that end the program with a message, a watchdog, and
 * counts of a process's threads and descriptors. Include it before any other header.
 *
 * Nothing here sleeps for a guessed time. Only `settles` polls, because the kernel does not notify anyone when a thread
 * leaves /proc.
 */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sdd/sdd.h>

static const char *current_case = "";

/* Ends the process at once, because threads of the library may still be at work. */
#define FAIL(...) \
    do { \
        fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, current_case); \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr); \
        _exit(1); \
    } while (0)

#define CHECK(condition) \
    do { \
        if (!(condition)) FAIL("not so: %s", #condition); \
    } while (0)

/* Compares two numbers of any type. */
#define CHECK_EQUAL(actual, expected) \
    do { \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected); \
        if (actual_ != expected_) FAIL("%s is %lld, not %lld (%s)", #actual, actual_, expected_, #expected); \
    } while (0)

#define CHECK_STATUS(actual, expected) \
    do { \
        sdd_status actual_ = (actual), expected_ = (expected); \
        if (actual_ != expected_) \
            FAIL("%s is %s, not %s", #actual, sdd_status_name(actual_), sdd_status_name(expected_)); \
    } while (0)

#define CHECK_TEXT(actual, expected) \
    do { \
        const char *actual_ = (actual), *expected_ = (expected); \
        if (actual_ == NULL || strcmp(actual_, expected_) != 0) \
            FAIL("%s is \"%s\", not \"%s\"", #actual, actual_ ? actual_ : "NULL", expected_); \
    } while (0)

/* Returns the detail of the last failed call of this thread. */
static inline sdd_detail last_detail(void)
{
    sdd_failure failure;
    sdd_last_error(&failure);
    return failure.detail;
}

/* Checks that a call fails, with this detail. */
#define CHECK_FAILS(call, status, number) \
    do { \
        CHECK_STATUS(call, status); \
        CHECK_EQUAL(last_detail(), number); \
    } while (0)

/* Checks that a call that gives a token was refused. */
#define CHECK_REFUSED(call, status) \
    do { \
        CHECK_EQUAL(call, 0); \
        CHECK_STATUS(sdd_last_error(NULL), status); \
    } while (0)

/* Begins the declaration of a variable that ends with its block: `release` gets its address then. */
#define OWNED(release) __attribute__((cleanup(release)))
#define OWNED_IMAGE OWNED(release_image) sdd_image *
#define OWNED_BYTES OWNED(release_bytes) sdd_bytes *

static inline void release_image(sdd_image **image) { sdd_image_release(*image); }
static inline void release_bytes(sdd_bytes **bytes) { sdd_bytes_release(*bytes); }

/* Returns what is known of an image; all 0 for NULL. */
static inline sdd_image_info image_info(sdd_image *image)
{
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    CHECK_STATUS(sdd_image_get_info(image, &info), image ? SDD_OK : SDD_ERROR_INVALID_ARGUMENT);
    return info;
}

/* Returns how many transfers wait or run; 0 for a dead handle. */
static inline int64_t transfers_of(sdd_downloader *downloader)
{
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    sdd_downloader_get_statistics(downloader, &statistics);
    return statistics.waiting + statistics.running;
}

/* ----------------------------------------------------------------------- environment, set by run.sh */

static inline const char *setting(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL) FAIL("the variable %s is not set: start this program by Tests/C/run.sh", name);
    return value;
}

/* Returns `count`, reduced where programs run slowly; at least 1. */
static inline int scaled(int count)
{
    const char *scale = getenv("SDD_TEST_SCALE");
    int made = scale ? (int)(count * atof(scale)) : count;
    return made < 1 ? 1 : made;
}

/* ------------------------------------------------------------------------------------- watchdog */

static inline void time_is_over(int number)
{
    static const char text[] = "watchdog: the program hangs, in: ";
    (void)number;
    if (write(2, text, sizeof text - 1) < 0 || write(2, current_case, strlen(current_case)) < 0 ||
        write(2, "\n", 1) < 0)
        _exit(4);
    _exit(3);
}

/* Ends a test that hangs with a message. SDD_TEST_SECONDS is the time it may take. */
static inline void start_watchdog(void)
{
    const char *seconds = getenv("SDD_TEST_SECONDS");
    signal(SIGALRM, time_is_over);
    alarm(seconds ? (unsigned)atoi(seconds) : 120);
}

/* Runs a part of a test, a function without arguments; its name is part of every message. */
#define RUN(function) \
    do { \
        current_case = #function; \
        function(); \
    } while (0)

/* Begins a case: a function that run_cases() calls. The cases of a file run in its order. */
#define CASE(function) \
    static void function(void); \
    __attribute__((constructor)) static void list_##function(void) { list_case(#function, function, __LINE__); } \
    static void function(void)

static struct { const char *name; void (*run)(void); int line; } listed_cases[64];
static int case_count;

/* Lists a case by its line, because compilers may reorder constructors. */
static inline void list_case(const char *name, void (*run)(void), int line)
{
    int place = case_count++;
    CHECK(place < (int)(sizeof listed_cases / sizeof *listed_cases));
    for (; place > 0 && listed_cases[place - 1].line > line; place--) listed_cases[place] = listed_cases[place - 1];
    listed_cases[place].name = name;
    listed_cases[place].run = run;
    listed_cases[place].line = line;
}

/* Runs all cases, and returns the status of the program. */
static inline int run_cases(void)
{
    start_watchdog();
    CHECK(case_count > 0);
    for (int i = 0; i < case_count; i++) {
        current_case = listed_cases[i].name;
        listed_cases[i].run();
    }
    return 0;
}

/* ------------------------------------------------------------------- threads and descriptors */

/* Counts the entries of a folder in /proc, without the descriptor that reads it. */
static inline int count_entries(const char *folder, int own)
{
    DIR *directory = opendir(folder);
    int count = 0;
    if (directory == NULL) FAIL("cannot open %s", folder);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        if (entry->d_name[0] != '.') count++;
    closedir(directory);
    return count - own;
}

/* The thread sanitizer opens descriptors of its own when it has to name a function. */
#define HAS_THREAD_SANITIZER 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef HAS_THREAD_SANITIZER
#define HAS_THREAD_SANITIZER 1
#endif
#endif

static inline int count_descriptors(void)
{
#if HAS_THREAD_SANITIZER
    return 0;
#else
    return count_entries("/proc/self/fd", 1);
#endif
}

static inline int count_threads(void) { return count_entries("/proc/self/task", 0); }

/* Whether count() drops to `expected` within ten seconds: a joined thread stays in /proc for a moment. */
static inline int settles(int (*count)(void), int expected)
{
    time_t end = time(NULL) + 10;
    while (count() != expected) {
        if (time(NULL) > end) return 0;
        sched_yield();
    }
    return 1;
}

/* Whether there are at most `most` threads within ten seconds. Idle decode threads of another downloader may have ended
   meanwhile, so that there are fewer than before. */
static inline int threads_fall_to(int most)
{
    time_t end = time(NULL) + 10;
    while (count_threads() > most) {
        if (time(NULL) > end) return 0;
        sched_yield();
    }
    return 1;
}

#define CHECK_NOTHING_LEFT(threads, descriptors) \
    do { \
        if (!threads_fall_to(threads)) FAIL("%d threads, not %d", count_threads(), threads); \
        if (!settles(count_descriptors, descriptors)) \
            FAIL("%d descriptors, not %d", count_descriptors(), descriptors); \
    } while (0)

#endif
