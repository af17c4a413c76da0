/* cc -std=c11 -O2 gtk_gallery.c $(pkg-config --cflags --libs sdd gtk4) -o gtk_gallery
 *
 * gtk_gallery: pictures in a window of GTK 4, shown while they arrive. Their pixels are shown from libsdd's memory, and
 * all callbacks run in GTK's main loop.
 *
 *     gtk_gallery [-q] URL...
 *
 *     -q   quits when all pictures have been shown; exit status 0: each URL ended with a picture
 *
 * Prints a line for each change: "preview URL", "picture URL X Y WIDTH HEIGHT" (its place in the window, in pixels),
 * "failed URL: REASON", and at last "complete".
 */
#include "sdd_gtk.h"

#include <string.h>

enum { SIDE = 240, MARGIN = 8, COLUMNS = 3 }; /* pixels */

struct gallery {
    GMainLoop *loop;
    sdd_loader *loader;
    gboolean quits;
    int asked, ended, pictures;
};

/* One picture of the gallery: the user data of its load. */
struct cell {
    struct gallery *gallery;
    GtkWidget *picture;
    int column, row;
};

static void free_cell(void *user_data)
{
    struct cell *cell = (struct cell *)user_data;

    g_object_unref(cell->picture); /* which may have outlived its window */
    g_free(cell);
}

static void show_image(struct cell *cell, sdd_image *image)
{
    GdkTexture *texture = sdd_gtk_texture(image);

    gtk_picture_set_paintable(GTK_PICTURE(cell->picture), GDK_PAINTABLE(texture));
    g_object_unref(texture); /* the picture holds it now */
}

static void preview(const sdd_result *result, void *user_data)
{
    show_image((struct cell *)user_data, result->image);
    g_print("preview %s\n", result->url);
}

static void completed(const sdd_result *result, void *user_data)
{
    struct cell *cell = (struct cell *)user_data;
    struct gallery *gallery = cell->gallery;

    gallery->ended++;
    if (result->failure.status == SDD_OK) {
        show_image(cell, result->image);
        g_print("picture %s %d %d %d %d\n", result->url, MARGIN + cell->column * (SIDE + MARGIN),
                MARGIN + cell->row * (SIDE + MARGIN), (int)sdd_image_width(result->image),
                (int)sdd_image_height(result->image));
        gallery->pictures++;
    } else {
        g_print("failed %s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
    }
    if (gallery->ended < gallery->asked) return;
    g_print("complete\n");
    if (gallery->quits) g_main_loop_quit(gallery->loop);
}

static void load(struct gallery *gallery, GtkFixed *board, const char *url, int index)
{
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    struct cell *cell = g_new0(struct cell, 1);

    cell->gallery = gallery;
    cell->picture = g_object_ref_sink(gtk_picture_new());
    gtk_picture_set_can_shrink(GTK_PICTURE(cell->picture), FALSE); /* one pixel for each of the image */
    cell->column = index % COLUMNS, cell->row = index / COLUMNS;
    gtk_fixed_put(board, cell->picture, MARGIN + cell->column * (SIDE + MARGIN), MARGIN + cell->row * (SIDE + MARGIN));

    decode.target_width = decode.target_height = SIDE;
    decode.pixel_format = SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED; /* as GTK's own surfaces */
    request.url = url;
    request.decode = &decode;
    request.preview = preview;
    request.completed = completed;
    request.user_data = cell;
    request.user_data_free = free_cell;
    if (sdd_loader_submit(gallery->loader, &request) == 0) {
        g_printerr("gtk_gallery: %s\n", sdd_last_error_message());
        exit(1);
    }
}

static void closed(GtkWidget *window, gpointer gallery)
{
    (void)window;
    g_main_loop_quit(((struct gallery *)gallery)->loop);
}

static GtkWidget *make_window(struct gallery *gallery, GtkWidget *board)
{
    GtkWidget *window = gtk_window_new();
    const int rows = (gallery->asked + COLUMNS - 1) / COLUMNS;

    gtk_window_set_decorated(GTK_WINDOW(window), FALSE);
    gtk_window_set_child(GTK_WINDOW(window), board);
    gtk_widget_set_size_request(board, COLUMNS * (SIDE + MARGIN) + MARGIN, rows * (SIDE + MARGIN) + MARGIN);
    g_signal_connect(window, "destroy", G_CALLBACK(closed), gallery);
    return window;
}

int main(int argc, char **argv)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_loader_config loading = SDD_LOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    struct gallery gallery = { 0 };
    const int first = argc > 1 && strcmp(argv[1], "-q") == 0 ? 2 : 1;
    GtkWidget *board, *window;
    guint watch;

    if (argc <= first) {
        g_printerr("usage: gtk_gallery [-q] URL...\n");
        return 2;
    }
    gtk_init();
    config.delivery = SDD_DELIVERY_APPLICATION;
    if (sdd_downloader_create(&config, &downloader) != SDD_OK) return 1;
    loading.downloader = downloader;
    if (sdd_loader_create(&loading, &gallery.loader) != SDD_OK) return 1;
    gallery.loop = g_main_loop_new(NULL, FALSE);
    gallery.quits = first == 2;
    gallery.asked = argc - first;
    watch = sdd_gtk_watch(downloader);

    board = gtk_fixed_new();
    window = make_window(&gallery, board);
    for (int i = first; i < argc; i++) load(&gallery, GTK_FIXED(board), argv[i], i - first);
    gtk_window_present(GTK_WINDOW(window));
    g_main_loop_run(gallery.loop);

    g_source_remove(watch);
    sdd_loader_destroy(gallery.loader);
    sdd_downloader_destroy(downloader); /* ends what is under way, inside this call */
    g_main_loop_unref(gallery.loop);
    return gallery.pictures == gallery.asked ? 0 : 1;
}
