"""The files of a shard. They are made under other names and renamed when they are complete, the statistics last."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import socket
import tarfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from . import _disk
from ._arrow import compute
from ._failures import Failure
from ._options import JobOptions
from ._pictures import Picture
from ._plan import Plan
from ._report import FailureCounts, ShardReport

_RECORD = 10240
"""tar pads to whole records of this size."""
_MARK = ".tmp-"


def shard_name(shard: int, options: JobOptions) -> str:
    return f"{shard:0{options.oom_shard_count}d}"


def stats_file(shard: int, options: JobOptions) -> Path:
    """The file whose existence says that the shard is done."""
    return Path(options.output_folder) / f"{shard_name(shard, options)}_stats.json"


def is_done(shard: int, options: JobOptions) -> bool:
    return stats_file(shard, options).exists()


def remove_leftovers(shard: int, options: JobOptions) -> None:
    """Removes what a process that was killed has left of a shard. Call it with the lock of the lane."""
    for left in Path(options.output_folder).glob(f"{shard_name(shard, options)}*{_MARK}*"):
        _remove(left)


def remove_leftovers_of(pid: int, options: JobOptions) -> None:
    """Removes what a process of this machine has left, which is gone."""
    for left in Path(options.output_folder).glob(f"*{_mark_of(pid)}"):
        _remove(left)


def _mark_of(pid: int) -> str:
    return f"{_MARK}{socket.gethostname()}-{pid}"


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _values_of(column: pa.ChunkedArray) -> list[Any]:
    """The values, as texts where Python has none of the kind: nanoseconds, and years after 9999."""
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):
        return list(compute.cast(column, pa.string()).to_pylist())


def _json_of(row: dict[str, Any]) -> str:
    try:
        return json.dumps(row, indent=4, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(row), indent=4, default=str)


def _finite(value: Any) -> Any:
    """A value with None for numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return {name: _finite(part) for name, part in value.items()} if isinstance(value, dict) else value


class _Samples(ABC):
    """Where the pictures of a shard go."""

    def __init__(self, made: Path, final: Path) -> None:
        self.made, self.final = made, final

    @abstractmethod
    def add(self, name: str, data: bytes | memoryview) -> None: ...

    def finish(self) -> None:
        """Completes the file; `commit()` follows."""

    def commit(self) -> None:
        _disk.sync(self.made)
        _remove(self.final)
        self.made.rename(self.final)

    def discard(self) -> None:
        _remove(self.made)


class _Tar(_Samples):
    def __init__(self, made: Path, final: Path) -> None:
        super().__init__(made, final)
        self._file: BinaryIO = made.open("wb", buffering=1 << 20)
        self._time = int(time.time())

    def add(self, name: str, data: bytes | memoryview) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = len(data), self._time, 0o444
        self._file.write(entry.tobuf(tarfile.USTAR_FORMAT))
        self._file.write(data)
        self._file.write(bytes(-len(data) % tarfile.BLOCKSIZE))

    def finish(self) -> None:
        end = self._file.tell() + 2 * tarfile.BLOCKSIZE
        self._file.write(bytes(2 * tarfile.BLOCKSIZE + -end % _RECORD))
        self._file.close()

    def discard(self) -> None:
        with contextlib.suppress(OSError):  # it writes what is buffered, perhaps to a full disk
            self._file.close()
        super().discard()


class _Files(_Samples):
    def __init__(self, made: Path, final: Path) -> None:
        super().__init__(made, final)
        made.mkdir()

    def add(self, name: str, data: bytes | memoryview) -> None:
        (self.made / name).write_bytes(data)

    def finish(self) -> None:
        _disk.sync_below(self.made)


class ShardWriter:
    """A shard while it is made. One thread at a time may use it."""

    def __init__(self, plan: Plan, shard: int, options: JobOptions) -> None:
        self._options, self._shard = options, shard
        table = plan.read_shard(shard)
        self.count = int(table.num_rows)
        self.urls: list[str | None] = table.column("url").to_pylist()
        columns = {name: table.column(name) for name in options.columns}
        self._values: dict[str, list[Any]] = {name: _values_of(column) for name, column in columns.items()}
        self._given = {name: columns[name] for name in options.save_additional_columns}
        """The columns of the output that are those of the list."""
        if options.caption_col:
            self._given["caption"] = columns[options.caption_col]
        self._digits, self._first = options.oom_shard_count + plan.digits, shard * 10**plan.digits
        self._rows: list[dict[str, Any] | None] = [None] * self.count
        self._left = self.count
        self._failures = FailureCounts()
        self._bytes = 0
        self._began = time.time()
        folder, name = Path(options.output_folder), shard_name(shard, options)
        self._mark = _mark_of(os.getpid())
        self._parquet = folder / f"{name}.parquet"
        self._samples: _Samples | None = None
        if options.output_format == "webdataset":
            self._samples = _Tar(folder / f"{name}.tar{self._mark}", folder / f"{name}.tar")
        elif options.output_format == "files":
            self._samples = _Files(folder / f"{name}{self._mark}", folder / name)

    def expected_digest(self, row: int) -> str | None:
        if not self._options.verify_hash:
            return None
        value = self._values[self._options.verify_hash[0]][row]
        return value.lower() if isinstance(value, str) else None

    def _metadata(self, row: int) -> dict[str, Any]:
        """The columns of a row that come from the list, and its key."""
        options = self._options
        made = {name: self._values[name][row] for name in options.save_additional_columns}
        if options.caption_col:
            made["caption"] = self._values[options.caption_col][row]
        made["url"] = self.urls[row]
        made["key"] = f"{self._first + row:0{self._digits}d}"
        return made

    # ---- rows

    def succeed(self, row: int, picture: Picture, body_bytes: int, attempts: int) -> bool:
        """Keeps a picture. True: the shard is complete, and `commit()` is due."""
        options, made = self._options, self._metadata(row)
        made.update(status="success", error_message=None, width=picture.width, height=picture.height,
                    original_width=picture.original_width, original_height=picture.original_height)  # fmt: skip
        if options.extract_exif:
            made["exif"] = picture.exif
        if options.compute_hash:
            made[options.compute_hash] = picture.digest
        if self._samples:
            key = made["key"]
            self._samples.add(f"{key}.{options.encode_format}", picture.data)
            if made.get("caption") is not None:
                self._samples.add(f"{key}.txt", str(made["caption"]).encode())
            self._samples.add(f"{key}.json", _json_of(made).encode())
        elif options.output_format == "parquet":
            made[options.encode_format] = bytes(picture.data)
        self._bytes += body_bytes
        made["attempts"] = attempts  # in the column alone, as what else img2dataset does not have
        return self._end(row, made)

    def fail(self, row: int, failure: Failure, attempts: int) -> bool:
        """Records a row without a picture. True: the shard is complete, and `commit()` is due."""
        made = self._metadata(row)
        made.update(status=failure.status, error_message=failure.message, error_class=failure.error_class,
                    error_code=failure.error_code, error_detail=failure.error_detail or None,
                    http_status=failure.http_status or None, attempts=attempts)  # fmt: skip
        self._failures.add(failure, str(self.urls[row]))
        return self._end(row, made)

    def _end(self, row: int, made: dict[str, Any]) -> bool:
        assert self._rows[row] is None
        self._rows[row] = made
        self._left -= 1
        return self._left == 0

    # ---- the end

    def _schema(self) -> pa.Schema:
        options = self._options
        fields: list[tuple[str, pa.DataType]] = [(name, column.type) for name, column in self._given.items()]
        fields += [(name, pa.string()) for name in ("url", "key", "status", "error_message")]
        fields += [(name, pa.int32()) for name in ("width", "height", "original_width", "original_height")]
        if options.extract_exif:
            fields.append(("exif", pa.string()))
        if options.compute_hash:
            fields.append((options.compute_hash, pa.string()))
        if options.output_format == "parquet":
            fields.append((options.encode_format, pa.binary()))
        if options.error_columns:
            fields += [(name, pa.string()) for name in ("error_class", "error_code", "error_detail")]
            fields += [(name, pa.int32()) for name in ("http_status", "attempts")]
        return pa.schema(fields)

    def commit(self) -> ShardReport:
        """Gives the files their names. The shard is done when the last one has its name."""
        if self._samples:
            self._samples.finish()
            self._samples.commit()
        if self._options.output_format != "dummy":
            made = self._parquet.with_name(self._parquet.name + self._mark)
            schema = self._schema()
            rows = [row or {} for row in self._rows]
            columns = [
                self._given[name] if name in self._given else pa.array([row.get(name) for row in rows], kind)
                for name, kind in zip(schema.names, schema.types)
            ]
            pq.write_table(pa.Table.from_arrays(columns, schema=schema), made)
            _disk.sync(made)
            made.rename(self._parquet)
        end, counts = time.time(), self._failures
        report = ShardReport(
            self._shard, self.count, self.count - counts.count("failed_to_download") - counts.count("failed_to_resize"),
            counts.count("failed_to_download"), counts.count("failed_to_resize"), end - self._began, self._began, end,
            self._bytes, tuple(counts.kinds()),
        )  # fmt: skip
        stats = stats_file(self._shard, self._options)
        made = stats.with_name(stats.name + self._mark)
        made.write_text(report.to_json())
        _disk.sync(made)
        made.rename(stats)
        _disk.sync(stats.parent)
        return report

    def discard(self) -> None:
        """Removes what there is of a shard that is not completed."""
        if self._samples:
            self._samples.discard()
        remove_leftovers(self._shard, self._options)
