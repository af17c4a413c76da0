/* Cookies: used only where a request asks for them, kept by one downloader, read from a file and written to it. Row H8
   of the contract. */
#include "record.h"
#include "server.h"

#include <sys/stat.h>

enum { HANDLES = SDD_OPTION_BYTES_ONLY | SDD_OPTION_HANDLE_COOKIES };

static sdd_cookie cookie_of(const char *name, const char *value, const char *domain)
{
    sdd_cookie cookie = SDD_COOKIE_INIT;
    cookie.name = name;
    cookie.value = value;
    cookie.domain = domain;
    return cookie;
}

static size_t count_cookies(sdd_downloader *downloader)
{
    sdd_cookies *cookies = NULL;
    CHECK_STATUS(sdd_downloader_get_cookies(downloader, &cookies), SDD_OK);
    CHECK(cookies != NULL);
    size_t count = sdd_cookies_count(cookies);
    sdd_cookies_release(cookies);
    return count;
}

/* Whether the request that /echo returns has that Cookie header; "" stands for none. */
static int has_cookies(const record *r, const char *expected)
{
    char line[300];
    snprintf(line, sizeof line, "Cookie: %s\r\n", expected);
    return *expected ? echoes(r, line) : !echoes(r, "Cookie:");
}

/* Whether a request to the server, with these options, sends exactly that Cookie header; NULL stands for none. */
static int sends(sdd_downloader *downloader, uint64_t options, const char *path, const char *expected)
{
    record r = RECORD_INIT;
    fetch(downloader, &r, path[0] == '/' ? at(path) : path, options);
    int is_so = has_cookies(&r, expected ? expected : "");
    record_clear(&r);
    return is_so;
}

/* Whether a request sends these two cookies, in any order. */
static int sends_both(sdd_downloader *downloader, const char *path, const char *one, const char *other)
{
    record r = RECORD_INIT;
    char lines[2][200];
    snprintf(lines[0], sizeof lines[0], "%s; %s", one, other);
    snprintf(lines[1], sizeof lines[1], "%s; %s", other, one);
    fetch(downloader, &r, at(path), HANDLES);
    int is_so = has_cookies(&r, lines[0]) || has_cookies(&r, lines[1]);
    record_clear(&r);
    return is_so;
}

static void visit(sdd_downloader *downloader, uint64_t options, const char *set_cookie)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, atf("/ok?header=Set-Cookie:%%20%s", set_cookie), options);
    CHECK_ENDED(&r, SDD_OK, 0);
}

CASE(h8_only_with_the_bit)
{
    sdd_downloader *downloader = make_downloader(NULL), *other = make_downloader(NULL);
    visit(downloader, SDD_OPTION_BYTES_ONLY, "never=1");
    CHECK_EQUAL(count_cookies(downloader), 0);
    CHECK(sends(downloader, HANDLES, "/echo?1", NULL));
    visit(downloader, HANDLES, "a=1");
    CHECK_EQUAL(count_cookies(downloader), 1);
    CHECK(sends(downloader, HANDLES, "/echo?2", "a=1"));
    CHECK(sends(downloader, SDD_OPTION_BYTES_ONLY, "/echo?3", NULL));
    /* Nor does a response to a request without the bit change the jar. */
    visit(downloader, SDD_OPTION_BYTES_ONLY, "a=2");
    CHECK(sends(downloader, HANDLES, "/echo?4", "a=1"));
    visit(downloader, HANDLES, "a=3");
    CHECK(sends(downloader, HANDLES, "/echo?5", "a=3"));
    /* No other downloader has them, nor has the shared one. */
    CHECK(sends(other, HANDLES, "/echo?6", NULL) && sends(NULL, HANDLES, "/echo?7", NULL));
    CHECK(count_cookies(other) == 0 && count_cookies(NULL) == 0);
    /* A redirect to the same host carries cookies on: one set on a hop is sent on the next. */
    CHECK(sends_both(downloader, "/redirect?to=/echo%3F8&header=Set-Cookie:%20hop=1", "a=3", "hop=1"));
    /* Max-Age=0 expires a cookie. */
    visit(downloader, HANDLES, "a=;%20Max-Age=0");
    visit(downloader, HANDLES, "hop=;%20Max-Age=0");
    CHECK_EQUAL(count_cookies(downloader), 0);
    destroy(downloader);
    destroy(other);
}

/* A request that is cancelled before it begins leaves nothing in the handle that would affect the next. */
CASE(h8_a_cancelled_request_leaves_no_cookie_state)
{
    const sdd_cookie cookie = cookie_of("a", "1", "127.0.0.1");
    for (int i = 0; i < scaled(500); i++) {
        OWNED_DOWNLOADER downloader = make_downloader(NULL);
        OWNED_RECORD r = RECORD_INIT;
        sdd_download_request request = record_request(&r, at("/echo"));
        request.method = "POST";
        request.options = HANDLES;
        CHECK_STATUS(sdd_downloader_set_cookie(downloader, &cookie), SDD_OK);
        sdd_cancel(submit(downloader, &request)); /* too late now and then, on a busy machine */
        record_wait(&r);
        CHECK(sends(downloader, HANDLES, "/echo", "a=1"));
    }
}

/* D22: requests with the bit and without it do not share. */
CASE(d22_h8_the_bit_keeps_requests_apart)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD with = RECORD_INIT, without = RECORD_INIT;
    record_submit(downloader, &with, at("/hold/cookies"), HANDLES);
    record_submit(downloader, &without, at("/hold/cookies"), SDD_OPTION_BYTES_ONLY);
    wait_for_requests("/hold/cookies", 2);
    release("cookies");
    record_wait(&with);
    record_wait(&without);
}

CASE(h8_the_application_sets_cookies)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    char name[] = "one", value[] = "first";
    sdd_cookie cookie = cookie_of(name, value, "127.0.0.1");
    CHECK_STATUS(sdd_downloader_set_cookie(downloader, &cookie), SDD_OK);
    memset(name, '#', sizeof name - 1);
    memset(value, '#', sizeof value - 1);
    CHECK(sends(downloader, HANDLES, "/echo?1", "one=first"));
    /* A cookie with the same name, domain and path replaces the old one. */
    cookie = cookie_of("one", "second", "127.0.0.1");
    CHECK_STATUS(sdd_downloader_set_cookie(downloader, &cookie), SDD_OK);
    CHECK_EQUAL(count_cookies(downloader), 1);
    CHECK(sends(downloader, HANDLES, "/echo?2", "one=second"));
}

/* Every field of a cookie comes back as it was set. */
CASE(h8_all_fields_come_back)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_cookie all[3] = {
        cookie_of("a", "value with spaces", "example.org"), cookie_of("b", "", "sub.example.org"),
        cookie_of("c", "3", "127.0.0.1"),
    };
    all[0].path = "/pictures";
    all[0].expires_ms = 4000000000000;
    all[0].include_subdomains = 1;
    all[0].secure = 1;
    all[0].http_only = 1;
    for (int i = 0; i < 3; i++) CHECK_STATUS(sdd_downloader_set_cookie(downloader, &all[i]), SDD_OK);
    sdd_cookies *cookies = NULL;
    CHECK_STATUS(sdd_downloader_get_cookies(downloader, &cookies), SDD_OK);
    CHECK_EQUAL(sdd_cookies_count(cookies), 3);
    /* The list that was taken does not change. */
    CHECK_STATUS(sdd_downloader_clear_cookies(downloader, "example.org"), SDD_OK);
    CHECK_EQUAL(count_cookies(downloader), 1);
    CHECK_STATUS(sdd_downloader_clear_cookies(downloader, NULL), SDD_OK);
    CHECK_EQUAL(count_cookies(downloader), 0);
    int seen = 0;
    for (size_t i = 0; i < 3; i++) {
        sdd_cookie cookie = SDD_COOKIE_INIT;
        CHECK_STATUS(sdd_cookies_at(cookies, i, &cookie), SDD_OK);
        CHECK_EQUAL(cookie.struct_size, sizeof cookie);
        for (int n = 0; n < 3; n++) {
            if (strcmp(cookie.name, all[n].name) != 0) continue;
            seen |= 1 << n;
            CHECK_TEXT(cookie.value, all[n].value);
            CHECK_TEXT(cookie.domain, all[n].domain);
            CHECK_TEXT(cookie.path, all[n].path ? all[n].path : "/");
            CHECK_EQUAL(cookie.expires_ms, all[n].expires_ms);
            CHECK_EQUAL(cookie.include_subdomains, all[n].include_subdomains);
            CHECK(cookie.secure == all[n].secure && cookie.http_only == all[n].http_only);
        }
    }
    CHECK_EQUAL(seen, 7);
    sdd_cookie cookie = cookie_of("unseen", NULL, NULL);
    CHECK_STATUS(sdd_cookies_at(cookies, 3, &cookie), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cookies_at(cookies, SIZE_MAX, &cookie), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cookies_at(NULL, 0, &cookie), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_TEXT(cookie.name, "unseen");
    sdd_cookies_release(cookies);
}

/* Checks how many of the cookies have which attributes. */
static void check_marks(sdd_downloader *downloader, size_t count, int secure, int http_only)
{
    sdd_cookies *cookies = NULL;
    CHECK_STATUS(sdd_downloader_get_cookies(downloader, &cookies), SDD_OK);
    CHECK_EQUAL(sdd_cookies_count(cookies), count);
    for (size_t i = 0; i < count; i++) {
        sdd_cookie cookie = SDD_COOKIE_INIT;
        CHECK_STATUS(sdd_cookies_at(cookies, i, &cookie), SDD_OK);
        CHECK(cookie.secure == secure && cookie.http_only == http_only);
    }
    sdd_cookies_release(cookies);
}

/* RFC 6265 section 5.2.5: an attribute is recognized by its name, whatever its value: "Secure=x" keeps the cookie from
   plain http, also on the very next hop. The test uses plain.example, because only hosts that are not the local machine
   are affected. */
CASE(h8_attributes_are_recognized_by_name_alone)
{
    static const struct { const char *attributes; int secure, http_only; } cases[] = {
        { "Secure=x", 1, 0 }, { "HttpOnly=x;secure", 1, 1 }, { "Secured=x", 0, 0 },
    };
    static const char *const servers[] = { "SDD_TEST_SERVER", "SDD_TEST_TLS_CLIENT" };
    char names[2][200], plain[200], safe[200], url[600];
    const char *resolve[2] = { names[0], names[1] };
    for (int i = 0; i < 2; i++)
        snprintf(names[i], sizeof names[i], "plain.example%s:127.0.0.1", strrchr(setting(servers[i]), ':'));
    snprintf(plain, sizeof plain, "http://plain.example%s", strrchr(setting(servers[0]), ':'));
    snprintf(safe, sizeof safe, "https://plain.example%s", strrchr(setting(servers[1]), ':'));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
        sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
        network.resolve = resolve;
        network.resolve_count = 2;
        network.allow_downgrade = 1;
        enum { LOOSE = HANDLES | SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES };
        OWNED_DOWNLOADER downloader = make_downloader(&config);
        OWNED_RECORD r = RECORD_INIT;
        /* The cookie is set over https, followed by a redirect to plain http. */
        snprintf(url, sizeof url, "%s/redirect?to=%s/echo&header=Set-Cookie:%%20a%%3D1;%s", safe, plain, cases[i].attributes);
        fetch(downloader, &r, url, LOOSE);
        if (!has_cookies(&r, cases[i].secure ? "" : "a=1")) FAIL("%s: on the next hop", cases[i].attributes);
        check_marks(downloader, 1, cases[i].secure, cases[i].http_only);
        snprintf(url, sizeof url, "%s/echo", plain);
        fetch(downloader, &r, url, LOOSE);
        if (!has_cookies(&r, cases[i].secure ? "" : "a=1")) FAIL("%s: later", cases[i].attributes);
        snprintf(url, sizeof url, "%s/echo", safe);
        fetch(downloader, &r, url, LOOSE);
        if (!has_cookies(&r, "a=1")) FAIL("%s: not over https", cases[i].attributes);
        /* Over plain http nobody can set a secure cookie. */
        CHECK_STATUS(sdd_downloader_clear_cookies(downloader, NULL), SDD_OK);
        snprintf(url, sizeof url, "%s/ok?header=Set-Cookie:%%20a%%3D1;%s", plain, cases[i].attributes);
        fetch(downloader, &r, url, LOOSE);
        check_marks(downloader, !cases[i].secure, 0, cases[i].http_only);
    }
}

/* ------------------------------------------------------------------------------------------- files */

static char file_path[900];

static sdd_downloader *downloader_with_file(void)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.cookie_file = file_path;
    return make_downloader(&config);
}

static void read_file(char *text, size_t capacity)
{
    FILE *file = fopen(file_path, "rb");
    CHECK(file != NULL);
    text[fread(text, 1, capacity - 1, file)] = 0;
    fclose(file);
}

CASE(h8_cookies_outlive_their_downloader_in_a_file)
{
    snprintf(file_path, sizeof file_path, "%s/cookies", setting("SDD_TEST_FOLDER"));
    unlink(file_path);
    int before = count_entries(setting("SDD_TEST_FOLDER"), 0);
    /* The file need not exist. */
    sdd_downloader *downloader = downloader_with_file();
    visit(downloader, HANDLES, "kept=1;%20Max-Age=1000");
    visit(downloader, HANDLES, "session=1");
    sdd_cookie cookie = cookie_of("own", "2", "example.org");
    cookie.expires_ms = 4000000000000;
    cookie.secure = cookie.http_only = cookie.include_subdomains = 1;
    cookie.path = "/p";
    CHECK_STATUS(sdd_downloader_set_cookie(downloader, &cookie), SDD_OK);
    CHECK(access(file_path, F_OK) != 0);
    mode_t mask = umask(0);
    destroy(downloader);
    umask(mask);
    struct stat status;
    CHECK(stat(file_path, &status) == 0 && S_ISREG(status.st_mode));
    CHECK_EQUAL(status.st_mode & 07777, 0600);
    char text[2000];
    read_file(text, sizeof text);
    CHECK(strncmp(text, "# Netscape HTTP Cookie File\n", 28) == 0);
    CHECK(strstr(text, "\tkept\t1\n") && strstr(text, "example.org\tTRUE\t/p\tTRUE\t4000000000\town\t2\n"));
    CHECK(strstr(text, "session") == NULL); /* a session cookie ends with its downloader */

    downloader = downloader_with_file();
    CHECK_EQUAL(count_cookies(downloader), 2);
    CHECK(sends(downloader, HANDLES, "/echo?file", "kept=1"));
    CHECK_STATUS(sdd_downloader_clear_cookies(downloader, NULL), SDD_OK);
    /* Others may read the file now; writing it sets its mode again. */
    CHECK(chmod(file_path, 0644) == 0);
    destroy(downloader);
    CHECK(stat(file_path, &status) == 0);
    CHECK_EQUAL(status.st_mode & 07777, 0600);
    read_file(text, sizeof text);
    CHECK(strstr(text, "kept") == NULL && strstr(text, "example.org") == NULL);
    CHECK_EQUAL(count_entries(setting("SDD_TEST_FOLDER"), 0), before + 1); /* and no other file beside it */
    unlink(file_path);
}

/* The error comes at once, and nothing is left behind. */
CASE(h8_a_folder_is_no_cookie_file)
{
    sdd_downloader *downloader = (sdd_downloader *)&downloader;
    int threads = count_threads(), descriptors = count_descriptors();
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.cookie_file = setting("SDD_TEST_FOLDER");
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(downloader == NULL);
    CHECK_NOTHING_LEFT(threads, descriptors);
}

/* A jar that another program has written: it keeps cookies without an end there, and a link to it. */
CASE(h8_cookies_without_an_end_stay_in_their_file)
{
    char target[1000];
    snprintf(file_path, sizeof file_path, "%s/link", setting("SDD_TEST_FOLDER"));
    snprintf(target, sizeof target, "%s/target", setting("SDD_TEST_FOLDER"));
    FILE *file = fopen(target, "w");
    CHECK(file != NULL);
    fputs("127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n", file);
    fclose(file);
    CHECK(symlink("target", file_path) == 0);
    sdd_downloader *downloader = downloader_with_file();
    visit(downloader, HANDLES, "new=1");
    visit(downloader, HANDLES, "old=2");
    destroy(downloader);
    char text[2000];
    read_file(text, sizeof text);
    CHECK(strstr(text, "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t2\n") && strstr(text, "new") == NULL);
    struct stat status;
    CHECK(lstat(file_path, &status) == 0 && S_ISLNK(status.st_mode));
    /* A link to what is not there yet. */
    unlink(target);
    destroy(downloader_with_file());
    CHECK(lstat(target, &status) == 0 && S_ISREG(status.st_mode));
    unlink(target);
    unlink(file_path);
}

/* What is no list of cookies would be overwritten. */
CASE(h8_another_file_is_no_cookie_file)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    sdd_downloader *downloader = NULL;
    snprintf(file_path, sizeof file_path, "%s/notes", setting("SDD_TEST_FOLDER"));
    network.cookie_file = file_path;
    FILE *file = fopen(file_path, "w");
    CHECK(file != NULL);
    fputs("#!/bin/sh\necho precious\n", file);
    fclose(file);
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(downloader == NULL && strstr(sdd_last_error_message(), "cookie_file"));
    unlink(file_path);
}

/* RFC 6265 section 5.4: one field, with the cookies of the request and of the jar; a server may read only one. */
CASE(h8_own_cookies_go_with_those_of_the_jar)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    visit(downloader, HANDLES, "jar=1");
    CHECK_STATUS(sdd_set_header(downloader, "Cookie", "own=2"), SDD_OK);
    CHECK(sends(downloader, HANDLES, "/echo?1", "jar=1; own=2"));
    CHECK(sends(downloader, SDD_OPTION_BYTES_ONLY, "/echo?2", "own=2"));
    CHECK(sends(downloader, HANDLES, "/echo?3", "jar=1; own=2"));
}

int main(void)
{
    start_watchdog();
    destroy(make_downloader(NULL));
    return run_cases();
}
