"""Caches: decoded pictures in memory, encoded ones on disk."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from . import _constants as c
from ._closing import Closing, Owned
from ._constants import EntryState, ImageFormat
from ._errors import ClosedError, check
from ._fork import check_generation, generation
from ._help import takes
from ._image import Image
from ._interrupts import in_any_case
from ._loops import to_thread
from ._native import ffi, lib
from ._options import CacheOptions, PictureOptions
from ._plans import LEVELS, decode_options, names_of
from ._results import data_of, image_of
from ._structs import Choices, Struct
from ._transforms import Transform, transforms_of
from ._values import buffer, c_text, milliseconds, no_option, shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Levels

_SYNC = Choices("sync", none=c.SYNC_NONE, data=c.SYNC_DATA, full=c.SYNC_FULL)
_DATES = Choices("disk_date", access=c.DATE_ACCESS, modification=c.DATE_MODIFICATION)


@dataclass(frozen=True)
class CacheEntry:
    """An entry on disk: `Cache.entries()`."""

    key: str | None
    """None if the entry is damaged or foreign."""
    file: str
    """The name of its file, in the directory of the cache."""
    body_bytes: int | None
    """Encoded bytes; None if the entry is damaged or foreign."""
    disk_bytes: int
    """Bytes that its file takes, as allocated."""
    stored: float
    """Seconds since 1970, as from time.time()."""
    used: float
    """The last use that the disk knows of."""
    state: EntryState
    """Whether it is good, expired, damaged or foreign."""
    format: ImageFormat
    """The format of the bytes, or a number of a coder; NONE if it is unknown."""
    is_private: bool
    """For requests with credentials, cookies or an identity; no other request gets it."""


def _text(pointer: Any) -> str:
    text: bytes = ffi.string(pointer)
    return text.decode(errors="replace")


def _entry_of(entry: Any) -> CacheEntry:
    return CacheEntry(
        key=_text(entry.key) if entry.key else None,
        file=_text(entry.file),
        body_bytes=entry.body_bytes if entry.body_bytes >= 0 else None,
        disk_bytes=entry.disk_bytes,
        stored=entry.stored_ms / 1000,
        used=entry.used_ms / 1000,
        state=EntryState(entry.state),
        format=ImageFormat(entry.format),
        is_private=entry.is_private != 0,
    )


@takes("CacheOptions")
class Cache(Closing):
    """A cache of pictures in memory and in a directory, which any number of processes may share.

    `with` and `async with` close it; so do garbage collection and the end of the interpreter. Closing it writes what
    is not yet on disk. Methods that wait for the disk have two forms: `get()` is awaited, `get_sync()` waits.
    """

    def __init__(self, **options: Unpack[CacheOptions]) -> None:
        config = Struct("sdd_cache_config")
        given: dict[str, Any] = dict(options)
        for name in given.keys() - names_of(CacheOptions):
            raise no_option(name, names_of(CacheOptions), "of a cache")
        config.set_texts("read_only_directories", "read_only_count", given.pop("read_only_directories", None))
        for name, numbers in (("levels", LEVELS), ("sync", _SYNC), ("disk_date", _DATES)):
            if given.get(name) is not None:
                setattr(config.c, name, numbers.of(given.pop(name)))
        config.set_all(given)
        self._made_in = generation()
        self._owned: Owned | None = Owned(self, "sdd_cache", lib.sdd_cache_destroy)
        check(lib.sdd_cache_create(config.c, self._owned.place))
        self._handle = self._owned.place[0]

    @classmethod
    def shared(cls) -> Cache:
        """The shared cache of the process. Closing this object only writes what is not yet on disk."""
        made = cls.__new__(cls)
        made._handle = lib.sdd_cache_shared()
        made._made_in = generation()
        made._owned = None
        flush_shared_at_exit()
        return made

    def _usable(self) -> Any:
        check_generation(self._made_in, "cache")
        if self.closed:
            raise ClosedError("The cache is closed.", status=c.ERROR_CLOSED)
        return self._handle

    # ---- entries

    def put_sync(self, key: str, image: Image | None = None, data: bytes | memoryview | None = None, *,
                 extended: bytes | None = None, levels: Levels = "all") -> None:  # fmt: skip
        """Stores a picture, its encoded bytes or both, and waits until they are on disk.

        `extended` is data of the application's own that is kept with the bytes.
        """
        item = Struct("sdd_cache_item")
        item.c.key = item.keep(c_text(key, "key"))
        if image is not None:
            if not isinstance(image, Image):
                raise TypeError(f"image must be an Image, not {shown(image)}")
            item.c.image = item.keep(image._live())
        item.c.bytes = _new_bytes(item, "data", data)
        item.c.extended = _new_bytes(item, "extended", extended)
        item.c.levels = LEVELS.of(levels)
        check(lib.sdd_cache_put_wait(self._usable(), item.c))

    async def put(self, key: str, image: Image | None = None, data: bytes | memoryview | None = None, *,
                  extended: bytes | None = None, levels: Levels = "all") -> None:  # fmt: skip
        """`put_sync()` for event loops: waits in a worker thread."""
        await to_thread(self.put_sync, key, image, data, extended=extended, levels=levels)

    @takes("PictureOptions")
    def get_sync(self, key: str, *, levels: Levels = "all", **form: Unpack[PictureOptions]) -> Image | None:
        """The picture of a key, the original's, in the form that `form` names; None if there is none."""
        found = self._query(key, levels, c.WANT_IMAGE, dict(form))
        return image_of(found) if found and found.image else None

    @takes("PictureOptions")
    async def get(self, key: str, *, levels: Levels = "all", **form: Unpack[PictureOptions]) -> Image | None:
        """`get_sync()` for event loops: waits in a worker thread."""
        return await to_thread(self.get_sync, key, levels=levels, **form)

    def get_bytes_sync(self, key: str) -> memoryview | None:
        """The encoded bytes of a key, without a copy; None if there are none."""
        found = self._query(key, "disk", c.WANT_BYTES, {})
        return data_of(found) if found and found.bytes else None

    async def get_bytes(self, key: str) -> memoryview | None:
        """`get_bytes_sync()` for event loops: waits in a worker thread."""
        return await to_thread(self.get_bytes_sync, key)

    def _query(self, key: str, levels: str, wants: int, form: dict[str, Any]) -> Any:
        """The sdd_result of what is found; None on a miss."""
        query = Struct("sdd_cache_query_options")
        query.c.key = query.keep(c_text(key, "key"))
        query.set("decode", decode_options(form))
        if form:
            raise no_option(next(iter(form)), names_of(PictureOptions), "of a picture")
        query.c.levels, query.c.wants = LEVELS.of(levels), wants
        out = ffi.new("sdd_result **")
        status = lib.sdd_cache_query_wait(self._usable(), query.c, out)
        result = ffi.gc(out[0], lib.sdd_result_release)
        if status == c.ERROR_NOT_CACHED:
            return None
        check(status)
        return result

    def contains_sync(self, key: str, levels: Levels = "all") -> bool:
        """Whether one of the levels has an entry of exactly this key."""
        return bool(lib.sdd_cache_contains_wait(self._usable(), c_text(key, "key"), LEVELS.of(levels)))

    async def contains(self, key: str, levels: Levels = "all") -> bool:
        """`contains_sync()` for event loops: waits in a worker thread."""
        return await to_thread(self.contains_sync, key, levels)

    def remove_sync(self, key: str, levels: Levels = "all") -> None:
        """Removes the entry of a key."""
        check(lib.sdd_cache_remove_wait(self._usable(), c_text(key, "key"), LEVELS.of(levels)))

    async def remove(self, key: str, levels: Levels = "all") -> None:
        """`remove_sync()` for event loops: waits in a worker thread."""
        await to_thread(self.remove_sync, key, levels)

    def clear_sync(self, levels: Levels = "all") -> None:
        """Removes all entries."""
        check(lib.sdd_cache_clear_wait(self._usable(), LEVELS.of(levels)))

    async def clear(self, levels: Levels = "all") -> None:
        """`clear_sync()` for event loops: waits in a worker thread."""
        await to_thread(self.clear_sync, levels)

    # ---- keys

    @takes("PictureOptions")
    def key(self, url: str, *, transforms: Sequence[Transform] = (), **form: Unpack[PictureOptions]) -> str:
        """The key of a URL, or of a smaller or transformed picture of it."""
        decode, list_ = decode_options(dict(form)), transforms_of(transforms)
        return self._text(
            lib.sdd_cache_key, c_text(url, "url"), decode.c if decode else ffi.NULL, list_.array, list_.number
        )

    def path(self, key: str) -> str:
        """The path that the file of a key has, or would have."""
        return self._text(lib.sdd_cache_path, c_text(key, "key"))

    def _text(self, function: Any, *arguments: Any) -> str:
        """Calls a function that fills a buffer, which says first how large it must be."""
        length = ffi.new("size_t *")
        status = function(self._usable(), *arguments, ffi.NULL, 0, length)
        if status != c.ERROR_BUFFER_TOO_SMALL:
            check(status)
        buffer = ffi.new("char[]", length[0] + 1)
        check(function(self._usable(), *arguments, buffer, length[0] + 1, length))
        return ffi.string(buffer).decode()  # type: ignore[no-any-return]

    # ---- limits and statistics

    def flush_sync(self, timeout: float = -1) -> None:
        """Waits until the disk has all changes made before the call; at most `timeout` seconds, -1: no limit."""
        check(lib.sdd_cache_flush_wait(self._usable(), milliseconds("timeout", timeout)))

    async def flush(self, timeout: float = -1) -> None:
        """`flush_sync()` for event loops: waits in a worker thread."""
        await to_thread(self.flush_sync, timeout)

    def trim_memory(self, *, all: bool = False) -> None:
        """Removes the half of the pictures in memory that was used longest ago, or all. One that is still held is found
        again unless the cache was made with no_live_images; `clear()` leaves none.
        """
        check(lib.sdd_cache_trim_memory(self._usable(), c.TRIM_ALL if all else c.TRIM_HALF))

    def trim_disk_sync(self) -> None:
        """Removes entries that are too old, or too many."""
        check(lib.sdd_cache_trim_disk_wait(self._usable()))

    async def trim_disk(self) -> None:
        """`trim_disk_sync()` for event loops: waits in a worker thread."""
        await to_thread(self.trim_disk_sync)

    def entries_sync(
        self, *, check_bodies: bool = False, remove: Callable[[CacheEntry], bool] | None = None
    ) -> list[CacheEntry]:
        """The entries in the directory, in no order. Waits for the disk; entries that wait to be written are left out,
        see `flush()`. With check_bodies each body is compared with its checksum. Entries for which remove(entry) is
        true are removed from the disk. An exception of it ends the list, and is raised.
        """
        if remove is not None and not callable(remove):
            raise TypeError(f"remove must be a function of an entry, not {shown(remove)}")
        found: list[CacheEntry] = []
        errors: list[BaseException] = []

        def visit(entry: Any, user_data: Any) -> int:
            found.append(_entry_of(entry))
            return c.LIST_REMOVE if remove is not None and remove(found[-1]) else c.LIST_NEXT

        def fail(kind: Any, error: BaseException, trace: Any) -> None:
            errors.append(error.with_traceback(trace))

        # A signal handler may raise an exception before the first line of visit(), where no `try` of it would help.
        callback = ffi.callback("sdd_cache_list_fn", visit, error=c.LIST_STOP, onerror=fail)
        status = lib.sdd_cache_list_wait(self._usable(), c.LIST_CHECK if check_bodies else 0, callback, ffi.NULL)
        if errors:
            raise errors[0]
        check(status)
        return found

    async def entries(
        self, *, check_bodies: bool = False, remove: Callable[[CacheEntry], bool] | None = None
    ) -> list[CacheEntry]:
        """`entries_sync()` for event loops: waits in a worker thread, which also calls `remove`."""
        return await to_thread(partial(self.entries_sync, check_bodies=check_bodies, remove=remove))

    def statistics_sync(self) -> dict[str, int]:
        """Counts since creation, and the contents now: the fields of sdd_cache_statistics. Waits for the disk."""
        from ._downloader import statistics_of

        return statistics_of("sdd_cache_statistics", lib.sdd_cache_get_statistics_wait, self._usable())

    async def statistics(self) -> dict[str, int]:
        """`statistics_sync()` for event loops: waits in a worker thread."""
        return await to_thread(self.statistics_sync)

    # ---- the end

    def close(self) -> None:
        """Writes all stored entries and ends the cache, at most for the `destroy_timeout`, 10 seconds."""
        check_generation(self._made_in, "cache")
        if self._owned is None:
            self.flush_sync()
        else:
            in_any_case(self._owned.end)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._owned is not None and self._owned.is_over

    def _state(self) -> str:
        return "shared" if self._owned is None else "closed" if self.closed else ""

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Cache cannot be pickled; make one in each process, with the same directory")


_flushed_at_exit: set[int] = set()
"""The generations of processes that use the shared cache."""


def flush_shared_at_exit() -> None:
    """Has the shared cache written when the interpreter exits, for at most 10 seconds."""
    if not _flushed_at_exit:
        atexit.register(_flush_shared)
    _flushed_at_exit.add(generation())


def _flush_shared() -> None:
    if generation() in _flushed_at_exit:
        lib.sdd_cache_flush_wait(ffi.NULL, 10000)


def _new_bytes(owner: Struct, name: str, data: bytes | memoryview | None) -> Any:
    """An sdd_bytes with a copy of the data, which lives as long as `owner`."""
    if data is None:
        return ffi.NULL
    view = buffer(name, data)
    made = lib.sdd_bytes_create(ffi.from_buffer(view), view.nbytes)
    return owner.keep(ffi.gc(made, lib.sdd_bytes_release))
