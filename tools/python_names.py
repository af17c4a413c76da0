"""What tools/make_python_options.py cannot see in the header: the classes of the Python package, names and types that
differ there, and descriptions of options that are no fields, or choices of words."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Class:
    """A class of options, a TypedDict, or of data."""

    text: str
    struct: str = ""  # its fields are the members that the class has besides those of its bases
    bases: list[str] = field(default_factory=list)
    also: str = ""  # a struct that has members besides
    is_data: bool = False
    end: str = ""
    file: str = "_options.py"


REPR = '''
    def __repr__(self) -> str:
        return "Credential(...)"  # no secret in a log
'''

CLASSES = {
    "PictureOptions": Class("The form of a picture: sdd_decode_options.", "sdd_decode_options"),
    "TransferOptions": Class(
        "How to transfer, for every kind of request: sdd_transfer_options, and SDD_OPTION_ bits.",
        "sdd_transfer_options", also="sdd_download_request"),
    "StoreOptions": Class("What loads do with their caches and with URLs that failed: SDD_OPTION_ bits."),
    "RequestOptions": Class("Options of downloads and loads: sdd_download_request, and SDD_OPTION_ bits.",
                            bases=["PictureOptions", "TransferOptions"], also="sdd_download_request"),
    "DownloadOptions": Class("Options of `Downloader`'s requests: sdd_download_request.", "sdd_download_request",
                             ["RequestOptions"]),
    "LoadOptions": Class("Options of `Loader`'s requests: sdd_load_request.", "sdd_load_request",
                         ["RequestOptions", "StoreOptions"]),
    "PrefetchOptions": Class("Options of `Loader.prefetch()`: sdd_prefetch_list.", "sdd_prefetch_list",
                             ["PictureOptions", "TransferOptions", "StoreOptions"]),
    "RowOptions": Class("Options of `batch()`: sdd_batch_config. Those of `StoreOptions` need a loader.",
                        "sdd_batch_config", ["TransferOptions", "StoreOptions"]),
    "BatchOptions": Class("Options of `load_many()` and the like: sdd_batch_config.",
                          bases=["PictureOptions", "RowOptions"]),
    "Credential": Class("Credentials for one server: sdd_credential.", "sdd_credential", is_data=True, end=REPR),
    "NetworkOptions": Class("Network settings of a downloader: sdd_network_options.", "sdd_network_options"),
    "LimitOptions": Class("Limits on each request of a downloader: sdd_limits.", "sdd_limits"),
    "RetryOptions": Class("Retries of a downloader: sdd_retry_options.", "sdd_retry_options"),
    "ReportOptions": Class("How often progress and previews are reported: sdd_callback_options.",
                           "sdd_callback_options"),
    "DownloaderOptions": Class(
        "Options of `Downloader` and of `Loader`: sdd_downloader_config and its groups.", "sdd_downloader_config",
        ["NetworkOptions", "LimitOptions", "RetryOptions", "ReportOptions"]),
    "CacheOptions": Class("Options of `Cache`: sdd_cache_config.", "sdd_cache_config"),
    "Metrics": Class(
        "How long the stages of a request took, 0 for one that did not happen, and what its transfer cost: "
        "sdd_metrics.",
        "sdd_metrics", is_data=True, file="_metrics.py"),
}

# The options that are bits, and their classes.
BITS = {
    "SDD_OPTION_HANDLE_COOKIES": ("cookies", "TransferOptions"),
    "SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES": ("allow_invalid_certificates", "TransferOptions"),
    "SDD_OPTION_CONTINUE_IN_BACKGROUND": ("continue_in_background", "TransferOptions"),
    "SDD_OPTION_RESUME": ("resume", "TransferOptions"),
    "SDD_OPTION_STOP_WHEN_COMPLETE": ("stop_when_complete", "TransferOptions"),
    "SDD_OPTION_BODY_AS_SENT": ("body_as_sent", "TransferOptions"),
    "SDD_OPTION_USE_HTTP_CACHE": ("http_cache", "TransferOptions"),
    "SDD_OPTION_DECODE_FIRST_FRAME_ONLY": ("first_frame_only", "RequestOptions", "PrefetchOptions", "BatchOptions"),
    "SDD_OPTION_PRELOAD_ALL_FRAMES": ("preload_all_frames", "RequestOptions", "PrefetchOptions", "BatchOptions"),
    "SDD_OPTION_IGNORE_CACHED_RESPONSE": ("ignore_cached_response", "DownloadOptions"),
    "SDD_OPTION_TRANSFORM_ANIMATED_IMAGE": ("transform_animated_image", "LoadOptions"),
    "SDD_OPTION_REFRESH_CACHED": ("refresh", "LoadOptions"),
    "SDD_OPTION_FROM_CACHE_ONLY": ("from_cache_only", "StoreOptions"),
    "SDD_OPTION_FROM_LOADER_ONLY": ("from_loader_only", "StoreOptions"),
    "SDD_OPTION_RETRY_FAILED": ("retry_failed", "StoreOptions"),
    "SDD_OPTION_WAIT_STORE_CACHE": ("wait_store_cache", "StoreOptions"),
}

# The fields that name files: a text or a Path.
PATHS = ["ca_file", "ca_path", "client_certificate", "client_key", "cookie_file", "directory", "read_only_directories",
         "unix_socket_path"]  # fmt: skip

# Types in Python that do not follow from the field's; members without a field have theirs here, too.
TYPES = {
    "PictureOptions.size": "tuple[int, int] | int | None",
    "PictureOptions.fit": "Fit",
    "PictureOptions.pixel_format": "PixelFormat | PixelFormatName",
    "PictureOptions.exact": "bool",
    "PictureOptions.lenient": "bool",
    "PictureOptions.colour": 'Literal["srgb", "stored"]',
    "TransferOptions.priority": "Priority | PriorityName",
    "TransferOptions.headers": "Mapping[str, str | None]",
    "TransferOptions.credential": "Credential",
    "TransferOptions.redirects": 'Literal["follow", "hand_out", "refuse"]',
    "RequestOptions.integrity": "str",
    "RequestOptions.expected_bytes": "int",
    "DownloadOptions.body": "bytes",
    "LoadOptions.transforms": "Sequence[Transform]",
    "LoadOptions.query": "Levels",
    "LoadOptions.store": "Levels",
    "LoadOptions.original_query": "Levels",
    "LoadOptions.original_store": "Levels",
    "RowOptions.ordered": "bool",
    "Credential.username": "str | None = None",
    "Credential.password": "str | None = None",
    "Credential.bearer_token": "str | None = None",
    "Credential.client_certificate": "str | os.PathLike[str] | None = None",
    "Credential.client_key": "str | os.PathLike[str] | None = None",
    "Credential.client_key_password": "str | None = None",
    "NetworkOptions.min_tls_version": 'Literal["1.0", "1.1", "1.2", "1.3"]',
    "NetworkOptions.http_version": 'Literal["1.0", "1.1", "2", "2-prior-knowledge", "3"]',
    "NetworkOptions.ip_version": "Literal[4, 6]",
    "NetworkOptions.public_addresses_only": "bool",
    "NetworkOptions.ignore_proxy_environment": "bool",
    "DownloaderOptions.execution_order": 'Literal["fifo", "lifo"]',
    "DownloaderOptions.credential": "Credential",
    "DownloaderOptions.headers": "Mapping[str, str | None]",
    "DownloaderOptions.http_cache_in": "Cache",
    "DownloaderOptions.isolated_decoding": "bool",
    "DownloaderOptions.log_level": "int | None",
    "CacheOptions.levels": "Levels",
    "CacheOptions.sync": 'Literal["none", "data", "full"]',
    "CacheOptions.disk_date": 'Literal["access", "modification"]',
    "Metrics.is_end_unproven": "bool",
}

# Fields whose options have another name: {"struct.option": "field"}.
FIELDS = {
    "sdd_decode_options.enlarge": "allow_enlarging",
    "sdd_decode_options.exact": "scaling",
    "sdd_decode_options.lenient": "damage",
    "sdd_decode_options.size": "target_width",
    "sdd_transfer_options.timeout": "total_timeout_ms",
    "sdd_metrics.is_end_unproven": "end_unproven",
    "sdd_batch_config.ordered": "order",
    "sdd_network_options.public_addresses_only": "address_policy",
    "sdd_network_options.ignore_proxy_environment": "proxy_mode",
    "sdd_retry_options.retry_budget": "budget",
    "sdd_retry_options.retry_delay": "delay_ms",
    "sdd_retry_options.max_retry_delay": "max_delay_ms",
    "sdd_downloader_config.http_cache_in": "cache",
    "sdd_downloader_config.isolated_decoding": "decode_mode",
}

# Fields that are no options, in whichever struct: the package sets them itself, or arguments of functions do.
NO_OPTIONS = frozenset(
    """
    struct_size user_data user_data_free url urls ids count next options decode transfer to downloader loader tensor
    delivery callbacks network limits retry completed progress preview facts cached each on_thread_start on_thread_stop
    target_height header_count body_size transform_count alternative_count read_only_count resolve_count
    address_exception_count
    """.split()
)

# Fields and bits that only the low layer has.
LOW_LAYER = frozenset(
    """
    modifiers sink sink_fd key_filter serializer memory_store entry_store address_filter allocator pixels pixels_size
    pixels_stride format_hint schemes decode_time_ms_per_mib SDD_OPTION_AVOID_DECODE_IMAGE SDD_OPTION_FACTS_EVENTS
    SDD_OPTION_QUERY_MEMORY_DATA
    """.split()
)

# Calls, fields and numbers of the header, and their counterparts.
CALLS = {
    "SDD_ADDRESS_PUBLIC_ONLY": "public_addresses_only",
    "SDD_DECODE_ALL_IN_PROCESS": "isolated_decoding=False",
    "SDD_DECODE_ISOLATED": "isolated_decoding",
    "SDD_NO_LIMIT": "-1",
    "SDD_OPTION_AVOID_DECODE_IMAGE": "undecoded pictures",
    "SDD_OPTION_BYTES_ONLY": "fetch_bytes()",
    "SDD_OPTION_PREVIEW_EVENTS": "preview",
    "SDD_OPTION_PROGRESS_EVENTS": "progress",
    "SDD_PROXY_NONE": "ignore_proxy_environment",
    "sdd_batch_config": "the options of the batch",
    "sdd_batch_config.decode": "the options of the picture",
    "sdd_batch_create()": "load_many()",
    "sdd_cache_config": "the options of the cache",
    "sdd_cache_create()": "Cache()",
    "sdd_cache_destroy()": "Cache.close()",
    "sdd_cache_flush_wait()": "Cache.flush()",
    "sdd_cache_item.key": "key",
    "sdd_cache_key()": "Cache.key()",
    "sdd_cache_path()": "Cache.path()",
    "sdd_cache_put_wait()": "Cache.put()",
    "sdd_cache_put()": "Cache.put()",
    "sdd_cache_query_wait()": "Cache.get()",
    "sdd_cache_trim_memory()": "Cache.trim_memory()",
    "sdd_credential": "Credential",
    "sdd_decode_options.target_height": "size",
    "sdd_decode_options.target_width": "size",
    "sdd_download()": "Downloader.fetch()",
    "sdd_download_request.preview": "preview",
    "sdd_download_request.progress": "progress",
    "sdd_downloader_add_transport()": "the low layer",
    "sdd_downloader_create()": "Downloader()",
    "sdd_downloader_destroy()": "Downloader.close()",
    "sdd_encode_options.background": "background",
    "sdd_encode_options.animated": "animated",
    "sdd_encode_options.chroma": "chroma",
    "sdd_encode_options.format": "format",
    "sdd_encode_options.max_bytes": "max_bytes",
    "sdd_encode_options.max_height": "max_size",
    "sdd_encode_options.max_width": "max_size",
    "sdd_encode_options.quality": "quality",
    "sdd_image_bytes()": "Image.encoded",
    "sdd_image_create_animation()": "Image.animation()",
    "sdd_image_decode()": "Image.decode()",
    "sdd_image_encode()": "Image.encode()",
    "sdd_image_frame()": "Image.frame()",
    "sdd_image_from_thumbhash()": "Image.from_thumbhash()",
    "sdd_image_gain_map()": "Image.gain_map()",
    "sdd_image_get_gain_map_info()": "Image.gain_map_info",
    "sdd_image_info.good_rows": "Image.good_rows",
    "sdd_image_pixels()": "Image.memoryview()",
    "sdd_image_probe()": "probe()",
    "sdd_image_stride()": "Image.stride",
    "sdd_image_thumbhash()": "Image.thumbhash()",
    "sdd_image_transform()": "Image.transform()",
    "sdd_load()": "Loader.load()",
    "sdd_load_request.cached": "the picture in the cache",
    "sdd_load_request.transforms": "transforms",
    "sdd_loader_config.fail_policy": "fail_policy",
    "sdd_metrics.saved_bytes": "Metrics.saved_bytes",
    "sdd_result.store_error": "Result.store_error",
    "sdd_prefetch_list.to": "to",
    "sdd_process_set_decode_memory_limit()": "set_decode_memory_limit()",
    "sdd_cache_query_options.key": "key",
    "sdd_retry_options": "RetryOptions",
    "sdd_transform.degrees": "degrees",
    "sdd_transform.fit": "fit",
    "sdd_transform.height": "height",
    "sdd_transform.radius": "radius",
    "sdd_transform.width": "width",
    "sdd_transform.x": "x",
    "sdd_transform.y": "y",
}

# Words of C, in the header's texts and the library's messages. They come before names are looked up.
WORDS = [
    (r"\bNULL\b", "None"),
    (r"\bone of SDD_PIXEL_FORMAT_(?!\w)", "a PixelFormat"),
    (r"\bone of SDD_IMAGE_FORMAT_(?!\w)", "an ImageFormat"),
    (r"\bone of SDD_PRIORITY_(?!\w)", "a Priority"),
    (r"\bone of SDD_DETAIL_(?!\w)", "a Detail"),
    (r"\bone of SDD_ORIGIN_(?!\w)", "an Origin"),
    (r"\b(?:one of|one or more of|some of) SDD_[A-Z]+_(?!\w)", "one of the words that it may be"),
    (r"\bSDD_ERROR_([A-Z0-9_]+)", r"Status.\1"),
    (r"\bSDD_DETAIL_([A-Z0-9_]+)", r"Detail.\1"),
    (r"\bSDD_ORIGIN_([A-Z0-9_]+)", r"Origin.\1"),
    (r"\bSDD_PRIORITY_([A-Z0-9_]+)", r"Priority.\1"),
    (r"\bSDD_STAGE_([A-Z0-9_]+)", r"Stage.\1"),
    (r"\bSDD_CLASS_([A-Z0-9_]+)", r"ErrorClass.\1"),
    (r"\bSDD_PIXEL_FORMAT_([A-Z0-9_]+)", r"PixelFormat.\1"),
    (r"\bSDD_IMAGE_FORMAT_([A-Z0-9_]+)", r"ImageFormat.\1"),
    (r", see [A-Z ]+ in \w+\.h(?:, [^.]*)?", ""),
    (r" \(see [A-Z ]+ in \w+\.h\)", ""),
]

# Descriptions in place of the header's: {"class.member": "text"}.
OWN = {
    "PictureOptions.size": (
        "Pixels that the picture is scaled down to: (width, height), or one number for both; 0 in one of them: "
        "any. Default: its own size."
    ),
    "PictureOptions.fit": (
        '"inside": the whole picture within `size`; "fill": covers it, cropped; "stretch": each side by itself. '
        'Default "inside".'
    ),
    "PictureOptions.enlarge": "Whether a smaller picture is enlarged to `size`, as `fit` says; default: False.",
    "PictureOptions.pixel_format": 'The layout of the pixels, a PixelFormat or its name; default "rgba8".',
    "PictureOptions.keep_orientation": (
        "Whether the picture stays as stored, and is not turned by its Exif orientation; default: False."
    ),
    "PictureOptions.background": "0xRRGGBB, shown through alpha in formats without alpha. Default 0: black.",
    "PictureOptions.exact": "Whether scaling takes exact area means, for half as much time again; default: False.",
    "PictureOptions.lenient": (
        "Whether the valid part of a damaged picture is delivered, in place of an error; default: False."
    ),
    "PictureOptions.colour": (
        'Colours of the pixels: "srgb": converted from what the picture says of them, as browsers do it; "stored": as '
        'in the file, see `Image.colour`. Default: "srgb" for loads, "stored" for everything else.'
    ),
    "PictureOptions.scale_down_limit_bytes": (
        "A picture that takes more bytes, at 4 bytes a pixel, is scaled down to fit, whatever `size` and `fit` "
        "say. 0: no limit. Default 0."
    ),
    "PictureOptions.row_alignment": (
        "Bytes, a power of two up to 4096: every row begins at a multiple of it. Default 1: rows without padding."
    ),
    "TransferOptions.timeout": (
        "Limit on all stages together, in seconds. 0: the downloader's `total_timeout`; -1: none. Default 0."
    ),
    "TransferOptions.queue_timeout": (
        "From submitting to the start of the transfer, in seconds. 0: the downloader's limit; -1: none. Default 0."
    ),
    "TransferOptions.connect_timeout": (
        "Name lookup, connect and TLS, in seconds. 0: the downloader's limit; -1: none. Default 0."
    ),
    "TransferOptions.first_byte_timeout": (
        "From the request being sent to the first byte of the response, in seconds. 0: the downloader's limit; "
        "-1: none. Default 0."
    ),
    "TransferOptions.download_timeout": (
        "Longest time without a byte, in seconds. 0: the downloader's limit, by default 15 seconds; -1: none. "
        "Default 0."
    ),
    "TransferOptions.low_speed_limit": (
        "Bytes a second: a slower transfer ends after `low_speed_time`. 0: the downloader's limit. Default 0."
    ),
    "TransferOptions.low_speed_time": (
        "Time over which the speed is averaged, in seconds. 0: the downloader's; -1: no lower limit on speed. "
        "Default 0."
    ),
    "TransferOptions.priority": (
        'A Priority or its name, "very_low" to "very_high". Default "normal", of prefetching "very_low".'
    ),
    "TransferOptions.headers": (
        "Header fields of this request, which replace the downloader's by name; None removes the downloader's. "
        "Default: none."
    ),
    "TransferOptions.referrer": "The Referer header field; one in `headers` overrides it. Default: none.",
    "TransferOptions.credential": "User and password, a token or a certificate. Default: the downloader's.",
    "TransferOptions.max_attempts": (
        "Transfers for this request, the first included, at most 1000. 0: as the downloader has it, for loads at "
        "least 2. Default 0."
    ),
    "TransferOptions.accepted_status_codes": (
        'Status codes that are no error: "200-299,304"; "*": all. Default: the downloader\'s.'
    ),
    "TransferOptions.accepted_content_types": (
        'Media types that are no error: "image/jpeg,image/png"; "image/" and "*" for all images; "*": all, also '
        "none. Default: the downloader's."
    ),
    "RequestOptions.integrity": (
        '"sha256-" and the SHA-256 that the body must have, in base64 or 64 hexadecimal digits. If it differs, '
        "the request ends with Detail.IMAGE_INTEGRITY. There are no previews. Default: no check."
    ),
    "RequestOptions.expected_bytes": "The size that the body must have. Default 0: any.",
    "TransferOptions.max_body_bytes": (
        "Largest body, after unpacking; may be above the downloader's limit. 0: the downloader's, by default 64 "
        "MiB. Default 0."
    ),
    "TransferOptions.redirects": (
        '"follow", "hand_out": a redirect is the response, "refuse": it is an error. Default "follow".'
    ),
    "TransferOptions.max_redirects": (
        "Most redirects to follow, at most 1000. 0: the downloader's limit, by default 10. Default 0."
    ),
    "TransferOptions.ca_file": (
        "PEM file of trusted certificates, in place of the downloader's. Connections are not shared with requests"
        " that have another file. Default: the downloader's."
    ),
    "RequestOptions.first_frame_only": (
        "Makes a still picture of an animated one. Overrides `preload_all_frames`. Default: False."
    ),
    "TransferOptions.http_cache": "Follows the rules of HTTP caches, RFC 9111: see `http_cache_in`. Default: False.",
    "TransferOptions.continue_in_background": (
        "Goes on during the grace time after the low layer's sdd_downloader_enter_background(). Default: False."
    ),
    "DownloadOptions.method": 'The method of HTTP. Default "GET".',
    "DownloadOptions.body": "The body to send; not with GET or HEAD. Default: none.",
    "DownloadOptions.range": 'Bytes wanted: "0-1023", "1024-" or "-512". The response has status 206. Default: all.',
    "DownloadOptions.ignore_cached_response": (
        "With `http_cache`: does not deliver the HTTP cache's entry. If it is still valid, or the same bytes "
        "arrive, the request ends with NotModified. Default: False."
    ),
    "LoadOptions.transforms": (
        "Transforms, one after the other: `resize()`, `crop()`, `flip()`, `rotate()`, `round_corners()`, `border()`, "
        "`tint()`, `blur()`. The result has a cache entry of its own. Default: none."
    ),
    "LoadOptions.alternatives": (
        "At most 64 URLs of the same picture, tried in order if the first fails. The first success is stored "
        "under the URL of the load. Default: none."
    ),
    "LoadOptions.cache_key": "The key in the cache. Default: made of the URL, see `Cache.key()`.",
    "LoadOptions.query": (
        'Cache levels in which the picture is looked for: "all", "memory", "disk" or "none". Default "all".'
    ),
    "LoadOptions.store": (
        'Cache levels in which the picture is stored: "all", "memory", "disk" or "none". Default "all".'
    ),
    "LoadOptions.original_query": (
        'Cache levels in which the original of a smaller or transformed picture is looked for: "all", "memory", '
        '"disk" or "none". Default "disk".'
    ),
    "LoadOptions.original_store": (
        'Cache levels in which the original of a smaller or transformed picture is stored: "all", "memory", '
        '"disk" or "none". Default "disk".'
    ),
    "StoreOptions.from_cache_only": (
        "Never uses the network: a picture that no cache has ends with NotCached. Default: False."
    ),
    "LoadOptions.refresh": (
        "Asks the server whether the cached picture is still valid. If it is, or has not changed, the load gives "
        "that. Default: False."
    ),
    "StoreOptions.retry_failed": "Loads the URL although it failed recently. Default: False.",
    "LoadOptions.transform_animated_image": (
        "Transforms animated pictures too, which makes them still. Default: False: they stay as they are."
    ),
    "RowOptions.ordered": (
        "Items come in the order of the URLs; a slow one holds up those after it. Default: False: as they are "
        "completed."
    ),
    "RowOptions.look_ahead": (
        "Most items that are running or wait to be taken, at most 65,536; their bodies and pictures are in "
        "memory. Default 64."
    ),
    "RowOptions.deadline": (
        "Limit on the whole batch, in seconds. Items that have not ended by then end with RequestTimeout. Default"
        " 0: none."
    ),
    "RowOptions.responses": "Whether items have their `response`, with its header fields. Default: False.",
    "BatchOptions.first_frame_only": "Makes still pictures of animated ones. Default: False.",
    "PrefetchOptions.first_frame_only": "Makes still pictures of animated ones. Default: False.",
    "Credential.username": "The user, with `password`: both or none.",
    "Credential.password": 'The password of `username`; "" for an empty one.',
    "Credential.bearer_token": "A token (RFC 6750), which is sent at once; not together with `username`.",
    "Credential.client_certificate": "PEM file of a certificate, for TLS.",
    "Credential.client_key": "PEM file of its key; None: it is in `client_certificate`.",
    "Credential.client_key_password": "The password of the key; None: it has none.",
    "NetworkOptions.max_redirects": "Most redirects of a request that are followed. Default 10.",
    "NetworkOptions.max_connections": "Connections open at a time, in use or idle. Default: no limit.",
    "NetworkOptions.max_connections_per_host": "Connections open at a time to one host. Default: no limit.",
    "NetworkOptions.receive_buffer_bytes": (
        "Size of the buffer that bodies are received in, 1024 to 524288. Default 65536."
    ),
    "NetworkOptions.min_tls_version": 'Lowest version of TLS, "1.0" to "1.3". Default "1.2".',
    "NetworkOptions.http_version": (
        '"1.0", "1.1", "2", "2-prior-knowledge": over plain TCP without negotiation, or "3": HTTP/3 where a host offers '
        'it. Default: HTTP/2 over TLS '
        "where the server has it, else 1.1."
    ),
    "NetworkOptions.allow_downgrade": "Follows redirects from https to http. Default: False.",
    "NetworkOptions.allow_file_urls": "Reads file: URLs, but never after a redirect. Default: False.",
    "NetworkOptions.ip_version": "4 or 6: connects to such addresses alone. Default: both.",
    "NetworkOptions.public_addresses_only": (
        "Refuses private, loopback and similar addresses, and uses no proxy: for URLs that are not trusted. "
        "Default: False."
    ),
    "NetworkOptions.address_exceptions": (
        'What `public_addresses_only` does not refuse: blocks of addresses ("10.1.0.0/16"), addresses '
        '("10.1.2.3") or hosts ("intranet"); the last two also with a port ("intranet:8080"). Default: none.'
    ),
    "NetworkOptions.proxy": (
        '"http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h. Not with '
        "`public_addresses_only`. Default: the environment's."
    ),
    "NetworkOptions.no_proxy": 'Hosts that are reached without `proxy`: "localhost,.example.org". Default: none.',
    "NetworkOptions.ignore_proxy_environment": "Uses no proxy, whatever http_proxy and the like say. Default: False.",
    "NetworkOptions.network_interface": 'The interface or address to connect from: "eth0", "192.0.2.7". Default: any.',
    "NetworkOptions.unix_socket_path": (
        "A Unix socket that is connected to in place of TCP; not with `public_addresses_only`. Default: none."
    ),
    "NetworkOptions.resolve": '"host:port:address[,address]", used in place of name lookups. Default: none.',
    "NetworkOptions.dns_servers": (
        '"192.0.2.53,192.0.2.54:5353"; needs a libcurl that is built with c-ares. Default: the system\'s.'
    ),
    "NetworkOptions.ca_file": "PEM file of trusted certificates. Default: the system's.",
    "NetworkOptions.ca_path": "Directory of such files, hashed by `openssl rehash`. Default: the system's.",
    "NetworkOptions.tcp_keepalive": (
        "Time of silence before the kernel probes whether the other end still responds, in seconds; -1: never. "
        "Default 60 seconds."
    ),
    "NetworkOptions.network_threads": (
        "Threads that use the network, at most 16, over which hosts are spread. Default 1, which does some 25,000"
        " small requests or 900 MB a second."
    ),
    "NetworkOptions.cookie_file": (
        "A file in Netscape's format, read at creation (it need not exist) and written at the end, with mode "
        "0600. Default: cookies are not kept."
    ),
    "NetworkOptions.no_data_urls": "Refuses data: URLs. Default: False.",
    "LimitOptions.low_speed_limit": (
        "Bytes a second: a transfer that is slower, averaged over `low_speed_time`, ends with "
        "Detail.TIMEOUT_SLOW. Default 100."
    ),
    "LimitOptions.low_speed_time": (
        "Time over which the speed is averaged; -1: no lower limit on speed. Default 60 seconds."
    ),
    "LimitOptions.max_header_bytes": "Bytes of the header fields of all responses of a request. Default 256 KiB.",
    "LimitOptions.max_header_count": "Header fields of all responses of a request. Default 1000.",
    "LimitOptions.max_scans": "Scans of a progressive JPEG. Default 500.",
    "LimitOptions.max_pixels": "Largest width * height. Default 128 Mi (134,217,728).",
    "ReportOptions.min_progress_interval": "Least time between two calls of `progress`, in seconds. Default 0.",
    "ReportOptions.min_progress_fraction": (
        "Least part of the whole body between two calls of `progress`, 0 to 1. Default 0."
    ),
    "ReportOptions.min_preview_interval": "Least time between two previews; -1: none. Default 0.1 seconds.",
    "ReportOptions.min_preview_bytes": "Least bytes of the body between two previews. Default 0.",
    "ReportOptions.min_preview_scans": "Least scans of a JPEG, or passes of a PNG, between two previews. Default 1.",
    "DownloaderOptions.decode_threads": (
        "Threads that decode. Default: the processors that the process may use, at most 8."
    ),
    "DownloaderOptions.execution_order": (
        'Which of the requests of one priority begins first: "fifo", the one that was submitted first, or "lifo",'
        ' the last one. Default "fifo".'
    ),
    "DownloaderOptions.accepted_status_codes": (
        'Status codes that are no error: "200-299,304"; "*": all. Default "200-299".'
    ),
    "DownloaderOptions.accepted_content_types": (
        'Media types that are no error: "image/jpeg,image/png"; "image/" and "*" for all images; "*": all, also '
        'none. Default "*".'
    ),
    "DownloaderOptions.credential": (
        "For requests without a credential of their own, whatever their host: set it only for a downloader that "
        "is used with one server. Default: none."
    ),
    "DownloaderOptions.headers": "Header fields of all requests. Default: none.",
    "DownloaderOptions.http_cache": "Whether all requests follow the rules of HTTP caches, RFC 9111. Default: False.",
    "DownloaderOptions.resume": "Whether all requests have `resume`. Default: False.",
    "DownloaderOptions.http_cache_in": "The cache for `http_cache` and `resume`. Default: the shared one.",
    "DownloaderOptions.no_installed_coders": (
        "Decodes without the coders that are installed beside the library. Default: False."
    ),
    "DownloaderOptions.isolated_decoding": (
        "True: decodes pictures in processes of their own, without files and network; False: in this one. Default: in "
        "this one, but for pictures that are programs, like SVG."
    ),
    "DownloaderOptions.log_level": (
        'Level of `logging` up to which messages go to the logger "sdd"; None: none. Default: that logger\'s level.'
    ),
    "CacheOptions.name": 'The cache is in $XDG_CACHE_HOME/sdd/NAME, or in ~/.cache/sdd/NAME. Default "default".',
    "CacheOptions.directory": "The directory, in place of `name`; made if it does not exist. Default: see `name`.",
    "CacheOptions.read_only_directories": (
        "Directories of caches, searched in this order for entries that `directory` does not have, and never "
        "changed. Default: none."
    ),
    "CacheOptions.levels": 'Levels that the cache has: "all", "memory" or "disk". Default "all".',
    "CacheOptions.no_live_images": (
        "Does not find a picture again that was evicted, even while the application holds it. Default: False."
    ),
    "CacheOptions.watch_memory_pressure": (
        "Trims memory, as `trim_memory()` does, when the kernel reports memory pressure. Default: False."
    ),
    "CacheOptions.max_memory_cost": (
        "Bytes that all pictures in memory take together; -1: no limit. Default: an eighth of the machine's "
        "memory, or of the cgroup's limit if that is less, between 16 MiB and 512 MiB."
    ),
    "CacheOptions.max_memory_count": "Pictures in memory. Default: no limit.",
    "CacheOptions.sync": (
        'Durability of written entries: "none": the system decides; "data": an entry\'s bytes are on disk before '
        'it appears; "full": so is the directory. Default "none".'
    ),
    "CacheOptions.max_disk_bytes": "Bytes of all files, as allocated; -1: no limit. Default 512 MiB.",
    "CacheOptions.max_disk_age": "Older entries are misses; in seconds, -1: no limit. Default 7 days.",
    "CacheOptions.disk_date": (
        'The date that an entry\'s age counts from: "access", its last use, or "modification", when it was stored.'
        ' Default "access".'
    ),
    "CacheOptions.trim_interval": (
        "How often old entries are looked for, in seconds; -1: only when `max_disk_bytes` is exceeded. Default 10"
        " minutes."
    ),
    "CacheOptions.max_part_age": "Age of parts that are kept for `resume`, in seconds; -1: no limit. Default 1 day.",
    "CacheOptions.max_part_bytes": "Bytes of parts that are kept for `resume`; -1: no limit. Default 256 MiB.",
    "CacheOptions.map_from_bytes": (
        "Entries with at least this many encoded bytes are mapped (mmap(2)) instead of read: no program may cut "
        "the files meanwhile. Default: none."
    ),
    "CacheOptions.ignored_query_parameters": (
        '"token,Expires,X-Amz-*": names, or beginnings of names, of query parameters that are left out of the '
        "keys of URLs; the fragment is then left out too. Default: none."
    ),
    "CacheOptions.max_queued_bytes": (
        "Bytes that entries may hold in memory until they are written; over it, the oldest that no caller waits "
        "for are dropped. -1: no limit. Default 128 MiB."
    ),
    "CacheOptions.destroy_timeout": "Longest time for which `close()` writes; -1: no limit. Default 10 seconds.",
    "CacheOptions.share_wait": "Longest wait for another process that downloads the same URL. Default 30 seconds.",
    "CacheOptions.no_share_wait": (
        "Does not wait for other processes: each downloads what it wants. Default: False."
    ),
    "Metrics.delivery": "From the end until the event loop, or the thread that waits, took the result; in seconds.",
    "Metrics.name_lookup": "The lookup of the host's name; in seconds.",
    "Metrics.is_end_unproven": (
        "Whether nothing proves that the body is complete: its length was not announced, and neither its packing nor "
        "its picture has an end. No cache stores such a body."
    ),
    "Metrics.connection_reused": "Whether no new connection was made.",
    "Metrics.remote_port": "The port of the server or proxy; 0 if there was no connection.",
    "Metrics.attempts": "Transfers started for this request. All other fields describe the last of them.",
    "Metrics.remote_address": (
        'The address of the server or proxy, "192.0.2.1" or "2001:db8::1"; "" if there was no connection.'
    ),
}
