"""What the tests of sdd.distributed share: a server of many hosts, lists of URLs, and readers of the output."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tarfile
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from conftest import LIMIT, TESTS, gradient

import sdd
from sdd.distributed import JobOptions, ShardReport, ShardWorker, make_plan

HOSTS = 8


class Crowd:
    """The server, in a process of its own. Its hosts are names that the option `resolve` knows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        gradient(64, 48).save(folder / "a.jpg")
        gradient(30, 60).save(folder / "tall.jpg")
        gradient(40, 40, sdd.PixelFormat.RGBA8).save(folder / "b.png")
        (folder / "page.html").write_text("<html>no picture</html>")
        (folder / "broken.jpg").write_bytes((folder / "a.jpg").read_bytes()[:700])
        self._process = subprocess.Popen(
            [sys.executable, str(TESTS / "crowd.py"), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout
        self.port = int(self._process.stdout.readline())

    def url(self, path: str, host: int = 0) -> str:
        return f"http://h{host}.test:{self.port}/{path}"

    @property
    def downloader(self) -> dict[str, Any]:
        return {"resolve": [f"h{host}.test:{self.port}:127.0.0.1" for host in range(HOSTS)]}

    def order(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=3 * LIMIT) as response:
            body = response.read()
        return json.loads(body) if body else None

    def requests(self) -> Counter[str]:
        return Counter(self.order("log")["requests"])

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(LIMIT)


def options_for(crowd: Crowd, folder: Path, urls: list[Any], **given: Any) -> JobOptions:
    """A job over a Parquet list with the columns url, caption and number."""
    file = folder / "list.parquet"
    if not file.exists():
        texts = [f"caption {number}" for number in range(len(urls))]
        columns = {"url": pa.array(urls, pa.string()), "caption": texts, "number": range(len(urls))}
        pq.write_table(pa.table(columns), file)
    return JobOptions(**{
        "url_list": str(file), "input_format": "parquet", "output_folder": str(folder / "out"), "image_size": 32,
        "output_format": "webdataset", "resize_mode": "keep_ratio", "thread_count": 16, "caption_col": "caption",
        "save_additional_columns": ["number"], "number_sample_per_shard": 10, "downloader": crowd.downloader,
        "timeout": 2 * LIMIT, **given,
    })  # fmt: skip


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of all Parquet files of a job, in the order of their keys."""
    files = sorted(folder.glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def samples_of(file: Path) -> dict[str, bytes]:
    """The members of a tar file. Fails if a name occurs twice."""
    with tarfile.open(file) as opened:
        members = opened.getmembers()
        assert len({member.name for member in members}) == len(members)
        return {member.name: opened.extractfile(member).read() for member in members}  # type: ignore[union-attr]


def check_complete(folder: Path, urls: list[str]) -> None:
    """Each URL is there once, and each picture belongs to the row with its key."""
    rows = rows_of(folder)
    assert Counter(row["url"] for row in rows) == Counter(urls)
    keys = [row["key"] for row in rows]
    assert len(set(keys)) == len(keys)
    pictures = set()
    for file in folder.glob("*.tar"):
        samples = samples_of(file)
        for name, data in samples.items():
            if name.endswith(".json"):
                row = json.loads(data)
                pictures.add(row["key"])
                assert sdd.Image.decode(samples[f"{row['key']}.jpg"]).size == (row["width"], row["height"])
                assert row["url"] == next(other["url"] for other in rows if other["key"] == row["key"])
    assert pictures == {row["key"] for row in rows if row["status"] == "success"}
    names = [path.name for path in folder.iterdir()]
    assert not [name for name in names if ".tmp-" in name], names


def run(options: JobOptions) -> list[ShardReport]:
    """All lanes in this process."""
    worker = pickle.loads(pickle.dumps(ShardWorker(options)))
    return [report for lane in make_plan(options).lanes for report in worker(lane)]


def one(crowd: Crowd, folder: Path, path: str, **given: Any) -> dict[str, Any]:
    """The row of a job with one URL, with the picture under "picture"."""
    options = options_for(crowd, folder, [crowd.url(path)], **given)
    run(options)
    out = Path(options.output_folder)
    (row,) = rows_of(out)
    picture = samples_of(out / "00000.tar").get(f"{row['key']}.{options.encode_format}")
    return {**row, "picture": picture}


def mixed_urls(crowd: Crowd, count: int = 25) -> list[str]:
    """Pictures, and each fifth URL is none."""
    return [crowd.url(f"{'none' if number % 5 == 4 else 'pic'}/{number}/a.jpg", number % HOSTS)
            for number in range(count)]  # fmt: skip
