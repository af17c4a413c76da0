/* cc -std=c11 -O2 gtk_gallery.c $(pkg-config --cflags --libs sdd-gtk4) -o gtk_gallery
 *
 * gtk_gallery: a grid of pictures in GTK 4, as long as you like. Each is decoded to the size at which it is shown, on
 * threads of libsdd; those that are scrolled away are cancelled.
 *
 *     gtk_gallery URL...
 */
#define SDD_GTK_IMPLEMENTATION
#include <sdd/gtk.h>

enum { WIDTH = 200, HEIGHT = 150 };

static GtkWidget *make_grid(const char *const *urls)
{
    GListModel *model = G_LIST_MODEL(gtk_string_list_new(urls));
    GtkListItemFactory *factory = sdd_gtk_picture_factory_new(NULL, WIDTH, HEIGHT, NULL, NULL, NULL);
    GtkWidget *grid = gtk_grid_view_new(GTK_SELECTION_MODEL(gtk_no_selection_new(model)), factory);

    gtk_grid_view_set_max_columns(GTK_GRID_VIEW(grid), 4);
    return grid;
}

static void closed(GtkWidget *window, gpointer loop)
{
    (void)window;
    g_main_loop_quit(loop);
}

int main(int argc, char **argv)
{
    GMainLoop *loop;
    GtkWidget *window, *scrolled;

    if (argc < 2) {
        g_printerr("usage: gtk_gallery URL...\n");
        return 2;
    }
    gtk_init();
    loop = g_main_loop_new(NULL, FALSE);
    scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), make_grid((const char *const *)argv + 1));
    window = gtk_window_new();
    gtk_window_set_title(GTK_WINDOW(window), "libsdd in GTK");
    gtk_window_set_default_size(GTK_WINDOW(window), 900, 560);
    gtk_window_set_child(GTK_WINDOW(window), scrolled);
    g_signal_connect(window, "destroy", G_CALLBACK(closed), loop);
    gtk_window_present(GTK_WINDOW(window));
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
    return 0;
}
