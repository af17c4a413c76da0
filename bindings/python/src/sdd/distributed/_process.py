"""The one downloader of a process. It is made when it is first needed, and made anew in the child of a fork."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import threading
from typing import Any

from .._downloader import Downloader
from ._options import JobOptions

_log = logging.getLogger("sdd.distributed")
_EACH = 4
"""Most descriptors that a transfer takes: three while a name is looked up, and a connection that stays open."""
_SPARE = 64
"""Descriptors for the files of shards and the library's own."""
_lock = threading.Lock()
_downloaders: dict[str, Downloader] = {}
"""By the text of their options. More than one only if a process works for several jobs."""


def _forget() -> None:
    global _lock
    _lock = threading.Lock()
    _downloaders.clear()  # they belong to the parent, and refuse to work here


os.register_at_fork(after_in_child=_forget)


def downloader_of_process(options: JobOptions) -> Downloader:
    """Shared by all lanes of the process, so that its limits hold for all of them."""
    made: dict[str, Any] = dict(options.downloader_options())
    key = repr(sorted(made.items()))
    with _lock:
        downloader = _downloaders.get(key)
        if downloader is None or downloader.closed:
            made["max_concurrent_downloads"] = _possible(made["max_concurrent_downloads"])
            downloader = _downloaders[key] = Downloader(**made)
        return downloader


def _possible(transfers: int) -> int:
    """How many transfers at a time the descriptors of this process are enough for, up to a number that is wanted.

    Its soft limit is raised as far as they need it, as servers do.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    other = len(os.listdir("/proc/self/fd")) + _SPARE
    needed = other + _EACH * transfers
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return transfers
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with contextlib.suppress(OSError, ValueError):  # over fs.nr_open, for instance
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    possible = max(1, min(transfers, (soft - other) // _EACH))
    if possible < transfers:
        _log.warning("%d transfers at a time need %d descriptors, and this process may have %d (ulimit -Hn): there are "
                     "%d at a time", transfers, needed, soft, possible)  # fmt: skip
    return possible
