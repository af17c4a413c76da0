/* The client of the hostile servers: a program that reads one command a line from its standard input and reports the
 * results. See `usage` for the commands. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sdd/sdd.h>

static const char usage[] =
    "make [max_body=N] [attempts=N] [requests=N] [cache=FOLDER] [http3]   makes the downloader\n"
    "get TAG URL [post] [total=MS] [stall=MS] [picture] [http_cache]\n"
    "cancel TAG\n"
    "memory                    tells the most resident memory so far, in KiB\n"
    "entries                   tells how many entries the cache has\n"
    "destroy                   tells how long that took, in milliseconds\n";

enum { MOST = 256 };
static struct { char tag[32]; sdd_token token; } requests[MOST];
static int request_count;
static sdd_downloader *downloader;
static sdd_cache *cache;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void ended(const sdd_result *result, void *tag)
{
    size_t count = result->bytes ? sdd_bytes_size(result->bytes) : 0;
    const unsigned char *bytes = result->bytes ? sdd_bytes_data(result->bytes) : NULL;
    uint64_t sum = 1469598103934665603u;
    for (size_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * 1099511628211u;
    int unproven = result->metrics->end_unproven;
    printf("end %s error=%s code=%d detail=%d status=%d curl=%d bytes=%zu sum=%016" PRIx64
           " unproven=%d attempts=%d origin=%d image=%d version=%d fields=%zu message=%s\n",
           (char *)tag, sdd_status_name(result->failure.status), result->failure.status, result->failure.detail,
           result->failure.http_status, result->failure.curl_code, count, sum, unproven, result->metrics->attempts,
           result->origin, result->image != NULL, result->metrics->http_version,
           sdd_response_header_count(result->response), result->failure.message);
    fflush(stdout);
}

static long number(const char *line, const char *name, long otherwise)
{
    const char *at = strstr(line, name);
    return at ? atol(at + strlen(name)) : otherwise;
}

static void make(const char *line)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    config.limits = &limits;
    config.retry = &retry;
    network.ca_file = getenv("SDD_TEST_CA");
    limits.max_body_bytes = number(line, "max_body=", 0);
    retry.max_attempts = (int32_t)number(line, "attempts=", 1);
    config.max_concurrent_downloads = config.max_concurrent_per_host = (int32_t)number(line, "requests=", 0);
    char folder[512];
    const char *at = strstr(line, "cache=");
    if (at && sscanf(at, "cache=%511s", folder) == 1) {
        sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
        cache_config.directory = folder;
        if (sdd_cache_create(&cache_config, &cache) != SDD_OK) exit(3);
        config.cache = cache;
    }
    if (strstr(line, " http3")) network.http_version = SDD_HTTP_3;
    sdd_status status = sdd_downloader_create(&config, &downloader);
    if (status != SDD_OK) {
        fprintf(stderr, "no downloader: %s\n", sdd_last_error_message());
        exit(status == SDD_ERROR_UNSUPPORTED ? 4 : 3);
    }
    puts("made");
}

static void get(const char *line)
{
    char url[512], *tag = requests[request_count].tag;
    if (request_count == MOST || sscanf(line, "get %31s %511s", tag, url) != 2) exit(2);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    request.url = url;
    request.completed = ended;
    request.user_data = tag;
    request.options = strstr(line, " picture") ? 0 : SDD_OPTION_BYTES_ONLY;
    if (strstr(line, " http_cache")) request.options |= SDD_OPTION_USE_HTTP_CACHE;
    transfer.total_timeout_ms = number(line, "total=", 0);
    transfer.download_timeout_ms = number(line, "stall=", 0);
    if (strstr(line, " post")) {
        request.method = "POST";
        request.body = "what is posted";
        request.body_size = 14;
    }
    requests[request_count].token = sdd_downloader_submit(downloader, &request);
    if (requests[request_count].token == 0) exit(3);
    request_count++;
    printf("begun %s\n", tag);
}

static void cancel(const char *line)
{
    for (int i = 0; i < request_count; i++)
        if (strncmp(line + 7, requests[i].tag, strcspn(line + 7, "\n")) == 0)
            sdd_cancel(requests[i].token);
    puts("cancelled");
}

static void tell_memory(void)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) printf("memory %ld\n", atol(line + 6));
    if (file) fclose(file);
}

static void tell_entries(void)
{
    sdd_cache_statistics statistics = {.struct_size = sizeof statistics};
    sdd_cache_flush_wait(cache, 20000);
    sdd_cache_get_statistics_wait(cache, &statistics);
    printf("entries %" PRId64 "\n", statistics.entries_written);
}

static void destroy(void)
{
    int64_t began = now_ms();
    sdd_downloader_destroy(downloader);
    downloader = NULL;
    printf("destroyed %" PRId64 "\n", now_ms() - began);
}

int main(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "make", 4) == 0) make(line);
        else if (strncmp(line, "get ", 4) == 0) get(line);
        else if (strncmp(line, "cancel ", 7) == 0) cancel(line);
        else if (strncmp(line, "memory", 6) == 0) tell_memory();
        else if (strncmp(line, "entries", 7) == 0) tell_entries();
        else if (strncmp(line, "destroy", 7) == 0) destroy();
        else return fputs(usage, stderr), 2;
        fflush(stdout);
    }
    if (downloader) sdd_downloader_destroy(downloader);
    if (cache) sdd_cache_destroy(cache);
    return 0;
}
