/*
 * sdd/config.h - The configuration of a downloader: one struct for what most programs set, and a
 * struct for each group of further settings.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         sdd_limits limits = SDD_LIMITS_INIT;
 *         sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
 *         sdd_downloader *downloader = NULL;
 *         limits.total_timeout_ms = 30000;
 *         config.max_concurrent_downloads = 12;
 *         config.limits = &limits;
 *         if (sdd_downloader_create(&config, &downloader) != SDD_OK) return 1;
 *         return sdd_downloader_destroy(downloader) != SDD_OK;
 *     }
 */
#ifndef SDD_CONFIG_H
#define SDD_CONFIG_H

#include "extend.h"
#include "request.h"

SDD_BEGIN_DECLS

/* ---------------------------------------------------------------------------------- downloaders */

/** Where callbacks run: sdd_downloader_config.delivery. Since: 0.1.0. */
enum {
    SDD_DELIVERY_THREAD = 0, /* on one long-lived thread of the downloader, named sdd-callback */
    SDD_DELIVERY_APPLICATION = 1 /* events wait for sdd_dispatch(), sdd_drain() or sdd_wait() */
};

/**
 * In which order requests of the same priority begin: sdd_downloader_config.execution_order. Since:
 * 0.2.0.
 */
enum {
    SDD_ORDER_FIFO = 0, /* the one that was submitted first */
    SDD_ORDER_LIFO = 1  /* the one that was submitted last */
};

/** Where a downloader may connect to: sdd_downloader_config.address_policy. Since: 0.2.0. */
enum {
    SDD_ADDRESS_ANY = 0,
    /* For URLs that others give: refuses loopback, private, link-local, shared, multicast, reserved
       and unique-local addresses, also within IPv4-mapped, NAT64 and 6to4 ones. No proxy is used,
       not even the environment's */
    SDD_ADDRESS_PUBLIC_ONLY = 1
};

/** Which IP versions are used: sdd_downloader_config.ip_version. Since: 0.2.0. */
enum {
    SDD_IP_ANY = 0,
    SDD_IP_V4 = 4,
    SDD_IP_V6 = 6
};

/** sdd_downloader_config.http_version. Since: 0.2.0. */
enum {
    SDD_HTTP_DEFAULT = 0, /* HTTP/2 over TLS where the server has it, else HTTP/1.1 */
    SDD_HTTP_1_0 = 10,
    SDD_HTTP_1_1 = 11,
    SDD_HTTP_2 = 20, /* also over plain TCP, by Upgrade */
    /* Over plain TCP without asking: the server is known to have it */
    SDD_HTTP_2_PRIOR_KNOWLEDGE = 21
};

/** sdd_downloader_config.min_tls_version. Since: 0.2.0. */
enum {
    SDD_TLS_DEFAULT = 0, /* 1.2 */
    SDD_TLS_1_0 = 10,
    SDD_TLS_1_1 = 11,
    SDD_TLS_1_2 = 12,
    SDD_TLS_1_3 = 13
};

/** sdd_downloader_config.proxy_mode. Since: 0.2.0. */
enum {
    /* http_proxy, https_proxy, all_proxy, no_proxy, by the rules of libcurl's CURLOPT_PROXY, as
       they are when the downloader is created; `proxy` wins if it is set */
    SDD_PROXY_ENVIRONMENT = 0,
    SDD_PROXY_NONE = 1 /* no proxy, whatever the environment says */
};

/**
 * Decides on an address before a connection to it is opened, for every hop of a redirect and every
 * address of a name.
 *
 * @param address "192.0.2.1" or "2001:db8::1". Borrowed until the callback returns.
 * @param port TCP port.
 * @param user_data The config's address_filter_user_data.
 * @return 1 to connect, 0 to refuse.
 * Thread: sdd-net, which waits for it: be quick, and call no sdd_ function.
 */
typedef int32_t (*sdd_address_filter_fn)(const char *SDD_NONNULL address, int32_t port,
                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * How a downloader is to be. Begin with SDD_DOWNLOADER_CONFIG_INIT; sdd_downloader_create() copies
 * it. 0 or NULL in a field is its default; a negative number is refused, but where -1 is said to
 * mean something. Since: 0.1.0.
 */
typedef struct sdd_downloader_config {
    size_t struct_size;
    int32_t delivery;                 /* one of SDD_DELIVERY_; default SDD_DELIVERY_THREAD */
    int32_t max_concurrent_downloads; /* transfers at a time; default 6 */
    /* Longest time without a byte, from the start of the transfer on; default 15000. Time spent
       waiting in the queue does not count */
    int64_t download_timeout_ms;
    int64_t max_body_bytes; /* largest body, after unpacking; default 64 MiB */
    int64_t max_pixels; /* largest width * height; default 128 Mi (134,217,728) */
    int32_t max_redirects; /* default 10 */
    int32_t decode_threads; /* default: the processors this process may use, at most 8 */
    int32_t allow_file_urls; /* 1: file: URLs are read too (never after a redirect); default 0 */
    int32_t reserved; /* 0 */
    const char *SDD_NULLABLE ca_file; /* PEM file of trusted certificates; NULL: the system's */
    const char *SDD_NULLABLE ca_path; /* directory of such files, hashed by `openssl rehash` */
    void (*SDD_NULLABLE on_thread_start)(void *SDD_NULLABLE thread_user_data) SDD_NOEXCEPT;
    /* First and last on the thread of SDD_DELIVERY_THREAD, so that a language binding can attach it
       once */
    void (*SDD_NULLABLE on_thread_stop)(void *SDD_NULLABLE thread_user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE thread_user_data;

    /* Since 0.2.0. What runs when: */
    int32_t max_concurrent_per_host; /* transfers at a time to one host and port; default 6 */
    /* Of max_concurrent_downloads, kept free for SDD_PRIORITY_HIGH and above; less than it; default
       0 */
    int32_t reserved_urgent_slots;
    int32_t execution_order; /* one of SDD_ORDER_ */
    int32_t reserved2;       /* 0 */
    /* a request that has waited so long counts as one priority higher, then waits so long again;
       default 0: never */
    int64_t ageing_ms;

    /* Time limits, each from the start of its stage. Those of a request win. */
    int64_t queue_timeout_ms;      /* from submitting to the start of the transfer; default none */
    int64_t connect_timeout_ms;    /* name lookup, connect, TLS; default download_timeout_ms */
    int64_t first_byte_timeout_ms; /* from the request being sent to the first byte; default none */
    int64_t total_timeout_ms;      /* from submitting to the end; default none */

    /* Progress: a count is left out if it brings less, or comes sooner, than these since the last
       one told; the last of a body never is. */

    /* Fraction of the whole, 0 to 1; default 0. Ignored for unknown lengths */
    double min_progress_interval;
    int64_t min_progress_interval_ms; /* default 0 */

    /* What is accepted: */
    const char *SDD_NULLABLE accepted_status_codes; /* "200-299,304"; "*": all. Default "200-299" */
    /* "image/jpeg,image/png", "image/" + "*" for all images; "*": all, also none. Default "*" */
    const char *SDD_NULLABLE accepted_content_types;
    /* For requests without one of their own, to whatever host they go: only for a downloader of one
       server */
    const sdd_credential *SDD_NULLABLE credential;
    const sdd_modifiers *SDD_NULLABLE modifiers; /* for requests without ones of their own */
    /* Of all headers of a request's responses, 1xx included; default 256 KiB */
    int64_t max_header_bytes;
    int32_t max_header_count; /* lines, likewise; default 1000 */
    int32_t allow_downgrade;  /* 1: redirects from https to http are followed; default 0 */

    /* Where to: */
    int32_t address_policy; /* one of SDD_ADDRESS_ */
    int32_t ip_version;     /* one of SDD_IP_ */
    /* Asked after address_policy. With one, no proxy is used, not even the environment's */
    sdd_address_filter_fn SDD_NULLABLE address_filter;
    void *SDD_NULLABLE address_filter_user_data;
    /* "http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h;
       CURLOPT_PROXY. Not with SDD_ADDRESS_PUBLIC_ONLY or address_filter */
    const char *SDD_NULLABLE proxy;
    /* Hosts that `proxy` is not for: "localhost,.example.org"; CURLOPT_NOPROXY */
    const char *SDD_NULLABLE no_proxy;
    int32_t proxy_mode;      /* one of SDD_PROXY_ */
    int32_t http_version;    /* one of SDD_HTTP_ */
    int32_t min_tls_version; /* one of SDD_TLS_ */
    /* Seconds of silence before the kernel asks whether the other end is still there; default 60;
       -1: never */
    int32_t tcp_keepalive_s;
    /* "eth0", "192.0.2.7", "host!name"; CURLOPT_INTERFACE */
    const char *SDD_NULLABLE network_interface;
    /* Connects there in place of TCP. Not with SDD_ADDRESS_PUBLIC_ONLY */
    const char *SDD_NULLABLE unix_socket_path;
    /* resolve_count of "host:port:address[,address]", used in place of a lookup; CURLOPT_RESOLVE */
    const char *SDD_NULLABLE const *SDD_NULLABLE resolve;
    size_t resolve_count;
    /* "192.0.2.53,192.0.2.54:5353"; only with a libcurl built with c-ares, else
       SDD_ERROR_UNSUPPORTED */
    const char *SDD_NULLABLE dns_servers;
    int64_t dns_cache_ms; /* how long looked up names are kept; default 60000; -1: for ever */
    int32_t max_connections; /* open at a time, in use or idle; default: no limit of its own */
    int32_t max_connections_per_host; /* likewise */
    /* Kept for later requests; default: as many as bursts have needed, at most 512 */
    int32_t max_idle_connections;
    int32_t receive_buffer_bytes; /* 1024 to 524288; default 65536 */
    /* Netscape format: read at creation (it need not exist), written when the downloader is
       destroyed, in one step, mode 0600 */
    const char *SDD_NULLABLE cookie_file;

    /* What decoding may cost, see also max_pixels: */

    /* Processor time for one picture, and again for all its frames or one that is asked for;
       default 5000; -1: no limit */
    int64_t decode_time_ms;
    /* And so much more for each MiB of its body; default 1000; -1: none */
    int64_t decode_time_ms_per_mib;
    /* Memory for one picture while it is decoded, pixels and what its format needs besides, as
       estimated from its header; default 1 GiB; -1: no limit. How much several may take together:
       sdd_process_set_decode_memory_limit() */
    int64_t max_decode_bytes;
    int32_t max_scans; /* of a progressive JPEG; default 500 */

    /* Previews: one is left out if it comes sooner, or shows less more, than these since the last
       one. Making them never takes more than about a fifth of a decode thread's time. */
    int32_t min_preview_scans;       /* scans of a JPEG, passes of a PNG; default 1 */
    int64_t min_preview_interval_ms; /* default 100; -1: none */
    int64_t min_preview_bytes;       /* of the body; default 0 */

    /* Caching: see "the HTTP cache" below. */

    /* For SDD_OPTION_USE_HTTP_CACHE and SDD_OPTION_RESUME. May be destroyed before the downloader:
       it then has nothing. NULL: the shared cache */
    sdd_cache *SDD_NULLABLE cache;
    /* 1: all requests use the HTTP cache; default 0: those with SDD_OPTION_USE_HTTP_CACHE */
    int32_t http_cache;
    int32_t resume; /* 1: all requests have SDD_OPTION_RESUME; default 0 */

    /* What is tried again: a transfer whose failure may pass (`retryable`: HTTP status 408, 425,
       429, 500, 502, 503 and 504 where they are not accepted, names not resolved, connections not
       made or lost, bodies cut off, limits on connecting, first byte, silence and slowness), by a
       method that may be sent twice (GET, HEAD, PUT, DELETE, OPTIONS, TRACE: RFC 9110 section
       9.2.2), or of which nothing was sent. Not where a part of its body has gone to a sink, nor
       for who has been shown facts or a preview of it; nor a picture that does not decode. The
       request keeps its token and waits, without a place among the transfers; its queue limit does
       not run again, its total limit does. With SDD_OPTION_RESUME the next transfer goes on where
       the last broke off. Progress begins again, with (0, -1). */

    /* Transfers for one request, the first included, at most 1000; default 1 */
    int32_t max_attempts;
    /* Retries that a host and port may have in hand; each takes one, and five transfers that
       succeed bring one back; default 10; -1: no limit */
    int32_t retry_budget;
    /* Before the second transfer; doubled before each further one, and shortened by chance to no
       less than half, so that not all come at once; default 500. A Retry-After of the response (RFC
       9110 section 10.2.3) takes its place */
    int64_t retry_delay_ms;
    /* Longest; where Retry-After asks for more there is no retry; default 30000 */
    int64_t max_retry_delay_ms;
    /* From the start of one transfer to that of the next to the same host and port, retries too,
       but not redirects; others begin meanwhile; default 0 */
    int64_t min_host_interval_ms;

    /* Slowness: a transfer whose header and body, or whose request's body, come with fewer bytes a
       second than low_speed_limit on the average of low_speed_time_ms ends with
       SDD_DETAIL_TIMEOUT_SLOW. Looked at once every low_speed_time_ms, in bytes as they are sent
       and received, packed. Time does not count while the server has yet to answer (see
       first_byte_timeout_ms), while the library itself takes nothing (in the background, where
       decoding lags behind, where a sink takes nothing), nor between transfers. The default ends a
       server that holds a place with a byte now and then; six transfers that share a line of 5
       kbit/s are faster. */
    int64_t low_speed_limit;   /* bytes a second; default 100 */
    int64_t low_speed_time_ms; /* default 60000; -1: as slow as it may be */

    /* More of what decoding may cost: */

    /* a picture that takes more than 128 MiB while it is decoded, as for max_decode_bytes, must
       have a body of at least one byte in so many of that; else it is refused, for a small file
       could ask for much memory that way; default 512, which photographs, screen shots and diagrams
       stay well below; -1: no limit */
    int64_t max_decode_ratio;
} sdd_downloader_config;

#define SDD_DOWNLOADER_CONFIG_INIT \
    { sizeof(sdd_downloader_config), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, \
      NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, \
      0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

SDD_END_DECLS

#endif /* SDD_CONFIG_H */
