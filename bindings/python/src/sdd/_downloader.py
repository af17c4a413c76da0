"""Downloaders: requests to the network, without a cache of pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from . import _constants as c
from ._batch import Batch
from ._cache import flush_shared_at_exit
from ._closing import Closing
from ._config import downloader_config, log_level_of
from ._errors import check
from ._help import takes
from ._items import BytesItem, PictureItem
from ._native import ffi, lib
from ._plans import Plans, download_plan
from ._previews import Previews
from ._pump import Pump
from ._results import Result, picture_of, result_of
from ._structs import Struct
from ._values import c_text, flag, in_range, shown
from ._waiters import Preview, Progress, listener_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import BatchOptions, DownloaderOptions, DownloadOptions


_submit = lib.sdd_downloader_submit


@takes("DownloaderOptions")
class Downloader(Closing):
    """A queue of requests, a pool of connections, header fields, cookies, limits and threads.

    It may be used by any number of event loops and threads. `with` and `async with` close it; so do garbage
    collection and the end of the interpreter. An object made before a fork() raises ForkedError in the child.
    """

    _KIND = "downloader"
    """The member of sdd_batch_config."""

    def __init__(self, **options: Unpack[DownloaderOptions]) -> None:
        given: dict[str, Any] = dict(options)
        headers: Mapping[str, str | None] = given.pop("headers", None) or {}
        if not isinstance(headers, Mapping):
            raise TypeError(f"headers must be a dict of texts, not {shown(headers)}")
        level = log_level_of(given)
        self._cache = given.get("http_cache_in")  # kept alive
        if self._cache is None and (given.get("http_cache") or given.get("resume")):
            flush_shared_at_exit()
        self._pump = Pump(downloader_config(given), level)
        self._made_in = self._pump.made_in
        self._plans = Plans(download_plan)
        for name, value in headers.items():
            self.set_header(name, value)

    # ---- requests

    @takes("DownloadOptions")
    async def fetch(self, url: str, *, progress: Progress | None = None, preview: Preview | None = None,
                    **options: Unpack[DownloadOptions]) -> Result:  # fmt: skip
        """Downloads and decodes a picture. Cancelling the task cancels the request.

        `progress(received, expected)` and `preview(image)` are called on the loop's thread while it arrives.
        """
        pump, plan, listener = self._pump, self._plans.get(options), listener_of(progress, preview)
        return await pump.run(_submit, pump.handle, plan, url, listener.bits, result_of, listener)

    @takes("DownloadOptions")
    def fetch_sync(self, url: str, *, progress: Progress | None = None, preview: Preview | None = None,
                   **options: Unpack[DownloadOptions]) -> Result:  # fmt: skip
        """`fetch()` for plain threads: blocks until the end."""
        pump, plan, listener = self._pump, self._plans.get(options), listener_of(progress, preview)
        return pump.run_sync(_submit, pump.handle, plan, url, listener.bits, result_of, listener)

    @takes("DownloadOptions")
    async def fetch_bytes(
        self, url: str, *, progress: Progress | None = None, **options: Unpack[DownloadOptions]
    ) -> Result:
        """Downloads a body without decoding it: the result has `data` and no `image`."""
        pump, plan, listener = self._pump, self._plans.get(options), listener_of(progress)
        bits = listener.bits | c.OPTION_BYTES_ONLY
        return await pump.run(_submit, pump.handle, plan, url, bits, result_of, listener)

    @takes("DownloadOptions")
    def fetch_bytes_sync(
        self, url: str, *, progress: Progress | None = None, **options: Unpack[DownloadOptions]
    ) -> Result:
        """`fetch_bytes()` for plain threads: blocks until the end."""
        pump, plan, listener = self._pump, self._plans.get(options), listener_of(progress)
        bits = listener.bits | c.OPTION_BYTES_ONLY
        return pump.run_sync(_submit, pump.handle, plan, url, bits, result_of, listener)

    @takes("DownloadOptions")
    def previews(self, url: str, *, progress: Progress | None = None, **options: Unpack[DownloadOptions]) -> Previews:
        """Downloads a picture, and gives previews while it arrives, then the picture: for `async for` or `for`."""
        return Previews(self, _submit, self._plans.get(options), url, picture_of, progress)

    @takes("BatchOptions")
    def fetch_many(self, urls: Iterable[str], **options: Unpack[BatchOptions]) -> Batch[PictureItem]:
        """Downloads and decodes any number of pictures: for `async for` or `for`."""
        return Batch(urls, dict(options), self)

    @takes("BatchOptions")
    def fetch_many_bytes(self, urls: Iterable[str], **options: Unpack[BatchOptions]) -> Batch[BytesItem]:
        """Downloads any number of bodies without decoding them: for `async for` or `for`."""
        return Batch(urls, dict(options), self, bits=c.OPTION_BYTES_ONLY)

    def cancel_all(self) -> None:
        """Cancels every request: each ends with RequestCancelled."""
        self._pump.check_usable()
        check(lib.sdd_downloader_cancel_all(self._pump.handle))

    # ---- settings

    def _usable(self) -> Any:
        self._pump.check_usable()
        return self._pump.handle

    def set_header(self, name: str, value: str | None) -> None:
        """Sets a header field for all later requests; None removes it."""
        check(lib.sdd_set_header(self._usable(), c_text(name, "name"), _text_or_null("value", value)))

    def header(self, name: str) -> str | None:
        """The value of a header field of all requests; None if there is none."""
        length, memory = ffi.new("size_t *"), c_text(name, "name")
        status = lib.sdd_get_header(self._usable(), memory, ffi.NULL, 0, length)
        if status == c.ERROR_NOT_FOUND:
            return None
        if status != c.ERROR_BUFFER_TOO_SMALL:
            check(status)
        buffer = ffi.new("char[]", length[0] + 1)
        check(lib.sdd_get_header(self._usable(), memory, buffer, length[0] + 1, length))
        return ffi.string(buffer).decode("latin-1")  # type: ignore[no-any-return]

    def set_max_concurrent_downloads(self, count: int) -> None:
        """Changes how many transfers may run at a time."""
        check(lib.sdd_downloader_set_max_concurrent_downloads(self._usable(), in_range("count", count, 32)))

    def set_max_concurrent_per_host(self, count: int) -> None:
        """Changes how many transfers may run at a time to one host and port."""
        check(lib.sdd_downloader_set_max_concurrent_per_host(self._usable(), in_range("count", count, 32)))

    def suspend(self) -> None:
        """Stops starting transfers. Running ones go on."""
        check(lib.sdd_downloader_suspend(self._usable()))

    def resume(self) -> None:
        """Starts transfers again, after `suspend()`."""
        check(lib.sdd_downloader_resume(self._usable()))

    def set_offline(self, is_offline: bool) -> None:
        """Answers requests that use the HTTP cache from it alone."""
        check(lib.sdd_downloader_set_offline(self._usable(), flag("is_offline", is_offline)))

    def set_cookie(self, name: str, value: str, domain: str, *, path: str = "/", expires: float = 0,
                   include_subdomains: bool = False, secure: bool = False) -> None:  # fmt: skip
        """Adds a cookie for requests with `cookies`. `expires` is in seconds since 1970; 0: with the downloader."""
        cookie = Struct("sdd_cookie")
        cookie.set_all({"name": name, "value": value, "domain": domain, "path": path,
                        "include_subdomains": include_subdomains, "secure": secure, "expires": expires})  # fmt: skip
        check(lib.sdd_downloader_set_cookie(self._usable(), cookie.c))

    def clear_cookies(self, domain: str | None = None) -> None:
        """Removes the cookies of a domain and its subdomains; None: all."""
        check(lib.sdd_downloader_clear_cookies(self._usable(), _text_or_null("domain", domain)))

    def statistics(self) -> dict[str, int]:
        """Counts since creation, and the current state: the fields of sdd_statistics."""
        return statistics_of("sdd_statistics", lib.sdd_downloader_get_statistics, self._usable())

    # ---- the end

    def close(self) -> None:
        """Cancels all requests and waits for the end of the threads. What waits gets RequestCancelled."""
        self._pump.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._pump.is_closed

    def _state(self) -> str:
        return "closed" if self.closed else ""

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Downloader cannot be pickled; make one in each process")


def _text_or_null(name: str, value: str | None) -> Any:
    return ffi.NULL if value is None else c_text(value, name)


def statistics_of(name: str, function: Any, *handle: Any) -> dict[str, int]:
    """Calls a function that fills a struct of numbers, and returns them by name."""
    struct = Struct(name)
    check(function(*handle, struct.c))
    names = [field for field, _ in ffi.typeof(name).fields if field != "struct_size"]
    return {field: getattr(struct.c, field) for field in names}
