"""The plan of a job: which URLs are in which shard, and which shards are in which lane. It is made once, on disk."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .._downloader import Downloader
from . import _disk, _lists
from ._arrow import compute
from ._hosts import HostCounts, Placing, hosts_of
from ._options import JobOptions

_FOLDER = "_plan"
_FILE = "plan.json"
_VERSION = 1
_SPOOL_ROWS = 1 << 20
"""Rows that are in memory at a time while the list is distributed."""
_SPOOL_BYTES = 1 << 30
_LARGE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
"""Types of columns whose texts may have more than 2 GiB together, as those of a lane may."""
_SMALL = {large: small for small, large in _LARGE.items()}
_LANE, _PLACE = "__lane", "__place"


class PlanMismatch(ValueError):
    """The output folder belongs to a job with another list or other options."""


@dataclass(frozen=True)
class Plan:
    """Lanes are the units of work of an engine: shards that are made one after the other.

    All URLs of a host are in one lane, unless `host_lanes` says otherwise. One lane is worked on by one process at a
    time, whose downloader limits the requests to the host: so the limits hold for the whole job.
    """

    folder: Path
    rows: int
    hosts: int
    first_shards: tuple[int, ...]
    """The number of the first shard of each lane, and at the end that of all shards."""
    digits: int
    """Digits of a row's number within its shard, in its key."""

    @property
    def lanes(self) -> list[int]:
        """The lanes, the longest first: give each to a `ShardWorker`."""
        return list(range(len(self.first_shards) - 1))

    @property
    def shards(self) -> range:
        return range(self.first_shards[-1])

    def shards_of(self, lane: int) -> range:
        """The shards of a lane."""
        if isinstance(lane, bool) or not isinstance(lane, int):
            raise TypeError(f"a lane is an integer, not {lane!r}")
        if not 0 <= lane < len(self.first_shards) - 1:
            raise ValueError(f"there is no lane {lane}; the plan has {len(self.lanes)}")
        return range(self.first_shards[lane], self.first_shards[lane + 1])

    def read_shard(self, shard: int) -> pa.Table:
        """The rows of a shard: "url" and the columns of the list."""
        return pq.read_table(self.folder / _FOLDER / f"{shard}.parquet")

    @contextlib.contextmanager
    def locked(self, lane: int) -> Iterator[None]:
        """Waits until no other process works on the lane. The lock of a killed process is free."""
        with _locked(self.folder / _FOLDER / f"lane-{lane}.lock", os.O_RDWR | os.O_CREAT):
            yield


@contextlib.contextmanager
def _locked(path: Path, flags: int) -> Iterator[None]:
    file = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        # Without locks, as on some network file systems, an engine must not run a lane twice at a time.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _content(folder: Path) -> dict[str, Any]:
    """The content of the plan's file. Raises FileNotFoundError if there is none, and ValueError if it is damaged."""
    file = folder / _FOLDER / _FILE
    try:
        content = json.loads(file.read_text())
        if isinstance(content, dict) and {"version", "list", "options", "first_shards"} <= content.keys():
            return content
    except ValueError:
        pass
    raise ValueError(f"{file} is damaged: remove {folder}, and begin the job again, or use another folder")


def load_plan(options: JobOptions) -> Plan:
    """Reads the plan of the output folder. Raises PlanMismatch if it was made for another job."""
    folder = Path(options.output_folder)
    try:
        content = _content(folder)
    except FileNotFoundError:
        raise FileNotFoundError(f"{folder} has no plan; call make_plan() first") from None
    if content["version"] != _VERSION:
        raise PlanMismatch(f"the plan in {folder} is of version {content['version']}; this is {_VERSION}")
    for name, value in options.plan_key().items():
        if content["options"][name] != value:
            raise PlanMismatch(
                f"{folder} belongs to a job with {name}={content['options'][name]!r}, not {value!r}; use another "
                "folder, or incremental_mode='overwrite'"
            )
    return Plan(folder, content["rows"], content["hosts"], tuple(content["first_shards"]), content["digits"])


def make_plan(options: JobOptions) -> Plan:
    """Reads the list, and writes the plan; or reads the plan of the same job, which goes on.

    The list is read twice, as a stream. Memory is needed for the names of the hosts, a million rows, and one lane.
    """
    folder = Path(options.output_folder)
    Downloader(**options.downloader_options()).close()  # refuses what the workers' would refuse
    files = _lists.files_of(options)
    identity = _lists.identity_of(files)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder, os.O_RDONLY):  # of several drivers at a time, one makes the plan
        if options.incremental_mode == "overwrite":
            _remove_output(folder)
        elif (folder / _FOLDER / _FILE).exists():
            if _content(folder)["list"] != identity:
                raise PlanMismatch(
                    f"{folder} belongs to a job with another list; use another folder, or incremental_mode='overwrite'"
                )
            return load_plan(options)
        _refuse_shards(folder)
        _make_folder(options, files, identity)
    return load_plan(options)


def _make_folder(options: JobOptions, files: list[Path], identity: list[list[Any]]) -> None:
    folder = Path(options.output_folder)
    plan = folder / _FOLDER
    for left in folder.glob(f"{_FOLDER}.tmp-*"):  # of a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=f"{_FOLDER}.tmp-", dir=folder))
    try:
        made.chmod(0o777 & ~_umask())
        _write_plan(options, files, identity, made)
        if not (plan / _FILE).exists():  # what is left of one that was being removed
            shutil.rmtree(plan, ignore_errors=True)
        _disk.sync_below(made)
        made.rename(plan)
        _disk.sync(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _refuse_shards(folder: Path) -> None:
    """Shards that are there without a plan, as img2dataset leaves them, would count as done, with another content."""
    for file in folder.glob("*_stats.json"):
        if file.name.removesuffix("_stats.json").isdigit():
            raise PlanMismatch(f"{folder} has shards of another job, such as that of {file.name}; use another folder")


def _remove_output(folder: Path) -> None:
    """Removes what was made by the plan, then the plan, and nothing else. A removal that is interrupted goes on."""
    try:
        content = _content(folder)
    except FileNotFoundError:
        return
    digits = content["options"]["oom_shard_count"]
    for shard in range(content["first_shards"][-1]):
        name = f"{shard:0{digits}d}"
        for end in ("_stats.json", ".tar", ".parquet"):
            (folder / (name + end)).unlink(missing_ok=True)
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / _FOLDER / _FILE).unlink()
    shutil.rmtree(folder / _FOLDER)


def _write_plan(options: JobOptions, files: list[Path], identity: list[list[Any]], folder: Path) -> None:
    counts = HostCounts()
    for table in _lists.read(options, files, ()):
        counts.add(table.column("url"))
    total, size = counts.total, options.number_sample_per_shard
    wanted = options.lanes or min(4 * options.processes_count, math.ceil(total / size))
    lanes = max(1, min(wanted, len(counts.counts) * options.host_lanes))
    placing = Placing(counts.counts, lanes, options.host_lanes)
    spool = folder / "spool"
    spool.mkdir()
    spooled = _Spool(spool, lanes)
    for table in _lists.read(options, files, options.columns):
        of_rows, places = placing.place(hosts_of(table.column("url")).to_pylist())
        table = table.append_column(_LANE, pa.array(of_rows, pa.int32()))
        spooled.add(table.append_column(_PLACE, pa.array(places, pa.float64())))
    first_shards = [0]
    for lane in spooled.lanes_by_size():
        first_shards.append(_write_lane(spooled.read(lane), size, first_shards[-1], folder))
    shutil.rmtree(spool)
    if first_shards[-1] > 10**options.oom_shard_count:
        raise ValueError(f"there are {first_shards[-1]} shards; raise oom_shard_count or number_sample_per_shard")
    content = {
        "version": _VERSION, "list": identity, "options": options.plan_key(), "rows": total,
        "hosts": len(counts.counts), "digits": math.ceil(math.log10(size)), "first_shards": first_shards,
    }  # fmt: skip
    (folder / _FILE).write_text(json.dumps(content, indent=1))


def _write_lane(table: pa.Table, size: int, first: int, folder: Path) -> int:
    """Cuts the rows of a lane, in the order of their places, into shards of equal length. Returns the next number."""
    order = compute.sort_indices(table, sort_keys=[(_PLACE, "ascending")])
    table = table.drop_columns([_LANE, _PLACE]).combine_chunks()  # so that taking a part of it copies that part alone
    rows = int(table.num_rows)
    shards = math.ceil(rows / size)
    for number in range(shards):
        begin, end = rows * number // shards, rows * (number + 1) // shards
        part = _with_types(table.take(order.slice(begin, end - begin)), _SMALL)
        pq.write_table(part, folder / f"{first + number}.parquet", compression="zstd")
    return first + shards


def _with_types(table: pa.Table, types: dict[pa.DataType, pa.DataType]) -> pa.Table:
    return table.cast(pa.schema([field.with_type(types.get(field.type, field.type)) for field in table.schema]))


class _Spool:
    """Rows on disk, sorted by lane: files with a record batch for each lane."""

    def __init__(self, folder: Path, lanes: int) -> None:
        self._folder, self._lanes = folder, lanes
        self._tables: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._sizes = [0] * lanes
        self._files: list[str] = []

    def add(self, table: pa.Table) -> None:
        self._tables.append(_with_types(table, _LARGE))
        self._rows += table.num_rows
        self._bytes += table.nbytes
        if self._rows >= _SPOOL_ROWS or self._bytes >= _SPOOL_BYTES:
            self._write()

    def _write(self) -> None:
        table = pa.concat_tables(self._tables, promote_options="permissive").combine_chunks()
        self._tables, self._rows, self._bytes = [], 0, 0
        table = table.take(compute.sort_indices(table, sort_keys=[(_LANE, "ascending")])).combine_chunks()
        sizes = {entry["values"]: entry["counts"] for entry in compute.value_counts(table.column(_LANE)).to_pylist()}
        file = str(self._folder / f"{len(self._files)}.arrow")
        with pa.OSFile(file, "wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
            begin = 0
            for lane in range(self._lanes):
                length = sizes.get(lane, 0)
                self._sizes[lane] += length
                part = table.slice(begin, length)
                writer.write_batch(part.to_batches()[0] if length else _empty(table.schema))
                begin += length
        self._files.append(file)

    def lanes_by_size(self) -> list[int]:
        """The lanes that have rows, the longest first."""
        if self._rows:
            self._write()
        return sorted((lane for lane in range(self._lanes) if self._sizes[lane]), key=lambda lane: -self._sizes[lane])

    def read(self, lane: int) -> pa.Table:
        tables = []
        for file in self._files:  # of thousands, none stays open: the memory does without
            with pa.memory_map(file) as mapped:
                tables.append(pa.Table.from_batches([pa.ipc.open_file(mapped).get_batch(lane)]))
        return pa.concat_tables(tables, promote_options="permissive")


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
