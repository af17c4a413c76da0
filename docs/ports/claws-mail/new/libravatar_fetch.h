/*
 * Avatars from servers and from the disk, by libsdd.
 * Copyright (C) 2026 The libsdd authors
 * SPDX-License-Identifier: MIT
 */

#ifndef __LIBRAVATAR_FETCH_H
#define __LIBRAVATAR_FETCH_H

#include <gtk/gtk.h>

/* A key names an avatar in the cache: its URL at the default server. All
   functions belong to the main thread. */

gboolean	 libravatar_fetch_init		(void);
void		 libravatar_fetch_done		(void);
gboolean	 libravatar_fetch_is_missing	(const gchar *key);
GdkPixbuf	*libravatar_fetch_cached	(const gchar *key);
void		 libravatar_fetch		(const gchar *url,
						 const gchar *key,
						 GtkWidget *image);
void		 libravatar_fetch_prefs_changed	(void);
void		 libravatar_fetch_count		(gint64 *bytes,
						 guint *pictures,
						 guint *misses);
gboolean	 libravatar_fetch_clear		(void);

#endif
