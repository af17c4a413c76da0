"""Loaders: a cache in front of a downloader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from . import _constants as c
from ._batch import Batch
from ._cache import Cache, flush_shared_at_exit
from ._closing import Closing, Owned
from ._downloader import Downloader
from ._errors import ClosedError, check
from ._fork import check_generation
from ._help import takes
from ._image import Image
from ._interrupts import in_any_case
from ._items import PictureItem
from ._native import ffi, lib
from ._plans import Plans, load_plan
from ._prefetch import PrefetchReport, prefetch_plan
from ._previews import Previews
from ._results import Result, picture_of, result_of
from ._structs import Choices, Struct
from ._values import c_text, flag, shown
from ._waiters import Preview, Progress, listener_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import BatchOptions, DownloaderOptions, LoadOptions, PrefetchOptions

_POLICIES = Choices("fail_policy", back_off=c.FAIL_POLICY_BACK_OFF, sdwebimage=c.FAIL_POLICY_SDWEBIMAGE,
                    none=c.FAIL_POLICY_NONE)  # fmt: skip


_submit = lib.sdd_loader_submit


@takes("DownloaderOptions")
class Loader(Closing):
    """Loads pictures from a cache, or from the network, and stores them.

    Without `cache` it uses the shared one of the process, in ~/.cache/sdd/default. Without `downloader` it makes one,
    with `options`, and closes it when it is closed. It may be used by any number of event loops and threads. `with`
    and `async with` close it; so do garbage collection and the end of the interpreter. An object made before a fork()
    raises ForkedError in the child.
    """

    _KIND = "loader"
    """The member of sdd_batch_config."""

    def __init__(
        self, *, downloader: Downloader | None = None, cache: Cache | None = None,
        original_cache: Cache | None = None, no_cache: bool = False,
        fail_policy: Literal["back_off", "sdwebimage", "none"] = "back_off", **options: Unpack[DownloaderOptions],
    ) -> None:  # fmt: skip
        if downloader is not None and options:
            raise TypeError("options are for the loader's own downloader; `downloader` has its own")
        for given, kind in ((downloader, Downloader), (cache, Cache), (original_cache, Cache)):
            if given is not None and not isinstance(given, kind):
                raise TypeError(f"a {kind.__name__} is needed, not {shown(given)}")
        self._own = Downloader(**options) if downloader is None else None
        self.downloader: Downloader = downloader or self._own  # type: ignore[assignment]
        self._caches = (cache, original_cache)
        if cache is None and not no_cache:
            flush_shared_at_exit()
        config = Struct("sdd_loader_config")
        config.c.downloader = self.downloader._usable()
        config.c.cache = cache._usable() if cache else ffi.NULL
        config.c.original_cache = original_cache._usable() if original_cache else ffi.NULL
        config.set_all({"no_cache": flag("no_cache", no_cache), "fail_policy": _POLICIES.of(fail_policy)})
        self._owned = Owned(self, "sdd_loader", lib.sdd_loader_destroy)
        check(lib.sdd_loader_create(config.c, self._owned.place))
        self._handle = self._owned.place[0]
        self._pump = self.downloader._pump
        self._made_in = self._pump.made_in
        self._plans = Plans(load_plan)

    # ---- loads

    @takes("LoadOptions")
    async def load(self, url: str, *, progress: Progress | None = None, preview: Preview | None = None,
                   **options: Unpack[LoadOptions]) -> Image:  # fmt: skip
        """Loads a picture. Cancelling the task cancels the load.

        `progress(received, expected)` is called on the loop's thread; `expected` is None while it is unknown. So is
        `preview(image)`, with each preview while the picture arrives.
        """
        plan, listener = self._plans.get(options), listener_of(progress, preview)
        return await self._pump.run(_submit, self._handle, plan, url, listener.bits, picture_of, listener)

    @takes("LoadOptions")
    def load_sync(self, url: str, *, progress: Progress | None = None, preview: Preview | None = None,
                  **options: Unpack[LoadOptions]) -> Image:  # fmt: skip
        """`load()` for plain threads: blocks until the end. `progress` is called on this thread."""
        plan, listener = self._plans.get(options), listener_of(progress, preview)
        return self._pump.run_sync(_submit, self._handle, plan, url, listener.bits, picture_of, listener)

    @takes("LoadOptions")
    async def fetch(self, url: str, *, progress: Progress | None = None, preview: Preview | None = None,
                    **options: Unpack[LoadOptions]) -> Result:  # fmt: skip
        """Loads a picture, and gives it with its bytes, response, metrics and origin."""
        plan, listener = self._plans.get(options), listener_of(progress, preview)
        return await self._pump.run(_submit, self._handle, plan, url, listener.bits, result_of, listener)

    @takes("LoadOptions")
    def fetch_sync(self, url: str, *, progress: Progress | None = None, preview: Preview | None = None,
                   **options: Unpack[LoadOptions]) -> Result:  # fmt: skip
        """`fetch()` for plain threads: blocks until the end."""
        plan, listener = self._plans.get(options), listener_of(progress, preview)
        return self._pump.run_sync(_submit, self._handle, plan, url, listener.bits, result_of, listener)

    @takes("LoadOptions")
    def previews(self, url: str, *, progress: Progress | None = None, **options: Unpack[LoadOptions]) -> Previews:
        """Loads a picture, and gives previews while it arrives, then the picture: for `async for` or `for`."""
        return Previews(self, _submit, self._plans.get(options), url, picture_of, progress)

    @takes("BatchOptions")
    def load_many(self, urls: Iterable[str], **options: Unpack[BatchOptions]) -> Batch[PictureItem]:
        """Loads any number of pictures, a few at a time: for `async for` or `for`. `urls` may be endless."""
        return Batch(urls, dict(options), self)

    # ---- prefetching

    @takes("PrefetchOptions")
    async def prefetch(
        self, urls: Iterable[str], *, to: Literal["memory", "disk"] = "memory", progress: Progress | None = None,
        **options: Unpack[PrefetchOptions],
    ) -> PrefetchReport:  # fmt: skip
        """Loads pictures behind all other requests, into memory and disk or into disk alone.

        `progress(finished, total)` counts URLs.
        """
        plan, make = prefetch_plan(urls, to, dict(options))
        return await self._pump.run(lib.sdd_prefetch, self._handle, plan, "", 0, make, listener_of(progress))

    @takes("PrefetchOptions")
    def prefetch_sync(
        self, urls: Iterable[str], *, to: Literal["memory", "disk"] = "memory", progress: Progress | None = None,
        **options: Unpack[PrefetchOptions],
    ) -> PrefetchReport:  # fmt: skip
        """`prefetch()` for plain threads: blocks until the end."""
        plan, make = prefetch_plan(urls, to, dict(options))
        return self._pump.run_sync(lib.sdd_prefetch, self._handle, plan, "", 0, make, listener_of(progress))

    # ---- failed URLs

    def _usable(self) -> Any:
        self._pump.check_usable()
        if self._owned.is_over:
            raise ClosedError("The loader is closed.", status=c.ERROR_CLOSED)
        return self._handle

    def is_blocked(self, url: str) -> bool:
        """Whether the URL has failed recently, so that loads of it fail at once."""
        return bool(lib.sdd_loader_is_blocked(self._usable(), c_text(url, "url")))

    def remove_failed_url(self, url: str) -> None:
        """Lets a URL be loaded again although it failed."""
        check(lib.sdd_loader_remove_failed_url(self._usable(), c_text(url, "url")))

    def remove_all_failed_urls(self) -> None:
        """Lets all URLs be loaded again that failed."""
        check(lib.sdd_loader_remove_all_failed_urls(self._usable()))

    @property
    def running_count(self) -> int:
        """Loads that have not ended."""
        return lib.sdd_loader_running_count(self._usable())  # type: ignore[no-any-return]

    def cancel_all(self) -> None:
        """Cancels every load: each ends with RequestCancelled."""
        check(lib.sdd_loader_cancel_all(self._usable()))

    # ---- the end

    def close(self) -> None:
        """Cancels all loads, and waits for the end of the loader's own downloader."""
        check_generation(self._pump.made_in, "loader")
        in_any_case(self._owned.end)
        if self._own is not None:
            self._own.close()

    @property
    def closed(self) -> bool:
        """Whether it, or its downloader, was closed."""
        return self._owned.is_over or self._pump.is_closed

    def _state(self) -> str:
        return "closed" if self.closed else f"{self.running_count} running"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Loader cannot be pickled; make one in each process")
