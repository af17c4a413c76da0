/* cc -std=c99 -O2 cookies.c $(pkg-config --cflags --libs sdd) -o cookies
 *
 * cookies: a session. Fetches URLs one after the other: the cookies that one response sets are sent with the next
 * requests. Then lists the cookies.
 *
 *     cookies [-f FILE] [-s DOMAIN:NAME=VALUE]... [-x DOMAIN] URL...
 *
 * -f keeps the cookies in FILE from one run to the next. -s sets a cookie before the first request. -x removes those
 * of DOMAIN at the end. Exit status 0: success.
 */
#define _POSIX_C_SOURCE 200809L /* getopt */
#include <sdd/sdd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int check(const char *what, sdd_status status)
{
    if (status != SDD_OK) fprintf(stderr, "cookies: %s: %s\n", what, sdd_last_error_message());
    return status == SDD_OK;
}

/* Splits "DOMAIN:NAME=VALUE" in place, and sets the cookie. */
static int set_cookie(sdd_downloader *downloader, char *text)
{
    char *name = strchr(text, ':'), *value = name != NULL ? strchr(name, '=') : NULL;
    sdd_cookie cookie = SDD_COOKIE_INIT;

    if (value == NULL) {
        fprintf(stderr, "cookies: not DOMAIN:NAME=VALUE: %s\n", text);
        return 0;
    }
    *name = *value = '\0';
    cookie.domain = text;
    cookie.name = name + 1;
    cookie.value = value + 1;
    return check("set", sdd_downloader_set_cookie(downloader, &cookie)); /* a session cookie, for "/" and below */
}

static int fetch(sdd_downloader *downloader, const char *url)
{
    /* Cookies are sent and stored only for requests with this option. A login page is not a picture, so bytes only. */
    uint64_t options = SDD_OPTION_HANDLE_COOKIES | SDD_OPTION_BYTES_ONLY;
    sdd_bytes *bytes;
    sdd_status status = sdd_get(downloader, url, options, 30000, NULL, &bytes, NULL);

    if (status != SDD_OK) {
        printf("%s: %s\n", url, sdd_status_name(status));
        return 0;
    }
    printf("%s: %zu bytes\n", url, sdd_bytes_size(bytes));
    sdd_bytes_release(bytes);
    return 1;
}

static int list(sdd_downloader *downloader)
{
    sdd_cookie cookie = SDD_COOKIE_INIT;
    sdd_cookies *cookies; /* a snapshot, which later changes do not affect */

    if (!check("list", sdd_downloader_get_cookies(downloader, &cookies))) return 0;
    printf("%zu cookies\n", sdd_cookies_count(cookies));
    for (size_t i = 0; sdd_cookies_at(cookies, i, &cookie) == SDD_OK; i++)
        printf("    %s=%s for %s%s%s%s\n", cookie.name, cookie.value, cookie.domain, cookie.path,
               cookie.secure ? ", https only" : "", cookie.expires_ms == 0 ? ", till the end of the session" : "");
    sdd_cookies_release(cookies); /* and frees their strings */
    return 1;
}

int main(int argc, char **argv)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    sdd_downloader *downloader;
    const char *forget = NULL, *usage = "usage: cookies [-f FILE] [-s DOMAIN:NAME=VALUE]... [-x DOMAIN] URL...\n";
    int option, good = 1;

    while ((option = getopt(argc, argv, "f:s:x:")) != -1) {
        if (option == 'f')
            network.cookie_file = optarg; /* it need not exist; written by sdd_downloader_destroy() */
        else if (option == 'x')
            forget = optarg;
        else if (option != 's')
            return fputs(usage, stderr), 2;
    }
    if (optind == argc) return fputs(usage, stderr), 2;
    if (!check("create", sdd_downloader_create(&config, &downloader))) return 1;
    optind = 1;
    while ((option = getopt(argc, argv, "f:s:x:")) != -1) /* again, now that there is a downloader */
        good = (option != 's' || set_cookie(downloader, optarg)) && good;
    for (; optind < argc; optind++) /* one after the other: each sends the cookies of those before it */
        good = fetch(downloader, argv[optind]) && good;
    good = list(downloader) && good;
    if (forget != NULL)
        good = check("clear", sdd_downloader_clear_cookies(downloader, forget)) && list(downloader) && good;
    return check("destroy", sdd_downloader_destroy(downloader)) && good ? 0 : 1;
}
