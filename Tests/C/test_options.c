/* Every bit of SDD_OPTION_ with every kind of call: the bit has the documented meaning there, or is refused by its
   name. */
#include "loads.h"
#include "interface.h"

/* The kinds of calls: downloads, sdd_get(), loads, prefetch lists, batches without and with a loader, queries, and
   downloads and loads whose events the application takes. */
enum { D = 1, G = 2, L = 4, P = 8, B = 16, LB = 32, Q = 64, E = 128 };

static const char picture[] = "/file/png/rgb8.png";

/* Returns the kinds of calls that accept a bit, as the letters of the header say. */
static int meanings(const option_row *option)
{
    static const struct { char letter; int means; } letters[] = { { 'D', D | G | B }, { 'L', L }, { 'P', P }, { 'B', LB } };
    int means = 0;
    if (strstr(option->name, "_EVENTS") != NULL) return E;
    if (*option->letters == 0) return D | G | L | P | B | LB | Q;
    for (int i = 0; i < 4; i++)
        if (strchr(option->letters, letters[i].letter) != NULL) means |= letters[i].means;
    return means;
}

/* Returns the name of a bit, or NULL if this version has none. */
static const char *bit_name(int number, int *means)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (header_options[i].bit != UINT64_C(1) << number) continue;
        *means = meanings(&header_options[i]);
        return header_options[i].name;
    }
    *means = 0;
    return NULL;
}

static void check_refused(const record *r, int number, const char *name)
{
    CHECK_ENDED(r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS);
    if (name != NULL && strstr(r->message, name) == NULL) FAIL("no name of bit %d: %s", number, r->message);
    char told[20];
    snprintf(told, sizeof told, "bit %d ", number);
    if (name == NULL && strstr(r->message, told) == NULL) FAIL("no number of bit %d: %s", number, r->message);
}

static void each_bit_is_different(void)
{
    uint64_t all = 0;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const uint64_t bit = header_options[i].bit;
        CHECK(bit != 0 && (bit & (bit - 1)) == 0 && (all & bit) == 0);
        all |= bit;
    }
}

static void bits_of_downloads(void)
{
    record r = RECORD_INIT;
    for (int number = 0; number < 64; number++) {
        int means;
        const char *name = bit_name(number, &means);
        fetch(NULL, &r, atf("%s?d%d", picture, number), UINT64_C(1) << number);
        if (means & D) {
            CHECK_ENDED(&r, SDD_OK, 0);
        } else {
            check_refused(&r, number, name);
        }
    }
    record_clear(&r);
}

static void bits_of_sdd_get(void)
{
    for (int number = 0; number < 64; number++) {
        int means;
        bit_name(number, &means);
        sdd_bytes *bytes = NULL;
        const char *url = atf("%s?g%d", picture, number);
        sdd_status status = sdd_get(NULL, url, UINT64_C(1) << number, 60000, NULL, &bytes, NULL);
        CHECK_STATUS(status, means & G ? SDD_OK : SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
        sdd_bytes_release(bytes);
    }
}

static void bits_of_loads(void)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    for (int number = 0; number < 64; number++) {
        int means;
        const char *name = bit_name(number, &means);
        load(&l, &r, atf("%s?l%d", picture, number), UINT64_C(1) << number);
        if (!(means & L)) {
            check_refused(&r, number, name);
        } else if (UINT64_C(1) << number == SDD_OPTION_FROM_CACHE_ONLY) {
            CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
        } else {
            CHECK_ENDED(&r, SDD_OK, 0);
        }
    }
    record_clear(&r);
    close_loader(&l);
}

/* The bits for events mean something where the application takes the events, to downloads and to loads. */
static void bits_for_events(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    loader_in_folder l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    record r = RECORD_INIT;
    for (int number = 0; number < 64; number++)
        for (int is_load = 0; is_load < 2; is_load++) {
            int means;
            const char *name = bit_name(number, &means), *url = atf("%s?e%d-%d", picture, number, is_load);
            record_clear(&r);
            if (is_load) {
                sdd_load_request request = record_load(&r, url, UINT64_C(1) << number);
                submit_load(&l, &request);
            } else {
                record_submit(l.downloader, &r, url, UINT64_C(1) << number);
            }
            CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
            if (means & E) CHECK_ENDED(&r, SDD_OK, 0);
            else if (!(means & (is_load ? L : D))) check_refused(&r, number, name);
        }
    record_clear(&r);
    close_loader(&l);
}

/* Returns the expected status of a call that checks bits itself. */
static sdd_status expected(int number, int use)
{
    int means;
    const char *name = bit_name(number, &means);
    return means & use ? SDD_OK : name != NULL ? SDD_ERROR_INVALID_ARGUMENT : SDD_ERROR_UNSUPPORTED;
}

static void bits_of_lists_to_prefetch(void)
{
    loader_in_folder l = open_loader();
    for (int number = 0; number < 64; number++) {
        sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
        list.options = UINT64_C(1) << number;
        sdd_token token = sdd_prefetch(l.loader, &list);
        sdd_status wanted = expected(number, P);
        CHECK_EQUAL(token != 0, wanted == SDD_OK);
        if (token == 0) CHECK_STATUS(sdd_last_error(NULL), wanted);
    }
    close_loader(&l);
}

static void bits_of_batches(void)
{
    loader_in_folder l = open_loader();
    for (int number = 0; number < 64; number++) {
        for (int loads = 0; loads < 2; loads++) {
            sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
            sdd_batch *batch = NULL;
            config.options = UINT64_C(1) << number;
            if (loads) config.loader = l.loader;
            sdd_status status = sdd_batch_create(&config, &batch);
            CHECK_STATUS(status, expected(number, loads ? LB : B));
            CHECK((batch != NULL) == (status == SDD_OK));
            if (batch != NULL) CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
        }
    }
    close_loader(&l);
}

static void bits_of_queries(void)
{
    loader_in_folder l = open_loader();
    for (int number = 0; number < 64; number++) {
        sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
        query.key = "nothing";
        query.options = UINT64_C(1) << number;
        sdd_status status = find(l.cache.cache, &query, NULL, NULL, NULL, NULL);
        sdd_status wanted = expected(number, Q);
        CHECK_STATUS(status, wanted == SDD_OK ? SDD_ERROR_NOT_CACHED : wanted);
    }
    close_loader(&l);
}

int main(void)
{
    start_watchdog();
    RUN(each_bit_is_different);
    RUN(bits_of_downloads);
    RUN(bits_of_sdd_get);
    RUN(bits_of_loads);
    RUN(bits_for_events);
    RUN(bits_of_lists_to_prefetch);
    RUN(bits_of_batches);
    RUN(bits_of_queries);
    return 0;
}
