/* Checks sdd/gtk.h: textures share pixels; widgets, paintables and lists load at their size, cancel and fail as they say.
 * toolkit_gtk_signals.c has the tests of what handlers may do, and of what widgets show meanwhile.
 *
 *     toolkit_gtk thread|application       where the downloader delivers; needs a display
 */
#define SDD_GTK_IMPLEMENTATION
#include "toolkit_gtk.h"

enum { ROWS = 600 };

sdd_downloader *downloader;
sdd_loader *loader;

int64_t images(void)
{
    sdd_process_statistics statistics = SDD_PROCESS_STATISTICS_INIT;
    CHECK_STATUS(sdd_process_get_statistics(&statistics), SDD_OK);
    return statistics.images;
}

sdd_statistics counts(void)
{
    sdd_statistics made = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &made), SDD_OK);
    return made;
}

gboolean tick(gpointer unused)
{
    (void)unused;
    return G_SOURCE_CONTINUE;
}

void run_until_idle(void)
{
    RUN_UNTIL(counts().running + counts().waiting + counts().decoding == 0);
    RUN_UNTIL(sdd_loader_running_count(loader) == 0 && images() == 0);
}

const char *held(const char *name, const char *file, int after)
{
    return atf("/hold/%s%d?file=%s&after=%d", name, (int)getpid(), file, after);
}
void let_go(const char *name) { orderf("/release/%s%d", name, (int)getpid()); }

GtkWidget *window_with(GtkWidget *child)
{
    GtkWidget *window = gtk_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), 480, 360);
    gtk_window_set_child(GTK_WINDOW(window), child);
    gtk_window_present(GTK_WINDOW(window));
    return window;
}

SddGtkPicture *shown_picture(GtkWidget **window, sdd_loader *by)
{
    GtkWidget *picture = sdd_gtk_picture_new(by);
    gtk_widget_set_size_request(picture, WIDTH, HEIGHT);
    gtk_widget_set_halign(picture, GTK_ALIGN_START);
    gtk_widget_set_valign(picture, GTK_ALIGN_START);
    *window = window_with(picture);
    RUN_UNTIL(gtk_widget_get_width(picture) == WIDTH);
    return SDD_GTK_PICTURE(picture);
}

GdkTexture *texture_of(SddGtkPicture *picture)
{
    return sdd_gtk_paintable_get_texture(sdd_gtk_picture_get_paintable(picture));
}

unsigned drawn_colour(GtkWidget *widget, int column, int row)
{
    GdkPaintable *paintable = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    GskRenderNode *node;
    GdkTexture *texture;
    guchar *pixels;
    unsigned colour;
    size_t at;

    gdk_paintable_snapshot(paintable, snapshot, WIDTH, HEIGHT);
    node = gtk_snapshot_free_to_node(snapshot);
    g_object_unref(paintable);
    if (node == NULL) return 0;
    texture = gsk_renderer_render_texture(gtk_native_get_renderer(gtk_widget_get_native(widget)), node,
                                          &GRAPHENE_RECT_INIT(0, 0, WIDTH, HEIGHT));
    gsk_render_node_unref(node);
    pixels = g_malloc((gsize)WIDTH * HEIGHT * 4);
    gdk_texture_download(texture, pixels, WIDTH * 4);
    g_object_unref(texture);
    at = ((size_t)(HEIGHT / 4 + row * HEIGHT / 2) * WIDTH + (size_t)(WIDTH / 4 + column * WIDTH / 2)) * 4;
    colour = (unsigned)pixels[at + 2] << 16 | (unsigned)pixels[at + 1] << 8 | pixels[at]; /* GDK_MEMORY_DEFAULT */
    g_free(pixels);
    return colour;
}

static void check_colours_of_plain_png(SddGtkPicture *picture)
{
    GtkWidget *widget = GTK_WIDGET(picture);
    RUN_UNTIL(drawn_colour(widget, 0, 0) == 0xff0000);
    CHECK_EQUAL(drawn_colour(widget, 1, 0), 0x00c800);
    CHECK_EQUAL(drawn_colour(widget, 0, 1), 0x0000ff);
    CHECK_EQUAL(drawn_colour(widget, 1, 1), 0xffffff);
}

/* ---- pixels */

static sdd_image *decoded(sdd_pixel_format pixel_format)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    size_t size = 0;
    uint8_t *bytes = fixture("png/rgb8.png", &size);
    options.pixel_format = pixel_format;
    CHECK_STATUS(sdd_image_decode(bytes, size, &options, &image), SDD_OK);
    free(bytes);
    return image;
}

static void textures_have_the_same_colours(void)
{
    static const sdd_pixel_format formats[] = { SDD_PIXEL_FORMAT_RGBA8, SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED,
        SDD_PIXEL_FORMAT_BGRA8, SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED, SDD_PIXEL_FORMAT_RGB8,
        SDD_PIXEL_FORMAT_RGBA16, SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED };
    guchar expected[19 * 13 * 4], drawn[19 * 13 * 4];
    sdd_image *image;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        GdkTexture *texture;
        image = decoded(formats[i]);
        texture = sdd_gtk_texture(image);
        sdd_image_release(image);
        CHECK_EQUAL(images(), 1); /* the texture's */
        gdk_texture_download(texture, i == 0 ? expected : drawn, 19 * 4);
        if (i > 0 && memcmp(expected, drawn, sizeof drawn) != 0) FAIL("format %d has other colours", formats[i]);
        g_object_unref(texture);
        CHECK_EQUAL(images(), 0);
    }
    image = decoded(SDD_PIXEL_FORMAT_GREY8);
    CHECK(sdd_gtk_texture(image) == NULL && sdd_gtk_texture(NULL) == NULL);
    sdd_image_release(image);
}

static void pixbufs_share_pixels(void)
{
    sdd_image *image = decoded(SDD_PIXEL_FORMAT_RGB8), *glass = decoded(SDD_PIXEL_FORMAT_RGBA8);
    GdkPixbuf *pixbuf = sdd_glib_pixbuf(image), *clear = sdd_glib_pixbuf(glass);
    CHECK(!gdk_pixbuf_get_has_alpha(pixbuf) && gdk_pixbuf_get_has_alpha(clear));
    CHECK(gdk_pixbuf_read_pixels(pixbuf) == sdd_image_pixels(image));
    CHECK(gdk_pixbuf_get_rowstride(clear) == (int)sdd_image_stride(glass));
    CHECK(gdk_pixbuf_get_width(clear) == 19 && gdk_pixbuf_get_height(clear) == 13);
    sdd_image_release(image);
    sdd_image_release(glass);
    CHECK_EQUAL(images(), 2); /* those of the pixbufs */
    g_object_unref(pixbuf);
    g_object_unref(clear);
    CHECK_EQUAL(images(), 0);
    image = decoded(SDD_PIXEL_FORMAT_BGRA8);
    CHECK(sdd_glib_pixbuf(image) == NULL && sdd_glib_pixbuf(NULL) == NULL);
    sdd_image_release(image);
    CHECK_EQUAL(images(), 0);
}

/* ---- the widget */

static void a_picture_loads_at_its_size(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    const int scale = gtk_widget_get_scale_factor(GTK_WIDGET(picture));

    CHECK_EQUAL(sdd_gtk_picture_get_state(picture), SDD_GTK_EMPTY);
    sdd_gtk_picture_set_url(picture, at("/file/plain.png"));
    CHECK_EQUAL(sdd_gtk_picture_get_state(picture), SDD_GTK_LOADING);
    CHECK(gtk_widget_has_css_class(GTK_WIDGET(picture), "loading"));
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) != SDD_GTK_LOADING);
    CHECK_EQUAL(sdd_gtk_picture_get_state(picture), SDD_GTK_LOADED);
    CHECK_EQUAL(gdk_texture_get_width(texture_of(picture)), WIDTH * scale);
    CHECK_EQUAL(gdk_texture_get_height(texture_of(picture)), HEIGHT * scale);
    check_colours_of_plain_png(picture);
    CHECK(!gtk_widget_has_css_class(GTK_WIDGET(picture), "loading"));
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
}

static void a_picture_fades_in_over_its_placeholder(void)
{
    static const guchar grey[4] = { 128, 128, 128, 255 };
    GBytes *bytes = g_bytes_new_static(grey, sizeof grey);
    GdkTexture *placeholder = gdk_memory_texture_new(1, 1, GDK_MEMORY_DEFAULT, bytes, 4);
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);

    g_bytes_unref(bytes);
    g_object_set(picture, "placeholder", placeholder, "transition", 50u, "url", held("fade", "plain.png", 0), NULL);
    sdd_gtk_picture_set_fit(picture, SDD_FIT_STRETCH);
    RUN_UNTIL(drawn_colour(GTK_WIDGET(picture), 0, 0) == 0x808080);
    let_go("fade");
    check_colours_of_plain_png(picture);
    gtk_window_destroy(GTK_WINDOW(window));
    g_object_unref(placeholder);
    run_until_idle();
}

sdd_bytes *red_hash(void)
{
    static const unsigned char red[8] = { 255, 0, 0, 255, 255, 0, 0, 255 };
    sdd_image *image = NULL;
    sdd_bytes *hash = NULL;
    CHECK_STATUS(sdd_image_create(2, 1, SDD_PIXEL_FORMAT_RGBA8, red, 0, &image), SDD_OK);
    CHECK_STATUS(sdd_image_thumbhash(image, &hash), SDD_OK);
    sdd_image_release(image);
    return hash;
}

gboolean is_red(SddGtkPicture *picture)
{
    const guint colour = drawn_colour(GTK_WIDGET(picture), 1, 1);
    return colour >> 16 > 240 && (colour >> 8 & 255) < 16 && (colour & 255) < 16;
}

static void a_hash_is_shown_until_the_picture_comes(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    GdkPaintable *texture = NULL;
    sdd_bytes *hash = red_hash();

    sdd_gtk_picture_set_thumbhash(picture, sdd_bytes_data(hash), sdd_bytes_size(hash));
    sdd_gtk_picture_set_url(picture, held("hash", "plain.png", 0));
    RUN_UNTIL(is_red(picture));
    let_go("hash");
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_LOADED);
    check_colours_of_plain_png(picture);
    sdd_gtk_picture_set_thumbhash(picture, "no hash", 7);
    g_object_get(picture, "placeholder", &texture, NULL);
    CHECK(texture == NULL);
    sdd_bytes_release(hash);
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
    CHECK_EQUAL(images(), 0);
}

static void a_larger_widget_loads_again(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    const int scale = gtk_widget_get_scale_factor(GTK_WIDGET(picture));

    sdd_gtk_picture_set_url(picture, at("/file/large.png"));
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_LOADED);
    gtk_widget_set_size_request(GTK_WIDGET(picture), 2 * WIDTH, 2 * HEIGHT);
    RUN_UNTIL(gdk_texture_get_width(texture_of(picture)) >= 2 * WIDTH * scale);
    CHECK_EQUAL(sdd_gtk_picture_get_state(picture), SDD_GTK_LOADED); /* it showed the small one meanwhile */
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
}

static void a_failure_is_shown(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    const GError *error;
    SddGtkState state;

    sdd_gtk_picture_set_url(picture, at("/status/404"));
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) != SDD_GTK_LOADING);
    g_object_get(picture, "state", &state, NULL);
    CHECK_EQUAL(state, SDD_GTK_FAILED);
    CHECK(gtk_widget_has_css_class(GTK_WIDGET(picture), "failed"));
    error = sdd_gtk_paintable_get_error(sdd_gtk_picture_get_paintable(picture));
    CHECK(error->domain == SDD_GTK_ERROR && error->code == SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    CHECK(strstr(error->message, "404") != NULL);
    sdd_gtk_picture_set_url(picture, sdd_gtk_picture_get_url(picture)); /* tries again */
    CHECK_EQUAL(sdd_gtk_picture_get_state(picture), SDD_GTK_LOADING);
    sdd_gtk_picture_set_url(picture, at("/file/plain.png"));
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_LOADED);
    CHECK(!gtk_widget_has_css_class(GTK_WIDGET(picture), "failed"));
    sdd_gtk_picture_set_url(picture, NULL);
    CHECK(sdd_gtk_picture_get_state(picture) == SDD_GTK_EMPTY && texture_of(picture) == NULL);
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
}

static void a_dead_loader_is_a_failure(void)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *dead = NULL;
    SddGtkPaintable *paintable;

    config.downloader = downloader;
    CHECK_STATUS(sdd_loader_create(&config, &dead), SDD_OK);
    CHECK_STATUS(sdd_loader_destroy(dead), SDD_OK);
    paintable = sdd_gtk_paintable_new(dead);
    sdd_gtk_paintable_load(paintable, at("/file/plain.png"), 0, 0, SDD_FIT_INSIDE);
    CHECK_EQUAL(sdd_gtk_paintable_get_state(paintable), SDD_GTK_FAILED);
    CHECK_EQUAL(sdd_gtk_paintable_get_error(paintable)->code, SDD_ERROR_CLOSED);
    g_object_unref(paintable);
}

static void another_url_replaces_the_first(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    const int64_t before = counts().requests_cancelled;

    sdd_gtk_picture_set_url(picture, held("first", "late.jpg", 0));
    RUN_UNTIL(counts().running == 1);
    sdd_gtk_picture_set_url(picture, at("/file/plain.png"));
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_LOADED);
    RUN_UNTIL(counts().requests_cancelled == before + 1);
    check_colours_of_plain_png(picture);
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
}

static void previews_are_shown(void)
{
    SddGtkPaintable *paintable = sdd_gtk_paintable_new(loader);
    GtkWidget *window = window_with(gtk_picture_new_for_paintable(GDK_PAINTABLE(paintable)));

    CHECK_EQUAL(gdk_paintable_get_intrinsic_width(GDK_PAINTABLE(paintable)), 0);
    sdd_gtk_paintable_load(paintable, held("late", "late.jpg", 60000), 240, 240, SDD_FIT_INSIDE);
    RUN_UNTIL(sdd_gtk_paintable_get_texture(paintable) != NULL);
    CHECK_EQUAL(sdd_gtk_paintable_get_state(paintable), SDD_GTK_LOADING);
    CHECK_EQUAL(gdk_paintable_get_intrinsic_height(GDK_PAINTABLE(paintable)), 180);
    let_go("late");
    RUN_UNTIL(sdd_gtk_paintable_get_state(paintable) == SDD_GTK_LOADED);
    CHECK_EQUAL(sdd_gtk_paintable_get_origin(paintable), SDD_ORIGIN_NETWORK);
    gtk_window_destroy(GTK_WINDOW(window));
    g_object_unref(paintable);
    run_until_idle();
}

/* ---- ends */

static void a_window_goes_in_mid_load(void)
{
    const int64_t before = counts().requests_cancelled;
    GtkWidget *window;

    sdd_gtk_picture_set_url(shown_picture(&window, loader), held("gone", "late.jpg", 60000));
    RUN_UNTIL(counts().running == 1);
    gtk_window_destroy(GTK_WINDOW(window));
    RUN_UNTIL(counts().requests_cancelled == before + 1);
    run_until_idle();
}

static void results_on_their_way_are_dropped(void)
{
    for (int i = 0; i < 50; i++) {
        SddGtkPaintable *paintable = sdd_gtk_paintable_new(loader);
        const int64_t before = counts().requests_succeeded;
        sdd_gtk_paintable_load(paintable, at("/file/plain.png"), WIDTH + i, 0, SDD_FIT_INSIDE);
        while (counts().requests_succeeded == before) g_usleep(200); /* it arrives, and nothing takes it */
        g_usleep(200);
        g_object_unref(paintable);
    }
    run_until_idle();
}

static void destroy_window(SddGtkPicture *picture, GParamSpec *spec, GtkWidget **window)
{
    (void)spec;
    if (sdd_gtk_picture_get_state(picture) == SDD_GTK_LOADED && *window != NULL) {
        gtk_window_destroy(GTK_WINDOW(*window));
        *window = NULL;
    }
}

static void a_handler_destroys_its_window(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    g_signal_connect(picture, "notify::state", G_CALLBACK(destroy_window), &window);
    sdd_gtk_picture_set_url(picture, at("/file/plain.png"));
    RUN_UNTIL(window == NULL);
    run_until_idle();
}

/* ---- lists */

static int freed;
static void free_number(gpointer number) { (*(int *)number)++; }

static char *url_of(gpointer item, gpointer number)
{
    CHECK(number == &freed);
    return g_strdup(held(gtk_string_object_get_string(GTK_STRING_OBJECT(item)), "plain.png", 0));
}

static int asked_hashes;

static GBytes *hash_of(gpointer item, gpointer number)
{
    sdd_bytes *hash = red_hash();
    GBytes *made = g_bytes_new(sdd_bytes_data(hash), sdd_bytes_size(hash));
    CHECK(GTK_IS_STRING_OBJECT(item) && number == &freed);
    sdd_bytes_release(hash);
    asked_hashes++;
    return made;
}

/* Scrolls by a page, as a user does: GTK 4.8 binds no other rows for the first step. */
static void scroll(GtkAdjustment *place)
{
    gtk_adjustment_set_value(place, gtk_adjustment_get_value(place) + gtk_adjustment_get_page_size(place));
}

static void scrolling_cancels(void)
{
    const sdd_statistics before = counts();
    GtkStringList *names = gtk_string_list_new(NULL);
    GtkWidget *scrolled = gtk_scrolled_window_new(), *window, *grid;
    GtkListItemFactory *factory;
    GtkAdjustment *place;
    int64_t asked;

    freed = 0;
    for (int i = 0; i < ROWS; i++) {
        char name[16];
        snprintf(name, sizeof name, "row%d", i);
        gtk_string_list_append(names, name);
    }
    factory = sdd_gtk_picture_factory_new(loader, WIDTH, HEIGHT, url_of, &freed, free_number);
    sdd_gtk_picture_factory_set_thumbhash(factory, hash_of);
    grid = gtk_grid_view_new(GTK_SELECTION_MODEL(gtk_no_selection_new(G_LIST_MODEL(names))), factory);
    gtk_grid_view_set_max_columns(GTK_GRID_VIEW(grid), 3);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), grid);
    window = window_with(scrolled);
    RUN_UNTIL(counts().running > 0);
    CHECK(asked_hashes > 0 && asked_hashes < ROWS / 2);
    asked = counts().requests - before.requests;
    CHECK(asked < ROWS / 2); /* only rows near those in sight */
    place = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scrolled));
    RUN_UNTIL((scroll(place), counts().requests_cancelled > before.requests_cancelled));
    RUN_UNTIL(counts().requests > before.requests + asked);
    CHECK(sdd_loader_running_count(loader) < ROWS / 2);
    gtk_window_destroy(GTK_WINDOW(window));
    RUN_UNTIL(freed == 1);
    run_until_idle();
    CHECK_EQUAL(counts().requests_succeeded, before.requests_succeeded);
}

int main(int argc, char **argv)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_loader_config loading = SDD_LOADER_CONFIG_INIT;
    guint watch = 0;

    start_watchdog();
    CHECK_EQUAL(argc, 2);
    gtk_init();
    config.delivery = strcmp(argv[1], "thread") == 0 ? SDD_DELIVERY_THREAD : SDD_DELIVERY_APPLICATION;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_OK);
    loading.downloader = downloader;
    loading.no_cache = 1;
    loading.fail_policy = SDD_FAIL_POLICY_NONE;
    CHECK_STATUS(sdd_loader_create(&loading, &loader), SDD_OK);
    if (config.delivery == SDD_DELIVERY_APPLICATION) watch = sdd_glib_watch(downloader);

    RUN(textures_have_the_same_colours);
    RUN(pixbufs_share_pixels);
    RUN(a_picture_loads_at_its_size);
    RUN(a_picture_fades_in_over_its_placeholder);
    RUN(a_hash_is_shown_until_the_picture_comes);
    RUN(a_larger_widget_loads_again);
    RUN(a_failure_is_shown);
    RUN(a_dead_loader_is_a_failure);
    RUN(another_url_replaces_the_first);
    RUN(previews_are_shown);
    RUN(a_window_goes_in_mid_load);
    RUN(results_on_their_way_are_dropped);
    RUN(a_handler_destroys_its_window);
    run_signals();
    RUN(scrolling_cancels);

    if (watch != 0) g_source_remove(watch);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
    return 0;
}
