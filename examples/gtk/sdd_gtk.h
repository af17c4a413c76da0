/* sdd_gtk.h: pictures of libsdd as GdkTexture without a copy, and events of libsdd in GLib's main loop. */
#ifndef SDD_GTK_H
#define SDD_GTK_H

#include <glib-unix.h>
#include <gtk/gtk.h>
#include <sdd/sdd.h>

/* Releases a reference to an image: the free function of GBytes. */
static inline void sdd_gtk_release(gpointer image) { sdd_image_release((sdd_image *)image); }

/* Returns bytes over the pixels of an image, without copying them. They hold a reference to the image, which the last
 * g_bytes_unref() gives back, on any thread. */
static inline GBytes *sdd_gtk_bytes(sdd_image *image)
{
    const uint8_t *pixels = sdd_image_pixels(image); /* decodes, so that their size is known */
    sdd_image_info info = SDD_IMAGE_INFO_INIT;

    sdd_image_get_info(image, &info);
    return g_bytes_new_with_free_func(pixels, info.pixels_size, sdd_gtk_release, sdd_image_retain(image));
}

/* Gives GDK's format of pixels of libsdd: FALSE for those that GDK 4.8 has no format for. */
static inline gboolean sdd_gtk_format(sdd_pixel_format pixel_format, GdkMemoryFormat *format)
{
    switch (pixel_format) {
    case SDD_PIXEL_FORMAT_RGBA8: *format = GDK_MEMORY_R8G8B8A8; return TRUE;
    case SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED: *format = GDK_MEMORY_R8G8B8A8_PREMULTIPLIED; return TRUE;
    case SDD_PIXEL_FORMAT_BGRA8: *format = GDK_MEMORY_B8G8R8A8; return TRUE;
    case SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED: *format = GDK_MEMORY_B8G8R8A8_PREMULTIPLIED; return TRUE;
    case SDD_PIXEL_FORMAT_RGB8: *format = GDK_MEMORY_R8G8B8; return TRUE;
    case SDD_PIXEL_FORMAT_RGBA16: *format = GDK_MEMORY_R16G16B16A16; return TRUE;
    case SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED: *format = GDK_MEMORY_R16G16B16A16_PREMULTIPLIED; return TRUE;
    default: return FALSE;
    }
}

/* Makes a texture over the pixels of an image, without copying them. The caller owns it; it holds a reference to the
 * image. NULL for a format that GDK lacks, and for pixels that cannot be decoded. */
static inline GdkTexture *sdd_gtk_texture(sdd_image *image)
{
    GdkMemoryFormat format;
    GdkTexture *texture;
    GBytes *bytes;

    if (sdd_image_pixels(image) == NULL || !sdd_gtk_format(sdd_image_pixel_format(image), &format)) return NULL;
    bytes = sdd_gtk_bytes(image);
    texture = gdk_memory_texture_new(sdd_image_width(image), sdd_image_height(image), format, bytes,
                                     sdd_image_stride(image));
    g_bytes_unref(bytes);
    return texture;
}

/* Called when the downloader's descriptor is readable. It delivers a few events at a time, so that the loop stays
 * responsive: the descriptor stays readable while there are more. */
static inline gboolean sdd_gtk_deliver(gint descriptor, GIOCondition condition, gpointer downloader)
{
    (void)descriptor, (void)condition;
    return sdd_downloader_dispatch((sdd_downloader *)downloader, 32, NULL) == SDD_ERROR_CLOSED ? G_SOURCE_REMOVE
                                                                                               : G_SOURCE_CONTINUE;
}

/* Delivers the events of a downloader with SDD_DELIVERY_APPLICATION in the default main loop: callbacks run there, and
 * may use widgets. Returns the source, for g_source_remove() before the downloader is destroyed. */
static inline guint sdd_gtk_watch(sdd_downloader *downloader)
{
    return g_unix_fd_add(sdd_downloader_event_fd(downloader), G_IO_IN, sdd_gtk_deliver, downloader);
}

#endif
