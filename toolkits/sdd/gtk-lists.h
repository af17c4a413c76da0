/*
 * sdd/gtk-lists.h - The list factory of sdd/gtk.h, included by gtk-types.h. Never include it
 * yourself.
 */
#ifndef SDD_GTK_LISTS_H
#define SDD_GTK_LISTS_H

#include "gtk.h"

G_BEGIN_DECLS

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

#endif /* SDD_GTK_LISTS_H */
