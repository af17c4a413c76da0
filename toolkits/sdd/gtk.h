/*
 * sdd/gtk.h - Pictures in GTK 4: a widget, a GdkPaintable and a list factory that load URLs, and
 * textures that share the pixels of libsdd.
 *
 * Header only: it needs gtk4 (4.0 or later) and libsdd, and sdd.h does not include it. Exactly one
 * C file of a program defines SDD_GTK_IMPLEMENTATION before it includes this header, and has the
 * code of the types; a GType may be registered only once in a process. All other files include it
 * as any header, and the types are GObject types as others: properties, notify signals, CSS.
 *
 *     #define SDD_GTK_IMPLEMENTATION
 *     #include <sdd/gtk.h>
 *
 *     GtkWidget *picture = sdd_gtk_picture_new(NULL);
 *     sdd_gtk_picture_set_url(SDD_GTK_PICTURE(picture), "https://example.org/a.jpg");
 *
 * Sizes      Pictures are decoded to the size of the widget times its scale factor: device pixels.
 *            A widget that has become larger loads for a quarter more, as room for more growth.
 * Threads    All functions are for GTK's thread, which runs the default main context; callbacks and
 *            notify signals come there. Events that the downloader delivers on another thread are
 *            handed over by an idle source, which runs before a frame is drawn.
 * Loaders    NULL is the shared loader. One of the application's own gives headers, limits and
 *            transforms (sdd_loader_config.options_processor); it may be destroyed at any time:
 *            loads then fail with SDD_ERROR_CLOSED or SDD_ERROR_CANCELLED. If its downloader has
 *            SDD_DELIVERY_APPLICATION, sdd_glib_watch() takes its events. A processor that adds
 *            SDD_OPTION_REFRESH_CACHED sets sdd_load_request.cached to its `preview`, so that the
 *            cached picture is shown at once; it stays if the server confirms it or fails.
 * Lifetime   A load is cancelled when its URL is replaced, its list item is unbound, or its object
 *            is disposed of. Nothing is called for it after that.
 * Errors     A load that fails has state SDD_GTK_FAILED and a GError: SDD_GTK_ERROR, an sdd_status
 *            as code, and a sentence. Setting the same URL again tries again, with
 *            SDD_OPTION_RETRY_FAILED: also while the loader blocks it (FAILED URLS in loader.h).
 */
#ifndef SDD_GTK_H
#define SDD_GTK_H

#include <gtk/gtk.h>
#include <sdd/glib.h>

G_BEGIN_DECLS

/* --------------------------------------------------------------------------------------- pixels */

/**
 * Makes a texture over the pixels of an image, without copying them.
 *
 * @param image Borrowed: the texture holds a reference of its own, which is released on any thread.
 *     SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED is GTK's own format (GDK_MEMORY_DEFAULT on little-endian
 *     machines).
 * @return A texture, owned by the caller. NULL for NULL, for a pixel format that GDK lacks (GREY8,
 *     RGB8_PLANAR, and RGBA16 before GTK 4.6), and for pixels that cannot be decoded.
 * Thread: any.
 */
GdkTexture *sdd_gtk_texture(sdd_image *image);

/** The states of a URL. */
typedef enum {
    SDD_GTK_EMPTY, /* there is no URL */
    SDD_GTK_LOADING,
    SDD_GTK_LOADED,
    SDD_GTK_FAILED
} SddGtkState;

#define SDD_GTK_TYPE_STATE (sdd_gtk_state_get_type())
GType sdd_gtk_state_get_type(void);

/** The domain of errors; the code is an sdd_status. */
#define SDD_GTK_ERROR (sdd_gtk_error_quark())
GQuark sdd_gtk_error_quark(void);

/* ------------------------------------------------------------------------------------ paintable */

/**
 * A GdkPaintable that loads: for GtkPicture, GtkImage and widgets of the application's own. It
 * shows previews while a picture arrives, and has no size before. Property: "state" (read-only),
 * whose notify signal comes with each change.
 */
#define SDD_GTK_TYPE_PAINTABLE (sdd_gtk_paintable_get_type())
G_DECLARE_FINAL_TYPE(SddGtkPaintable, sdd_gtk_paintable, SDD_GTK, PAINTABLE, GObject)

/** Makes a paintable without a URL, owned by the caller. NULL: the shared loader. */
SddGtkPaintable *sdd_gtk_paintable_new(sdd_loader *loader);

/**
 * Loads a URL in place of the one before, whose load is cancelled. If it is the same URL, the
 * picture stays until the new one is there. A handler of a signal may load another URL.
 *
 * @param url Copied. NULL: none, the paintable is empty.
 * @param width, height Device pixels, 0: any. A picture is never enlarged.
 * @param fit One of SDD_FIT_.
 */
void sdd_gtk_paintable_load(SddGtkPaintable *self, const char *url, int width, int height,
                            sdd_fit fit);

SddGtkState sdd_gtk_paintable_get_state(SddGtkPaintable *self);
/** Returns why the load failed, until the next one. NULL unless the state is SDD_GTK_FAILED. */
const GError *sdd_gtk_paintable_get_error(SddGtkPaintable *self);
/** Returns what is shown: a preview or the picture, lent. NULL if there is none. */
GdkTexture *sdd_gtk_paintable_get_texture(SddGtkPaintable *self);
/** Returns where the picture comes from, one of SDD_ORIGIN_. */
sdd_origin sdd_gtk_paintable_get_origin(SddGtkPaintable *self);

/* --------------------------------------------------------------------------------------- widget */

/**
 * A widget that shows the picture of a URL. It takes the size that it is given and asks for none:
 * gtk_widget_set_size_request(), or let it expand. It loads when it has a size, and again when it
 * becomes larger, unless it has failed. While it loads it shows the placeholder, or a spinner;
 * after a failure the picture for that, or an icon. CSS: a node "sddpicture" with the class
 * "loading" or "failed". Handlers of notify signals may destroy the widget, or set another URL.
 *
 * Properties: "url", "placeholder", "failure", "transition" (milliseconds), "state" (read-only).
 */
#define SDD_GTK_TYPE_PICTURE (sdd_gtk_picture_get_type())
G_DECLARE_FINAL_TYPE(SddGtkPicture, sdd_gtk_picture, SDD_GTK, PICTURE, GtkWidget)

/** Makes a widget without a URL, with a floating reference. NULL: the shared loader. */
GtkWidget *sdd_gtk_picture_new(sdd_loader *loader);
/** Sets the loader of later loads; for widgets that GtkBuilder makes. */
void sdd_gtk_picture_set_loader(SddGtkPicture *self, sdd_loader *loader);

/**
 * Loads a URL in place of the one before, whose load is cancelled. The same URL loads again only
 * after a failure.
 *
 * @param url Copied. NULL: none, the widget is empty.
 */
void sdd_gtk_picture_set_url(SddGtkPicture *self, const char *url);
const char *sdd_gtk_picture_get_url(SddGtkPicture *self);

/** Sets what is shown before the picture, and after a failure, also if it changes by itself. NULL:
    spinner and icon. */
void sdd_gtk_picture_set_placeholder(SddGtkPicture *self, GdkPaintable *placeholder);
void sdd_gtk_picture_set_failure(SddGtkPicture *self, GdkPaintable *failure);
/**
 * Sets a ThumbHash (sdd_image_thumbhash()) whose picture is shown before that of one URL, in place
 * of the placeholder. Call it before sdd_gtk_picture_set_url().
 *
 * @param hash Borrowed for the call. NULL, or bytes that are no hash: the placeholder is shown.
 */
void sdd_gtk_picture_set_thumbhash(SddGtkPicture *self, const void *hash, gsize size);
/** Sets how the picture fills the widget; initially SDD_FIT_FILL, which covers all of it. */
void sdd_gtk_picture_set_fit(SddGtkPicture *self, sdd_fit fit);
/** Sets for how long a picture that was not in memory fades in, over what was shown before it;
    initially 0: not at all. */
void sdd_gtk_picture_set_transition(SddGtkPicture *self, guint milliseconds);

SddGtkState sdd_gtk_picture_get_state(SddGtkPicture *self);
/** Returns the paintable that loads, lent: error, texture and origin are there. */
SddGtkPaintable *sdd_gtk_picture_get_paintable(SddGtkPicture *self);

/* ---------------------------------------------------------------------------------------- lists */

/**
 * Gives the URL of an item of a list model.
 *
 * @param item Borrowed.
 * @return A string to be freed with g_free(); NULL: none.
 */
typedef char *(*SddGtkUrlFunc)(gpointer item, gpointer user_data);

/**
 * Makes a factory for GtkGridView and GtkListView, whose rows are pictures of one size. Rows that
 * are scrolled out of sight are unbound, which cancels their loads.
 *
 * @param loader NULL: the shared one.
 * @param width, height Of each picture, in GTK's units.
 * @param url_of NULL: items are GtkStringObject.
 * @param user_data_free Called when the factory is gone. May be NULL.
 * @return The factory, owned by the caller.
 */
GtkListItemFactory *sdd_gtk_picture_factory_new(sdd_loader *loader, int width, int height,
                                                SddGtkUrlFunc url_of, gpointer user_data,
                                                GDestroyNotify user_data_free);

/**
 * Gives the ThumbHash of the picture of an item of a list model.
 *
 * @param item Borrowed.
 * @return A reference that is released with g_bytes_unref(); NULL: none.
 */
typedef GBytes *(*SddGtkThumbhashFunc)(gpointer item, gpointer user_data);

/** Sets the function that gives what rows show while they load. It gets the user_data of url_of. */
void sdd_gtk_picture_factory_set_thumbhash(GtkListItemFactory *factory,
                                           SddGtkThumbhashFunc thumbhash_of);

G_END_DECLS

#ifdef SDD_GTK_IMPLEMENTATION
#include "gtk-types.h"
#endif

#endif /* SDD_GTK_H */
