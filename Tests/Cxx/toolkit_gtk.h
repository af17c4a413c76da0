/* What the files of the program toolkit_gtk share. */
#ifndef TOOLKIT_GTK_H
#define TOOLKIT_GTK_H

#include <server.h>

#include <sdd/gtk.h>

enum { WIDTH = 160, HEIGHT = 120 };

extern sdd_downloader *downloader;
extern sdd_loader *loader; /* without a cache, and without blocked URLs */

int64_t images(void);
sdd_statistics counts(void);
gboolean tick(gpointer unused);

/* Runs the main loop until the condition holds; the watchdog ends a test that waits for ever. */
#define RUN_UNTIL(condition) \
    do { \
        guint ticks = g_timeout_add(5, tick, NULL); \
        while (!(condition)) g_main_context_iteration(NULL, TRUE); \
        g_source_remove(ticks); \
    } while (0)

void run_until_idle(void);

/* Returns a URL that is held back, after so many bytes, until let_go() of that name. The server keeps names. */
const char *held(const char *name, const char *file, int after);
void let_go(const char *name);

GtkWidget *window_with(GtkWidget *child);
/* Makes a widget of a fixed size in a window that is shown. */
SddGtkPicture *shown_picture(GtkWidget **window, sdd_loader *by);
GdkTexture *texture_of(SddGtkPicture *picture);
/* Draws a widget as its window does, and gives the colour of the middle of a quarter as 0xRRGGBB. */
unsigned drawn_colour(GtkWidget *widget, int column, int row);

/* The ThumbHash of a red picture. */
sdd_bytes *red_hash(void);
gboolean is_red(SddGtkPicture *picture);

/* The tests of toolkit_gtk_signals.c. */
void run_signals(void);

#endif
