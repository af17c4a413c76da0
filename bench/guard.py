#!/usr/bin/env python3
"""Compares the instructions that the library's work takes with those of the record, bench/guard.json.

    guard.py                  ends with status 1 if a figure is more than 2 % above its record
    guard.py --renew          writes the record: the least of five measurements
    guard.py --profile WORK   prints where the instructions of a kind of work are, for docs/performance.md

`make bench-guard` and `make bench-guard-renew` build the library first. bench/README.md describes the figures.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import platform
import shutil
import socketserver
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import callgrind
from callgrind import NotMeasured, Thread
from clients import BUILD, ROOT
from environment import first_match, output_of
from guard_record import LIMIT, RECORD, Facts, Figures, Record, compare, judge

MEASUREMENTS = 5
LARGEST_SPREAD = 0.015
LIBRARIES = ("libcurl", "libjpeg", "libpng", "zlib")
PICTURES = ("baseline.jpg", "progressive.jpg", "picture.png")


# ---- the figures

def thread_of(name: str) -> Callable[[list[Thread]], int]:
    def count(threads: list[Thread]) -> int:
        found = [thread for thread in threads if thread.name == name]
        if len(found) != 1:
            raise NotMeasured(f"{len(found)} threads are the thread {name!r}")
        return found[0].total
    return count


def calls_of(function: str) -> Callable[[list[Thread]], int]:
    def count(threads: list[Thread]) -> int:
        if not (called := sum(thread.called[function] for thread in threads)):
            raise NotMeasured(f"no calls of {function} were found")
        return called
    return count


def all_threads(threads: list[Thread]) -> int:
    return sum(thread.total for thread in threads)


@dataclasses.dataclass(frozen=True)
class Work:
    """A kind of work of sdd-guard, and the figures that are read from it."""

    name: str
    few: int
    many: int
    figures: dict[str, Callable[[list[Thread]], int]]
    picture: str = ""


WORKS = (
    Work("request", 1000, 11000, {"submit": calls_of("sdd_download"), "network turn": thread_of("network"),
                                 "delivery": thread_of("callback")}),
    Work("http", 100, 600, {"download over HTTP": all_threads}),
    Work("memory", 1000, 21000, {"memory hit": all_threads}),
    Work("disk", 200, 4200, {"disk hit": all_threads}),
    Work("cold", 200, 1000, {"cold load": all_threads}),
    *(Work("decode", 1, 5, {f"decode {name}": all_threads}, name) for name in PICTURES),
)


class Server(socketserver.ThreadingTCPServer):
    """An HTTP server. It waits before each response, so that the library has always begun to wait for it."""

    daemon_threads = True
    DELAY = 0.01
    BODY = b"x" * 1000
    RESPONSE = (b"HTTP/1.1 200 OK\r\nServer: guard\r\nDate: Mon, 02 Nov 2026 09:00:00 GMT\r\n"
                b"Content-Type: image/jpeg\r\nContent-Length: %d\r\nLast-Modified: Sun, 01 Nov 2026 09:00:00 GMT\r\n"
                b'Connection: keep-alive\r\nETag: "1-2"\r\nCache-Control: public, max-age=86400\r\n\r\n' % len(BODY)
                ) + BODY

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                if line == b"\r\n":
                    time.sleep(Server.DELAY)
                    self.wfile.write(Server.RESPONSE)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Meter:
    """Measures kinds of work."""

    def __init__(self, folder: Path, server: Server) -> None:
        self._folder = folder
        self._url = f"http://127.0.0.1:{server.server_address[1]}/picture/"
        self._libraries = callgrind.library(folder / "library")
        callgrind.run(self._command("pictures", 0, folder), self._libraries)

    @staticmethod
    def _command(name: str, count: int, place: Path | str) -> list[str]:
        return [str(BUILD / "sdd-guard"), name, str(count), str(place)]

    def threads(self, work: Work, count: int) -> list[Thread]:
        cache = self._folder / "cache"
        cache.mkdir()
        place = self._url if work.name == "http" else self._folder / work.picture if work.picture else cache
        try:
            return callgrind.run(self._command(work.name, count, place), self._libraries)
        finally:
            shutil.rmtree(cache)

    def figures(self, work: Work) -> Figures:
        """Subtracts a run with few operations from one with many, so that the start of the program does not count."""
        few, many = (self.threads(work, count) for count in (work.few, work.many))
        return {name: round((count(many) - count(few)) / (work.many - work.few)) for name, count in
                work.figures.items()}

    def profile(self, work: Work) -> str:
        few, many = (callgrind.profile(self.threads(work, count)) for count in (work.few, work.many))
        many.subtract(few)
        return callgrind.table(many, work.many - work.few)

    def pictures(self) -> Facts:
        return {name: hashlib.sha256((self._folder / name).read_bytes()).hexdigest()[:16] for name in PICTURES}


def facts() -> Facts:
    return {"processor": platform.machine(),
            "Swift": first_match(r"Swift version ([0-9.]+)", output_of("swift", "--version")),
            "libc": " ".join(platform.libc_ver()), "valgrind": output_of("valgrind", "--version"),
            **{name: output_of("pkg-config", "--modversion", name) for name in LIBRARIES}}


@contextlib.contextmanager
def metering() -> Iterator[Meter]:
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        yield Meter(Path(folder), server)


# ---- the commands

def measure(meter: Meter) -> Record:
    figures: Figures = {}
    for work in WORKS:
        figures |= meter.figures(work)
    return Record(facts(), meter.pictures(), figures)


def guard() -> bool:
    if not RECORD.exists():
        raise NotMeasured(f"there is no {RECORD.relative_to(ROOT)}: write it with `make bench-guard-renew`")
    record = Record.read()
    with metering() as meter:
        measured = measure(meter)
        # A figure that is too large is measured again, because threads that meet at another moment add a wake-up.
        for work in WORKS * (MEASUREMENTS - 1):
            if any(measured.figures[name] > record.figures.get(name, 0) * (1 + LIMIT) for name in work.figures):
                for name, figure in meter.figures(work).items():
                    measured.figures[name] = min(measured.figures[name], figure)
    return judge(record, measured)


def renew() -> bool:
    values: dict[str, list[int]] = collections.defaultdict(list)
    with metering() as meter:
        for _ in range(MEASUREMENTS):
            for name, figure in (measured := measure(meter)).figures.items():
                values[name].append(figure)
    least = {name: sorted(some)[:2] for name, some in values.items()}
    wide = [f"{name}: {some[0]:,} and {some[1]:,}" for name, some in least.items()
            if some[1] > some[0] * (1 + LARGEST_SPREAD)]
    if wide:
        print(f"guard.py: the two least measurements differ by more than {LARGEST_SPREAD:.1%}, and the record stays as it was: "
              f"{'; '.join(wide)}", file=sys.stderr)
        return False
    new = dataclasses.replace(measured, figures={name: some[0] for name, some in least.items()})
    if RECORD.exists():
        print("\n".join(compare(Record.read(), new).lines))
    new.write()
    print(f"guard.py: wrote {RECORD.relative_to(ROOT)}; the commit says what has changed the figures, and why")
    return True


def print_profile(name: str) -> bool:
    with metering() as meter:
        for work in WORKS:
            if name in (work.name, work.picture):
                print(f"{work.name} {work.picture}\n\n{meter.profile(work)}\n")
    return True


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command = parser.add_mutually_exclusive_group()
    command.add_argument("--renew", action="store_true")
    command.add_argument("--profile", choices=sorted({work.name for work in WORKS} | {*PICTURES}))
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    try:
        passed = renew() if arguments.renew else print_profile(arguments.profile) if arguments.profile else guard()
    except NotMeasured as reason:
        sys.exit(f"guard.py: {reason}")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
