/* sdd_last_error_message(): which call its message is about, how long it stays, and what it never contains. The message
   of each call is tested in test_refusals.c, that of each field in test_refused_fields.c. */
#include "record.h"
#include "server.h"

/* Returns the message, which stays valid until the next failure on this thread. */
static const char *why(void) { return sdd_last_error_message(); }

#define CHECK_SAYS(part) \
    do { \
        if (strstr(why(), part) == NULL) FAIL("\"%s\" is not in: %s", part, why()); \
    } while (0)

#define CHECK_SAYS_NOT(part) \
    do { \
        if (strstr(why(), part) != NULL) FAIL("\"%s\" is in: %s", part, why()); \
    } while (0)

static void *join(pthread_t thread)
{
    void *result;
    CHECK(pthread_join(thread, &result) == 0);
    return result;
}

static pthread_t start(void *(*body)(void *), void *given)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, given) == 0);
    return thread;
}

/* ------------------------------------------------------------------------------------ threads */

static void *has_none(void *given)
{
    (void)given;
    CHECK(why() != NULL && why()[0] == 0);
    CHECK_STATUS(sdd_set_header(NULL, "X-Right", NULL), SDD_OK);
    CHECK_TEXT(why(), "");
    return NULL;
}

CASE(a_thread_without_a_failure_has_no_message)
{
    has_none(NULL);
    CHECK_STATUS(sdd_cancel(7), SDD_ERROR_NOT_FOUND);
    CHECK_TEXT(why(), "sdd_cancel: token: 7 belongs to nothing under way: it has ended, or never was.");
    join(start(has_none, NULL));
    CHECK_SAYS("sdd_cancel: token: 7 ");
}

CASE(a_success_keeps_the_message)
{
    CHECK_STATUS(sdd_set_priority(7, 99), SDD_ERROR_INVALID_ARGUMENT);
    const char *sentence = why();
    CHECK_TEXT(sentence, "sdd_set_priority: priority: 99 is not one of SDD_PRIORITY_.");
    CHECK_STATUS(sdd_set_header(NULL, "X-Right", NULL), SDD_OK);
    CHECK(why() == sentence);
    CHECK_TEXT(sentence, "sdd_set_priority: priority: 99 is not one of SDD_PRIORITY_.");
    /* Returning 0 as an answer is not a failure. */
    CHECK_EQUAL(sdd_downloader_is_suspended(NULL), 0);
    CHECK_EQUAL(transfers_of(NULL), 0);
    CHECK_EQUAL(sdd_image_sniff("no picture", 10), 0);
    CHECK_SAYS("sdd_set_priority: ");
}

enum { THREADS = 8, TURNS = 500 };

/* Each thread sees only its own messages, whatever the other threads do. */
static void *fails_often(void *given)
{
    int number = *(int *)given;
    char expected[100];
    for (int turn = 0; turn < scaled(TURNS); turn++) {
        int priority = 1000 + number * TURNS + turn;
        CHECK_STATUS(sdd_set_priority(1, priority), SDD_ERROR_INVALID_ARGUMENT);
        snprintf(expected, sizeof expected, "sdd_set_priority: priority: %d is not one of SDD_PRIORITY_.", priority);
        CHECK_TEXT(why(), expected);
    }
    return NULL;
}

CASE(each_thread_has_its_own_message)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        threads[i] = start(fails_often, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) join(threads[i]);
}

static pthread_key_t late;

/* A destructor of thread-specific data may run before or after the message is freed: both must work. */
static void fails_late(void *value)
{
    (void)value;
    CHECK_STATUS(sdd_cancel(11), SDD_ERROR_NOT_FOUND);
    CHECK_SAYS("sdd_cancel: token: 11 ");
}

static void *ends_late(void *given)
{
    CHECK(pthread_setspecific(late, given) == 0);
    CHECK_STATUS(sdd_cancel(10), SDD_ERROR_NOT_FOUND);
    return NULL;
}

CASE(a_thread_may_fail_while_it_ends)
{
    CHECK(pthread_key_create(&late, fails_late) == 0);
    for (int i = 0; i < 3; i++) join(start(ends_late, &late));
    CHECK(pthread_key_delete(late) == 0);
}

/* ---------------------------------------------------------------------------------- callbacks */

static void fails_inside(const sdd_result *result, void *user_data)
{
    CHECK_STATUS(sdd_set_priority(result->token, -5), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_set_priority: priority: -5 ");
    record_completed(result, user_data);
}

static sdd_downloader *make(int delivery)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    config.delivery = delivery;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_OK);
    return downloader;
}

CASE(a_callback_has_the_message_of_its_thread)
{
    for (int delivery = SDD_DELIVERY_THREAD; delivery <= SDD_DELIVERY_APPLICATION; delivery++) {
        sdd_downloader *downloader = make(delivery);
        OWNED_RECORD r = RECORD_INIT;
        CHECK_STATUS(sdd_cancel(14), SDD_ERROR_NOT_FOUND);
        CHECK(sdd_download(downloader, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY, NULL, fails_inside, &r) != 0);
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, 60000), SDD_OK);
        if (delivery == SDD_DELIVERY_THREAD) {
            CHECK_SAYS("sdd_cancel: token: 14 ");
        } else {
            CHECK_SAYS("sdd_set_priority: priority: -5 ");
        }
        CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
        CHECK_EQUAL(r.completed_count, 1);
    }
}

/* ------------------------------------------------------------------------------------ secrets */

CASE(messages_contain_no_secrets)
{
    sdd_credential credential = SDD_CREDENTIAL_INIT;
    sdd_cookie cookie = SDD_COOKIE_INIT;
    CHECK_STATUS(sdd_set_header(NULL, "Authorization", "Bearer geheim\n"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_set_header: value: ");
    CHECK_SAYS_NOT("geheim");
    credential.username = "name:geheim";
    credential.password = "geheim\x01";
    CHECK_STATUS(sdd_downloader_set_credential(NULL, &credential), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_credential.password: ");
    CHECK_SAYS_NOT("geheim");
    credential.password = "geheim";
    CHECK_STATUS(sdd_downloader_set_credential(NULL, &credential), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_credential.username: ");
    CHECK_SAYS_NOT("geheim");
    cookie.name = "session";
    cookie.value = "geheim;";
    cookie.domain = "example.org";
    CHECK_STATUS(sdd_downloader_set_cookie(NULL, &cookie), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_cookie.value: ");
    CHECK_SAYS_NOT("geheim");
    static const char *const urls[] = {
        "http://user:geheim@exa mple.org/picture.png", "http://user:ge/geheim@exa mple.org/picture.png",
        "http://user:?geheim@exa mple.org/picture.png", "http://exa mple.org/picture.png?key=geheim",
        "http://exa mple.org/picture.png#geheim", "gopher://user:geheim@example.org/picture.png",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        CHECK_STATUS(sdd_get(NULL, urls[i], 0, -1, NULL, NULL, NULL), SDD_ERROR_INVALID_URL);
        CHECK_SAYS("URL");
        CHECK_SAYS_NOT("geheim");
        CHECK_STATUS(sdd_cache_query_wait(
                         NULL, &(sdd_cache_query_options){ sizeof(sdd_cache_query_options), .key = urls[i] }, NULL),
                     SDD_ERROR_NOT_CACHED);
        CHECK_SAYS("No cache has an entry");
        CHECK_SAYS_NOT("geheim");
    }
}

/* The prefix of a cookie's name says what its fields must be (RFC 6265bis section 4.1.3). */
CASE(the_prefix_of_a_cookie_names_the_field)
{
    sdd_cookie cookie = SDD_COOKIE_INIT;
    cookie.name = "__Secure-a";
    cookie.value = "1";
    cookie.domain = "example.org";
    CHECK_STATUS(sdd_downloader_set_cookie(NULL, &cookie), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_cookie.secure: ");
    cookie.name = "__Host-a";
    CHECK_STATUS(sdd_downloader_set_cookie(NULL, &cookie), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_cookie.secure: ");
    cookie.secure = 1;
    cookie.path = "/a";
    CHECK_STATUS(sdd_downloader_set_cookie(NULL, &cookie), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_cookie.path: ");
    cookie.path = NULL;
    cookie.include_subdomains = 1;
    CHECK_STATUS(sdd_downloader_set_cookie(NULL, &cookie), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("sdd_cookie.include_subdomains: ");
}

CASE(values_are_short_and_printable)
{
    char long_name[70000];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    long_name[0] = ' ';
    CHECK_STATUS(sdd_set_header(NULL, "a\r\nb\x7f\xff", "x"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_SAYS("name: \"a\\x0d\\x0ab\\x7f\\xff\" is no token");
    CHECK_STATUS(sdd_set_header(NULL, long_name, "x"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(strlen(why()) < 300);
    CHECK_SAYS("aaaa\xe2\x80\xa6\" is no token");
    /* A message is never cut inside a character. */
    for (int i = 0; i < 4; i++) {
        char text[200] = "    ";
        text[i] = 0;
        for (int k = 0; k < 40; k++) strcat(text, "\xe2\x82\xac");
        CHECK_STATUS(sdd_set_header(NULL, text, "x"), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_SAYS("\xe2\x82\xac\xe2\x80\xa6\" is no token");
        CHECK_SAYS_NOT("\\x");
    }
}

/* ------------------------------------------------------------------------- blocking calls */

CASE(a_blocking_call_has_its_requests_message)
{
    static const char *const paths[] = { "/status/404", "/html", "/cut-head" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        sdd_downloader *downloader = make(SDD_DELIVERY_THREAD);
        sdd_image *image = NULL;
        OWNED_RECORD r = RECORD_INIT;
        fetch(downloader, &r, at(paths[i]), 0);
        CHECK(r.error != SDD_OK && r.message[0] != 0);
        CHECK_STATUS(sdd_get(downloader, at(paths[i]), 0, -1, &image, NULL, NULL), r.error);
        CHECK_TEXT(why(), r.message);
        CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
    }
}

int main(void) { return run_cases(); }
