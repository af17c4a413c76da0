"""Turns the options of a downloader into sdd_downloader_config."""

from __future__ import annotations

import logging
import os
from typing import Any

from . import _constants as c
from ._cache import Cache
from ._options import DownloaderOptions
from ._plans import credential_struct, names_of
from ._structs import Choices, Struct
from ._values import flag, no_option, number, shown

_TLS = Choices("min_tls_version", **{"1.0": c.TLS_1_0, "1.1": c.TLS_1_1, "1.2": c.TLS_1_2, "1.3": c.TLS_1_3})
_HTTP = Choices("http_version", **{"1.0": c.HTTP_1_0, "1.1": c.HTTP_1_1, "2": c.HTTP_2,
                                   "2-prior-knowledge": c.HTTP_2_PRIOR_KNOWLEDGE})  # fmt: skip
_ORDERS = Choices("execution_order", fifo=c.ORDER_FIFO, lifo=c.ORDER_LIFO)

# Options with the same name in the group, which the config lacks.
_NETWORK = frozenset((
    "ca_file", "ca_path", "max_redirects", "allow_downgrade", "allow_file_urls", "no_data_urls", "ip_version", "proxy",
    "no_proxy", "network_interface", "unix_socket_path", "dns_servers", "dns_cache", "max_connections",
    "max_connections_per_host", "max_idle_connections", "tcp_keepalive", "receive_buffer_bytes",
    "network_threads", "cookie_file",
))  # fmt: skip
_LIMITS = frozenset((
    "queue_timeout", "connect_timeout", "first_byte_timeout", "download_timeout", "total_timeout", "low_speed_limit",
    "low_speed_time", "max_body_bytes", "max_header_bytes", "max_header_count", "max_scans", "max_pixels",
    "decode_time", "max_decode_bytes", "max_decode_ratio",
))  # fmt: skip
_RETRY = {"max_attempts": "max_attempts", "retry_budget": "budget", "retry_delay": "delay",
          "max_retry_delay": "max_delay"}  # fmt: skip
_REPORTS = frozenset(("min_progress_fraction", "min_progress_interval", "min_preview_interval", "min_preview_bytes",
                      "min_preview_scans"))  # fmt: skip
_PLAIN = frozenset((
    "max_concurrent_downloads", "max_concurrent_per_host", "decode_threads", "reserved_urgent_slots", "ageing",
    "min_host_interval", "accepted_status_codes", "accepted_content_types", "http_cache", "resume",
    "no_installed_coders",
))  # fmt: skip


_NAMES = names_of(DownloaderOptions)


def downloader_config(options: dict[str, Any]) -> Struct:
    """Takes all options but "headers" and "log_level"."""
    config = Struct("sdd_downloader_config")
    network, limits = Struct("sdd_network_options"), Struct("sdd_limits")
    retry, reports = Struct("sdd_retry_options"), Struct("sdd_callback_options")
    for name, value in options.items():
        if name in _NETWORK:
            network.set(name, value)
        elif name in _LIMITS:
            limits.set(name, value)
        elif name in _RETRY:
            retry.set(_RETRY[name], value, name)
        elif name in _REPORTS:
            reports.set(name, value)
        elif name in _PLAIN:
            config.set(name, value)
        else:
            _set_special(config, network, name, value)
    config.set_all({"network": network, "limits": limits, "retry": retry, "callbacks": reports})
    return config


def _set_special(config: Struct, network: Struct, name: str, value: Any) -> None:
    if value is None and name in _NAMES:
        return
    if name == "isolated_decoding":
        config.c.decode_mode = c.DECODE_ISOLATED if flag(name, value) else c.DECODE_IN_PROCESS
    elif name == "min_tls_version":
        network.c.min_tls_version = _TLS.of(value)
    elif name == "http_version":
        network.c.http_version = _HTTP.of(value)
    elif name == "public_addresses_only":
        network.c.address_policy = c.ADDRESS_PUBLIC_ONLY if flag(name, value) else c.ADDRESS_ANY
    elif name == "ignore_proxy_environment":
        network.c.proxy_mode = c.PROXY_NONE if flag(name, value) else c.PROXY_ENVIRONMENT
    elif name == "address_exceptions":
        network.set_texts("address_exceptions", "address_exception_count", value)
    elif name == "resolve":
        network.set_texts("resolve", "resolve_count", value)
    elif name == "execution_order":
        config.c.execution_order = _ORDERS.of(value)
    elif name == "credential":
        config.set("credential", credential_struct(value))
    elif name == "http_cache_in":
        if not isinstance(value, Cache):
            raise TypeError(f"http_cache_in must be a Cache, not {shown(value)}")
        config.c.cache = config.keep(value)._usable()
    else:
        raise no_option(name, _NAMES, "of a downloader")


def log_level_of(options: dict[str, Any]) -> int:
    """Removes "log_level", a level of `logging`, and returns that of the header."""
    if "log_level" not in options and os.environ.get("SDD_LOG"):
        return c.LOG_NONE  # the library writes to standard error
    level = options.pop("log_level", logging.getLogger("sdd").getEffectiveLevel())
    if level is None:
        return c.LOG_NONE
    level = number("log_level, a level such as logging.INFO,", level)
    if level > logging.ERROR:
        return c.LOG_NONE
    if level > logging.WARNING:
        return c.LOG_ERROR
    if level > logging.INFO:
        return c.LOG_WARNING
    return c.LOG_INFO if level > logging.DEBUG else c.LOG_DEBUG
