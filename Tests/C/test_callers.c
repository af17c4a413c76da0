/* Two callers with credentials and one without, every way to identify a caller, and every place where requests share
   something: no caller ever gets what belongs to another, and no file and no message contains a secret. Each cell is
   named by its way and its place, so that a failure says which one it was. */
#include "loads.h"

#include <ftw.h>
#include <setjmp.h>

/* --------------------------------------------------------------------------------------- callers */

enum { ALICE, BOB, NOBODY, PERSONS };

#define ALICES "alice-sesame-4711"
#define BOBS "bob-sesame-0815"

static const char *const names[PERSONS] = { "alice", "bob", "nobody" };
static const char *const secrets[PERSONS] = { ALICES, BOBS, NULL };
static const char *const pictures[PERSONS] = { "jpeg/size-17x3.jpg", "jpeg/baseline-420.jpg", "png/rgb8.png" };

/* ------------------------------------------------------------------------------------------ ways */

typedef enum way {
    HEADER, COOKIE, JAR, BASIC, DIGEST, BEARER, CERTIFICATE, USERINFO, VARIED, PROXY, WAYS
} way;

static const char *const way_names[WAYS] = {
    "Authorization header", "Cookie header", "cookie jar", "basic credential", "digest credential", "bearer token",
    "client certificate", "user info of the URL", "header named by Vary", "proxy credential",
};

/* Whether the server challenges a caller without credentials, who then gets no picture. */
static int is_challenged(way w) { return w == BASIC || w == DIGEST; }

typedef enum place {
    UNDER_WAY, MEMORY, DISK, HTTP_CACHE, PARTS, FAILED_LIST, THUMBNAILS, REFRESH, PLACES
} place;

static const char *const place_names[PLACES] = {
    "transfers under way", "memory", "disk", "HTTP cache", "resume parts", "failed list", "thumbnails", "refresh",
};

/* The name of the current cell, for every message. */
static char cell[200];

static int failed_cells;
static int goes_on; /* a failed cell does not end the test */
static jmp_buf next_cell;

#define IN_CELL(...) \
    do { \
        char said[1200]; \
        snprintf(said, sizeof said, __VA_ARGS__); \
        if (!goes_on) FAIL("%s: %s", cell, said); \
        fprintf(stderr, "%s: %s\n", cell, said); \
        failed_cells++; \
        longjmp(next_cell, 1); \
    } while (0)

/* The objects for one way: a cache that all callers share, and downloaders and loaders over it, shared by all callers
   where the way allows that. */
typedef struct world {
    way w;
    int is_varied; /* the server sends Vary */
    cache_in_folder cache;
    sdd_downloader *downloaders[PERSONS];
    sdd_loader *loaders[PERSONS];
} world;

static int seat(const world *o, int person) { return o->w == PROXY ? person : 0; }
static sdd_downloader *downloader_of(const world *o, int person) { return o->downloaders[seat(o, person)]; }
static sdd_loader *loader_of(const world *o, int person) { return o->loaders[seat(o, person)]; }

/* ---------------------------------------------------------------------------------------- the log */

static struct {
    pthread_mutex_t lock;
    char *text;
    size_t length, room;
} noted = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    pthread_mutex_lock(&noted.lock);
    if (noted.length + length + 2 > noted.room) {
        noted.room = (noted.length + length + 2) * 2;
        noted.text = realloc(noted.text, noted.room);
        CHECK(noted.text != NULL);
    }
    if (length) memcpy(noted.text + noted.length, text, length);
    noted.length += length;
    noted.text[noted.length++] = '\n';
    pthread_mutex_unlock(&noted.lock);
}

static void observe(const sdd_notice *notice, void *user_data)
{
    (void)user_data;
    note(notice->url);
    note(notice->failure.message);
}

/* ------------------------------------------------------------------------------------- the worlds */

static void open_world(world *o, way w, int is_varied)
{
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    cache.no_live_images = 1;
    o->w = w;
    o->is_varied = is_varied;
    o->cache = open_cache(cache);
    for (int p = 0; p < PERSONS; p++) {
        if (seat(o, p) != p) continue;
        config_groups groups;
        sdd_downloader_config config = quick_retries(&groups);
        char proxy[200];
        snprintf(proxy, sizeof proxy, "http://%s:%s@%s", names[p], secrets[p], strstr(setting("SDD_TEST_SERVER_2"), "127"));
        groups.network.ca_file = setting("SDD_TEST_CA");
        config.cache = o->cache.cache;
        config.max_concurrent_per_host = config.max_concurrent_downloads = 16;
        if (w == PROXY && p != NOBODY) groups.network.proxy = proxy;
        o->downloaders[p] = make_downloader(&config);
        CHECK_STATUS(sdd_downloader_set_observer(o->downloaders[p], observe, NULL, NULL), SDD_OK);
        CHECK_STATUS(sdd_downloader_set_log(o->downloaders[p], SDD_LOG_DEBUG, observe, NULL, NULL), SDD_OK);
        sdd_loader_config loader = SDD_LOADER_CONFIG_INIT;
        loader.downloader = o->downloaders[p];
        loader.cache = o->cache.cache;
        CHECK_STATUS(sdd_loader_create(&loader, &o->loaders[p]), SDD_OK);
    }
}

static void close_downloaders(world *o)
{
    for (int p = 0; p < PERSONS; p++) {
        if (seat(o, p) != p) continue;
        CHECK_STATUS(sdd_loader_destroy(o->loaders[p]), SDD_OK);
        destroy(o->downloaders[p]);
    }
}

/* --------------------------------------------------------------------------- one caller's request */

/* The credentials of one caller. Valid until the next identify(). */
typedef struct identity {
    sdd_header header;
    size_t header_count;
    sdd_credential credential;
    int has_credential;
    uint64_t options; /* SDD_OPTION_ bits */
    char value[200];
} identity;

static const char *certificate_of(int person) { return setting(person == ALICE ? "SDD_TEST_ALICE" : "SDD_TEST_BOB"); }

/* Replaces the jar's cookie by that of this caller. */
static void fill_jar(const world *o, int person, uint64_t *options)
{
    sdd_cookie cookie = SDD_COOKIE_INIT;
    cookie.name = "id";
    cookie.value = secrets[person];
    cookie.domain = "127.0.0.1";
    CHECK_STATUS(sdd_downloader_clear_cookies(downloader_of(o, person), NULL), SDD_OK);
    if (person != NOBODY) CHECK_STATUS(sdd_downloader_set_cookie(downloader_of(o, person), &cookie), SDD_OK);
    /* The caller without credentials uses an empty jar, or no jar. */
    if (person != NOBODY || !o->is_varied) *options |= SDD_OPTION_HANDLE_COOKIES;
}

static void identify(const world *o, int person, identity *i)
{
    memset(i, 0, sizeof *i);
    i->credential = (sdd_credential)SDD_CREDENTIAL_INIT;
    if (o->w == JAR) fill_jar(o, person, &i->options);
    if (person == NOBODY) return;
    const char *format = o->w == HEADER ? "Token %s" : o->w == COOKIE ? "id=%s" : "%s";
    snprintf(i->value, sizeof i->value, format, secrets[person]);
    i->header.name = o->w == HEADER ? "Authorization" : o->w == COOKIE ? "Cookie" : "X-Person";
    i->header.value = i->value;
    i->header_count = o->w == HEADER || o->w == COOKIE || o->w == VARIED;
    i->has_credential = o->w == BASIC || o->w == DIGEST || o->w == BEARER || o->w == CERTIFICATE;
    if (is_challenged(o->w)) {
        i->credential.username = names[person];
        i->credential.password = secrets[person];
    }
    if (o->w == BEARER) i->credential.bearer_token = secrets[person];
    if (o->w == CERTIFICATE) i->credential.client_certificate = certificate_of(person);
}

/* Returns the caller's credentials. */
static sdd_transfer_options transfer_of(const identity *i)
{
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    transfer.headers = i->header_count ? &i->header : NULL;
    transfer.header_count = i->header_count;
    transfer.credential = i->has_credential ? &i->credential : NULL;
    return transfer;
}

/* Appends the target for one caller: `word` is "file", "hold/NAME" or "ranged", followed by more parameters. */
static void add_target(char *path, const world *o, int person, const char *word, const char *parameters)
{
    char target[600];
    const char *vary = o->w == VARIED ? "&header=Vary:%20X-Person"
                       : o->is_varied ? "&header=Vary:%20Authorization,%20Cookie,%20X-Person" : "";
    snprintf(target, sizeof target, "/%s?file=%s%s%s", word, pictures[person], parameters, vary);
    path += strlen(path);
    path += sprintf(path, "%s=", names[person]);
    path = add_escaped(path, target);
    strcpy(path, "&");
}

/* Makes a path that gives each caller something else. `words` has one entry for each. */
static void path_for(char *path, const world *o, const char *name, const char *const *words, const char *parameters)
{
    sprintf(path, "/who/%s?", name);
    for (int p = 0; p < PERSONS; p++) {
        if (p == NOBODY && is_challenged(o->w)) {
            strcat(path, o->w == BASIC ? "nobody=/challenge/basic%3Frefuse&" : "nobody=/challenge/digest%3Frefuse&");
        } else {
            add_target(path, o, p, words[p], parameters);
        }
    }
    path[strlen(path) - 1] = 0;
}

static const char *url_for(const world *o, int person, const char *path)
{
    static char made[4096];
    const char *server = setting(o->w == CERTIFICATE ? "SDD_TEST_TLS_CLIENT" : "SDD_TEST_SERVER");
    if (o->w == USERINFO && person != NOBODY) {
        snprintf(made, sizeof made, "http://%s:%s@%s%s", names[person], secrets[person], strstr(server, "127"), path);
    } else {
        snprintf(made, sizeof made, "%s%s", server, path);
    }
    return made;
}

/* ---------------------------------------------------------------------------- the expected results */

static int is_of(const record *r, int person, const sdd_decode_options *decode)
{
    size_t size;
    uint8_t *file = fixture(pictures[person], &size);
    int is_so;
    if (r->image) {
        sdd_image *image = NULL;
        CHECK_STATUS(sdd_image_decode(file, size, decode, &image), SDD_OK);
        is_so = sdd_image_width(image) == sdd_image_width(r->image) && sdd_image_height(image) == sdd_image_height(r->image);
        sdd_image_release(image);
    } else {
        is_so = r->bytes && sdd_bytes_size(r->bytes) == size && memcmp(sdd_bytes_data(r->bytes), file, size) == 0;
    }
    free(file);
    return is_so;
}

/* Checks that the result is this caller's picture, or the 401 in its place. */
static void check_gets_own(const world *o, const record *r, int person, const sdd_decode_options *decode, const char *when)
{
    if (person == NOBODY && is_challenged(o->w)) {
        if (r->error != SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE || r->http_status != 401)
            IN_CELL("%s, nobody: %s, status %d, not 401", when, sdd_status_name(r->error), (int)r->http_status);
        return;
    }
    if (r->error != SDD_OK) IN_CELL("%s, %s: %s \"%s\"", when, names[person], sdd_status_name(r->error), r->message);
    for (int other = 0; other < PERSONS; other++)
        if (other != person && is_of(r, other, decode))
            IN_CELL("%s: %s gets what belongs to %s", when, names[person], names[other]);
    if (!is_of(r, person, decode)) IN_CELL("%s: %s gets something else", when, names[person]);
}

/* ------------------------------------------------------------------------------- loads, downloads */

typedef struct levels { int32_t wanted, original; } levels;

static sdd_load_request load_of(record *r, const char *url, uint64_t options, levels at, const sdd_decode_options *decode)
{
    sdd_load_request request = record_load(r, url, options);
    request.query = request.store = at.wanted;
    request.original_query = request.original_store = at.original;
    request.decode = decode;
    return request;
}

static void load_for(
    const world *o, record *r, int person, const char *path, uint64_t options, levels at, const sdd_decode_options *decode)
{
    identity i;
    record_clear(r);
    identify(o, person, &i);
    sdd_transfer_options transfer = transfer_of(&i);
    sdd_load_request request = load_of(r, url_for(o, person, path), options, at, decode);
    request.options |= i.options;
    request.transfer = &transfer;
    CHECK(sdd_loader_submit(loader_of(o, person), &request) != 0);
    record_wait(r);
}

static void submit_for(const world *o, record *r, int person, const char *path, uint64_t options)
{
    identity i;
    record_clear(r);
    identify(o, person, &i);
    sdd_transfer_options transfer = transfer_of(&i);
    sdd_download_request request = record_request(r, url_for(o, person, path));
    request.transfer = &transfer;
    request.options = i.options | options;
    submit(downloader_of(o, person), &request);
}

static void download_for(const world *o, record *r, int person, const char *path, uint64_t options)
{
    submit_for(o, r, person, path, options);
    record_wait(r);
}

/* ------------------------------------------------------------------------------------------ cells */

static const char *const files[PERSONS] = { "ok", "ok", "ok" };

/* All three request at the same time, and none is answered before all have asked. */
static void under_way(world *o)
{
    static const char *const held[PERSONS] = { "hold/callers", "hold/callers", "hold/callers" };
    char path[4096];
    record all[PERSONS] = { RECORD_INIT, RECORD_INIT, RECORD_INIT };
    /* The second server is the proxy, and answers by itself. */
    const char *servers[2] = { "SDD_TEST_SERVER", "SDD_TEST_SERVER_2" };
    int counts[2] = { 0, 0 };
    path_for(path, o, "under-way", held, "");
    for (int p = 0; p < PERSONS; p++) {
        int server = o->w == PROXY && p != NOBODY;
        char wait[100];
        submit_for(o, &all[p], p, path, 0);
        counts[server] += is_challenged(o->w) && p != NOBODY ? 2 : 1;
        snprintf(wait, sizeof wait, "/wait?path=/who/under-way&count=%d", counts[server]);
        order_at(servers[server], wait);
    }
    for (int i = 0; i < 2; i++) order_at(servers[i], "/release/callers");
    for (int p = 0; p < PERSONS; p++) {
        record_wait(&all[p]);
        check_gets_own(o, &all[p], p, NULL, "under way");
        record_clear(&all[p]);
    }
    for (int i = 0; i < 2; i++) order_at(servers[i], "/reset-stats");
}

static int has_picture(const world *o, int person) { return person != NOBODY || !is_challenged(o->w); }

/* Each caller loads, and finds the result again; then all load once more in the reverse order. */
static void kept(world *o, const char *name, levels at, const sdd_decode_options *decode, int32_t origin)
{
    char path[4096];
    OWNED_RECORD r = RECORD_INIT;
    path_for(path, o, name, files, "");
    for (int p = 0; p < PERSONS; p++) {
        load_for(o, &r, p, path, SDD_OPTION_FROM_CACHE_ONLY, at, decode);
        if (r.error != SDD_ERROR_NOT_CACHED) IN_CELL("%s finds an entry before loading it", names[p]);
        load_for(o, &r, p, path, 0, at, decode);
        check_gets_own(o, &r, p, decode, "first");
        CHECK_STATUS(sdd_cache_flush_wait(o->cache.cache, -1), SDD_OK);
        if (origin == SDD_ORIGIN_DISK) CHECK_STATUS(sdd_cache_trim_memory(o->cache.cache, SDD_TRIM_ALL), SDD_OK);
        load_for(o, &r, p, path, 0, at, decode);
        check_gets_own(o, &r, p, decode, "again");
        if (has_picture(o, p) && r.origin != origin) IN_CELL("%s's own comes from %d", names[p], (int)r.origin);
    }
    for (int p = PERSONS - 1; p >= 0; p--) {
        load_for(o, &r, p, path, 0, at, decode);
        check_gets_own(o, &r, p, decode, "in the end");
    }
}

static void in_memory(world *o)
{
    kept(o, "memory", (levels){ SDD_CACHE_MEMORY, SDD_CACHE_NONE }, NULL, SDD_ORIGIN_MEMORY);
}

/* A second cache on the same folder stands for another process. */
static void on_disk(world *o)
{
    levels at = { SDD_CACHE_DISK, SDD_CACHE_DISK };
    char path[4096];
    OWNED_RECORD r = RECORD_INIT;
    kept(o, "disk", at, NULL, SDD_ORIGIN_DISK);
    path_for(path, o, "disk", files, "");
    sdd_cache *again = cache_at(o->cache.folder);
    sdd_loader *before[PERSONS];
    memcpy(before, o->loaders, sizeof before);
    for (int p = 0; p < PERSONS; p++) {
        if (seat(o, p) != p) continue;
        sdd_loader_config loader = SDD_LOADER_CONFIG_INIT;
        loader.downloader = o->downloaders[p];
        loader.cache = again;
        CHECK_STATUS(sdd_loader_create(&loader, &o->loaders[p]), SDD_OK);
    }
    for (int p = 0; p < PERSONS; p++) {
        load_for(o, &r, p, path, 0, at, NULL);
        check_gets_own(o, &r, p, NULL, "by another process");
        /* If callers differ by a header field alone, only the last one's entry is kept. */
        if (o->w != VARIED && has_picture(o, p) && r.origin != SDD_ORIGIN_DISK)
            IN_CELL("%s's own is not found by another process", names[p]);
    }
    for (int p = 0; p < PERSONS; p++)
        if (seat(o, p) == p) CHECK_STATUS(sdd_loader_destroy(o->loaders[p]), SDD_OK);
    memcpy(o->loaders, before, sizeof before);
    CHECK_STATUS(sdd_cache_destroy(again), SDD_OK);
}

static void thumbnails(world *o)
{
    sdd_decode_options small = inside(8);
    kept(o, "thumbnails", (levels){ SDD_CACHE_DEFAULT, SDD_CACHE_DEFAULT }, &small, SDD_ORIGIN_MEMORY);
    kept(o, "thumbnails-on-disk", (levels){ SDD_CACHE_DISK, SDD_CACHE_DISK }, &small, SDD_ORIGIN_DISK);
    /* Thumbnails are made from the original alone, which one of the callers has stored. */
    kept(o, "thumbnails-of-originals", (levels){ SDD_CACHE_NONE, SDD_CACHE_DISK }, &small, SDD_ORIGIN_DISK);
}

static void in_the_http_cache(world *o)
{
    enum { USES = SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_BYTES_ONLY };
    char path[4096];
    OWNED_RECORD r = RECORD_INIT;
    path_for(path, o, "http", files, "&header=Cache-Control:%20max-age%3D3600");
    for (int p = 0; p < PERSONS; p++) {
        download_for(o, &r, p, path, USES);
        check_gets_own(o, &r, p, NULL, "first");
        CHECK_STATUS(sdd_cache_flush_wait(o->cache.cache, -1), SDD_OK);
        download_for(o, &r, p, path, USES);
        check_gets_own(o, &r, p, NULL, "again");
        if (has_picture(o, p) && r.origin != SDD_ORIGIN_HTTP_FRESH) IN_CELL("%s's own is not fresh", names[p]);
    }
    for (int p = PERSONS - 1; p >= 0; p--) {
        download_for(o, &r, p, path, USES);
        check_gets_own(o, &r, p, NULL, "in the end");
        if (has_picture(o, p) && r.origin != SDD_ORIGIN_HTTP_FRESH) IN_CELL("%s's own is not fresh in the end", names[p]);
    }
}

/* Repeats the download until the part is found: another thread writes it. */
static void go_on(world *o, record *r, int person, const char *path, const char *when)
{
    for (int tries = 0; tries < 1000; tries++) {
        download_for(o, r, person, path, SDD_OPTION_RESUME | SDD_OPTION_BYTES_ONLY);
        if (r->error == SDD_OK) break;
    }
    check_gets_own(o, r, person, NULL, when);
    if (r->metrics.resumed_bytes != 100) IN_CELL("%s does not resume from the own part", names[person]);
}

/* All bodies break off at the same offset and have the same ETag, so that a rest joined with another caller's part
   would be accepted. */
static void parts(world *o)
{
    static const char *const cut[PERSONS] = { "ranged", "ranged", "ranged" };
    char path[4096];
    OWNED_RECORD r = RECORD_INIT;
    path_for(path, o, "parts", cut, "&cuts=100");
    for (int p = 0; p < PERSONS; p++) {
        download_for(o, &r, p, path, SDD_OPTION_RESUME | SDD_OPTION_BYTES_ONLY);
        if (!has_picture(o, p)) continue;
        if (r.error == SDD_OK) IN_CELL("%s resumes from another caller's part", names[p]);
        /* If callers differ by a header field alone, only the last one's part is kept, so each continues at
           once. */
        if (o->w == VARIED || p != ALICE) go_on(o, &r, p, path, "the rest");
    }
    if (o->w != VARIED) go_on(o, &r, ALICE, path, "the rest, later");
}

/* One caller is refused, which must not affect the others. */
static void in_the_failed_list(world *o)
{
    static const char *const refuses[PERSONS][PERSONS] = {
        { "status/403", "ok", "ok" }, { "ok", "status/404", "ok" }, { "ok", "ok", "status/403" },
    };
    levels none = { SDD_CACHE_NONE, SDD_CACHE_NONE };
    OWNED_RECORD r = RECORD_INIT;
    for (int refused = 0; refused < PERSONS; refused++) {
        char path[4096], name[20];
        snprintf(name, sizeof name, "refused-%d", refused);
        /* Retry-After is longer than any slow machine takes. */
        path_for(path, o, name, refuses[refused], "&header=Retry-After:%203600");
        for (int turn = 0; turn < 2 && has_picture(o, refused); turn++) {
            load_for(o, &r, refused, path, 0, none, NULL);
            sdd_status wanted = turn ? SDD_ERROR_BLOCKED : SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE;
            if (r.error != wanted) IN_CELL("%s, the refused caller: %s", names[refused], sdd_status_name(r.error));
        }
        for (int p = 0; p < PERSONS; p++) {
            if (p == refused) continue;
            load_for(o, &r, p, path, 0, none, NULL);
            check_gets_own(o, &r, p, NULL, "after another was refused");
        }
    }
}

/* The cached image delivered during a refresh is the caller's own, too. */
static void refreshed(world *o)
{
    char path[4096];
    OWNED_RECORD r = RECORD_INIT;
    path_for(path, o, "refresh", files, "&header=Cache-Control:%20max-age%3D0");
    for (int turn = 0; turn < 2; turn++) {
        for (int p = 0; p < PERSONS; p++) {
            load_for(o, &r, p, path, SDD_OPTION_REFRESH_CACHED, (levels){ 0, 0 }, NULL);
            if (r.error != SDD_ERROR_NOT_MODIFIED) check_gets_own(o, &r, p, NULL, "refreshed");
            CHECK_STATUS(sdd_cache_flush_wait(o->cache.cache, -1), SDD_OK);
            load_for(o, &r, p, path, 0, (levels){ 0, 0 }, NULL);
            check_gets_own(o, &r, p, NULL, "after a refresh");
        }
    }
}

/* ------------------------------------------------------------------------------ search for secrets */

enum { MOST_NEEDLES = 64 };
static struct { char text[120]; } needles[MOST_NEEDLES];
static int needle_count;

static void add_needle(const char *text)
{
    CHECK(needle_count < MOST_NEEDLES && strlen(text) >= 6 && strlen(text) < sizeof needles[0].text);
    strcpy(needles[needle_count++].text, text);
}

/* Adds the base64 form of a text that stands behind `before` other bytes. */
static void add_in_base64(const char *text, size_t before)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char made[120];
    size_t count = 0;
    /* Only digits that share no bit with the neighbouring bytes count. */
    size_t first = (before * 8 + 5) / 6, end = (before + strlen(text)) * 8 / 6;
    for (size_t digit = first; digit < end; digit++) {
        unsigned value = 0;
        for (size_t bit = digit * 6; bit < digit * 6 + 6; bit++)
            value = value << 1 | ((unsigned char)text[bit / 8 - before] >> (7 - bit % 8) & 1);
        made[count++] = digits[value];
    }
    made[count] = 0;
    add_needle(made);
}

static void make_needles(void)
{
    needle_count = 0;
    for (int p = 0; p < NOBODY; p++) {
        char pair[100];
        add_needle(secrets[p]);
        snprintf(pair, sizeof pair, "%s:%s", names[p], secrets[p]);
        for (size_t before = 0; before < 3; before++) {
            add_in_base64(secrets[p], before);
            add_in_base64(pair, before);
        }
    }
    /* This is part of every secret. */
    add_needle("sesame");
}

static void search(const char *where, const void *bytes, size_t size)
{
    for (int i = 0; i < needle_count; i++)
        if (memmem(bytes, size, needles[i].text, strlen(needles[i].text)))
            IN_CELL("%s contains \"%s\"", where, needles[i].text);
}

static int files_searched;

static int search_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)place;
    search("the name of a file", path, strlen(path));
    if (kind != FTW_F) return 0;
    if (status->st_mode & 077) IN_CELL("%s may be read by others", path);
    /* A lock file may disappear between the listing and this open: its request has ended and releases it on another
       thread. */
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    if (opened < 0 && errno == ENOENT && strstr(path, "/locks/")) return 0;
    char same[40];
    size_t size;
    snprintf(same, sizeof same, "/proc/self/fd/%d", opened);
    uint8_t *bytes = read_whole(opened < 0 ? path : same, &size);
    search(path, bytes, size);
    free(bytes);
    if (opened >= 0) close(opened);
    files_searched++;
    return 0;
}

static void no_secret_is_left(world *o)
{
    CHECK_STATUS(sdd_cache_flush_wait(o->cache.cache, -1), SDD_OK);
    files_searched = 0;
    CHECK(nftw(o->cache.folder, search_file, 16, FTW_PHYS) == 0);
    CHECK(files_searched > 5);
    pthread_mutex_lock(&noted.lock);
    CHECK(noted.length > 1000);
    search("the log", noted.text, noted.length);
    noted.length = 0;
    pthread_mutex_unlock(&noted.lock);
}

/* ----------------------------------------------------------------------------------- the matrix */

static void run_cell(world *o, place p)
{
    static void (*const cells[PLACES])(world *) = {
        under_way, in_memory, on_disk, in_the_http_cache, parts, in_the_failed_list, thumbnails, refreshed,
    };
    snprintf(cell, sizeof cell, "[%s%s x %s]", way_names[o->w], o->is_varied ? ", with Vary" : "", place_names[p]);
    current_case = cell; /* for the watchdog, too */
    if (setjmp(next_cell) == 0) cells[p](o);
}

/* SDD_TEST_WAY and SDD_TEST_PLACE select one row and one column by index. */
static int is_chosen(const char *variable, int number)
{
    const char *chosen = getenv(variable);
    return chosen == NULL || atoi(chosen) == number;
}

CASE(no_caller_gets_what_belongs_to_another)
{
    make_needles();
    goes_on = 1;
    for (int w = 0; w < WAYS; w++) {
        if (!is_chosen("SDD_TEST_WAY", w)) continue;
        for (int is_varied = w == VARIED; is_varied < 2; is_varied++) {
            world o = { 0 };
            open_world(&o, (way)w, is_varied);
            for (int p = 0; p < PLACES; p++)
                if (is_chosen("SDD_TEST_PLACE", p)) run_cell(&o, (place)p);
            snprintf(cell, sizeof cell, "[%s%s x files and logs]", way_names[w], is_varied ? ", with Vary" : "");
            if (getenv("SDD_TEST_PLACE") == NULL && setjmp(next_cell) == 0) no_secret_is_left(&o);
            close_downloaders(&o);
            close_cache(&o.cache);
        }
    }
    goes_on = 0;
    if (failed_cells) FAIL("%d cells failed", failed_cells);
}

/* ------------------------------------------------------- identities that change on the way */

/* A load gets its picture from an alternative that carries another caller's user info: the result is not stored under
   the first URL. */
CASE(an_alternative_with_its_own_user_info)
{
    world o = { 0 };
    record r = RECORD_INIT;
    char path[4096], alternative[4096];
    open_world(&o, USERINFO, 0);
    snprintf(cell, sizeof cell, "[user info of an alternative]");
    path_for(path, &o, "alternative", files, "");
    snprintf(alternative, sizeof alternative, "%s", url_for(&o, ALICE, path));
    const char *const alternatives[] = { alternative };
    const char *first = at("/status/404?alternative");
    sdd_load_request request = load_of(&r, first, 0, (levels){ 0, 0 }, NULL);
    request.alternatives = alternatives;
    request.alternative_count = 1;
    CHECK(sdd_loader_submit(o.loaders[0], &request) != 0);
    record_wait(&r);
    check_gets_own(&o, &r, ALICE, NULL, "by the alternative");
    CHECK_STATUS(sdd_cache_flush_wait(o.cache.cache, -1), SDD_OK);
    record_clear(&r);
    request = load_of(&r, first, SDD_OPTION_FROM_CACHE_ONLY | SDD_OPTION_RETRY_FAILED, (levels){ 0, 0 }, NULL);
    CHECK(sdd_loader_submit(o.loaders[0], &request) != 0);
    record_wait(&r);
    CHECK_EQUAL(r.error, SDD_ERROR_NOT_CACHED);
    record_clear(&r);
    close_downloaders(&o);
    close_cache(&o.cache);
}

/* Checks that the same URL without the cookie gets its own result, by the HTTP cache and by loads. */
static void check_kept_from_nobody(world *o, const char *url, const char *when)
{
    OWNED_RECORD r = RECORD_INIT;
    snprintf(cell, sizeof cell, "[%s]", when);
    CHECK_STATUS(sdd_cache_flush_wait(o->cache.cache, -1), SDD_OK);
    fetch(o->downloaders[0], &r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_USE_HTTP_CACHE);
    check_gets_own(o, &r, NOBODY, NULL, "by the HTTP cache");
    record_clear(&r);
    sdd_load_request request = load_of(&r, url, 0, (levels){ 0, 0 }, NULL);
    CHECK(sdd_loader_submit(o->loaders[0], &request) != 0);
    record_wait(&r);
    check_gets_own(o, &r, NOBODY, NULL, "by a load");
}

/* The cookie is set after the request was submitted and before it is sent. */
CASE(cookies_that_come_while_a_request_waits)
{
    for (int is_load = 0; is_load < 2; is_load++) {
        world o = { 0 };
        record r = RECORD_INIT;
        char path[4096];
        uint64_t options = 0;
        open_world(&o, JAR, 1);
        snprintf(cell, sizeof cell, "[a cookie that comes late]");
        path_for(path, &o, "late", files, "&header=Cache-Control:%20max-age%3D3600");
        const char *url = url_for(&o, NOBODY, path);
        CHECK_STATUS(sdd_downloader_suspend(o.downloaders[0]), SDD_OK);
        if (is_load) {
            sdd_load_request request = load_of(&r, url, SDD_OPTION_HANDLE_COOKIES, (levels){ 0, 0 }, NULL);
            CHECK(sdd_loader_submit(o.loaders[0], &request) != 0);
        } else {
            record_submit(o.downloaders[0], &r, url,
                          SDD_OPTION_BYTES_ONLY | SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_HANDLE_COOKIES);
        }
        fill_jar(&o, ALICE, &options);
        CHECK_STATUS(sdd_downloader_resume(o.downloaders[0]), SDD_OK);
        record_wait(&r);
        check_gets_own(&o, &r, ALICE, NULL, "late");
        record_clear(&r);
        check_kept_from_nobody(&o, url, "a cookie that came late");
        close_downloaders(&o);
        close_cache(&o.cache);
    }
}

/* A redirect leads to a host for which the jar has a cookie. */
CASE(cookies_of_another_host_behind_a_redirect)
{
    for (int is_load = 0; is_load < 2; is_load++) {
        world o = { 0 };
        record r = RECORD_INIT;
        char path[4096], elsewhere[8192], url[16384];
        open_world(&o, JAR, 1);
        snprintf(cell, sizeof cell, "[a cookie of another host]");
        path_for(path, &o, "elsewhere", files, "&header=Cache-Control:%20max-age%3D3600");
        snprintf(elsewhere, sizeof elsewhere, "http://localhost%s%s", strrchr(setting("SDD_TEST_SERVER"), ':'), path);
        strcpy(url, at("/redirect?to="));
        add_escaped(url + strlen(url), elsewhere);
        sdd_cookie cookie = SDD_COOKIE_INIT;
        cookie.name = "id";
        cookie.value = ALICES;
        cookie.domain = "localhost";
        CHECK_STATUS(sdd_downloader_set_cookie(o.downloaders[0], &cookie), SDD_OK);
        if (is_load) {
            sdd_load_request request = load_of(&r, url, SDD_OPTION_HANDLE_COOKIES, (levels){ 0, 0 }, NULL);
            CHECK(sdd_loader_submit(o.loaders[0], &request) != 0);
            record_wait(&r);
        } else {
            fetch(o.downloaders[0], &r, url,
                  SDD_OPTION_BYTES_ONLY | SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_HANDLE_COOKIES);
        }
        check_gets_own(&o, &r, ALICE, NULL, "elsewhere");
        record_clear(&r);
        check_kept_from_nobody(&o, url, "a cookie of another host");
        close_downloaders(&o);
        close_cache(&o.cache);
    }
}

int main(void)
{
    start_watchdog();
    tries_again = 1;
    return run_cases();
}
