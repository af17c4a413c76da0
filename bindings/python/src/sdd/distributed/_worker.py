"""What an engine calls: downloads one lane of a plan."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from .._batch import Batch
from .._items import Item
from .._values import fits_c
from ._failures import Failure, FailureStatus, Rejected, failure_of
from ._options import JobOptions
from ._pictures import convert
from ._plan import load_plan
from ._process import downloader_of_process
from ._progress import Tally
from ._report import JobReport, ShardReport
from ._shards import ShardWriter, is_done, remove_leftovers, stats_file

_WITH_VALUES = frozenset(("max-image-preview", "max-snippet", "max-video-preview", "unavailable_after"))
"""Directives that a colon and a value follow, as the directives for one robot follow its name."""
_NONE = ("noindex", "nofollow")
"""What the directive "none" stands for."""
_NO_URL = Failure("failed_to_download", "RequestError", "INVALID_URL", "", 0, "The row has no URL.")


class ShardWorker:
    """A picklable function for engines: `worker(lane)` makes the shards of a lane that are not done yet.

    It returns the reports of all shards of the lane. Each process has one downloader, whatever number of lanes it works
    on. A lane that is called again after an error, or in another process after a crash, goes on after the last shard
    that was done.
    """

    def __init__(self, options: JobOptions) -> None:
        if not isinstance(options, JobOptions):
            raise TypeError(f"options must be a JobOptions, not {options!r}")
        self.options = options

    def __call__(self, lane: int) -> list[ShardReport]:
        return make_lane(self.options, lane)

    def __repr__(self) -> str:
        return f"ShardWorker({self.options.url_list!r} -> {self.options.output_folder!r})"


def make_lane(options: JobOptions, lane: int, tally: Tally | None = None) -> list[ShardReport]:
    """Makes what is not done of a lane. Rows are counted as they end, with those of shards that are done."""
    plan = load_plan(options)
    shards = plan.shards_of(lane)
    with plan.locked(lane):
        todo = [shard for shard in shards if not is_done(shard, options)]
        if tally:
            done = set(shards).difference(todo)
            tally.add(JobReport.of(ShardReport.read(stats_file(shard, options)) for shard in done))
        for shard in todo:
            remove_leftovers(shard, options)
        if todo:
            _Lane(options, (ShardWriter(plan, shard, options) for shard in todo), tally).run()
    return [ShardReport.read(stats_file(shard, options)) for shard in shards]


class _Lane:
    """Several threads take bodies from one batch, make pictures of them, and write these, one at a time."""

    def __init__(self, options: JobOptions, shards: Iterator[ShardWriter], tally: Tally | None) -> None:
        self._options, self._shards, self._tally = options, shards, tally
        self._downloader = downloader_of_process(options)
        self._directives = frozenset(text.strip().lower() for text in options.disallowed_header_directives)
        if not self._directives.isdisjoint(_NONE):
            self._directives |= {"none"}
        self._look_ahead = options.look_ahead or 2 * options.thread_count
        self._open: list[ShardWriter] = []
        # The next shard begins while the last URLs of the one before are slow.
        self._most_open = 2 + self._look_ahead // options.number_sample_per_shard
        self._current: ShardWriter | None = None
        """The shard whose URLs are given, and the next row."""
        self._row = 0
        self._is_over = False
        self._given: dict[int, tuple[ShardWriter, int]] = {}
        """The rows of URLs under way, by the index of their item."""
        self._take, self._write = threading.Lock(), threading.RLock()
        """Held while an item is awaited, which also asks for URLs; held while shards are written, after the other."""
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._is_over:
                self._run_batch()
        except BaseException:
            for shard in self._open:
                shard.discard()
            raise

    def _run_batch(self) -> None:
        """A batch ends with the list, or when the slow URLs of a shard must be waited for."""
        with self._downloader.fetch_many_bytes(
            self._urls(), look_ahead=self._look_ahead, responses=bool(self._directives)
        ) as batch:
            items = iter(batch)
            threads = [threading.Thread(target=self._work, args=(batch, items), name="sdd-transform")
                       for _ in range(self._options.transform_threads - 1)]  # fmt: skip
            for thread in threads:
                thread.start()
            try:
                self._work(batch, items)
            finally:
                for thread in threads:
                    thread.join()
        if self._error is not None:
            raise self._error

    # ---- URLs

    def _urls(self) -> Iterator[str]:
        """Asked for by the thread that takes items. Ends a batch before too many shards are open."""
        self._given.clear()
        index = 0
        while self._error is None:
            with self._write:
                if self._current is None and not self._begin_shard():
                    return
                shard, row = self._current, self._row
                assert shard is not None
                self._row += 1
                if self._row == shard.count:
                    self._current = None
                url = shard.urls[row]
                if url is None or not fits_c(url):
                    self._fail(shard, row, _NO_URL, 0)
                    continue
            self._given[index] = shard, row
            index += 1
            yield url

    def _begin_shard(self) -> bool:
        if len(self._open) >= self._most_open:
            return False
        self._current, self._row = next(self._shards, None), 0
        if self._current is None:
            self._is_over = True
            return False
        self._open.append(self._current)
        return True

    # ---- items

    def _work(self, batch: Batch[Item], items: Iterator[Item]) -> None:
        try:
            while True:
                with self._take:
                    item = next(items, None)
                if item is None:
                    return
                self._finish(item)
        except BaseException as error:
            if self._error is None:
                self._error = error
            batch.close()  # the other threads stop waiting, with ClosedError

    def _finish(self, item: Item) -> None:
        shard, row = self._given.pop(item.index)
        status: FailureStatus = "failed_to_download"
        try:
            if item.error is not None:
                raise item.error
            self._check_directives(item)
            body = item.data if item.data is not None else memoryview(b"")
            status = "failed_to_resize"
            picture = convert(body, self._options, shard.expected_digest(row))
        except Exception as error:
            failure = failure_of(error, status, item.http_status)
            with self._write:
                self._fail(shard, row, failure, item.metrics.attempts)
        else:
            with self._write:
                if self._tally:
                    self._tally.count_row(body_bytes=len(body))
                self._end(shard, shard.succeed(row, picture, len(body), item.metrics.attempts))

    def _fail(self, shard: ShardWriter, row: int, failure: Failure, attempts: int) -> None:
        if self._tally:
            self._tally.count_row(is_failed=True)
        self._end(shard, shard.fail(row, failure, attempts))

    def _end(self, shard: ShardWriter, is_complete: bool) -> None:
        if is_complete:
            shard.commit()
            self._open.remove(shard)

    def _check_directives(self, item: Item) -> None:
        if not self._directives or item.response is None:
            return
        for name, value in item.response.headers:
            if name.lower() != "x-robots-tag":
                continue
            for directive in _directives_of(value, self._options.user_agent_token):
                if directive in self._directives:
                    raise Rejected("DISALLOWED_BY_HEADER", f"X-Robots-Tag says {directive}.", "failed_to_download")


def _directives_of(tag: str, token: str | None) -> Iterator[str]:
    """The directives of an X-Robots-Tag for every robot or that of the token: "noai, max-snippet: 0", "robot: noai"."""
    robot = "*"
    for part in tag.lower().split(","):
        name, colon, rest = part.strip().partition(":")
        if colon and name not in _WITH_VALUES and " " not in name:  # a date has spaces
            robot, name = name, rest.partition(":")[0].strip()
        if robot == "*" or token is not None and robot == token.lower():
            yield name
