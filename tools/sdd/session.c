#include "session.h"
#include "jar.h"
#include "output.h"
#include "rate.h"
#include "words.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------- signals */

/* timeout(1) signals the program and then its group, which it is in. */
enum { ONE_REQUEST_US = 500000, GRACE_MS = 1000 };

static volatile sig_atomic_t stopping;
static int64_t stopped_at; /* now_us() at the first signal; used by the handler alone */

static void stop(int number)
{
    int error = errno;
    if (stopping == 0) {
        stopped_at = now_us();
        stopping = number;
    } else if (now_us() - stopped_at > ONE_REQUEST_US)
        _exit(EXIT_SIGNAL + number);
    errno = error;
}

static void catch_signals(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = stop };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&action.sa_mask, numbers[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        /* nohup(1) and shells that start a job in the background ignore some of them. */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
    }
}

int stop_signal(void) { return stopping; }

/* ------------------------------------------------------------------------------------------------------- settings */

/* "@FILE" stands for the first line of FILE, so that a password need not be on the command line. */
static const char *secret(const struct settings *settings, const char *value, const char *option, struct text *line)
{
    char *first = NULL;
    size_t capacity = 0;
    if (value == NULL) return NULL;
    if (value[0] != '@') {
        text_puts(line, value);
        memset((char *)value, '*', strlen(value)); /* other users see the arguments of a process */
        return line->data;
    }
    for (size_t i = 0; strcmp(value, "@-") == 0 && i < settings->inputs.count; i++)
        if (strcmp(settings->inputs.items[i], "-") == 0)
            usage_error("--%s @- and --input - would both read standard input", option);
    FILE *file = strcmp(value, "@-") == 0 ? stdin : fopen(value + 1, "re");
    if (file == NULL) usage_error("--%s: %s: %s", option, value + 1, strerror(errno));
    if (getline(&first, &capacity, file) < 0) usage_error("--%s: %s is empty", option, value + 1);
    if (file != stdin) fclose(file);
    text_add(line, first, strcspn(first, "\r\n"));
    free(first);
    return line->data;
}

static void read_credential(struct session *session)
{
    const struct settings *settings = session->settings;
    session->credential = (sdd_credential)SDD_CREDENTIAL_INIT;
    session->credential.client_certificate = settings->certificate;
    session->credential.client_key = settings->key;
    if (settings->user != NULL && settings->bearer != NULL) usage_error("--user and --bearer exclude each other");
    if (settings->key != NULL && settings->certificate == NULL) usage_error("--key needs --cert");
    if (settings->pass != NULL && settings->certificate == NULL) usage_error("--pass needs --cert");
    if (settings->user != NULL) {
        const char *pair = secret(settings, settings->user, "user", &session->secrets[0]);
        char *colon = strchr(session->secrets[0].data, ':');
        if (colon == NULL) usage_error("--user needs NAME:PASSWORD, or @FILE with such a line");
        *colon = 0;
        session->credential.username = pair;
        session->credential.password = colon + 1;
    }
    session->credential.bearer_token = secret(settings, settings->bearer, "bearer", &session->secrets[1]);
    session->credential.client_key_password = secret(settings, settings->pass, "pass", &session->secrets[2]);
}

static void set_headers(struct session *session)
{
    const struct settings *settings = session->settings;
    const char *directive = settings->cache != CACHE_USE_HTTP ? NULL
                            : settings->refresh               ? "no-cache"
                            : settings->offline               ? "only-if-cached, max-stale"
                                                              : NULL;
    const char *const pairs[][3] = { { "User-Agent", settings->user_agent, "user-agent" },
                                     { "Referer", settings->referer, "referer" },
                                     { "Cookie", settings->cookie, "cookie" },
                                     { "Cache-Control", directive, "refresh" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][1] != NULL && sdd_set_header(session->downloader, pairs[i][0], pairs[i][1]) != SDD_OK)
            usage_failure(pairs[i][2]);
    for (size_t i = 0; i < settings->headers.count; i++) {
        char *name = need_copy(settings->headers.items[i]), *value = strchr(name, ':');
        if (value == NULL) usage_error("--header: \"%s\" is not \"Name: value\"", name);
        *value++ = 0;
        value += strspn(value, " \t");
        if (sdd_set_header(session->downloader, name, *value == 0 ? NULL : value) != SDD_OK) usage_failure("header");
        free(name);
    }
}

static bool has_file(const char *directory, const char *name)
{
    struct text path = { 0 };
    text_printf(&path, "%s/%s", directory, name);
    bool is_there = access(path.data, F_OK) == 0;
    text_free(&path);
    return is_there;
}

bool is_cache(const char *directory, bool may_be_new)
{
    struct stat facts;
    if (stat(directory, &facts) != 0 || !S_ISDIR(facts.st_mode)) return false;
    return may_be_new || has_file(directory, "key") || has_file(directory, "ledger");
}

sdd_cache *open_cache(const struct settings *settings)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *cache = NULL;
    config.directory = settings->cache_dir;
    config.levels = SDD_CACHE_DISK;
    /* sdd cache looks into caches of applications, which have limits of their own: it must remove nothing unasked. */
    if (settings->command == CACHE)
        config.max_disk_age_ms = config.max_disk_bytes = config.trim_interval_ms = SDD_NO_LIMIT;
    if (sdd_cache_create(&config, &cache) == SDD_OK) return cache;
    struct text words = { 0 };
    add_words(&words, sdd_last_error_message());
    complain("the cache%s%s: %s", settings->cache_dir == NULL ? "" : " ",
             settings->cache_dir == NULL ? "" : settings->cache_dir, words.data);
    exit(EXIT_FILES);
}

static void fill_network(const struct settings *settings, sdd_network_options *network)
{
    network->ca_file = settings->ca_file;
    network->ca_path = settings->ca_path;
    network->min_tls_version = settings->min_tls;
    /* Transfers that share a connection of HTTP/2 can only be paused with their data kept, which limits no rate. */
    network->http_version = settings->rate_limit > 0 && settings->http_version == 0 ? 11 : settings->http_version;
    network->allow_file_urls = settings->command == THUMBNAIL || settings->command == INFO;
    if (settings->ipv4 && settings->ipv6) usage_error("--ipv4 and --ipv6 exclude each other");
    if (settings->allow.count > 0 && !settings->public_only) usage_error("--allow needs --public-only");
    network->ip_version = settings->ipv4 ? SDD_IP_V4 : settings->ipv6 ? SDD_IP_V6 : SDD_IP_ANY;
    network->address_policy = settings->public_only ? SDD_ADDRESS_PUBLIC_ONLY : SDD_ADDRESS_ANY;
    if (settings->proxy != NULL && strcmp(settings->proxy, "none") == 0)
        network->proxy_mode = SDD_PROXY_NONE;
    else
        network->proxy = settings->proxy;
    if (network->proxy != NULL)
        network->no_proxy = settings->no_proxy;
    else if (settings->no_proxy != NULL) /* the library reads the environment's proxy, and so its exceptions */
        setenv("no_proxy", settings->no_proxy, 1);
    network->network_interface = settings->interface;
    network->unix_socket_path = settings->unix_socket;
    network->resolve = settings->resolve.items;
    network->resolve_count = settings->resolve.count;
    network->cookie_file = settings->cookie_jar;
    if (settings->rate_limit > 0) network->receive_buffer_bytes = rate_buffer(settings->rate_limit);
    network->address_exceptions = settings->allow.items;
    network->address_exception_count = settings->allow.count;
}

static void fill_groups(const struct settings *settings, sdd_limits *limits, sdd_retry_options *retry)
{
    if (settings->max_size > 0) limits->max_body_bytes = settings->max_size;
    if (settings->max_pixels > 0) limits->max_pixels = settings->max_pixels;
    retry->max_attempts = (int32_t)settings->tries;
    retry->budget = SDD_NO_LIMIT; /* --tries says it for each URL */
    if (settings->retry_delay > 0) retry->delay_ms = settings->retry_delay;
}

static void open_loader(struct session *session)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.downloader = session->downloader;
    config.cache = session->cache;
    config.no_cache = session->cache == NULL;
    config.fail_policy = SDD_FAIL_POLICY_NONE; /* each URL of a list is tried, however often it is there */
    if (sdd_loader_create(&config, &session->loader) == SDD_OK) return;
    struct text words = { 0 };
    add_words(&words, sdd_last_error_message());
    complain("%s", words.data);
    exit(EXIT_SOME_FAILED);
}

static void on_log(const sdd_notice *notice, void *user_data)
{
    (void)user_data;
    if (notice->url != NULL)
        complain("%s: %s", notice->url, notice->failure.message);
    else
        complain("%s", notice->failure.message);
}

void session_open(struct session *session, const struct settings *settings)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_callback_options callbacks = SDD_CALLBACK_OPTIONS_INIT;
    *session = (struct session){ .settings = settings };
    read_credential(session);
    fill_network(settings, &network);
    fill_groups(settings, &limits, &retry);
    /* sdd info must notice at once when it has read enough, and --limit-rate when too much has arrived. */
    callbacks.min_progress_interval_ms = settings->command == INFO || settings->rate_limit > 0 ? 0 : 50;
    config.delivery = SDD_DELIVERY_APPLICATION;
    config.max_concurrent_downloads = (int32_t)settings->parallel;
    config.max_concurrent_per_host = (int32_t)(settings->per_host > 0 ? settings->per_host : settings->parallel);
    config.min_host_interval_ms = settings->wait > 0 ? settings->wait : 0;
    config.accepted_status_codes = settings->accept_status;
    config.accepted_content_types = settings->accept_type;
    config.credential = &session->credential;
    config.network = &network, config.limits = &limits, config.retry = &retry, config.callbacks = &callbacks;
    if (settings->cache != CACHE_USE_NONE || settings->resume) session->cache = open_cache(settings);
    config.cache = session->cache;
    if (settings->cookie_jar != NULL) jar_begin(settings->cookie_jar);
    if (sdd_downloader_create(&config, &session->downloader) != SDD_OK) usage_failure("");
    set_headers(session);
    if (settings->verbose > 0)
        sdd_downloader_set_log(session->downloader, settings->verbose > 1 ? SDD_LOG_DEBUG : SDD_LOG_INFO, on_log, NULL,
                               NULL);
    if (settings->cookie_jar != NULL) session->options |= SDD_OPTION_HANDLE_COOKIES;
    if (settings->insecure) session->options |= SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES;
    open_loader(session);
    catch_signals();
}

void session_close(struct session *session)
{
    sdd_loader_destroy(session->loader);
    sdd_downloader_destroy(session->downloader);
    if (session->settings->cookie_jar != NULL) jar_end(session->settings->cookie_jar);
    if (session->cache != NULL) sdd_cache_destroy(session->cache);
    for (size_t i = 0; i < sizeof session->secrets / sizeof *session->secrets; i++) text_free(&session->secrets[i]);
}

/* Returns a time for the library, which takes 0 as its default: an option of 0 means no limit. */
static int64_t limit(int64_t milliseconds)
{
    return milliseconds == NOT_GIVEN ? 0 : milliseconds == 0 ? SDD_NO_LIMIT : milliseconds;
}

void session_fill(const struct session *session, sdd_transfer_options *transfer)
{
    const struct settings *settings = session->settings;
    transfer->connect_timeout_ms = limit(settings->connect_timeout);
    transfer->download_timeout_ms = limit(settings->timeout);
    transfer->total_timeout_ms = limit(settings->max_time);
    if (settings->max_redirects == 0)
        transfer->redirects = SDD_REDIRECT_REFUSE;
    else if (settings->max_redirects > 0)
        transfer->max_redirects = (int32_t)settings->max_redirects;
    transfer->max_attempts = (int32_t)settings->tries;
}

/* A signal that comes between a look at `stopping` and a wait must end the wait. */
static void hold_signals(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, before);
}

bool wait_readable(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    sigset_t before;
    int count = -1;
    hold_signals(&before);
    while (count < 0 && stopping == 0) count = ppoll(&wait, 1, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return stopping == 0;
}

bool wait_writable(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLOUT };
    sigset_t before;
    int count = -1;
    hold_signals(&before);
    while (count < 0 && stopping == 0) count = ppoll(&wait, 1, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return count > 0 || poll(&wait, 1, GRACE_MS) > 0;
}

void session_wait(struct session *session, int readable, int milliseconds)
{
    struct pollfd waits[] = { { .fd = sdd_downloader_event_fd(session->downloader), .events = POLLIN },
                              { .fd = readable, .events = POLLIN } };
    struct timespec limit = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
    sigset_t before;
    hold_signals(&before);
    if (stopping == session->seen_stop) ppoll(waits, 2, milliseconds < 0 ? NULL : &limit, &before);
    session->seen_stop = stopping;
    sigprocmask(SIG_SETMASK, &before, NULL);
    sdd_downloader_dispatch(session->downloader, 0, NULL);
}

/* ------------------------------------------------------------------------------------------------ words for numbers */

sdd_failure last_failure(void)
{
    sdd_failure failure;
    sdd_last_error(&failure);
    return failure;
}

sdd_failure own_failure(sdd_status status, sdd_detail detail, const char *message)
{
    sdd_error_class error_class = status == SDD_ERROR_BAD_IMAGE_DATA   ? SDD_CLASS_IMAGE
                                  : status == SDD_ERROR_BODY_TOO_LARGE ? SDD_CLASS_LIMIT
                                  : status == SDD_ERROR_PROTOCOL       ? SDD_CLASS_NETWORK
                                  : status == SDD_ERROR_INVALID_ARGUMENT || status == SDD_ERROR_UNSUPPORTED ||
                                          status == SDD_ERROR_NOT_CACHED
                                      ? SDD_CLASS_REQUEST
                                      : SDD_CLASS_SYSTEM;
    return (sdd_failure){ .status = status, .error_class = error_class, .detail = detail, .message = message };
}

int class_status(const sdd_failure *failure)
{
    switch (failure->status) {
    case SDD_OK: return EXIT_FINE;
    case SDD_ERROR_FILE_NOT_READABLE:
    case SDD_ERROR_SINK:
    case SDD_ERROR_CACHE: return EXIT_FILES;
    case SDD_ERROR_NOT_CACHED: return EXIT_RESPONSE;
    case SDD_ERROR_DOES_NOT_FIT: return EXIT_LIMIT;
    default: break;
    }
    switch (failure->error_class) {
    case SDD_CLASS_REQUEST: return EXIT_USAGE;
    case SDD_CLASS_RESPONSE: return EXIT_RESPONSE;
    case SDD_CLASS_IMAGE: return EXIT_PICTURE;
    case SDD_CLASS_NETWORK: return EXIT_NETWORK;
    case SDD_CLASS_TLS: return EXIT_TLS;
    case SDD_CLASS_TIMEOUT: return EXIT_TIME;
    case SDD_CLASS_LIMIT: return EXIT_LIMIT;
    case SDD_CLASS_SYSTEM: return EXIT_FILES;
    default: return EXIT_SOME_FAILED;
    }
}

int combine_status(int all, int one, bool first) { return first || all == one ? one : EXIT_SOME_FAILED; }

const char *class_name(sdd_error_class error_class)
{
    static const char *const names[] = { "none",    "request", "cancelled", "response", "image",
                                         "network", "tls",     "timeout",   "limit",    "system" };
    return error_class >= 0 && error_class <= SDD_CLASS_SYSTEM ? names[error_class] : "unknown";
}

const char *origin_name(sdd_origin origin)
{
    static const char *const names[] = { "none",       "network",          "memory",    "disk",
                                         "http-fresh", "http-revalidated", "http-stale" };
    return origin >= 0 && origin <= SDD_ORIGIN_HTTP_STALE ? names[origin] : "unknown";
}
