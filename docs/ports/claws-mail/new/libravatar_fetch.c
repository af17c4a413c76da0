/*
 * Avatars from servers and from the disk, by libsdd.
 * Copyright (C) 2026 The libsdd authors
 * SPDX-License-Identifier: MIT
 */

#ifdef HAVE_CONFIG_H
#  include "config.h"
#include "claws-features.h"
#endif

#include <glib-unix.h>
#include <sdd/sdd.h>

#include "libravatar.h"
#include "libravatar_fetch.h"
#include "libravatar_prefs.h"
#include "prefs_common.h"

#define CACHE_DIR "avatarcache"
#define MAX_CACHE_BYTES (64 << 20)
#define MAX_BODY_BYTES (4 << 20)
#define MAX_PIXELS (16 << 20)
/* for how many times the cache interval an address counts as missing */
#define MISSING_FACTOR 7

typedef struct {
	GtkWidget *image;
	gchar *key;
	sdd_token token;
} AvatarFetch;

static sdd_cache *pictures = NULL;
static sdd_cache *misses = NULL; /* its entries have keys, and no picture */
static sdd_downloader *downloader = NULL;
static sdd_loader *loader = NULL;
static guint event_source = 0;

static gint64 max_age_ms(void)
{
	return (gint64)libravatarprefs.cache_interval * 3600 * 1000;
}

static sdd_status cache_open(const gchar *name, gint64 age_ms, sdd_cache **cache)
{
	sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
	gchar *dir = g_build_filename(get_rc_dir(), CACHE_DIR, name, NULL);
	sdd_status status;

	config.directory = dir;
	config.levels = SDD_CACHE_DISK; /* pictures in memory have no age */
	config.max_disk_bytes = MAX_CACHE_BYTES;
	config.max_disk_age_ms = age_ms;
	config.disk_date = SDD_DATE_MODIFICATION;
	status = sdd_cache_create(&config, cache);
	g_free(dir);

	return status;
}

/* A proxy connects on the plugin's behalf, so addresses cannot be checked. */
static gboolean has_proxy(void)
{
	static const gchar *names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY",
					"all_proxy", "ALL_PROXY" };
	guint i;

	for (i = 0; i < G_N_ELEMENTS(names); ++i)
		if (g_getenv(names[i]) != NULL)
			return TRUE;
	return FALSE;
}

/* Senders choose the servers of their domains, and any server redirects:
   neither may lead into the user's own network, except to his own server. */
static sdd_status downloader_open(void)
{
	sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
	sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
	sdd_limits limits = SDD_LIMITS_INIT;
	const gchar *host = strstr(libravatarprefs.base_url, "://");
	gchar *own = g_strdup(host != NULL ? host + 3 : "");
	const gchar *exceptions[] = { own };
	sdd_status status;

	own[strcspn(own, "/?#")] = '\0';
	if (!has_proxy()) {
		network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
		network.address_exceptions = exceptions;
		network.address_exception_count = (*own != '\0') ? 1 : 0;
	}
	network.allow_downgrade = 1; /* custom URLs of pictures may be http */
	limits.max_body_bytes = MAX_BODY_BYTES;
	limits.max_pixels = MAX_PIXELS;
	config.delivery = SDD_DELIVERY_APPLICATION;
	config.decode_mode = SDD_DECODE_ISOLATED;
	config.network = &network;
	config.limits = &limits;
	status = sdd_downloader_create(&config, &downloader);
	g_free(own);

	return status;
}

static gboolean take_events_cb(gint fd, GIOCondition condition, gpointer data)
{
	sdd_downloader_dispatch(downloader, 8, NULL);

	return G_SOURCE_CONTINUE;
}

gboolean libravatar_fetch_init(void)
{
	sdd_loader_config config = SDD_LOADER_CONFIG_INIT;

	if (cache_open("pictures", max_age_ms(), &pictures) != SDD_OK
			|| cache_open("missing-avatars", MISSING_FACTOR * max_age_ms(),
				      &misses) != SDD_OK
			|| downloader_open() != SDD_OK)
		return FALSE;
	config.cache = pictures;
	config.downloader = downloader;
	if (sdd_loader_create(&config, &loader) != SDD_OK)
		return FALSE;
	event_source = g_unix_fd_add(sdd_downloader_event_fd(downloader), G_IO_IN,
				     take_events_cb, NULL);

	return TRUE;
}

void libravatar_fetch_done(void)
{
	if (event_source != 0)
		g_source_remove(event_source);
	event_source = 0;
	/* They refuse NULL. Running loads end here, as cancelled. */
	sdd_loader_destroy(loader);
	sdd_downloader_destroy(downloader);
	sdd_cache_destroy(misses);
	sdd_cache_destroy(pictures);
	loader = NULL;
	downloader = NULL;
	misses = pictures = NULL;
}

void libravatar_fetch_prefs_changed(void)
{
	sdd_cache_set_disk_limits(pictures, MAX_CACHE_BYTES, max_age_ms());
	sdd_cache_set_disk_limits(misses, MAX_CACHE_BYTES, MISSING_FACTOR * max_age_ms());
}

gboolean libravatar_fetch_is_missing(const gchar *key)
{
	return sdd_cache_contains_wait(misses, key, SDD_CACHE_DISK) != 0;
}

static void add_missing(const gchar *key)
{
	sdd_cache_item item = SDD_CACHE_ITEM_INIT;

	item.key = key;
	item.bytes = sdd_bytes_create("-", 1);
	sdd_cache_put(misses, downloader, &item);
	sdd_bytes_release(item.bytes);
}

/* Servers that are down, and limits of time, say nothing about an address. */
static gboolean says_missing(const sdd_failure *failure)
{
	switch (failure->status) {
	case SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE:
		return !failure->retryable;
	case SDD_ERROR_REDIRECT_REFUSED:
	case SDD_ERROR_TOO_MANY_REDIRECTS:
	case SDD_ERROR_BAD_IMAGE_DATA:
	case SDD_ERROR_BODY_TOO_LARGE:
		return TRUE;
	default:
		return FALSE;
	}
}

/* The pixbuf may outlive the plugin: what frees it is in the library, which
   is never unloaded. */
static GdkPixbuf *pixbuf_from_image(sdd_image *image)
{
	gint width = sdd_image_width(image), height = sdd_image_height(image);
	gsize stride = sdd_image_stride(image);
	GBytes *pixels = g_bytes_new_with_free_func(sdd_image_pixels(image),
			stride * height, (GDestroyNotify)sdd_image_release,
			sdd_image_retain(image));
	GdkPixbuf *picture = gdk_pixbuf_new_from_bytes(pixels, GDK_COLORSPACE_RGB,
			TRUE, 8, width, height, stride);

	g_bytes_unref(pixels);

	return picture;
}

/* Fills in what the request for an avatar has wherever it comes from. */
static void request_init(sdd_load_request *request, sdd_decode_options *size,
			 const gchar *url, const gchar *key)
{
	size->target_width = size->target_height = AVATAR_SIZE;
	size->allow_enlarging = 1;
	request->url = url;
	request->cache_key = key;
	request->decode = size;
	request->query = libravatarprefs.cache_icons ? SDD_CACHE_DISK : SDD_CACHE_NONE;
	request->store = request->query;
	/* only what has been made small is kept */
	request->original_query = request->original_store = SDD_CACHE_NONE;
}

GdkPixbuf *libravatar_fetch_cached(const gchar *key)
{
	sdd_load_request request = SDD_LOAD_REQUEST_INIT;
	sdd_decode_options size = SDD_DECODE_OPTIONS_INIT;
	sdd_result *result = NULL;
	GdkPixbuf *picture = NULL;

	request_init(&request, &size, key, key);
	request.options = SDD_OPTION_FROM_CACHE_ONLY;
	if (sdd_loader_submit_wait(loader, &request, -1, &result) == SDD_OK)
		picture = pixbuf_from_image(result->image);
	sdd_result_release(result);

	return picture;
}

static void completed_cb(const sdd_result *result, void *data)
{
	AvatarFetch *fetch = (AvatarFetch *)data;

	if (result->failure.status == SDD_OK) {
		GdkPixbuf *picture = pixbuf_from_image(result->image);
		gtk_image_set_from_pixbuf(GTK_IMAGE(fetch->image), picture);
		g_object_unref(picture);
		return;
	}
	debug_print("no avatar from %s: %s\n", result->url, result->failure.message);
	if (says_missing(&result->failure))
		add_missing(fetch->key);
	if (gtk_image_get_storage_type(GTK_IMAGE(fetch->image)) == GTK_IMAGE_EMPTY)
		gtk_widget_hide(fetch->image);
}

static void destroyed_cb(GtkWidget *image, gpointer data)
{
	sdd_cancel(((AvatarFetch *)data)->token);
}

static void fetch_free_cb(void *data)
{
	AvatarFetch *fetch = (AvatarFetch *)data;

	g_signal_handlers_disconnect_by_func(fetch->image, destroyed_cb, fetch);
	g_object_unref(fetch->image);
	g_free(fetch->key);
	g_free(fetch);
}

/**
 * Loads an avatar, and shows it when it is there. Returns at once.
 *
 * @param url    Where the avatar is.
 * @param key    Its name in the cache.
 * @param image  A GtkImage, which keeps what it has until then. The load is
 *               cancelled when it is destroyed.
 */
void libravatar_fetch(const gchar *url, const gchar *key, GtkWidget *image)
{
	sdd_load_request request = SDD_LOAD_REQUEST_INIT;
	sdd_decode_options size = SDD_DECODE_OPTIONS_INIT;
	sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
	guint io_timeout = prefs_common_get_prefs()->io_timeout_secs;
	guint timeout = libravatarprefs.timeout;
	AvatarFetch *fetch = g_new0(AvatarFetch, 1);

	if (timeout == 0 || timeout > io_timeout)
		timeout = io_timeout;
	transfer.total_timeout_ms = (gint64)timeout * 1000;
	transfer.max_redirects = (libravatarprefs.default_mode == DEF_MODE_MM)
		? libravatarprefs.max_redirects_mm
		: libravatarprefs.max_redirects_url;
	if (!libravatarprefs.allow_redirects)
		transfer.redirects = SDD_REDIRECT_REFUSE;
	fetch->image = g_object_ref(image);
	fetch->key = g_strdup(key);
	g_signal_connect(image, "destroy", G_CALLBACK(destroyed_cb), fetch);

	request_init(&request, &size, url, key);
	request.transfer = &transfer;
	request.completed = completed_cb;
	request.user_data = fetch;
	request.user_data_free = fetch_free_cb;
	fetch->token = sdd_loader_submit(loader, &request);
	if (fetch->token == 0) {
		g_warning("cannot load %s: %s", url, sdd_last_error_message());
		fetch_free_cb(fetch);
	}
}

void libravatar_fetch_count(gint64 *bytes, guint *picture_count, guint *miss_count)
{
	sdd_cache_statistics of_pictures = SDD_CACHE_STATISTICS_INIT;
	sdd_cache_statistics of_misses = SDD_CACHE_STATISTICS_INIT;

	sdd_cache_get_statistics_wait(pictures, &of_pictures);
	sdd_cache_get_statistics_wait(misses, &of_misses);
	*bytes = of_pictures.disk_bytes + of_misses.disk_bytes;
	*picture_count = of_pictures.disk_count;
	*miss_count = of_misses.disk_count;
}

gboolean libravatar_fetch_clear(void)
{
	sdd_loader_remove_all_failed_urls(loader);

	return sdd_cache_clear_wait(misses, SDD_CACHE_ALL) == SDD_OK
		&& sdd_cache_clear_wait(pictures, SDD_CACHE_ALL) == SDD_OK;
}
