/*
 * sdd/gtk-types.h - The code of sdd/gtk.h, which includes it where SDD_GTK_IMPLEMENTATION is
 * defined. Never include it yourself.
 */
#ifndef SDD_GTK_TYPES_H
#define SDD_GTK_TYPES_H

#include "gtk.h"

G_BEGIN_DECLS

/* --------------------------------------------------------------------------------------- pixels */

/* Gives GDK's name of a pixel format: FALSE for those that it lacks. */
static gboolean sdd_gtk_format_(sdd_pixel_format pixel_format, GdkMemoryFormat *format)
{
    switch (pixel_format) {
    case SDD_PIXEL_FORMAT_RGBA8: *format = GDK_MEMORY_R8G8B8A8; return TRUE;
    case SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED:
        *format = GDK_MEMORY_R8G8B8A8_PREMULTIPLIED;
        return TRUE;
    case SDD_PIXEL_FORMAT_BGRA8: *format = GDK_MEMORY_B8G8R8A8; return TRUE;
    case SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED:
        *format = GDK_MEMORY_B8G8R8A8_PREMULTIPLIED;
        return TRUE;
    case SDD_PIXEL_FORMAT_RGB8: *format = GDK_MEMORY_R8G8B8; return TRUE;
#if GTK_CHECK_VERSION(4, 6, 0)
    case SDD_PIXEL_FORMAT_RGBA16: *format = GDK_MEMORY_R16G16B16A16; return TRUE;
    case SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED:
        *format = GDK_MEMORY_R16G16B16A16_PREMULTIPLIED;
        return TRUE;
#endif
    default: return FALSE;
    }
}

GdkTexture *sdd_gtk_texture(sdd_image *image)
{
    GBytes *pixels = sdd_glib_pixels(image);
    GdkMemoryFormat format;
    GdkTexture *texture = NULL;

    if (pixels == NULL) return NULL;
    if (sdd_gtk_format_(sdd_image_pixel_format(image), &format))
        texture = gdk_memory_texture_new(sdd_image_width(image), sdd_image_height(image), format,
                                         pixels, sdd_image_stride(image));
    g_bytes_unref(pixels);
    return texture;
}

G_DEFINE_QUARK(sdd-gtk-error, sdd_gtk_error)

GType sdd_gtk_state_get_type(void)
{
    static gsize made = 0;
    static const GEnumValue values[] = { { SDD_GTK_EMPTY, "SDD_GTK_EMPTY", "empty" },
                                         { SDD_GTK_LOADING, "SDD_GTK_LOADING", "loading" },
                                         { SDD_GTK_LOADED, "SDD_GTK_LOADED", "loaded" },
                                         { SDD_GTK_FAILED, "SDD_GTK_FAILED", "failed" },
                                         { 0, NULL, NULL } };
    if (g_once_init_enter(&made))
        g_once_init_leave(&made, g_enum_register_static("SddGtkState", values));
    return made;
}

/* ------------------------------------------------------------------------------------ paintable */

/* One load. The paintable and the request each hold a reference. Only GTK's thread uses owner and
   token; owner is NULL once the load is cancelled. */
typedef struct {
    gatomicrefcount references;
    SddGtkPaintable *owner;
    sdd_token token;
} SddGtkLoad_;

/* A result on its way to GTK's thread. */
typedef struct {
    SddGtkLoad_ *load;
    sdd_image *image;
    GError *error;
    sdd_origin origin;
    gboolean is_last;
    gboolean is_preview;
} SddGtkArrival_;

struct _SddGtkPaintable {
    GObject parent_instance;
    sdd_loader *loader;
    char *url;
    int width, height; /* what was asked for */
    sdd_fit fit;
    SddGtkLoad_ *load; /* NULL unless a load is under way */
    guint turn;        /* of loads: another one after a signal tells that a handler began it */
    SddGtkState state;
    GError *error;
    GdkTexture *texture;
    GdkTexture *replaced; /* what was shown before a result that arrives, meanwhile */
    gboolean is_whole;    /* the texture is a whole picture of the URL, not a preview */
    sdd_origin origin;
};

static void sdd_gtk_load_unref_(void *user_data)
{
    SddGtkLoad_ *load = (SddGtkLoad_ *)user_data;
    if (g_atomic_ref_count_dec(&load->references)) g_free(load);
}

static void sdd_gtk_arrival_free_(gpointer data)
{
    SddGtkArrival_ *arrival = (SddGtkArrival_ *)data;
    sdd_image_release(arrival->image);
    g_clear_error(&arrival->error);
    sdd_gtk_load_unref_(arrival->load);
    g_free(arrival);
}

static void sdd_gtk_paintable_set_state_(SddGtkPaintable *self, SddGtkState state)
{
    if (self->state == state) return;
    self->state = state;
    g_object_notify(G_OBJECT(self), "state");
}

/* Takes over the reference to the texture. */
static void sdd_gtk_paintable_show_(SddGtkPaintable *self, GdkTexture *texture)
{
    GdkTexture *before = self->texture;
    const gboolean is_as_large = before != NULL && texture != NULL &&
                                 gdk_texture_get_width(before) == gdk_texture_get_width(texture) &&
                                 gdk_texture_get_height(before) == gdk_texture_get_height(texture);
    if (before == NULL && texture == NULL) return;
    self->texture = texture;
    g_clear_object(&before);
    if (!is_as_large) gdk_paintable_invalidate_size(GDK_PAINTABLE(self));
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

static void sdd_gtk_paintable_cancel_(SddGtkPaintable *self)
{
    SddGtkLoad_ *load = self->load;
    self->turn++;
    if (load == NULL) return;
    self->load = NULL;
    load->owner = NULL;
    sdd_cancel(load->token);
    sdd_gtk_load_unref_(load);
}

static void sdd_gtk_paintable_fail_(SddGtkPaintable *self, GError *error)
{
    const guint turn = self->turn;
    g_clear_error(&self->error);
    self->error = error;
    self->is_whole = FALSE;
    sdd_gtk_paintable_show_(self, NULL);
    if (self->turn == turn) sdd_gtk_paintable_set_state_(self, SDD_GTK_FAILED);
}

static void sdd_gtk_paintable_submit_(SddGtkPaintable *self, sdd_options options);

/* Ends a load, whose last result is there. */
static void sdd_gtk_paintable_end_(SddGtkPaintable *self, GError *error)
{
    if (self->is_whole) { /* also a smaller one, if a larger one cannot be had */
        g_clear_error(&error);
        sdd_gtk_paintable_set_state_(self, SDD_GTK_LOADED);
    } else if (error != NULL && error->code == SDD_ERROR_NOT_MODIFIED) {
        g_clear_error(&error); /* the server has confirmed what the cache has */
        sdd_gtk_paintable_submit_(self, SDD_OPTION_FROM_CACHE_ONLY);
    } else {
        if (error == NULL)
            error = g_error_new_literal(SDD_GTK_ERROR, SDD_ERROR_BAD_IMAGE_DATA,
                                        "The picture has no pixels.");
        sdd_gtk_paintable_fail_(self, error);
    }
}

/* Runs on GTK's thread. */
static gboolean sdd_gtk_arrive_(gpointer data)
{
    SddGtkArrival_ *arrival = (SddGtkArrival_ *)data;
    SddGtkPaintable *self = arrival->load->owner;
    const guint turn = self != NULL ? self->turn : 0;
    GdkTexture *texture = NULL;

    if (self == NULL) return G_SOURCE_REMOVE;
    g_object_ref(self); /* a handler of notify may give the last reference away */
    if (arrival->is_last) {
        arrival->load->owner = NULL;
        self->load = NULL;
        sdd_gtk_load_unref_(arrival->load);
    }
    if (arrival->image != NULL) texture = sdd_gtk_texture(arrival->image);
    if (texture != NULL && (!arrival->is_preview || !self->is_whole)) {
        self->is_whole = !arrival->is_preview;
        self->origin = arrival->origin;
        g_set_object(&self->replaced, self->texture);
        sdd_gtk_paintable_show_(self, g_steal_pointer(&texture));
    }
    g_clear_object(&texture);
    if (arrival->is_last && self->turn == turn)
        sdd_gtk_paintable_end_(self, g_steal_pointer(&arrival->error));
    g_clear_object(&self->replaced);
    g_object_unref(self);
    return G_SOURCE_REMOVE;
}

/* Runs where the downloader delivers. g_main_context_invoke() would not do: between two iterations
   of the main loop it runs the function on any thread. */
static void sdd_gtk_result_(const sdd_result *result, void *user_data)
{
    SddGtkArrival_ *arrival = g_new0(SddGtkArrival_, 1);
    sdd_image_info info = SDD_IMAGE_INFO_INIT;

    arrival->load = (SddGtkLoad_ *)user_data;
    g_atomic_ref_count_inc(&arrival->load->references);
    arrival->image = sdd_image_retain(result->image);
    arrival->is_last = result->is_terminal;
    if (result->image != NULL && !result->is_terminal) sdd_image_get_info(result->image, &info);
    arrival->is_preview = info.is_preview;
    arrival->origin = result->origin;
    if (result->failure.status != SDD_OK)
        arrival->error = g_error_new_literal(SDD_GTK_ERROR, result->failure.status,
                                             result->failure.message);
    if (g_main_context_is_owner(NULL)) {
        sdd_gtk_arrive_(arrival);
        sdd_gtk_arrival_free_(arrival);
    } else {
        g_idle_add_full(G_PRIORITY_HIGH_IDLE, sdd_gtk_arrive_, arrival, sdd_gtk_arrival_free_);
    }
}

static void sdd_gtk_paintable_submit_(SddGtkPaintable *self, sdd_options options)
{
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    SddGtkLoad_ *load = g_new0(SddGtkLoad_, 1);
    GError *refusal;

    g_atomic_ref_count_init(&load->references);
    g_atomic_ref_count_inc(&load->references); /* the request's */
    load->owner = self;
    self->load = load;
    decode.target_width = self->width;
    decode.target_height = self->height;
    decode.fit = self->fit;
    decode.pixel_format = SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED;
    request.url = self->url;
    request.options = options;
    request.decode = &decode;
    request.completed = sdd_gtk_result_;
    request.preview = sdd_gtk_result_;
    request.user_data = load;
    request.user_data_free = sdd_gtk_load_unref_;
    load->token = sdd_loader_submit(self->loader, &request);
    if (load->token != 0) {
        if (!self->is_whole) sdd_gtk_paintable_set_state_(self, SDD_GTK_LOADING);
        return;
    }
    refusal = g_error_new_literal(SDD_GTK_ERROR, sdd_last_error(NULL), sdd_last_error_message());
    sdd_gtk_load_unref_(load);
    sdd_gtk_paintable_cancel_(self);
    sdd_gtk_paintable_fail_(self, refusal);
}

/* Loads a URL; `options` are those of sdd_load_request. */
static void sdd_gtk_paintable_load_(SddGtkPaintable *self, const char *url, int width, int height,
                                    sdd_fit fit, sdd_options options)
{
    guint turn;

    g_object_ref(self); /* a handler of a signal may give the last reference away */
    sdd_gtk_paintable_cancel_(self);
    turn = self->turn;
    g_clear_error(&self->error);
    self->width = width, self->height = height;
    self->fit = fit;
    if (g_strcmp0(url, self->url) != 0) {
        g_free(self->url);
        self->url = g_strdup(url);
        self->is_whole = FALSE;
        self->origin = SDD_ORIGIN_NONE;
        sdd_gtk_paintable_show_(self, NULL);
    }
    if (self->turn == turn && self->url == NULL)
        sdd_gtk_paintable_set_state_(self, SDD_GTK_EMPTY);
    else if (self->turn == turn)
        sdd_gtk_paintable_submit_(self, options);
    g_object_unref(self);
}

void sdd_gtk_paintable_load(SddGtkPaintable *self, const char *url, int width, int height,
                            sdd_fit fit)
{
    sdd_options options = 0;

    g_return_if_fail(SDD_GTK_IS_PAINTABLE(self));
    if (self->state == SDD_GTK_FAILED && g_strcmp0(url, self->url) == 0)
        options = SDD_OPTION_RETRY_FAILED;
    sdd_gtk_paintable_load_(self, url, width, height, fit, options);
}

static void sdd_gtk_paintable_snapshot_(GdkPaintable *paintable, GdkSnapshot *snapshot,
                                        double width, double height)
{
    SddGtkPaintable *self = SDD_GTK_PAINTABLE(paintable);
    if (self->texture != NULL)
        gdk_paintable_snapshot(GDK_PAINTABLE(self->texture), snapshot, width, height);
}

static GdkPaintable *sdd_gtk_paintable_current_(GdkPaintable *paintable)
{
    SddGtkPaintable *self = SDD_GTK_PAINTABLE(paintable);
    return self->texture != NULL ? GDK_PAINTABLE(g_object_ref(self->texture))
                                 : gdk_paintable_new_empty(0, 0);
}

static int sdd_gtk_paintable_width_(GdkPaintable *paintable)
{
    SddGtkPaintable *self = SDD_GTK_PAINTABLE(paintable);
    return self->texture != NULL ? gdk_texture_get_width(self->texture) : 0;
}

static int sdd_gtk_paintable_height_(GdkPaintable *paintable)
{
    SddGtkPaintable *self = SDD_GTK_PAINTABLE(paintable);
    return self->texture != NULL ? gdk_texture_get_height(self->texture) : 0;
}

static void sdd_gtk_paintable_paints_(GdkPaintableInterface *interface)
{
    interface->snapshot = sdd_gtk_paintable_snapshot_;
    interface->get_current_image = sdd_gtk_paintable_current_;
    interface->get_intrinsic_width = sdd_gtk_paintable_width_;
    interface->get_intrinsic_height = sdd_gtk_paintable_height_;
}

G_DEFINE_TYPE_WITH_CODE(SddGtkPaintable, sdd_gtk_paintable, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, sdd_gtk_paintable_paints_))

static void sdd_gtk_paintable_get_property_(GObject *object, guint property, GValue *value,
                                            GParamSpec *spec)
{
    (void)property, (void)spec;
    g_value_set_enum(value, (gint)SDD_GTK_PAINTABLE(object)->state);
}

static void sdd_gtk_paintable_dispose_(GObject *object)
{
    SddGtkPaintable *self = SDD_GTK_PAINTABLE(object);
    sdd_gtk_paintable_cancel_(self);
    g_clear_object(&self->texture);
    g_clear_object(&self->replaced);
    g_clear_error(&self->error);
    g_clear_pointer(&self->url, g_free);
    G_OBJECT_CLASS(sdd_gtk_paintable_parent_class)->dispose(object);
}

static void sdd_gtk_paintable_class_init(SddGtkPaintableClass *type)
{
    GObjectClass *object = G_OBJECT_CLASS(type);
    object->dispose = sdd_gtk_paintable_dispose_;
    object->get_property = sdd_gtk_paintable_get_property_;
    g_object_class_install_property(
        object, 1,
        g_param_spec_enum("state", NULL, NULL, SDD_GTK_TYPE_STATE, SDD_GTK_EMPTY,
                          (GParamFlags)(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS |
                                        G_PARAM_EXPLICIT_NOTIFY)));
}

static void sdd_gtk_paintable_init(SddGtkPaintable *self) { (void)self; }

SddGtkPaintable *sdd_gtk_paintable_new(sdd_loader *loader)
{
    SddGtkPaintable *made =
        SDD_GTK_PAINTABLE(g_object_new(SDD_GTK_TYPE_PAINTABLE, NULL));
    made->loader = loader;
    return made;
}

SddGtkState sdd_gtk_paintable_get_state(SddGtkPaintable *self) { return self->state; }
const GError *sdd_gtk_paintable_get_error(SddGtkPaintable *self) { return self->error; }
GdkTexture *sdd_gtk_paintable_get_texture(SddGtkPaintable *self) { return self->texture; }
sdd_origin sdd_gtk_paintable_get_origin(SddGtkPaintable *self) { return self->origin; }

G_END_DECLS

#include "gtk-widgets.h"
#include "gtk-lists.h"

#endif /* SDD_GTK_TYPES_H */
