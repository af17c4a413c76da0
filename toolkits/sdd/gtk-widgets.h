/*
 * sdd/gtk-widgets.h - The widget and the list factory of sdd/gtk.h, included by gtk-types.h. Never
 * include it yourself.
 */
#ifndef SDD_GTK_WIDGETS_H
#define SDD_GTK_WIDGETS_H

#include "gtk.h"

G_BEGIN_DECLS

/* --------------------------------------------------------------------------------------- widget */

struct _SddGtkPicture {
    GtkWidget parent_instance;
    SddGtkPaintable *paintable;
    GdkPaintable *placeholder, *failure;
    GtkWidget *spinner, *icon; /* shown without placeholder, without failure */
    char *url;
    sdd_fit fit;
    int width, height; /* of the load, in device pixels; 0: none was begun */
    guint transition;  /* milliseconds */
    gint64 fade_begin; /* microseconds of the frame clock; 0: the next frame is the first */
    guint fade;        /* the tick callback; 0: the picture does not fade in */
};

enum {
    SDD_GTK_PICTURE_URL_ = 1,
    SDD_GTK_PICTURE_PLACEHOLDER_,
    SDD_GTK_PICTURE_FAILURE_,
    SDD_GTK_PICTURE_TRANSITION_,
    SDD_GTK_PICTURE_STATE_,
    SDD_GTK_PICTURE_PROPERTIES_
};
static GParamSpec *sdd_gtk_picture_properties_[SDD_GTK_PICTURE_PROPERTIES_];

G_DEFINE_TYPE(SddGtkPicture, sdd_gtk_picture, GTK_TYPE_WIDGET)

/* The state as the user sees it: a widget without a size waits for one. */
SddGtkState sdd_gtk_picture_get_state(SddGtkPicture *self)
{
    const SddGtkState state = sdd_gtk_paintable_get_state(self->paintable);
    return state == SDD_GTK_EMPTY && self->url != NULL ? SDD_GTK_LOADING : state;
}

static void sdd_gtk_picture_set_class_(SddGtkPicture *self, const char *name, gboolean is_set)
{
    if (is_set)
        gtk_widget_add_css_class(GTK_WIDGET(self), name);
    else
        gtk_widget_remove_css_class(GTK_WIDGET(self), name);
}

static void sdd_gtk_picture_refresh_(SddGtkPicture *self)
{
    const SddGtkState state = sdd_gtk_picture_get_state(self);
    const gboolean is_bare = sdd_gtk_paintable_get_texture(self->paintable) == NULL;
    const gboolean spins = state == SDD_GTK_LOADING && self->placeholder == NULL && is_bare;

    if (self->spinner == NULL) return; /* disposed of */
    gtk_widget_set_visible(self->spinner, spins);
    g_object_set(self->spinner, "spinning", spins, NULL);
    gtk_widget_set_visible(self->icon, state == SDD_GTK_FAILED && self->failure == NULL);
    sdd_gtk_picture_set_class_(self, "loading", state == SDD_GTK_LOADING);
    sdd_gtk_picture_set_class_(self, "failed", state == SDD_GTK_FAILED);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void sdd_gtk_picture_stop_fade_(SddGtkPicture *self)
{
    if (self->fade != 0) gtk_widget_remove_tick_callback(GTK_WIDGET(self), self->fade);
    self->fade = 0;
}

static gboolean sdd_gtk_picture_tick_(GtkWidget *widget, GdkFrameClock *clock, gpointer user_data)
{
    SddGtkPicture *self = SDD_GTK_PICTURE(widget);
    const gint64 now = gdk_frame_clock_get_frame_time(clock);

    (void)user_data;
    if (self->fade_begin == 0) self->fade_begin = now;
    gtk_widget_queue_draw(widget);
    if (now - self->fade_begin < (gint64)self->transition * 1000) return G_SOURCE_CONTINUE;
    self->fade = 0;
    return G_SOURCE_REMOVE;
}

static void sdd_gtk_picture_changed_(SddGtkPicture *self)
{
    sdd_gtk_picture_stop_fade_(self);
    if (self->transition > 0 &&
        sdd_gtk_paintable_get_state(self->paintable) == SDD_GTK_LOADED &&
        sdd_gtk_paintable_get_origin(self->paintable) != SDD_ORIGIN_MEMORY) {
        self->fade_begin = 0;
        self->fade = gtk_widget_add_tick_callback(GTK_WIDGET(self), sdd_gtk_picture_tick_, NULL,
                                                  NULL);
    }
    sdd_gtk_picture_refresh_(self);
    g_object_notify_by_pspec(G_OBJECT(self), sdd_gtk_picture_properties_[SDD_GTK_PICTURE_STATE_]);
}

/* Begins the load once the widget has a size, and again if it has become larger. */
static void sdd_gtk_picture_load_(SddGtkPicture *self, int width, int height)
{
    const int scale = gtk_widget_get_scale_factor(GTK_WIDGET(self));

    width *= scale, height *= scale;
    if (self->url == NULL || width <= 0 || height <= 0) return;
    if (width <= self->width && height <= self->height) return;
    self->width = MAX(width, self->width);
    self->height = MAX(height, self->height);
    sdd_gtk_paintable_load(self->paintable, self->url, self->width, self->height, self->fit);
}

static void sdd_gtk_picture_reload_(SddGtkPicture *self)
{
    GtkWidget *widget = GTK_WIDGET(self);
    self->width = self->height = 0;
    if (gtk_widget_get_mapped(widget))
        sdd_gtk_picture_load_(self, gtk_widget_get_width(widget), gtk_widget_get_height(widget));
    else
        gtk_widget_queue_allocate(widget);
}

static void sdd_gtk_picture_size_allocate_(GtkWidget *widget, int width, int height, int baseline)
{
    SddGtkPicture *self = SDD_GTK_PICTURE(widget);
    GtkWidget *child;

    (void)baseline;
    for (child = gtk_widget_get_first_child(widget); child != NULL;
         child = gtk_widget_get_next_sibling(child)) {
        GtkRequisition wish;
        GtkAllocation place;
        if (!gtk_widget_should_layout(child)) continue;
        gtk_widget_get_preferred_size(child, &wish, NULL);
        place.width = wish.width, place.height = wish.height;
        place.x = (width - wish.width) / 2, place.y = (height - wish.height) / 2;
        gtk_widget_size_allocate(child, &place, -1);
    }
    sdd_gtk_picture_load_(self, width, height);
}

static void sdd_gtk_picture_draw_(SddGtkPicture *self, GtkSnapshot *snapshot,
                                  GdkPaintable *paintable)
{
    const double width = gtk_widget_get_width(GTK_WIDGET(self));
    const double height = gtk_widget_get_height(GTK_WIDGET(self));
    double own_width = gdk_paintable_get_intrinsic_width(paintable);
    double own_height = gdk_paintable_get_intrinsic_height(paintable);
    const graphene_rect_t all = GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height);
    graphene_point_t corner;

    if (self->fit == SDD_FIT_STRETCH || own_width <= 0 || own_height <= 0) {
        own_width = width, own_height = height;
    } else {
        const double across = width / own_width, down = height / own_height;
        const double scale = self->fit == SDD_FIT_FILL ? MAX(across, down) : MIN(across, down);
        own_width *= scale, own_height *= scale;
    }
    corner.x = (float)((width - own_width) / 2);
    corner.y = (float)((height - own_height) / 2);
    gtk_snapshot_push_clip(snapshot, &all);
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &corner);
    gdk_paintable_snapshot(paintable, snapshot, own_width, own_height);
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
}

static void sdd_gtk_picture_snapshot_(GtkWidget *widget, GtkSnapshot *snapshot)
{
    SddGtkPicture *self = SDD_GTK_PICTURE(widget);
    const gboolean has_texture = sdd_gtk_paintable_get_texture(self->paintable) != NULL;
    double shown = 1;

    if (self->fade != 0 && self->fade_begin == 0) shown = 0;
    if (self->fade != 0 && self->fade_begin != 0)
        shown = (double)(gdk_frame_clock_get_frame_time(gtk_widget_get_frame_clock(widget)) -
                         self->fade_begin) / 1000 / self->transition;
    if (!has_texture && sdd_gtk_picture_get_state(self) == SDD_GTK_FAILED && self->failure != NULL)
        sdd_gtk_picture_draw_(self, snapshot, self->failure);
    else if ((!has_texture || shown < 1) && self->placeholder != NULL)
        sdd_gtk_picture_draw_(self, snapshot, self->placeholder);
    if (has_texture) {
        gtk_snapshot_push_opacity(snapshot, CLAMP(shown, 0, 1));
        sdd_gtk_picture_draw_(self, snapshot, GDK_PAINTABLE(self->paintable));
        gtk_snapshot_pop(snapshot);
    }
    GTK_WIDGET_CLASS(sdd_gtk_picture_parent_class)->snapshot(widget, snapshot);
}

void sdd_gtk_picture_set_loader(SddGtkPicture *self, sdd_loader *loader)
{
    self->paintable->loader = loader;
}

void sdd_gtk_picture_set_url(SddGtkPicture *self, const char *url)
{
    char *before;

    g_return_if_fail(SDD_GTK_IS_PICTURE(self));
    before = self->url; /* which may be what is given, to try it again */
    if (g_strcmp0(url, before) == 0 && sdd_gtk_picture_get_state(self) != SDD_GTK_FAILED) return;
    self->url = g_strdup(url);
    g_free(before);
    sdd_gtk_paintable_load(self->paintable, NULL, 0, 0, self->fit); /* cancels */
    sdd_gtk_picture_changed_(self);
    g_object_notify_by_pspec(G_OBJECT(self), sdd_gtk_picture_properties_[SDD_GTK_PICTURE_URL_]);
    sdd_gtk_picture_reload_(self);
}

const char *sdd_gtk_picture_get_url(SddGtkPicture *self) { return self->url; }

void sdd_gtk_picture_set_placeholder(SddGtkPicture *self, GdkPaintable *placeholder)
{
    g_set_object(&self->placeholder, placeholder);
    sdd_gtk_picture_refresh_(self);
}

void sdd_gtk_picture_set_thumbhash(SddGtkPicture *self, const void *hash, gsize size)
{
    sdd_image *image = NULL;
    GdkTexture *texture = NULL;

    if (hash != NULL && sdd_image_from_thumbhash(hash, size, &image) == SDD_OK)
        texture = sdd_gtk_texture(image);
    sdd_image_release(image);
    sdd_gtk_picture_set_placeholder(self, texture != NULL ? GDK_PAINTABLE(texture) : NULL);
    g_clear_object(&texture);
}

void sdd_gtk_picture_set_failure(SddGtkPicture *self, GdkPaintable *failure)
{
    g_set_object(&self->failure, failure);
    sdd_gtk_picture_refresh_(self);
}

void sdd_gtk_picture_set_fit(SddGtkPicture *self, sdd_fit fit)
{
    if (self->fit == fit) return;
    self->fit = fit;
    if (self->url != NULL) sdd_gtk_picture_reload_(self);
}

void sdd_gtk_picture_set_transition(SddGtkPicture *self, guint milliseconds)
{
    self->transition = milliseconds;
}

SddGtkPaintable *sdd_gtk_picture_get_paintable(SddGtkPicture *self) { return self->paintable; }

static void sdd_gtk_picture_set_property_(GObject *object, guint property, const GValue *value,
                                          GParamSpec *spec)
{
    SddGtkPicture *self = SDD_GTK_PICTURE(object);
    gpointer given;
    switch (property) {
    case SDD_GTK_PICTURE_URL_: sdd_gtk_picture_set_url(self, g_value_get_string(value)); break;
    case SDD_GTK_PICTURE_PLACEHOLDER_:
        given = g_value_get_object(value);
        sdd_gtk_picture_set_placeholder(self, (GdkPaintable *)given);
        break;
    case SDD_GTK_PICTURE_FAILURE_:
        given = g_value_get_object(value);
        sdd_gtk_picture_set_failure(self, (GdkPaintable *)given);
        break;
    case SDD_GTK_PICTURE_TRANSITION_: self->transition = g_value_get_uint(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, spec);
    }
}

static void sdd_gtk_picture_get_property_(GObject *object, guint property, GValue *value,
                                          GParamSpec *spec)
{
    SddGtkPicture *self = SDD_GTK_PICTURE(object);
    switch (property) {
    case SDD_GTK_PICTURE_URL_: g_value_set_string(value, self->url); break;
    case SDD_GTK_PICTURE_PLACEHOLDER_: g_value_set_object(value, self->placeholder); break;
    case SDD_GTK_PICTURE_FAILURE_: g_value_set_object(value, self->failure); break;
    case SDD_GTK_PICTURE_TRANSITION_: g_value_set_uint(value, self->transition); break;
    case SDD_GTK_PICTURE_STATE_:
        g_value_set_enum(value, (gint)sdd_gtk_picture_get_state(self));
        break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, spec);
    }
}

static void sdd_gtk_picture_dispose_(GObject *object)
{
    SddGtkPicture *self = SDD_GTK_PICTURE(object);
    g_clear_pointer(&self->spinner, gtk_widget_unparent);
    g_clear_pointer(&self->icon, gtk_widget_unparent);
    g_clear_pointer(&self->url, g_free);
    g_signal_handlers_disconnect_by_data(self->paintable, self);
    sdd_gtk_paintable_load(self->paintable, NULL, 0, 0, self->fit); /* cancels, whoever holds it */
    sdd_gtk_picture_stop_fade_(self);
    g_clear_object(&self->placeholder);
    g_clear_object(&self->failure);
    G_OBJECT_CLASS(sdd_gtk_picture_parent_class)->dispose(object);
}

static void sdd_gtk_picture_finalize_(GObject *object)
{
    g_object_unref(SDD_GTK_PICTURE(object)->paintable);
    G_OBJECT_CLASS(sdd_gtk_picture_parent_class)->finalize(object);
}

static void sdd_gtk_picture_class_init(SddGtkPictureClass *type)
{
    const GParamFlags readable = (GParamFlags)(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
    const GParamFlags both = (GParamFlags)(readable | G_PARAM_WRITABLE);
    GObjectClass *object = G_OBJECT_CLASS(type);
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(type);
    GParamSpec **properties = sdd_gtk_picture_properties_;

    object->dispose = sdd_gtk_picture_dispose_;
    object->finalize = sdd_gtk_picture_finalize_;
    object->set_property = sdd_gtk_picture_set_property_;
    object->get_property = sdd_gtk_picture_get_property_;
    widget->snapshot = sdd_gtk_picture_snapshot_;
    widget->size_allocate = sdd_gtk_picture_size_allocate_;
    properties[SDD_GTK_PICTURE_URL_] = g_param_spec_string(
        "url", NULL, NULL, NULL, (GParamFlags)(both | G_PARAM_EXPLICIT_NOTIFY));
    properties[SDD_GTK_PICTURE_PLACEHOLDER_] =
        g_param_spec_object("placeholder", NULL, NULL, GDK_TYPE_PAINTABLE, both);
    properties[SDD_GTK_PICTURE_FAILURE_] =
        g_param_spec_object("failure", NULL, NULL, GDK_TYPE_PAINTABLE, both);
    properties[SDD_GTK_PICTURE_TRANSITION_] =
        g_param_spec_uint("transition", NULL, NULL, 0, G_MAXINT, 0, both);
    properties[SDD_GTK_PICTURE_STATE_] =
        g_param_spec_enum("state", NULL, NULL, SDD_GTK_TYPE_STATE, SDD_GTK_EMPTY, readable);
    g_object_class_install_properties(object, SDD_GTK_PICTURE_PROPERTIES_, properties);
    gtk_widget_class_set_css_name(widget, "sddpicture");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
}

static void sdd_gtk_picture_init(SddGtkPicture *self)
{
    GtkWidget *widget = GTK_WIDGET(self);

    self->fit = SDD_FIT_FILL;
    self->spinner = gtk_spinner_new();
    gtk_widget_set_parent(self->spinner, widget);
    self->icon = gtk_image_new_from_icon_name("image-missing-symbolic");
    gtk_widget_set_parent(self->icon, widget);
    self->paintable = sdd_gtk_paintable_new(NULL);
    g_signal_connect_swapped(self->paintable, "notify::state",
                             G_CALLBACK(sdd_gtk_picture_changed_), self);
    g_signal_connect_swapped(self->paintable, "invalidate-contents",
                             G_CALLBACK(sdd_gtk_picture_refresh_), self);
    g_signal_connect(self, "notify::scale-factor", G_CALLBACK(gtk_widget_queue_allocate), NULL);
    sdd_gtk_picture_refresh_(self);
}

GtkWidget *sdd_gtk_picture_new(sdd_loader *loader)
{
    gpointer made = g_object_new(SDD_GTK_TYPE_PICTURE, NULL);
    sdd_gtk_picture_set_loader(SDD_GTK_PICTURE(made), loader);
    return GTK_WIDGET(made);
}

/* ---------------------------------------------------------------------------------------- lists */

typedef struct {
    sdd_loader *loader;
    int width, height;
    SddGtkUrlFunc url_of;
    SddGtkThumbhashFunc thumbhash_of;
    gpointer user_data;
    GDestroyNotify user_data_free;
} SddGtkRows_;

static void sdd_gtk_rows_free_(gpointer data)
{
    SddGtkRows_ *rows = (SddGtkRows_ *)data;
    if (rows->user_data_free != NULL) rows->user_data_free(rows->user_data);
    g_free(rows);
}

static void sdd_gtk_row_setup_(GtkListItemFactory *factory, GtkListItem *item, SddGtkRows_ *rows)
{
    GtkWidget *picture = sdd_gtk_picture_new(rows->loader);
    (void)factory;
    gtk_widget_set_size_request(picture, rows->width, rows->height);
    gtk_list_item_set_child(item, picture);
}

static void sdd_gtk_row_bind_(GtkListItemFactory *factory, GtkListItem *item, SddGtkRows_ *rows)
{
    gpointer of = gtk_list_item_get_item(item);
    SddGtkPicture *picture = SDD_GTK_PICTURE(gtk_list_item_get_child(item));
    char *url;

    (void)factory;
    if (rows->thumbhash_of != NULL) {
        GBytes *hash = rows->thumbhash_of(of, rows->user_data);
        gsize size = 0;
        const void *data = hash != NULL ? g_bytes_get_data(hash, &size) : NULL;
        sdd_gtk_picture_set_thumbhash(picture, data, size);
        g_clear_pointer(&hash, g_bytes_unref);
    }
    if (rows->url_of != NULL)
        url = rows->url_of(of, rows->user_data);
    else
        url = g_strdup(gtk_string_object_get_string(GTK_STRING_OBJECT(of)));
    sdd_gtk_picture_set_url(picture, url);
    g_free(url);
}

static void sdd_gtk_row_unbind_(GtkListItemFactory *factory, GtkListItem *item, SddGtkRows_ *rows)
{
    GtkWidget *child = gtk_list_item_get_child(item);
    (void)factory, (void)rows;
    if (child != NULL) sdd_gtk_picture_set_url(SDD_GTK_PICTURE(child), NULL);
}

GtkListItemFactory *sdd_gtk_picture_factory_new(sdd_loader *loader, int width, int height,
                                                SddGtkUrlFunc url_of, gpointer user_data,
                                                GDestroyNotify user_data_free)
{
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    SddGtkRows_ *rows = g_new0(SddGtkRows_, 1);

    rows->loader = loader;
    rows->width = width, rows->height = height;
    rows->url_of = url_of;
    rows->user_data = user_data;
    rows->user_data_free = user_data_free;
    g_object_set_data_full(G_OBJECT(factory), "sdd-gtk-rows", rows, sdd_gtk_rows_free_);
    g_signal_connect(factory, "setup", G_CALLBACK(sdd_gtk_row_setup_), rows);
    g_signal_connect(factory, "bind", G_CALLBACK(sdd_gtk_row_bind_), rows);
    g_signal_connect(factory, "unbind", G_CALLBACK(sdd_gtk_row_unbind_), rows);
    return factory;
}

void sdd_gtk_picture_factory_set_thumbhash(GtkListItemFactory *factory,
                                           SddGtkThumbhashFunc thumbhash_of)
{
    SddGtkRows_ *rows = (SddGtkRows_ *)g_object_get_data(G_OBJECT(factory), "sdd-gtk-rows");
    g_return_if_fail(rows != NULL);
    rows->thumbhash_of = thumbhash_of;
}

G_END_DECLS

#endif /* SDD_GTK_WIDGETS_H */
