"""Reads lists of URLs as a stream of tables with the columns that a job needs."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from ._options import JobOptions

ROWS = 65536
"""Most rows of a table of the stream, except those of CSV, which have so many bytes:"""
_MOST_OF_A_ROW = 16 << 20
_SAMPLE = 65536


def files_of(options: JobOptions) -> list[Path]:
    """The files of the list, sorted by name."""
    path = Path(options.url_list)
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"the list {path} does not exist")
        return [path]
    ends = (f".{options.input_format}", f".{options.input_format}.gz")
    found = sorted(file for file in path.iterdir() if file.name.endswith(ends))
    if not found:
        raise FileNotFoundError(f"the folder {path} has no file whose name ends with {ends[0]}")
    return found


def identity_of(files: list[Path]) -> list[list[Any]]:
    """Name, size, and a hash of the beginning and the end of each file: enough to notice another list."""
    return [[file.name, file.stat().st_size, _sample(file)] for file in files]


def _sample(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        digest.update(stream.read(_SAMPLE))
        stream.seek(max(0, file.stat().st_size - _SAMPLE))
        digest.update(stream.read(_SAMPLE))
    return digest.hexdigest()


def read(options: JobOptions, files: list[Path], columns: tuple[str, ...]) -> Iterator[pa.Table]:
    """Yields tables with a column "url" of texts, and the columns that are named."""
    for file in files:
        for table in _read(options, file, (options.url_col, *columns)):
            missing = [name for name in (options.url_col, *columns) if name not in table.column_names]
            if missing:
                have = ", ".join(table.column_names)
                raise ValueError(f"{file.name} has no column {missing[0]!r}; it has {have}")
            for name in (options.url_col, *columns):
                if table.column_names.count(name) > 1:
                    raise ValueError(f"{file.name} has more than one column {name!r}")
            urls = table.column(options.url_col)
            if not _is_text(urls.type):
                raise TypeError(f"the column {options.url_col!r} of {file.name} has {urls.type}, not texts")
            made = {"url": urls.cast(pa.string())}
            made.update((name, table.column(name)) for name in columns)
            for name in columns:
                if name in options.text_columns and _is_binary(table.column(name).type):
                    raise TypeError(f"the column {name!r} of {file.name} has {table.column(name).type}, not texts")
            yield pa.table(made)


def _read(options: JobOptions, file: Path, columns: tuple[str, ...]) -> Iterator[pa.Table]:
    """The tables of a file. What is wrong with it is said with its name."""
    try:
        yield from _READERS[options.input_format](file, columns, options.text_columns)
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error, pa.ArrowException) as error:
        raise ValueError(f"{file.name}: {error}") from error


def _of_values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    kind = _of_values(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))


def _is_binary(kind: pa.DataType) -> bool:
    kind = _of_values(kind)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _open(file: Path) -> IO[bytes]:
    return gzip.open(file, "rb") if file.name.endswith(".gz") else file.open("rb")  # type: ignore[return-value]


# A reader gets the columns that are wanted, that of the URLs first, and the names of those that are texts.


def _read_txt(file: Path, columns: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[pa.Table]:
    if columns[1:]:
        raise ValueError(f"a list of texts has URLs alone, and no column {columns[1]!r}")
    with _open(file) as stream:
        all_lines = itertools.chain([next(stream, b"").removeprefix(codecs.BOM_UTF8)], stream)
        for lines in _chunks(line.decode("utf-8", "replace").strip() for line in all_lines):
            yield pa.table({columns[0]: pa.array([line for line in lines if line], pa.string())})


def _read_csv(
    file: Path, columns: tuple[str, ...], texts: tuple[str, ...], delimiter: str = ","
) -> Iterator[pa.Table]:
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=delimiter == ",")
    # The types of the others are guessed by the first rows: of a caption "007" that would make a number.
    convert = pyarrow.csv.ConvertOptions(column_types={name: pa.string() for name in texts})
    read = pyarrow.csv.ReadOptions(block_size=_MOST_OF_A_ROW)
    with _open(file) as stream, pyarrow.csv.open_csv(stream, read, parse, convert) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _read_tsv(file: Path, columns: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[pa.Table]:
    return _read_csv(file, columns, texts, "\t")


def _read_jsonl(file: Path, columns: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[pa.Table]:
    with _open(file) as stream:
        yield from _tables(_records(stream), columns, texts)


def _records(stream: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number}: {error.msg}, at column {error.colno}") from error
        if not isinstance(record, dict):
            raise ValueError(f"line {number}: it is not a JSON object")
        yield record


def _read_json(file: Path, columns: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[pa.Table]:
    with _open(file) as stream:
        records = json.load(stream)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError("it is not a JSON array of objects")
    yield from _tables(records, columns, texts)


def _tables(
    records: Iterable[dict[str, Any]], columns: tuple[str, ...], texts: tuple[str, ...]
) -> Iterator[pa.Table]:
    seen: set[str] = set()
    chunk: list[dict[str, Any]] = []
    for chunk in _chunks(records):
        seen.update(*chunk)
        for record in chunk:
            record.update((name, _as_text(record[name])) for name in texts if name in record)
        yield pa.table({name: _column(name, [record.get(name) for record in chunk]) for name in columns})
    if chunk and not seen.issuperset(columns):  # the caller says which one is missing
        yield pa.table({name: pa.nulls(0) for name in columns if name in seen})


def _column(name: str, values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        return pa.array([_whole(value) for value in values])
    except (OverflowError, pa.ArrowException) as error:
        raise ValueError(f"the column {name!r}: {error}") from error


def _whole(value: Any) -> Any:
    """A value of JSON with U+FFFD for halves of surrogate pairs, as a text ends with that was cut within a character."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return {_whole(name): _whole(part) for name, part in value.items()} if isinstance(value, dict) else value


def _as_text(value: Any) -> str | None:
    """What a text column of JSON has: one that is something else in a few rows ends no job."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _read_parquet(file: Path, columns: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[pa.Table]:
    with pq.ParquetFile(file) as opened:
        names = opened.schema_arrow.names
        if not set(columns) <= set(names):  # the caller says which one is missing
            yield opened.schema_arrow.empty_table()
        for batch in opened.iter_batches(ROWS, columns=list(columns)):
            yield pa.Table.from_batches([batch])


def _chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, ROWS)):
        yield chunk


_READERS = {"txt": _read_txt, "csv": _read_csv, "tsv": _read_tsv, "json": _read_json, "jsonl": _read_jsonl,
            "parquet": _read_parquet}  # fmt: skip
