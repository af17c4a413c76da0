"""What tools/make_rust.py cannot see in the header: the builders of the crate `sdd`, and what their setters do."""

# The C structs, and the builders that hand them on.
BUILDERS = {
    "sdd_transfer_options": "TransferOptions",
    "sdd_download_request": "DownloadRequest",
    "sdd_load_request": "LoadRequest",
    "sdd_network_options": "Network",
    "sdd_limits": "Limits",
    "sdd_downloader_config": "DownloaderBuilder",
    "sdd_cache_config": "CacheBuilder",
    "sdd_batch_config": "BatchBuilder",
}
MACRO = "sdd_transfer_options"  # its setters are those of several builders, which have the options as a member

# Fields whose setters do more than to hand the value on, or set several fields.
BY_HAND = {
    "sdd_transfer_options": "low_speed_limit low_speed_time_ms",
    "sdd_download_request": "url method sink sink_fd",
    "sdd_load_request": "url query store original_query original_store",
    "sdd_network_options": "address_policy proxy_mode max_connections max_connections_per_host",
    "sdd_limits": "low_speed_limit low_speed_time_ms max_header_bytes max_header_count decode_time_ms "
                  "decode_time_ms_per_mib",
    "sdd_downloader_config": "delivery decode_mode",
    "sdd_cache_config": "disk_date map_from_bytes share_wait_ms no_share_wait max_part_bytes max_part_age_ms",
    "sdd_batch_config": "order deadline_ms",
}

# Setters with another name than their field.
NAMES = {
    "sdd_network_options.no_proxy": "no_proxy_for",
    "sdd_network_options.network_interface": "interface",
    "sdd_network_options.unix_socket_path": "unix_socket",
    "sdd_cache_config.sync": "durability",
}

ENUMS = {
    "sdd_priority": "Priority",
    "sdd_redirect_mode": "Redirects",
    "sdd_tls_version": "TlsVersion",
    "sdd_http_version": "HttpVersion",
    "sdd_ip_version": "IpVersion",
    "sdd_execution_order": "Order",
    "sdd_cache_levels": "Levels",
    "sdd_sync_mode": "Durability",
}

# What setters do. A new field needs no line here if the header's comment on it is a text for Rust, too.
DOCS = {
    "sdd_transfer_options": {
        "referrer": "Sets the Referer header field.",
        "accepted_status_codes": 'Sets the accepted HTTP status codes: "200-299,304", or "*" for all.',
        "accepted_content_types": 'Sets the accepted media types: "image/jpeg,image/png", "image/*", or "*" for all.',
        "max_body_bytes": "Limits the size of the body, in place of the downloader's limit, which 0 leaves.",
        "max_redirects": "Limits the number of redirects; 0: as the downloader does. `redirects` has none followed.",
        "redirects": "Says what becomes of redirects.",
        "max_attempts": (
            "Sets the number of transfers for one request, at most 1000; 0: as the downloader does, for a load at least 2."
        ),
        "ca_file": "Trusts the certificates in a PEM file, in place of the downloader's.",
        "queue_timeout_ms": "Limits the time from submitting to the start of the transfer; `None`: no limit.",
        "connect_timeout_ms": "Limits the time for name lookup, connect and TLS; `None`: no limit.",
        "first_byte_timeout_ms": (
            "Limits the time from the request being sent to the first byte of the response; `None`: no limit."
        ),
        "download_timeout_ms": "Limits the time without a byte; `None`: no limit.",
        "total_timeout_ms": "Limits the time of all stages together, from submitting to the end; `None`: no limit.",
    },
    "sdd_download_request": {
        "priority": "Sets the priority.",
        "range": 'Asks for a range of bytes: "0-1023", "1024-" or "-512".',
        "integrity": 'Requires a SHA-256 of the body: "sha256-" and base64 or 64 hexadecimal digits.',
        "expected_bytes": "Requires a size of the body.",
    },
    "sdd_load_request": {
        "priority": "Sets the priority.",
        "cache_key": "Sets the key in the cache, in place of one made from the URL.",
        "integrity": 'Requires a SHA-256 of the body: "sha256-" and base64 or 64 hexadecimal digits.',
        "expected_bytes": "Requires a size of the body.",
    },
    "sdd_network_options": {
        "ca_file": "Trusts the certificates in a PEM file, in place of the system's.",
        "ca_path": "Trusts the certificates in a directory that `openssl rehash` has prepared.",
        "min_tls_version": "Sets the lowest version of TLS.",
        "http_version": "Sets the version of HTTP that is requested.",
        "max_redirects": "Sets how many redirects are followed; the default is 10.",
        "allow_downgrade": "Follows redirects from https to http.",
        "allow_file_urls": "Reads file: URLs, but never after a redirect.",
        "no_data_urls": "Refuses data: URLs.",
        "ip_version": "Sets the IP versions to use.",
        "proxy": 'Uses a proxy: "http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h.',
        "no_proxy": 'Reaches these hosts without the proxy: "localhost,.example.org".',
        "network_interface": 'Connects from an interface or address: "eth0", "192.0.2.7".',
        "unix_socket_path": "Connects to a Unix socket in place of TCP.",
        "dns_servers": "Sets the DNS servers, if libcurl was built for it.",
        "dns_cache_ms": "Sets how long looked up names are kept; 60 seconds by default. `None`: for ever.",
        "max_idle_connections": "Sets how many idle connections are kept.",
        "tcp_keepalive_ms": (
            "Sets the silence before the kernel probes the other end, rounded up to seconds; 60 seconds by default. "
            "`None`: never."
        ),
        "receive_buffer_bytes": "Sets the size of the receive buffer, 1024 to 524288; 65536 by default.",
        "network_threads": (
            "Sets how many threads use the network, 1 to 16; 1 by default. Hosts are spread over them, so more than "
            "one helps only with several hosts, and where one thread is busy all the time: with some 25,000 small "
            "requests or 900 MB a second over TLS. The address filter is then called by several threads at a time."
        ),
        "cookie_file": "Keeps cookies in a file from one downloader to the next.",
    },
    "sdd_limits": {
        "queue_timeout_ms": "Limits the time from submitting to the start of the transfer; without limit by default.",
        "connect_timeout_ms": (
            "Limits the time for name lookup, connect and TLS; by default like the time without a byte."
        ),
        "first_byte_timeout_ms": (
            "Limits the time from the request being sent to the first byte of the response; without limit by default."
        ),
        "download_timeout_ms": "Limits the time without a byte; 15 seconds by default.",
        "total_timeout_ms": "Limits the time from submitting to the end; without limit by default.",
        "max_body_bytes": "Limits the size of a body after unpacking; 64 MiB by default.",
        "max_scans": "Limits the scans of a progressive JPEG; 500 by default.",
        "max_pixels": "Limits width times height; 134,217,728 by default.",
        "max_decode_bytes": (
            "Limits the memory for one picture while it is decoded; 1 GiB by default. `None`: no limit."
        ),
        "max_decode_ratio": (
            "Limits the memory for a picture of over 128 MiB, as a multiple of its body's size; 512 by default. "
            "`None`: no limit."
        ),
    },
    "sdd_downloader_config": {
        "max_concurrent_downloads": "Sets how many transfers run at a time; the default is 6.",
        "max_concurrent_per_host": "Sets how many transfers run at a time to one host and port; the default is 6.",
        "decode_threads": "Sets the number of decode threads; the default is that of the processors, at most 8.",
        "execution_order": "Sets the order in which requests of the same priority begin.",
        "reserved_urgent_slots": "Keeps slots for requests of high priority.",
        "ageing_ms": (
            "Counts a request that has waited this long as one priority higher, and again each time this much longer."
        ),
        "min_host_interval_ms": (
            "Sets the least time from one start of a transfer to the next to the same host and port."
        ),
        "accepted_status_codes": "Sets the accepted HTTP status codes of requests that do not say.",
        "accepted_content_types": "Sets the accepted media types of requests that do not say.",
        "http_cache": "Lets all requests use the HTTP cache.",
        "resume": "Lets all requests keep and continue bodies that break off.",
        "no_installed_coders": (
            "Decodes without the coders that are installed beside the library, and does not ask servers for their "
            "formats."
        ),
    },
    "sdd_cache_config": {
        "name": 'Sets the name of a directory in `~/.cache/sdd`; the default is "default".',
        "directory": "Sets the directory, in place of a name. It is made if it does not exist.",
        "levels": "Sets the levels that the cache has.",
        "no_live_images": "Does not find evicted pictures while the application still holds them.",
        "max_memory_cost": (
            "Limits the bytes of all pictures in memory; by default an eighth of the machine's memory, at most 512 "
            "MiB. `None`: no limit."
        ),
        "max_memory_count": "Limits the number of pictures in memory.",
        "watch_memory_pressure": "Trims memory when the kernel reports memory pressure.",
        "sync": "Sets how durable written entries are.",
        "max_disk_bytes": "Limits the bytes of all files; 512 MiB by default. `None`: no limit.",
        "max_disk_age_ms": "Limits the age of entries; 7 days by default. `None`: no limit.",
        "low_water_percent": "Sets the percentage of the largest size that a trim leaves; 50 by default.",
        "trim_interval_ms": (
            "Sets how often old entries are looked for; 10 minutes by default. `None`: only when the cache is too "
            "large."
        ),
        "ignored_query_parameters": 'Leaves query parameters out of the keys of URLs: "token,Expires,X-Amz-*".',
        "max_queued_bytes": (
            "Limits the bytes of entries that wait to be written; 128 MiB by default. `None`: no limit."
        ),
        "destroy_timeout_ms": (
            "Limits the time that dropping the cache takes for writing; 10 seconds by default. `None`: no limit."
        ),
    },
    "sdd_batch_config": {
        "look_ahead": "Sets how many items may be under way or wait to be taken; 64 by default, at most 65,536.",
        "priority": "Sets the priority of all items.",
        "responses": "Gives the reports of items their response: [`Report::response`](crate::Report).",
    },
}
