"""Progress on standard error: the bar of tqdm on a terminal, otherwise a line from time to time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from ._progress import Progress

_SECONDS = 10.0
"""From one line to the next."""


@contextlib.contextmanager
def display(stream: TextIO | None, is_quiet: bool) -> Iterator[Callable[[Progress], object] | None]:
    """Gives the function that shows progress, or None. A stream that is closed or full ends no job."""
    if is_quiet or stream is None:
        yield None
        return
    tqdm = _tqdm() if stream.isatty() else None
    if tqdm is None:
        yield Lines(stream, _SECONDS)
        return
    with contextlib.closing(_Bar(tqdm, stream)) as bar:
        yield bar


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm


def _rest(progress: Progress) -> str:
    return f"{progress.failed} failed, {progress.bytes / 1e6:,.1f} MB"


class Lines:
    """Writes how much is done, and how fast it went since the line before."""

    def __init__(self, stream: TextIO, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._seconds, self._clock = stream, seconds, clock
        self._last = clock()
        self._done: int | None = None
        """URLs that were done at the last line, or when the job was started."""

    def __call__(self, progress: Progress) -> None:
        now = self._clock()
        if self._done is None:
            self._done = progress.done
        elif now - self._last >= self._seconds:
            speed = (progress.done - self._done) / (now - self._last)
            with contextlib.suppress(OSError):
                print(f"{progress.done} of {progress.total}, {speed:.1f} images/s, {_rest(progress)}",
                      file=self._stream, flush=True)  # fmt: skip
            self._last, self._done = now, progress.done


class _Bar:
    def __init__(self, tqdm: Any, stream: TextIO) -> None:
        self._tqdm, self._stream = tqdm, stream
        self._bar: Any = None

    def __call__(self, progress: Progress) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone
            self._show(progress)

    def _show(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=progress.total, initial=progress.done, unit=" images", file=self._stream,
                                   dynamic_ncols=True)  # fmt: skip
        self._bar.set_postfix_str(_rest(progress), refresh=False)
        self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.close()
