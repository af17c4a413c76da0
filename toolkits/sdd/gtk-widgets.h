/*
 * sdd/gtk-widgets.h - The widget of sdd/gtk.h, included by gtk-types.h. Never include it yourself.
 */
#ifndef SDD_GTK_WIDGETS_H
#define SDD_GTK_WIDGETS_H

#include "gtk.h"

G_BEGIN_DECLS

struct _SddGtkPicture {
    GtkWidget parent_instance;
    SddGtkPaintable *paintable;
    GdkPaintable *placeholder, *failure;
    GdkPaintable *hash;        /* that of the ThumbHash, in place of the placeholder */
    gboolean is_hash_of_next;  /* it stays when another URL is set */
    GtkWidget *spinner, *icon; /* shown without placeholder, without failure; NULL: disposed of */
    char *url;
    guint turn;        /* of URLs: another one after a signal tells that a handler set it */
    gboolean is_again; /* the next load is of a URL that failed, and was set again */
    SddGtkState told;  /* the last state of which "state" has notified */
    sdd_fit fit;
    int width, height; /* of the load, in device pixels; 0: none was begun */
    guint begin;       /* the idle source that begins the load; 0: none does */
    guint transition;  /* milliseconds */
    gint64 fade_begin; /* microseconds of the frame clock; 0: the next frame is the first */
    guint fade;        /* the tick callback; 0: the picture does not fade in */
    GdkTexture *faded; /* the preview over which it fades in */
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

/* The paintable that is shown before the picture; NULL: the spinner. */
static GdkPaintable *sdd_gtk_picture_before_(SddGtkPicture *self)
{
    return self->hash != NULL ? self->hash : self->placeholder;
}

static void sdd_gtk_picture_refresh_(SddGtkPicture *self)
{
    const SddGtkState state = sdd_gtk_picture_get_state(self);
    const gboolean is_bare = sdd_gtk_paintable_get_texture(self->paintable) == NULL &&
                             sdd_gtk_picture_before_(self) == NULL;
    const gboolean spins = state == SDD_GTK_LOADING && is_bare;

    if (self->spinner == NULL) return;
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
    g_clear_object(&self->faded);
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
    g_clear_object(&self->faded);
    return G_SOURCE_REMOVE;
}

static void sdd_gtk_picture_changed_(SddGtkPicture *self)
{
    const SddGtkState state = sdd_gtk_picture_get_state(self);

    if (state == SDD_GTK_LOADED || state == SDD_GTK_FAILED) self->is_hash_of_next = FALSE;
    sdd_gtk_picture_stop_fade_(self);
    if (self->transition > 0 && state == SDD_GTK_LOADED &&
        sdd_gtk_paintable_get_origin(self->paintable) != SDD_ORIGIN_MEMORY) {
        self->fade_begin = 0;
        g_set_object(&self->faded, self->paintable->replaced);
        self->fade = gtk_widget_add_tick_callback(GTK_WIDGET(self), sdd_gtk_picture_tick_, NULL,
                                                  NULL);
    }
    sdd_gtk_picture_refresh_(self);
    if (state == self->told) return;
    self->told = state;
    g_object_notify_by_pspec(G_OBJECT(self), sdd_gtk_picture_properties_[SDD_GTK_PICTURE_STATE_]);
}

/* Begins the load once the widget has a size, and again if it has become larger: then for a size
   with room for growth, so that a window that is drawn larger does not load for each pixel. */
static void sdd_gtk_picture_load_(SddGtkPicture *self)
{
    const int scale = gtk_widget_get_scale_factor(GTK_WIDGET(self));
    int width = gtk_widget_get_width(GTK_WIDGET(self)) * scale;
    int height = gtk_widget_get_height(GTK_WIDGET(self)) * scale;
    sdd_options options = 0;

    if (self->url == NULL || width <= 0 || height <= 0) return;
    if (width <= self->width && height <= self->height) return;
    if (self->width > 0) {
        if (sdd_gtk_picture_get_state(self) == SDD_GTK_FAILED) return; /* until it is set again */
        width += width / 4, height += height / 4;
    }
    if (self->is_again) options = SDD_OPTION_RETRY_FAILED;
    self->is_again = FALSE;
    self->width = MAX(width, self->width);
    self->height = MAX(height, self->height);
    sdd_gtk_paintable_load_(self->paintable, self->url, self->width, self->height, self->fit,
                            options);
}

static gboolean sdd_gtk_picture_begin_(gpointer data)
{
    SddGtkPicture *self = SDD_GTK_PICTURE(data);
    self->begin = 0;
    sdd_gtk_picture_load_(self);
    return G_SOURCE_REMOVE;
}

/* Begins the load soon: handlers of "state" must not run while widgets are given their sizes. */
static void sdd_gtk_picture_queue_load_(SddGtkPicture *self)
{
    if (self->begin == 0 && self->url != NULL)
        self->begin = g_idle_add_full(G_PRIORITY_HIGH_IDLE, sdd_gtk_picture_begin_, self, NULL);
}

static void sdd_gtk_picture_reload_(SddGtkPicture *self)
{
    self->width = self->height = 0;
    if (gtk_widget_get_mapped(GTK_WIDGET(self)))
        sdd_gtk_picture_load_(self);
    else
        gtk_widget_queue_allocate(GTK_WIDGET(self));
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
    sdd_gtk_picture_queue_load_(self);
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
    GdkPaintable *before = sdd_gtk_picture_before_(self);
    double shown = 1;

    if (self->fade != 0 && self->fade_begin == 0) shown = 0;
    if (self->fade != 0 && self->fade_begin != 0)
        shown = (double)(gdk_frame_clock_get_frame_time(gtk_widget_get_frame_clock(widget)) -
                         self->fade_begin) / 1000 / self->transition;
    if (!has_texture && sdd_gtk_picture_get_state(self) == SDD_GTK_FAILED && self->failure != NULL)
        sdd_gtk_picture_draw_(self, snapshot, self->failure);
    else if (has_texture && shown < 1 && self->faded != NULL)
        sdd_gtk_picture_draw_(self, snapshot, GDK_PAINTABLE(self->faded));
    else if ((!has_texture || shown < 1) && before != NULL)
        sdd_gtk_picture_draw_(self, snapshot, before);
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
    guint turn;

    g_return_if_fail(SDD_GTK_IS_PICTURE(self));
    before = self->url; /* which may be what is given, to try it again */
    self->is_again = g_strcmp0(url, before) == 0;
    if (self->is_again && sdd_gtk_picture_get_state(self) != SDD_GTK_FAILED) return;
    g_object_ref(self); /* a handler of a signal may give the last reference away */
    turn = ++self->turn;
    self->url = g_strdup(url);
    g_free(before);
    if (!self->is_again && !self->is_hash_of_next) g_clear_object(&self->hash);
    self->is_hash_of_next = FALSE;
    sdd_gtk_paintable_load_(self->paintable, NULL, 0, 0, self->fit, 0); /* cancels */
    if (self->turn == turn) sdd_gtk_picture_changed_(self);
    if (self->turn == turn)
        g_object_notify_by_pspec(G_OBJECT(self), sdd_gtk_picture_properties_[SDD_GTK_PICTURE_URL_]);
    if (self->turn == turn) sdd_gtk_picture_reload_(self);
    g_object_unref(self);
}

const char *sdd_gtk_picture_get_url(SddGtkPicture *self) { return self->url; }

/* Puts a paintable, which may change by itself, in place of another one. */
static void sdd_gtk_picture_set_paintable_(SddGtkPicture *self, GdkPaintable **place,
                                           GdkPaintable *paintable, int property)
{
    GdkPaintable *other = place == &self->failure ? self->placeholder : self->failure;

    if (*place == paintable) return;
    if (*place != NULL && *place != other) g_signal_handlers_disconnect_by_data(*place, self);
    g_set_object(place, paintable);
    if (paintable != NULL && paintable != other) {
        g_signal_connect_swapped(paintable, "invalidate-contents",
                                 G_CALLBACK(gtk_widget_queue_draw), self);
        g_signal_connect_swapped(paintable, "invalidate-size", G_CALLBACK(gtk_widget_queue_draw),
                                 self);
    }
    sdd_gtk_picture_refresh_(self);
    if (self->spinner != NULL)
        g_object_notify_by_pspec(G_OBJECT(self), sdd_gtk_picture_properties_[property]);
}

void sdd_gtk_picture_set_placeholder(SddGtkPicture *self, GdkPaintable *placeholder)
{
    sdd_gtk_picture_set_paintable_(self, &self->placeholder, placeholder,
                                   SDD_GTK_PICTURE_PLACEHOLDER_);
}

void sdd_gtk_picture_set_thumbhash(SddGtkPicture *self, const void *hash, gsize size)
{
    sdd_image *image = NULL;
    GdkTexture *texture = NULL;

    if (hash != NULL && sdd_image_from_thumbhash(hash, size, &image) == SDD_OK)
        texture = sdd_gtk_texture(image);
    sdd_image_release(image);
    g_clear_object(&self->hash);
    if (texture != NULL) self->hash = GDK_PAINTABLE(texture);
    self->is_hash_of_next = TRUE;
    sdd_gtk_picture_refresh_(self);
}

void sdd_gtk_picture_set_failure(SddGtkPicture *self, GdkPaintable *failure)
{
    sdd_gtk_picture_set_paintable_(self, &self->failure, failure, SDD_GTK_PICTURE_FAILURE_);
}

void sdd_gtk_picture_set_fit(SddGtkPicture *self, sdd_fit fit)
{
    if (self->fit == fit) return;
    self->fit = fit;
    if (self->url != NULL) sdd_gtk_picture_reload_(self);
}

void sdd_gtk_picture_set_transition(SddGtkPicture *self, guint milliseconds)
{
    if (self->transition == milliseconds) return;
    self->transition = milliseconds;
    g_object_notify_by_pspec(G_OBJECT(self),
                             sdd_gtk_picture_properties_[SDD_GTK_PICTURE_TRANSITION_]);
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
    case SDD_GTK_PICTURE_TRANSITION_:
        sdd_gtk_picture_set_transition(self, g_value_get_uint(value));
        break;
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
    g_clear_handle_id(&self->begin, g_source_remove);
    self->turn++;
    g_signal_handlers_disconnect_by_data(self->paintable, self);
    sdd_gtk_paintable_load(self->paintable, NULL, 0, 0, self->fit); /* cancels, whoever holds it */
    sdd_gtk_picture_stop_fade_(self);
    sdd_gtk_picture_set_placeholder(self, NULL);
    sdd_gtk_picture_set_failure(self, NULL);
    g_clear_object(&self->hash);
    G_OBJECT_CLASS(sdd_gtk_picture_parent_class)->dispose(object);
}

static void sdd_gtk_picture_finalize_(GObject *object)
{
    g_object_unref(SDD_GTK_PICTURE(object)->paintable);
    g_free(SDD_GTK_PICTURE(object)->url);
    G_OBJECT_CLASS(sdd_gtk_picture_parent_class)->finalize(object);
}

static void sdd_gtk_picture_class_init(SddGtkPictureClass *type)
{
    const GParamFlags readable = (GParamFlags)(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
    const GParamFlags both =
        (GParamFlags)(readable | G_PARAM_WRITABLE | G_PARAM_EXPLICIT_NOTIFY);
    GObjectClass *object = G_OBJECT_CLASS(type);
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(type);
    GParamSpec **properties = sdd_gtk_picture_properties_;

    object->dispose = sdd_gtk_picture_dispose_;
    object->finalize = sdd_gtk_picture_finalize_;
    object->set_property = sdd_gtk_picture_set_property_;
    object->get_property = sdd_gtk_picture_get_property_;
    widget->snapshot = sdd_gtk_picture_snapshot_;
    widget->size_allocate = sdd_gtk_picture_size_allocate_;
    properties[SDD_GTK_PICTURE_URL_] = g_param_spec_string("url", NULL, NULL, NULL, both);
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

G_END_DECLS

#endif /* SDD_GTK_WIDGETS_H */
