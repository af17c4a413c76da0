/*
 * sdd/glib.h - Events of libsdd in a main loop of GLib, and pictures as a GdkPixbuf: for GTK 3 and
 * other programs over GLib. sdd/gtk.h, for GTK 4, includes it.
 *
 * Header only: it needs glib-2.0 and libsdd, and sdd.h does not include it. Its functions are part
 * of the program: a plugin removes its sources before it is unloaded. Nothing else of it stays
 * behind.
 */
#ifndef SDD_GLIB_H
#define SDD_GLIB_H

#include <glib-unix.h>
#include <sdd/sdd.h>

G_BEGIN_DECLS

static inline gboolean sdd_glib_dispatch_(gint descriptor, GIOCondition condition,
                                          gpointer downloader)
{
    const sdd_status status = sdd_downloader_dispatch((sdd_downloader *)downloader, 32, NULL);
    (void)descriptor, (void)condition;
    return status == SDD_ERROR_CLOSED ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

/**
 * Delivers the events of a downloader with SDD_DELIVERY_APPLICATION in the default main context, a
 * few at a time, so that the loop stays responsive.
 *
 * @param downloader Not the shared one.
 * @return The source: g_source_remove() it before the downloader is destroyed.
 */
static inline guint sdd_glib_watch(sdd_downloader *downloader)
{
    return g_unix_fd_add(sdd_downloader_event_fd(downloader), G_IO_IN, sdd_glib_dispatch_,
                         downloader);
}

/**
 * Gives the pixels of an image, without copying them.
 *
 * @param image Borrowed: the bytes hold a reference of their own, which is released on any thread.
 * @return Bytes, owned by the caller: the rows, sdd_image_stride() apart. NULL for NULL, and for
 *     pixels that cannot be decoded.
 * Thread: any.
 */
static inline GBytes *sdd_glib_pixels(sdd_image *image)
{
    const uint8_t *pixels = sdd_image_pixels(image); /* decodes, so that their size is known */
    sdd_image_info info = SDD_IMAGE_INFO_INIT;

    if (pixels == NULL) return NULL;
    sdd_image_get_info(image, &info);
    return g_bytes_new_with_free_func(pixels, info.pixels_size, (GDestroyNotify)sdd_image_release,
                                      sdd_image_retain(image));
}

/* It is there if gdk-pixbuf/gdk-pixbuf.h, or GTK 3, was included before. */
#ifdef GDK_PIXBUF_H

/**
 * Makes a pixbuf over the pixels of an image, without copying them. It must not be written to.
 *
 * @param image Borrowed. Pixel formats: SDD_PIXEL_FORMAT_RGBA8, which is the default, and RGB8.
 * @return A pixbuf, owned by the caller. NULL as for sdd_glib_pixels(), and for other formats.
 * Thread: any.
 */
static inline GdkPixbuf *sdd_glib_pixbuf(sdd_image *image)
{
    GBytes *pixels = sdd_glib_pixels(image);
    const sdd_pixel_format format = sdd_image_pixel_format(image);
    GdkPixbuf *made = NULL;

    if (pixels == NULL) return NULL;
    if (format == SDD_PIXEL_FORMAT_RGBA8 || format == SDD_PIXEL_FORMAT_RGB8)
        made = gdk_pixbuf_new_from_bytes(pixels, GDK_COLORSPACE_RGB,
                                         format == SDD_PIXEL_FORMAT_RGBA8, 8,
                                         sdd_image_width(image), sdd_image_height(image),
                                         (int)sdd_image_stride(image));
    g_bytes_unref(pixels);
    return made;
}

#endif

G_END_DECLS

#endif /* SDD_GLIB_H */
