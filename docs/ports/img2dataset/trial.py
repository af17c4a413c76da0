#!/usr/bin/env python3
"""Runs img2dataset from two folders, WORK/old and WORK/new, against a server of its own, and compares what they write.

trial.py WORK
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LARGE = 300
"""MiB of a body that is too large."""
TIMEOUT = 3
TRICKLE = 20.0
"""Seconds in which the server sends a byte from time to time."""

lock = threading.Lock()
counts: Counter[str] = Counter()


def count(name: str, number: int = 1) -> int:
    with lock:
        counts[name] += number
        return counts[name]


def picture(number: int) -> bytes:
    """A JPEG that no other number has."""
    pixels = np.random.default_rng(number).integers(0, 255, (12, 16, 3), np.uint8)
    return cv2.imencode(".jpg", cv2.resize(pixels, (320, 240)))[1].tobytes()


class Host(BaseHTTPRequestHandler):
    """The first part of a path says what the server does."""

    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        count("connections")

    def log_message(self, format: str, *args: object) -> None:
        pass

    def head(self, status: int, length: int, **fields: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def do_GET(self) -> None:
        what, _, rest = self.path[1:].partition("/")
        number = int("".join(filter(str.isdigit, unquote(rest))) or 0)
        times = count(what)
        body = picture(number)
        if what in ("pic", "same") or what == "flaky" and times > 1:
            self.head(200, len(body), Content_Type="image/jpeg")
            self.wfile.write(body)
        elif what == "tag":
            self.head(200, len(body), X_Robots_Tag="noai, noindex")
            self.wfile.write(body)
        elif what == "flaky":
            self.head(503, 0)
        elif what == "cut":
            self.head(200, len(body))
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif what == "trickle":
            self.head(200, len(body))
            end = time.monotonic() + TRICKLE
            while time.monotonic() < end:
                self.send(b"\xff")
                time.sleep(0.5)
        elif what == "large":
            self.head(200, LARGE << 20)
            for _ in range(LARGE):
                self.send(bytes(1 << 20))
                count("MiB of a large body")
        else:
            self.head(404, 0)

    def send(self, part: bytes) -> None:
        self.wfile.write(part)
        self.wfile.flush()

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:  # the client has left
            pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


class Row(NamedTuple):
    status: str
    sha256: str | None
    width: int | None
    height: int | None
    message: str | None


class Run(NamedTuple):
    rows: list[Row]
    """In the order of the list."""
    pictures: dict[str, bytes]
    counts: Counter[str]


JOB = """
import sys
from img2dataset import download
if __name__ == "__main__":
    download(url_list=sys.argv[1], output_folder=sys.argv[2], timeout=int(sys.argv[3]), thread_count=32, image_size=128,
             number_sample_per_shard=1000, retries=1, input_format="parquet")
"""


def run(work: Path, kind: str, urls: list[str | None]) -> Run:
    job, out = work / "job.py", work / f"out-{kind}"
    job.write_text(JOB)
    pq.write_table(pa.table({"url": pa.array(urls, pa.string())}), work / "urls.parquet")
    counts.clear()
    path = os.pathsep.join(filter(None, [str(work / kind), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, job, work / "urls.parquet", out, str(TIMEOUT)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": path, "NO_ALBUMENTATIONS_UPDATE": "1"}, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    table = [row for file in sorted(out.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]
    table.sort(key=lambda row: row["key"])
    assert [row["url"] for row in table] == urls
    rows = [Row(row["status"], row["sha256"], row["width"], row["height"], row["error_message"]) for row in table]
    found = {file.name: file.read_bytes() for file in out.glob("*/*.jpg")}
    out.rename(work / f"done-{kind}-{time.monotonic_ns()}")
    with lock:
        return Run(rows, found, Counter(counts))


def same_pictures(work: Path, address: str) -> None:
    """What is no matter of taste: the same rows, and the same bytes in the same files."""
    urls: list[str | None] = [f"{address}/pic/{number}.jpg" for number in range(300)]
    urls += [f"{address}/{what}/{number}.jpg" for what in ("none", "tag", "cut") for number in range(10)]
    urls += [None, "", "no URL", f"{address}/pic/\0.jpg"]
    old, new = run(work, "old", urls), run(work, "new", urls)
    assert [row[:4] for row in old.rows] == [row[:4] for row in new.rows]
    assert old.pictures == new.pictures and len(new.pictures) == 300
    states = Counter(row.status for row in new.rows)
    print(f"{len(urls)} URLs: the same rows and the same {len(new.pictures)} files; {dict(states)}")
    for name in ("connections", "pic", "none", "cut"):
        print(f"    {name}: {old.counts[name]} before, {new.counts[name]} now")


def other_lists(work: Path, address: str) -> None:
    """What libsdd does otherwise."""
    file = work / "private.jpg"
    file.write_bytes(picture(1))
    urls = {"a file of this machine": f"file://{file}", "a name that is not ASCII": f"{address}/pic/\u00e99.jpg",
            "503, then the picture": f"{address}/flaky/1.jpg", "a byte each half second": f"{address}/trickle/1.jpg",
            "a body of 300 MiB": f"{address}/large/1.jpg"}  # fmt: skip
    given = [*urls.values(), *[f"{address}/same/1.jpg"] * 20]
    old, new = run(work, "old", given), run(work, "new", given)
    for name, before, now in zip(urls, old.rows, new.rows):
        print(f"{name}:")
        for when, row in (("before", before), ("now", now)):
            print(f"    {when}: {row.status} {row.message or ''}".rstrip())
    for name in ("same", "MiB of a large body"):
        print(f"{name}: {old.counts[name]} before, {new.counts[name]} now")
    good, bad = "success", "failed_to_download"
    assert [row.status for row in new.rows] == [bad, good, good, bad, bad] + [good] * 20
    assert new.counts["MiB of a large body"] < 65


def main() -> None:
    work = Path(sys.argv[1])
    server = Server(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    same_pictures(work, address)
    other_lists(work, address)


if __name__ == "__main__":
    main()
