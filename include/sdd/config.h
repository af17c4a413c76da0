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

#include "modifier.h"
#include "request.h"

SDD_BEGIN_DECLS

/* -------------------------------------------------------------------------------------- choices */

/** Where callbacks run: sdd_downloader_config.delivery. */
typedef int32_t sdd_delivery_mode;

SDD_ENUM(sdd_delivery_mode) {
    SDD_DELIVERY_THREAD = 0, /* on one long-lived thread of the downloader, named sdd-callback */
    /* events wait for sdd_downloader_dispatch(), sdd_downloader_drain() or sdd_downloader_wait() */
    SDD_DELIVERY_APPLICATION = 1
};

/**
 * The order in which requests of the same priority begin: sdd_downloader_config.execution_order.
 */
typedef int32_t sdd_execution_order;

SDD_ENUM(sdd_execution_order) {
    SDD_ORDER_FIFO = 0, /* the one that was submitted first */
    SDD_ORDER_LIFO = 1  /* the one that was submitted last */
};

/** Where a downloader may connect to: sdd_network_options.address_policy. */
typedef int32_t sdd_address_policy;

SDD_ENUM(sdd_address_policy) {
    SDD_ADDRESS_ANY = 0,
    /* For untrusted URLs: refuses loopback, private, link-local, shared, multicast, reserved and
       unique-local addresses, also within IPv4-mapped, NAT64 and 6to4 addresses, except those of
       sdd_network_options.address_exceptions. No proxy is used, not even the environment's. */
    SDD_ADDRESS_PUBLIC_ONLY = 1
};

/**
 * The process that decodes pictures: sdd_downloader_config.decode_mode.
 *
 * With SDD_DECODE_ISOLATED what a downloader and its loaders receive is decoded by processes of the
 * program sdd-decoder, which have no files, no network and no other processes (seccomp(2),
 * setrlimit(2)), so that a fault of a decoder neither ends the application nor gives away what it
 * has. It costs some milliseconds for the first pictures, and a copy of the pixels for each.
 *
 * - A decoder process that ends ends the request: SDD_ERROR_BAD_IMAGE_DATA with
 *   SDD_DETAIL_IMAGE_DECODER. One that cannot be started, or that was killed by something else, is
 *   a problem of the machine: SDD_ERROR_NO_RESOURCES with SDD_DETAIL_RESOURCES_DECODER, which may
 *   be tried again and never blocks a URL. The next request starts another process.
 * - A process that has taken twice decode_time_ms (and decode_time_ms_per_mib) of processor time
 *   for an answer, or eight times that and eight seconds altogether, is killed, and the request
 *   ends with SDD_DETAIL_IMAGE_TOO_SLOW. So is one whose picture nobody waits for any more, within
 *   a second of sdd_cancel() or sdd_downloader_destroy().
 * - A process decodes many pictures, one after the other. There are as many as threads decode at a
 *   time, and as many again for each coder that is loaded from a shared object. Each may take three
 *   times max_decode_bytes and 512 MiB, and has one thread. What idle ones keep counts in
 *   sdd_process_set_decode_memory_limit(); they end when pictures wait for room. They end with the
 *   downloader; images that still have something to decode then, lazy ones and animations, start
 *   one each time. They end with the application, too, however it ends.
 * - Coders from shared objects (sdd_process_load_coder_wait(), installed coders) decode there, too.
 *   Coders of sdd_process_add_coder() and sdd_downloader_add_coder() that are functions of the
 *   application, own transforms, encoding, colour profiles that the library reads itself, and
 *   calls without a downloader remain in the application's process.
 * - Pictures that are programs (sdd_coder.isolate: SVG) are decoded there also with
 *   SDD_DECODE_IN_PROCESS, and without a downloader; calls without one start a process for each
 *   picture. A picture that needs a process which cannot be had fails with
 *   SDD_DETAIL_RESOURCES_DECODER.
 * - The library starts them with posix_spawn(3), and with /dev/null for standard error, which must
 *   be there. SIGCHLD is sent when one ends; an application that waits for any child may be given
 *   one that it does not know. A process that replaces itself (execve(2)) keeps its decoders as
 *   children that have ended, and whose end the new program must wait for: destroy downloaders
 *   first.
 * - The program is "sdd/sdd-decoder" or "sdd-decoder" in the directory from which libsdd.so.0 was
 *   loaded, or what the environment variable SDD_DECODER names by an absolute path, which is
 *   ignored in a program that gains privileges (secure_getenv(3)). If there is none,
 *   sdd_downloader_create() fails with SDD_ERROR_UNSUPPORTED. It has an empty environment but for
 *   the libraries that the application has loaded from elsewhere than the system's directory
 *   (LD_PRELOAD). Linux on x86-64 and AArch64 only.
 */
typedef int32_t sdd_decode_mode;

SDD_ENUM(sdd_decode_mode) {
    SDD_DECODE_IN_PROCESS = 0, /* but for pictures that are programs, like SVG */
    SDD_DECODE_ISOLATED = 1,
    SDD_DECODE_ALL_IN_PROCESS = 2 /* programs, too */
};

/** IP versions to use: sdd_network_options.ip_version. */
typedef int32_t sdd_ip_version;

SDD_ENUM(sdd_ip_version) {
    SDD_IP_ANY = 0,
    SDD_IP_V4 = 4,
    SDD_IP_V6 = 6
};

/** The version of HTTP that is requested: sdd_network_options.http_version. */
typedef int32_t sdd_http_version;

SDD_ENUM(sdd_http_version) {
    SDD_HTTP_DEFAULT = 0, /* HTTP/2 over TLS where the server supports it, else HTTP/1.1 */
    SDD_HTTP_1_0 = 10,
    SDD_HTTP_1_1 = 11,
    SDD_HTTP_2 = 20, /* also over plain TCP, by Upgrade */
    /* Over plain TCP without negotiation: the server is known to support it. */
    SDD_HTTP_2_PRIOR_KNOWLEDGE = 21,
    /* As the default, and HTTP/3 with hosts that offer it in an Alt-Svc field (RFC 7838) at their
       own name and port. The downloader remembers the offers. The first request after one is tried
       by HTTP/3 and over TCP at once; where HTTP/3 does not work, it is not tried again for five
       minutes. Not through a proxy or a Unix socket, and not for requests that do not verify the
       certificate. sdd_downloader_create() gives SDD_ERROR_UNSUPPORTED if libcurl has no HTTP/3
       by ngtcp2. */
    SDD_HTTP_3 = 30
};

/** The lowest version of TLS: sdd_network_options.min_tls_version. */
typedef int32_t sdd_tls_version;

SDD_ENUM(sdd_tls_version) {
    SDD_TLS_DEFAULT = 0, /* 1.2 */
    /* With OpenSSL 3 no server is reached by 1.0 or 1.1, unless the system's openssl.cnf lowers the
       security level to 0: its usual levels refuse the signatures of these versions. */
    SDD_TLS_1_0 = 10,
    SDD_TLS_1_1 = 11,
    SDD_TLS_1_2 = 12,
    SDD_TLS_1_3 = 13
};

/** The proxy to use: sdd_network_options.proxy_mode. */
typedef int32_t sdd_proxy_mode;

SDD_ENUM(sdd_proxy_mode) {
    /* http_proxy, https_proxy, all_proxy, no_proxy, by the rules of libcurl's CURLOPT_PROXY, as
       they are when the downloader is created; `proxy` overrides them */
    SDD_PROXY_ENVIRONMENT = 0,
    SDD_PROXY_NONE = 1 /* no proxy, whatever the environment says */
};

/**
 * Decides on an address before a connection to it is opened, for every hop of a redirect and every
 * address of a name.
 *
 * @param address "192.0.2.1" or "2001:db8::1". Borrowed until the callback returns.
 * @param port TCP port.
 * @param user_data sdd_network_options.user_data.
 * @return 1 to connect, 0 to refuse.
 * Thread: sdd-net, which waits for it: be quick, and call no sdd_ function. With more than one of
 * sdd_network_options.network_threads: several at a time.
 */
typedef int32_t (*sdd_address_filter_fn)(const char *SDD_NONNULL address, int32_t port,
                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/* ------------------------------------------------------------------- groups of further settings */

/**
 * Settings of callbacks: sdd_downloader_config.callbacks.
 *
 * The minimum values thin out progress and previews: a call is left out if less has arrived since
 * the last call, or less time has passed, than they require. The last progress of a body is always
 * reported. Making previews never takes more than about a fifth of a decode thread's time.
 */
typedef struct sdd_callback_options {
    size_t struct_size;
    /* Called first and last on the thread of SDD_DELIVERY_THREAD, so that a language binding can
       attach that thread once. */
    void (*SDD_NULLABLE on_thread_start)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void (*SDD_NULLABLE on_thread_stop)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE user_data; /* of both */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
    /* Fraction of the whole body, 0 to 1; default 0. Not applied to bodies of unknown length. */
    double min_progress_fraction;
    int64_t min_progress_interval_ms; /* default 0 */
    int64_t min_preview_interval_ms;  /* default 100; SDD_NO_LIMIT: none */
    int64_t min_preview_bytes;        /* bytes of the body; default 0 */
    int64_t min_preview_scans;        /* scans of a JPEG, passes of a PNG; default 1 */
} sdd_callback_options;

#define SDD_CALLBACK_OPTIONS_INIT \
    { sizeof(sdd_callback_options), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0 }

/** Network settings: sdd_downloader_config.network. */
typedef struct sdd_network_options {
    size_t struct_size;

    /* TLS. */

    /* These three also apply to an https proxy. */
    const char *SDD_NULLABLE ca_file; /* PEM file of trusted certificates; NULL: the system's */
    const char *SDD_NULLABLE ca_path; /* directory of such files, hashed by `openssl rehash` */
    sdd_tls_version min_tls_version;          /* one of SDD_TLS_ */

    /* Protocol. */

    sdd_http_version http_version;    /* one of SDD_HTTP_ */
    int32_t max_redirects;   /* default 10 */
    int32_t allow_downgrade; /* 1: redirects from https to http are followed; default 0 */
    int32_t allow_file_urls; /* 1: file: URLs are read, but never after a redirect; default 0 */
    /* 1: data: URLs end with SDD_ERROR_INVALID_URL and SDD_DETAIL_URL_SCHEME, unless a transport of
       the application takes them; default 0. */
    int32_t no_data_urls;

    /* Addresses. */

    sdd_ip_version ip_version;     /* one of SDD_IP_ */
    sdd_address_policy address_policy; /* one of SDD_ADDRESS_ */
    sdd_proxy_mode proxy_mode;     /* one of SDD_PROXY_ */
    /* Called for addresses that address_policy allows. With a filter no proxy is used, not even the
       environment's. */
    sdd_address_filter_fn SDD_NULLABLE address_filter;
    void *SDD_NULLABLE user_data; /* of address_filter */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
    /* address_exception_count destinations that SDD_ADDRESS_PUBLIC_ONLY does not refuse: a block of
       addresses ("10.1.0.0/16", "fd00::/8"), an address ("10.1.2.3", "fd00::1"), or a host as URLs
       name it, whatever its addresses ("intranet", "cdn.example.org"); address and host also with a
       port ("10.1.2.3:8080", "[fd00::1]:8080", "intranet:8080"). They are checked, like the policy,
       on each hop of a redirect and for each address before it is connected to. An entry that is
       none of these, or exceptions without that policy, give SDD_ERROR_INVALID_ARGUMENT. */
    const char *SDD_NULLABLE const *SDD_NULLABLE address_exceptions;
    size_t address_exception_count;
    /* "http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h; see
       CURLOPT_PROXY. Not with SDD_ADDRESS_PUBLIC_ONLY, address_filter or SDD_PROXY_NONE. */
    const char *SDD_NULLABLE proxy;
    /* Hosts that are reached without `proxy`: "localhost,.example.org"; see CURLOPT_NOPROXY. */
    const char *SDD_NULLABLE no_proxy;
    const char *SDD_NULLABLE network_interface; /* "eth0", "192.0.2.7"; see CURLOPT_INTERFACE */
    /* A Unix socket that is connected to in place of TCP. Not with SDD_ADDRESS_PUBLIC_ONLY. */
    const char *SDD_NULLABLE unix_socket_path;

    /* Names. */

    /* resolve_count of "host:port:address[,address]", used in place of a lookup; see
       CURLOPT_RESOLVE. */
    const char *SDD_NULLABLE const *SDD_NULLABLE resolve;
    size_t resolve_count;
    /* "192.0.2.53,192.0.2.54:5353". Requires a libcurl that is built with c-ares; otherwise
       sdd_downloader_create() gives SDD_ERROR_UNSUPPORTED. */
    const char *SDD_NULLABLE dns_servers;
    /* how long looked up names are kept; default 60000; SDD_NO_LIMIT: for ever */
    int64_t dns_cache_ms;

    /* Connections. */

    int32_t max_connections;          /* open at a time, in use or idle; default: no limit */
    int32_t max_connections_per_host; /* open at a time to one host; default: no limit */
    /* Idle connections kept for later requests; default: as many as bursts of requests have needed,
       at most 512. */
    int32_t max_idle_connections;
    /* Silence before the kernel probes whether the other end still responds, rounded up to seconds;
       default 60000; SDD_NO_LIMIT: it never does. */
    int64_t tcp_keepalive_ms;
    int32_t receive_buffer_bytes; /* 1024 to 524288; default 65536 */
    /* Threads that use the network, at most 16; default 1. Hosts are spread over them, so that more
       than one helps only with several hosts, and with more than one thread can do: some 25,000
       small requests or 900 MB a second over TLS. All limits apply to the threads together, with
       two exceptions: each thread has an equal part of max_connections (and there are no more
       threads than that) and of max_idle_connections; and as a redirect stays on its thread,
       max_connections_per_host applies to its target on each thread. */
    int32_t network_threads;

    /* Netscape format: read at creation (it need not exist), written when the downloader is
       destroyed, in one step, with mode 0600; of a link the target. Cookies without an end
       (sdd_cookie.expires_ms 0) are written only if the file had them when it was read. A file in
       which no line is a cookie, and some line no comment, is refused. NULL: cookies are not
       kept. */
    const char *SDD_NULLABLE cookie_file;

} sdd_network_options;

#define SDD_NETWORK_OPTIONS_INIT \
    { sizeof(sdd_network_options), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, \
      0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, 0, 0, NULL }

/** Limits of a request: sdd_downloader_config.limits. */
typedef struct sdd_limits {
    size_t struct_size;

    /* Time limits, each from the start of its stage. Those of a request override these. */

    int64_t queue_timeout_ms;   /* from submitting to the start of the transfer; default: none */
    int64_t connect_timeout_ms; /* name lookup, connect, TLS; default: download_timeout_ms */
    /* From the request being sent to the first byte of the response; default: none. */
    int64_t first_byte_timeout_ms;
    /* Longest time without a byte, from the start of the transfer on; default 15000. Time spent
       waiting in the queue does not count. */
    int64_t download_timeout_ms;
    int64_t total_timeout_ms; /* from submitting to the end; default: none */

    /* Low speed: a transfer that moves fewer bytes a second than low_speed_limit, averaged over
       low_speed_time_ms, ends with SDD_DETAIL_TIMEOUT_SLOW. Bytes are counted as they are sent and
       received, packed, header and body. Time does not count while the server has yet to respond
       (see first_byte_timeout_ms), nor while the library itself takes nothing: in the background,
       while decoding lags behind, or while a sink accepts nothing. The default ends transfers from
       a server that occupies a slot with a byte now and then; six transfers that share a line of 5
       kbit/s are faster. */

    int64_t low_speed_limit;   /* bytes a second; default 100 */
    int64_t low_speed_time_ms; /* default 60000; SDD_NO_LIMIT: none */

    /* Size. */

    int64_t max_body_bytes;   /* largest body, after unpacking; default 64 MiB */
    int64_t max_header_bytes; /* of all responses of a request, 1xx included; default 256 KiB */
    int32_t max_header_count; /* lines of all responses of a request; default 1000 */

    /* Decoding. */

    int32_t max_scans;  /* of a progressive JPEG; default 500 */
    int64_t max_pixels; /* largest width * height; default 128 Mi (134,217,728) */
    /* Processor time for one picture, and again for its frames: for all that are preloaded, or for
       one that is requested; default 5000; SDD_NO_LIMIT: none. */
    int64_t decode_time_ms;
    /* more time for each MiB of its body; default 1000; SDD_NO_LIMIT: none is added */
    int64_t decode_time_ms_per_mib;
    /* Memory for one picture while it is decoded, for its pixels and the decoder's own data, as
       estimated from its header; default 1 GiB; SDD_NO_LIMIT: none. Requests that share a transfer
       but want different pixels count one by one. For the limit on all pictures together see
       sdd_process_set_decode_memory_limit(). */
    int64_t max_decode_bytes;
    /* A picture that takes more than 128 MiB while it is decoded must have at least one byte of
       body for each max_decode_ratio bytes of memory; otherwise a small file could take much
       memory. Default 512: photographs, screen shots and diagrams stay well below; SDD_NO_LIMIT:
       none. Of what a coder (extend.h) takes a quarter counts, or the pixels made from it if they
       are more. */
    int64_t max_decode_ratio;
} sdd_limits;

#define SDD_LIMITS_INIT \
    { sizeof(sdd_limits), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Retries: sdd_downloader_config.retry.
 *
 * A transfer is retried if its failure may be temporary (sdd_failure.retryable: HTTP status 408,
 * 425, 429, 500, 502, 503 and 504 where they are not accepted, or of a proxy that is to connect to
 * the host, names not resolved, connections not made or lost, bodies cut off, limits on connecting,
 * first byte, silence and low speed), and its method may be sent twice (GET, HEAD, PUT, DELETE,
 * OPTIONS, TRACE: RFC 9110 section 9.2.2) or nothing of it was sent. It is not retried if a part of
 * its body has been written to a sink, nor for a request that has received facts or a preview of
 * it, nor if the picture does not decode. The request keeps its token and occupies no slot while it
 * waits; its queue limit does not apply again, and its total limit continues. With
 * SDD_OPTION_RESUME the next transfer continues where the last one broke off. Progress begins
 * again, with (0, -1).
 */
typedef struct sdd_retry_options {
    size_t struct_size;
    /* Transfers for one request, first one included; default 1, max. 1000. A load has at least 2,
       unless its own max_attempts says otherwise. */
    int32_t max_attempts;
    /* Retries available for each host and port; each retry uses one up, and every five successful
       transfers restore one; default 10; SDD_NO_LIMIT: none. */
    int32_t budget;
    /* Delay before the second transfer; it doubles before each further one, and is shortened at
       random to no less than half, so that retries are spread; default 500. A Retry-After of the
       response (RFC 9110 section 10.2.3) replaces it. */
    int64_t delay_ms;
    int64_t max_delay_ms; /* longest delay; no retry after a longer Retry-After; default 30000 */
} sdd_retry_options;

#define SDD_RETRY_OPTIONS_INIT \
    { sizeof(sdd_retry_options), 0, 0, 0, 0 }

/* -------------------------------------------------------------------------------- configuration */

/**
 * The configuration of a downloader. Begin with SDD_DOWNLOADER_CONFIG_INIT; sdd_downloader_create()
 * copies it, with everything that it points to. 0 or NULL in a field means its default, and a group
 * that is NULL means a group of zeros; a negative number is refused, except SDD_NO_LIMIT where a
 * comment gives it a meaning.
 */
typedef struct sdd_downloader_config {
    size_t struct_size;

    /* Delivery and order. */

    /* one of SDD_DELIVERY_; default SDD_DELIVERY_THREAD */
    sdd_delivery_mode delivery;
    int32_t max_concurrent_downloads; /* transfers at a time; default 6 */
    int32_t max_concurrent_per_host;  /* transfers at a time to one host and port; default 6 */
    /* Default: the processors that the process may use, at most 8, and one more with
       SDD_DECODE_ISOLATED, where a thread waits for the process that decodes. All but one end
       after some seconds without work, and are started again when there is some. */
    int32_t decode_threads;
    sdd_execution_order execution_order; /* one of SDD_ORDER_ */
    /* Slots of max_concurrent_downloads kept free for requests of SDD_PRIORITY_HIGH and above; must
       be less than max_concurrent_downloads; default 0. */
    int32_t reserved_urgent_slots;
    /* A request that has waited this long counts as one priority higher, and again each time this
       much longer; default 0: never. */
    int64_t ageing_ms;
    /* Least time from the start of one transfer to the start of the next to the same host and port,
       for retries too, but not for redirects; transfers to other hosts begin meanwhile; default 0.
     */
    int64_t min_host_interval_ms;

    /* Defaults of requests. */

    const char *SDD_NULLABLE accepted_status_codes; /* "200-299,304"; "*": all. Default "200-299" */
    /* Media types: "image/jpeg,image/png", or "image/" and "*" for all images; "*": all, also none.
       Default "*". */
    const char *SDD_NULLABLE accepted_content_types;
    /* For requests without a credential of their own, whatever their host: set it only for a
       downloader that is used with one server. */
    const sdd_credential *SDD_NULLABLE credential;
    const sdd_modifiers *SDD_NULLABLE modifiers; /* for requests without modifiers of their own */

    /* Caching: see THE HTTP CACHE in cache.h. */

    /* For SDD_OPTION_USE_HTTP_CACHE and SDD_OPTION_RESUME. May be destroyed before the downloader;
       requests then find nothing in it. NULL: the shared cache. */
    sdd_cache *SDD_NULLABLE cache;
    int32_t http_cache; /* 1: all requests have SDD_OPTION_USE_HTTP_CACHE; default 0 */
    int32_t resume;     /* 1: all requests have SDD_OPTION_RESUME; default 0 */

    /* Groups of further settings. */

    const sdd_callback_options *SDD_NULLABLE callbacks;
    const sdd_network_options *SDD_NULLABLE network;
    const sdd_limits *SDD_NULLABLE limits;
    const sdd_retry_options *SDD_NULLABLE retry;

    /* 1: coders that are installed beside the library (see CODERS in extend.h) do not decode what
       this downloader receives, and "Accept" does not name their formats; default 0. */
    int32_t no_installed_coders;
    sdd_decode_mode decode_mode; /* one of SDD_DECODE_; default SDD_DECODE_IN_PROCESS. */
} sdd_downloader_config;

#define SDD_DOWNLOADER_CONFIG_INIT \
    { sizeof(sdd_downloader_config), 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, \
      NULL, NULL, NULL, NULL, 0, 0 }

SDD_END_DECLS

#endif /* SDD_CONFIG_H */
