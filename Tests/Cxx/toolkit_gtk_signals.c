/* Checks what handlers of signals may do with widgets and paintables of sdd/gtk.h, and what these show meanwhile. */
#include "toolkit_gtk.h"

/* ---- handlers */

static SddGtkState last_state;

static void remove_in_state(SddGtkPicture *picture, GParamSpec *spec, gpointer box)
{
    (void)spec;
    if (sdd_gtk_picture_get_state(picture) != last_state) return;
    gtk_box_remove(GTK_BOX(box), GTK_WIDGET(picture));
}

static void a_handler_destroys_its_widget_in_set_url(void)
{
    static const SddGtkState states[] = { SDD_GTK_EMPTY, SDD_GTK_LOADING };
    for (int i = 0; i < 2; i++) {
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0), *window;
        gpointer picture = sdd_gtk_picture_new(loader);
        gtk_widget_set_hexpand(picture, TRUE);
        gtk_box_append(GTK_BOX(box), picture);
        window = window_with(box);
        RUN_UNTIL(gtk_widget_get_width(picture) > 0);
        last_state = states[i];
        if (last_state == SDD_GTK_EMPTY) sdd_gtk_picture_set_url(picture, at("/file/plain.png"));
        g_object_add_weak_pointer(picture, &picture);
        g_signal_connect(picture, "notify::state", G_CALLBACK(remove_in_state), box);
        sdd_gtk_picture_set_url(picture, last_state == SDD_GTK_EMPTY ? NULL : at("/file/plain.png"));
        CHECK(picture == NULL);
        gtk_window_destroy(GTK_WINDOW(window));
        run_until_idle();
    }
}

static void load_another(SddGtkPaintable *paintable, gpointer is_done)
{
    if (*(gboolean *)is_done) return;
    *(gboolean *)is_done = TRUE;
    sdd_gtk_paintable_load(paintable, at("/file/plain.png"), WIDTH, HEIGHT, SDD_FIT_FILL);
}

static void a_handler_loads_another_url(void)
{
    SddGtkPaintable *paintable = sdd_gtk_paintable_new(loader);
    gboolean is_done = FALSE;

    g_signal_connect(paintable, "invalidate-contents", G_CALLBACK(load_another), &is_done);
    sdd_gtk_paintable_load(paintable, at("/file/large.png"), 800, 600, SDD_FIT_FILL);
    RUN_UNTIL(sdd_gtk_paintable_get_state(paintable) != SDD_GTK_LOADING);
    CHECK_EQUAL(sdd_gtk_paintable_get_state(paintable), SDD_GTK_LOADED);
    CHECK_EQUAL(gdk_texture_get_width(sdd_gtk_paintable_get_texture(paintable)), WIDTH);
    g_object_unref(paintable);
    run_until_idle();
}

static void count(GObject *object, GParamSpec *spec, gpointer counted)
{
    (void)object;
    if (spec->owner_type == SDD_GTK_TYPE_PICTURE) (*(int *)counted)++;
}

static void setters_notify(void)
{
    SddGtkPicture *picture = g_object_ref_sink(SDD_GTK_PICTURE(sdd_gtk_picture_new(loader)));
    GdkPaintable *empty = gdk_paintable_new_empty(3, 3);
    int counted = 0;

    g_signal_connect(picture, "notify", G_CALLBACK(count), &counted);
    for (int i = 0; i < 2; i++) { /* the second time nothing changes */
        sdd_gtk_picture_set_placeholder(picture, empty);
        sdd_gtk_picture_set_failure(picture, empty);
        sdd_gtk_picture_set_transition(picture, 100);
    }
    CHECK_EQUAL(counted, 3);
    g_object_set(picture, "transition", 200u, NULL);
    CHECK_EQUAL(counted, 4);
    g_object_unref(picture);
    g_object_unref(empty);
}

/* ---- tries again, and confirmed pictures */

static void add_refresh(sdd_load_request *request, void *shows_at_once)
{
    request->options |= SDD_OPTION_REFRESH_CACHED;
    if (shows_at_once != NULL) request->cached = request->preview;
}

static void a_url_that_failed_is_tried_again(void)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *blocking = NULL;
    SddGtkPaintable *paintable;
    SddGtkPicture *picture;
    GtkWidget *window;

    config.downloader = downloader;
    config.no_cache = 1;
    CHECK_STATUS(sdd_loader_create(&config, &blocking), SDD_OK);
    picture = shown_picture(&window, blocking);
    paintable = sdd_gtk_picture_get_paintable(picture);
    for (int i = 0; i < 2; i++) {
        sdd_gtk_picture_set_url(picture, at("/status/404"));
        RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_FAILED);
        CHECK_EQUAL(sdd_gtk_paintable_get_error(paintable)->code, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    }
    sdd_gtk_paintable_load(paintable, at("/status/404"), 0, 0, SDD_FIT_FILL);
    RUN_UNTIL(sdd_gtk_paintable_get_state(paintable) == SDD_GTK_FAILED);
    CHECK_EQUAL(sdd_gtk_paintable_get_error(paintable)->code, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    sdd_gtk_picture_set_url(picture, NULL);
    sdd_gtk_picture_set_url(picture, at("/status/404")); /* as a row that is bound again */
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_FAILED);
    CHECK_EQUAL(sdd_gtk_paintable_get_error(paintable)->code, SDD_ERROR_BLOCKED);
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
    CHECK_STATUS(sdd_loader_destroy(blocking), SDD_OK);
}

static void a_confirmed_picture_is_loaded(void)
{
    for (int shows_at_once = 0; shows_at_once < 2; shows_at_once++) {
        sdd_cache_config keeping = SDD_CACHE_CONFIG_INIT;
        sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
        sdd_cache *cache = NULL;
        sdd_loader *refreshing = NULL;
        char name[40];

        snprintf(name, sizeof name, "toolkit%d-%d", (int)getpid(), shows_at_once);
        keeping.name = name;
        CHECK_STATUS(sdd_cache_create(&keeping, &cache), SDD_OK);
        config.downloader = downloader;
        config.cache = cache;
        config.options_processor = add_refresh;
        config.user_data = shows_at_once ? &config : NULL;
        CHECK_STATUS(sdd_loader_create(&config, &refreshing), SDD_OK);
        for (int i = 0; i < 2; i++) {
            SddGtkPaintable *paintable = sdd_gtk_paintable_new(refreshing);
            sdd_gtk_paintable_load(paintable, at("/file/plain.png"), WIDTH, HEIGHT, SDD_FIT_FILL);
            RUN_UNTIL(sdd_gtk_paintable_get_state(paintable) != SDD_GTK_LOADING);
            CHECK_EQUAL(sdd_gtk_paintable_get_state(paintable), SDD_GTK_LOADED);
            CHECK((sdd_gtk_paintable_get_origin(paintable) != SDD_ORIGIN_NETWORK) == (i == 1));
            CHECK_EQUAL(gdk_texture_get_width(sdd_gtk_paintable_get_texture(paintable)), WIDTH);
            g_object_unref(paintable);
            CHECK_STATUS(sdd_cache_flush_wait(cache, 60000), SDD_OK);
        }
        CHECK_STATUS(sdd_loader_destroy(refreshing), SDD_OK);
        CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    }
    run_until_idle();
}

/* ---- what is shown meanwhile */

static gboolean count_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer frames)
{
    (void)widget, (void)clock;
    (*(int *)frames)++;
    return G_SOURCE_CONTINUE;
}

/* Waits until the widget is drawn as it is now. */
static void draw_frames(SddGtkPicture *picture)
{
    int frames = 0;
    const guint tick_callback = gtk_widget_add_tick_callback(GTK_WIDGET(picture), count_frame, &frames, NULL);
    RUN_UNTIL(frames == 5);
    gtk_widget_remove_tick_callback(GTK_WIDGET(picture), tick_callback);
}

static void a_picture_fades_in_over_its_preview(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);

    sdd_gtk_picture_set_transition(picture, G_MAXINT);
    sdd_gtk_picture_set_url(picture, held("overlay", "late.jpg", 60000));
    RUN_UNTIL(texture_of(picture) != NULL && drawn_colour(GTK_WIDGET(picture), 0, 0) != 0);
    let_go("overlay");
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_LOADED);
    draw_frames(picture);
    CHECK(drawn_colour(GTK_WIDGET(picture), 0, 0) != 0);
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
}

static void a_hash_is_of_one_url(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    sdd_bytes *hash = red_hash();

    sdd_gtk_picture_set_thumbhash(picture, sdd_bytes_data(hash), sdd_bytes_size(hash));
    sdd_gtk_picture_set_url(picture, held("hashed", "plain.png", 0));
    RUN_UNTIL(is_red(picture));
    sdd_gtk_picture_set_url(picture, held("unhashed", "plain.png", 0));
    draw_frames(picture);
    CHECK(!is_red(picture));
    sdd_bytes_release(hash);
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
}

static void a_placeholder_may_change(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    SddGtkPaintable *placeholder = sdd_gtk_paintable_new(loader);

    sdd_gtk_picture_set_placeholder(picture, GDK_PAINTABLE(placeholder));
    sdd_gtk_picture_set_failure(picture, GDK_PAINTABLE(placeholder));
    sdd_gtk_picture_set_failure(picture, NULL);
    sdd_gtk_picture_set_url(picture, held("behind", "late.jpg", 0));
    draw_frames(picture);
    for (int i = 0; i < 10; i++) {
        sdd_gtk_paintable_load(placeholder, at("/file/plain.png"), WIDTH, HEIGHT, SDD_FIT_FILL);
        RUN_UNTIL(drawn_colour(GTK_WIDGET(picture), 0, 0) == 0xff0000);
        sdd_gtk_paintable_load(placeholder, NULL, 0, 0, SDD_FIT_FILL);
        RUN_UNTIL(drawn_colour(GTK_WIDGET(picture), 0, 0) != 0xff0000);
    }
    sdd_gtk_paintable_load(placeholder, at("/file/plain.png"), WIDTH, HEIGHT, SDD_FIT_FILL);
    gtk_window_destroy(GTK_WINDOW(window));
    RUN_UNTIL(sdd_gtk_paintable_get_state(placeholder) == SDD_GTK_LOADED); /* which the widget does not hear */
    g_object_unref(placeholder);
    run_until_idle();
}

static int unallocated;

static GLogWriterOutput count_unallocated(GLogLevelFlags level, const GLogField *fields, gsize size, gpointer unused)
{
    for (gsize i = 0; i < size; i++)
        if (strcmp(fields[i].key, "MESSAGE") == 0 && strstr(fields[i].value, "without a current allocation") != NULL)
            unallocated++;
    return g_log_writer_default(level, fields, size, unused);
}

static void a_refused_load_has_its_icon(void)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *dead = NULL;
    GtkWidget *window, *picture;

    config.downloader = downloader;
    CHECK_STATUS(sdd_loader_create(&config, &dead), SDD_OK);
    CHECK_STATUS(sdd_loader_destroy(dead), SDD_OK);
    picture = sdd_gtk_picture_new(dead);
    gtk_widget_set_size_request(picture, WIDTH, HEIGHT);
    sdd_gtk_picture_set_url(SDD_GTK_PICTURE(picture), at("/file/plain.png"));
    window = window_with(picture);
    RUN_UNTIL(sdd_gtk_picture_get_state(SDD_GTK_PICTURE(picture)) == SDD_GTK_FAILED);
    RUN_UNTIL(gtk_widget_get_width(gtk_widget_get_last_child(picture)) > 0);
    (void)drawn_colour(picture, 0, 0);
    CHECK_EQUAL(unallocated, 0);
    gtk_window_destroy(GTK_WINDOW(window));
}

static void a_widget_that_grows_loads_seldom(void)
{
    GtkWidget *window;
    SddGtkPicture *picture = shown_picture(&window, loader);
    int64_t before;

    sdd_gtk_picture_set_url(picture, at("/file/large.png"));
    RUN_UNTIL(sdd_gtk_picture_get_state(picture) == SDD_GTK_LOADED);
    before = counts().requests;
    for (int grown = 1; grown <= 30; grown++) {
        gtk_widget_set_size_request(GTK_WIDGET(picture), WIDTH + grown, HEIGHT + grown);
        RUN_UNTIL(gtk_widget_get_height(GTK_WIDGET(picture)) == HEIGHT + grown);
    }
    RUN_UNTIL(gdk_texture_get_width(texture_of(picture)) >= WIDTH + 30);
    CHECK_EQUAL(counts().requests - before, 1);
    gtk_window_destroy(GTK_WINDOW(window));
    run_until_idle();
}

void run_signals(void)
{
    g_log_set_writer_func(count_unallocated, NULL, NULL);
    RUN(a_handler_destroys_its_widget_in_set_url);
    RUN(a_handler_loads_another_url);
    RUN(setters_notify);
    RUN(a_url_that_failed_is_tried_again);
    RUN(a_confirmed_picture_is_loaded);
    RUN(a_picture_fades_in_over_its_preview);
    RUN(a_hash_is_of_one_url);
    RUN(a_placeholder_may_change);
    RUN(a_refused_load_has_its_icon);
    RUN(a_widget_that_grows_loads_seldom);
}
