/* Previews of pictures that installed coders decode while they arrive, from the fault server:
 *
 *     previews rows FILE...      rows that stay: each preview has more of them, and they are those of the whole picture
 *     previews refined FILE...   whole pictures that become better
 *     previews none FILE...      pictures of which nothing can be shown before their end
 *     previews damaged FILE      a picture whose end is damaged or missing fails, after its previews
 *     previews cancel FILE       cancelled between two previews; the coder's state is freed
 */
#include "../C/pixels.h"
#include "../C/record.h"

enum { MOST = 64, PARTS = 6 };

typedef struct album {
    record r;
    int count, facts_count;
    sdd_image *images[MOST]; /* retained */
    sdd_image_info facts;
} album;

#define ALBUM_INIT { .r = RECORD_INIT }

static void album_preview(const sdd_result *result, void *user_data)
{
    album *a = user_data;
    pthread_mutex_lock(&a->r.lock);
    CHECK(a->r.completed_count == 0 && a->count < MOST);
    CHECK(result->is_terminal == 0 && image_info(result->image).is_preview && sdd_image_bytes(result->image) == NULL);
    a->images[a->count++] = sdd_image_retain(result->image);
    pthread_cond_broadcast(&a->r.changed);
    pthread_mutex_unlock(&a->r.lock);
}

static void album_facts(sdd_token token, const sdd_image_info *facts, void *user_data)
{
    album *a = user_data;
    pthread_mutex_lock(&a->r.lock);
    CHECK(token != 0 && a->count == 0 && a->facts_count++ == 0);
    a->facts = *facts;
    pthread_cond_broadcast(&a->r.changed);
    pthread_mutex_unlock(&a->r.lock);
}

static void album_clear(album *a)
{
    for (int i = 0; i < a->count; i++) sdd_image_release(a->images[i]);
    record_clear(&a->r);
    *a = (album)ALBUM_INIT;
}

static sdd_downloader *quick_downloader(void)
{
    sdd_callback_options callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    callbacks.min_preview_interval_ms = -1;
    limits.download_timeout_ms = 100000;
    config.callbacks = &callbacks, config.limits = &limits;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_OK);
    return downloader;
}

static size_t size_of(const char *file)
{
    sdd_bytes *bytes = NULL;
    CHECK_STATUS(sdd_get(NULL, atf("/file/%s", file), SDD_OPTION_BYTES_ONLY, 30000, NULL, &bytes, NULL), SDD_OK);
    size_t size = sdd_bytes_size(bytes);
    sdd_bytes_release(bytes);
    return size;
}

/* Returns the URL of a file in PARTS parts, each of which waits for its release, and the name for that. */
static const char *in_parts(const char *file, size_t size, const char *more, char *name, size_t room)
{
    static int number;
    char at_bytes[200];
    int used = 0;
    snprintf(name, room, "part%d", ++number);
    for (int part = 1; part < PARTS; part++)
        used += snprintf(at_bytes + used, sizeof at_bytes - (size_t)used, "%s%zu", part > 1 ? "," : "",
                         size * (size_t)part / PARTS);
    return atf("/steps/%s?file=%s&at=%s%s", name, file, at_bytes, more);
}

static sdd_token begin(sdd_downloader *downloader, album *a, const char *url)
{
    sdd_download_request request = record_request(&a->r, url);
    request.preview = album_preview;
    request.facts = album_facts;
    return submit(downloader, &request);
}

/* Waits for a preview more, or for the end. */
static void wait_for(album *a, int count)
{
    pthread_mutex_lock(&a->r.lock);
    while (a->count < count && a->r.completed_count == 0) pthread_cond_wait(&a->r.changed, &a->r.lock);
    pthread_mutex_unlock(&a->r.lock);
}

/* Checks the previews of a whole picture, at full size or a smaller one. `is_refined`: they have all rows. */
static void check_album(album *a, sdd_image *whole, int is_refined, int is_small)
{
    CHECK_ENDED(&a->r, SDD_OK, 0);
    CHECK(!image_info(a->r.image).is_preview && a->facts_count == 1);
    CHECK(a->facts.format == image_info(whole).format && a->facts.stored_width == 641 && a->facts.stored_height == 479);
    CHECK(sdd_image_height(a->r.image) == sdd_image_height(whole));
    CHECK(same_rows(a->r.image, whole, sdd_image_height(whole)));
    CHECK(a->count > 1);
    for (int i = 0; i < a->count; i++) {
        int rows = image_info(a->images[i]).good_rows;
        CHECK_EQUAL(sdd_image_width(a->images[i]), sdd_image_width(whole));
        CHECK_EQUAL(sdd_image_height(a->images[i]), sdd_image_height(whole));
        if (is_refined) {
            CHECK_EQUAL(rows, sdd_image_height(whole));
            CHECK(!same_rows(a->images[i], whole, rows));
        } else {
            CHECK(rows > (i > 0 ? image_info(a->images[i - 1]).good_rows : 0) && rows <= sdd_image_height(whole));
            CHECK(is_small || same_rows(a->images[i], whole, rows));
            CHECK(is_empty_from(a->images[i], rows));
        }
    }
}

/* Loads a picture that arrives within a second, in forty pieces. */
static void load(sdd_downloader *downloader, album *a, const char *file)
{
    begin(downloader, a, atf("/trickle?file=%s&piece=%zu&every=25", file, size_of(file) / 40 + 1));
    record_wait(&a->r);
}

static int mode_pictures(char **files, int is_refined)
{
    for (; *files != NULL; files++) {
        sdd_downloader *downloader = quick_downloader();
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        for (int is_small = 0; is_small < 2; is_small++) {
            sdd_image *whole = NULL;
            album a = ALBUM_INIT;
            options.target_width = is_small ? 100 : 0;
            CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
            CHECK_STATUS(sdd_get(downloader, atf("/file/%s", *files), 0, 30000, &whole, NULL, NULL), SDD_OK);
            load(downloader, &a, *files);
            check_album(&a, whole, is_refined, is_small);
            printf("%s: %d previews\n", *files, a.count);
            album_clear(&a);
            sdd_image_release(whole);
        }
        destroy(downloader);
    }
    return 0;
}

static int mode_none(char **files)
{
    sdd_downloader *downloader = quick_downloader();
    for (; *files != NULL; files++) {
        album a = ALBUM_INIT;
        load(downloader, &a, *files);
        CHECK_ENDED(&a.r, SDD_OK, 0);
        CHECK(a.count == 0);
        album_clear(&a);
    }
    destroy(downloader);
    return 0;
}

/* The server ends the body early: a damaged picture has the error that it has as a whole. */
static int mode_damaged(char **files)
{
    sdd_downloader *downloader = quick_downloader();
    size_t size = size_of(files[0]), length;
    char url[400];
    album a = ALBUM_INIT;
    FILE *file = fopen(setting("SDD_TEST_DAMAGED"), "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    length = (size_t)ftell(file);
    fclose(file);
    CHECK(length < size);
    snprintf(url, sizeof url, "/steps/damaged?file=%s&at=%zu", strrchr(setting("SDD_TEST_DAMAGED"), '/') + 1,
             length / 2);
    begin(downloader, &a, at(url));
    wait_for(&a, 1);
    CHECK(a.count >= 1);
    orderf("/release/damaged.1");
    record_wait(&a.r);
    CHECK_ENDED(&a.r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TRUNCATED);
    album_clear(&a);
    destroy(downloader);
    return 0;
}

static int mode_cancel(char **files)
{
    sdd_downloader *downloader = quick_downloader();
    size_t size = size_of(files[0]);
    char name[40];
    album a = ALBUM_INIT;
    sdd_token token = begin(downloader, &a, in_parts(files[0], size, "", name, sizeof name));
    for (int part = 1; part < 4; part++) orderf("/release/%s.%d", name, part);
    wait_for(&a, 1);
    sdd_cancel(token);
    record_wait(&a.r);
    CHECK(a.r.error == SDD_ERROR_CANCELLED);
    orderf("/release/%s.4", name);
    orderf("/release/%s.5", name);
    album_clear(&a);
    destroy(downloader);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    if (strcmp(argv[1], "rows") == 0) return mode_pictures(argv + 2, 0);
    if (strcmp(argv[1], "refined") == 0) return mode_pictures(argv + 2, 1);
    if (strcmp(argv[1], "none") == 0) return mode_none(argv + 2);
    if (strcmp(argv[1], "damaged") == 0) return mode_damaged(argv + 2);
    if (strcmp(argv[1], "cancel") == 0) return mode_cancel(argv + 2);
    return 2;
}
