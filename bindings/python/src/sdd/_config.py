"""Turns the options of a downloader into sdd_downloader_config."""

from __future__ import annotations

import logging
import os
from typing import Any

from . import _constants as c
from ._cache import Cache
from ._options import DownloaderOptions, LimitOptions, NetworkOptions, ReportOptions, RetryOptions
from ._plans import credential_struct, names_of
from ._structs import Choices, Struct
from ._values import flag, no_option, number, shown

_TLS = Choices("min_tls_version", **{"1.0": c.TLS_1_0, "1.1": c.TLS_1_1, "1.2": c.TLS_1_2, "1.3": c.TLS_1_3})
_HTTP = Choices("http_version", **{"1.0": c.HTTP_1_0, "1.1": c.HTTP_1_1, "2": c.HTTP_2,
                                   "2-prior-knowledge": c.HTTP_2_PRIOR_KNOWLEDGE, "3": c.HTTP_3})  # fmt: skip
_ORDERS = Choices("execution_order", fifo=c.ORDER_FIFO, lifo=c.ORDER_LIFO)

# Options that are no fields of the same name, or not of their types.
_SPECIAL = frozenset((
    "min_tls_version", "http_version", "public_addresses_only", "ignore_proxy_environment", "address_exceptions",
    "resolve", "execution_order", "credential", "http_cache_in", "isolated_decoding",
))  # fmt: skip
_RETRY = {"retry_budget": "budget", "retry_delay": "delay", "max_retry_delay": "max_delay"}
_GROUPS = {
    "network": ("sdd_network_options", names_of(NetworkOptions)),
    "limits": ("sdd_limits", names_of(LimitOptions)),
    "retry": ("sdd_retry_options", names_of(RetryOptions)),
    "callbacks": ("sdd_callback_options", names_of(ReportOptions)),
}
_NAMES = names_of(DownloaderOptions)


def downloader_config(options: dict[str, Any]) -> Struct:
    """Takes all options but "headers" and "log_level"."""
    config = Struct("sdd_downloader_config")
    groups = {field: Struct(struct) for field, (struct, _) in _GROUPS.items()}
    for name, value in options.items():
        if name in _SPECIAL or name not in _NAMES:
            _set_special(config, groups["network"], name, value)
        else:
            field = next((field for field, (_, names) in _GROUPS.items() if name in names), None)
            struct = config if field is None else groups[field]
            struct.set(_RETRY.get(name, name), value, name)
    config.set_all(groups)
    return config


def _set_special(config: Struct, network: Struct, name: str, value: Any) -> None:
    if value is None and name in _NAMES:
        return
    if name == "isolated_decoding":
        config.c.decode_mode = c.DECODE_ISOLATED if flag(name, value) else c.DECODE_ALL_IN_PROCESS
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
