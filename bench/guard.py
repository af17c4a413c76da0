#!/usr/bin/env python3
"""Compares what the library's work takes, in instructions, allocations, retains and wake-ups, with its record.

    guard.py                  ends with status 1 if a figure is more than 2 % above its record
    guard.py --renew          writes the record: the least of five measurements
    guard.py --profile WORK   prints where the instructions of a kind of work are, for docs/performance.md

`make bench-guard` and `make bench-guard-renew` build the library first. bench/README.md describes the figures. Each
version of libcurl has a record of its own, bench/guard/libcurl-VERSION.json.
"""

from __future__ import annotations

import argparse
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
from guard_record import RECORDS, Facts, Figures, Record, compare, is_above, judge

MEASUREMENTS = 5
LARGEST_SPREAD = 0.015
LIBRARIES = ("libcurl", "libjpeg", "libpng", "zlib")
PICTURES = ("baseline.jpg", "progressive.jpg", "picture.png")


# ---- the figures

# What takes memory; libcurl's is in it. The functions call one another.
ALLOCATIONS = {f"__wrap_{name}" for name in ("malloc", "calloc", "realloc", "posix_memalign", "strdup")}
# What may wake a thread, one of the library or the application's. The program has gates of its own.
WAKES = {"pthread_cond_signal", "pthread_cond_broadcast", "curl_multi_wakeup", "sddsys_eventfd_ring"}


def allocates(caller: str, callee: str) -> bool:
    return callee in ALLOCATIONS and caller not in ALLOCATIONS


def retains(_: str, callee: str) -> bool:
    return callee == "swift_retain"


def wakes(caller: str, callee: str) -> bool:
    return callee in WAKES and caller != "count"


UNITS: dict[str, Callable[[str, str], bool]] = {"allocations": allocates, "retains": retains, "wake-ups": wakes}


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a kind of work: what one thread does, or all do; of the instructions, only those of a function."""

    thread: str = ""
    function: str = ""

    def counts(self, threads: list[Thread]) -> dict[str, int]:
        found = [thread for thread in threads if self.thread in ("", thread.name)]
        if self.thread and len(found) != 1:
            raise NotMeasured(f"{len(found)} threads are the thread {self.thread!r}")
        instructions = sum(thread.called[self.function] if self.function else thread.total for thread in found)
        if not instructions:
            raise NotMeasured(f"no calls of {self.function} were found")
        return {"instructions": instructions} | {
            unit: sum(count for thread in found for call, count in thread.calls.items() if belongs(*call))
            for unit, belongs in UNITS.items()}


@dataclasses.dataclass(frozen=True)
class Work:
    """A kind of work of sdd-guard, and its parts by the names of their figures."""

    name: str
    few: int
    many: int
    parts: dict[str, Part]
    picture: str = ""


WORKS = (
    Work("request", 1000, 11000, {"submit": Part("main", "sdd_download"), "network turn": Part("network"),
                                  "delivery": Part("callback")}),
    Work("http", 100, 600, {"download over HTTP": Part()}),
    Work("memory", 1000, 21000, {"memory hit": Part()}),
    Work("disk", 200, 4200, {"disk hit": Part()}),
    Work("cold", 200, 1000, {"cold load": Part()}),
    *(Work("decode", 1, 9, {f"decode {name}": Part()}, name) for name in PICTURES),
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

        def of_one(part: Part) -> dict[str, float]:
            less = part.counts(few)
            one = {unit: (count - less[unit]) / (work.many - work.few) for unit, count in part.counts(many).items()}
            return {unit: round(figure) if unit == "instructions" else round(figure, 2) for unit, figure in one.items()}

        return {name: of_one(part) for name, part in work.parts.items()}

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


def own_record() -> Path:
    """The record of this machine's libcurl, which there may not be."""
    return RECORDS / f"libcurl-{output_of('pkg-config', '--modversion', 'libcurl')}.json"


def guard() -> bool:
    # Without a record for this libcurl, another one's says that nothing is guarded.
    file = next((file for file in [own_record(), *sorted(RECORDS.glob("*.json"))] if file.exists()), None)
    if file is None:
        raise NotMeasured(f"there is no record in {RECORDS.relative_to(ROOT)}: write it with `make bench-guard-renew`")
    record = Record.read(file)
    with metering() as meter:
        measured = measure(meter)
        # A figure that is too large is measured again, because threads that meet at another moment add a wake-up.
        for work in WORKS * (MEASUREMENTS - 1):
            if any(is_above(unit, figure, record.figures.get(name, {}).get(unit, 0))
                   for name in work.parts for unit, figure in measured.figures[name].items()):
                for name, units in meter.figures(work).items():
                    measured.figures[name] = least([measured.figures[name], units])
    return judge(record, measured)


def least(measured: list[dict[str, float]]) -> dict[str, float]:
    return {unit: min(one[unit] for one in measured) for unit in measured[0]}


def renew() -> bool:
    with metering() as meter:
        measured = [measure(meter) for _ in range(MEASUREMENTS)]
    figures: Figures = {}
    wide = []
    for name in measured[0].figures:
        some = sorted((one.figures[name] for one in measured), key=lambda units: units["instructions"])
        first, second = (units["instructions"] for units in some[:2])
        if second > first * (1 + LARGEST_SPREAD):
            wide.append(f"{name}: {first:,} and {second:,}")
        figures[name] = least(some)
    if wide:
        print(f"guard.py: the two least measurements differ by more than {LARGEST_SPREAD:.1%}, and the record stays as it was: "
              f"{'; '.join(wide)}", file=sys.stderr)
        return False
    file, new = own_record(), dataclasses.replace(measured[0], figures=figures)
    if file.exists():
        print("\n".join(compare(Record.read(file), new).lines))
    new.write(file)
    print(f"guard.py: wrote {file.relative_to(ROOT)}; the commit says what has changed the figures, and why")
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
