"""The one downloader of a process. It is made when it is first needed, and made anew in the child of a fork."""

from __future__ import annotations

import os
import threading

from .._downloader import Downloader
from ._options import JobOptions

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
    made = options.downloader_options()
    key = repr(sorted(made.items()))
    with _lock:
        downloader = _downloaders.get(key)
        if downloader is None or downloader.closed:
            downloader = _downloaders[key] = Downloader(**made)
        return downloader
