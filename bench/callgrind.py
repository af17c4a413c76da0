#!/usr/bin/env python3
"""Counts the instructions of a program with callgrind, for each of its threads.

    callgrind.py [--by layer|object] [--divide N] [--env NAME=VALUE] COMMAND...

Prints, for each thread, the instructions of each layer or shared object, divided by N, for instance a number of URLs.
The program does not get the caller's environment, but what --env says, which may be there several times.

Runs the program so that counts depend little on the processor and on chance: valgrind shows a processor of its own,
glibc and libjpeg take their SSE2 code, and Swift's hashes have no random seed. malloc() has no fast bins, because they
make a run settle by chance in one of two states, in which a load from memory takes 4 % more or fewer instructions.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from clients import BUILD

# Reads neither the caller's environment nor the libraries that it may name.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-FMA,-BMI2,-ERMS,-FSRM,"
                      "-AVX_Fast_Unaligned_Load:glibc.malloc.mxfast=0",
    "JSIMD_FORCESSE2": "1",
    "SWIFT_DETERMINISTIC_HASHING": "1",
    "LD_BIND_NOW": "1",
}
# A thread is known by a function that only it runs. The programs call libsdd from main(), completed() is called on its
# callback thread, and respond() on its network thread.
THREADS = {"main": ("main",), "network": ("respond", "curl_multi_perform"), "callback": ("completed",),
           "decode": ("png_process_data", "png_read_row", "jpeg_read_scanlines")}
OTHERS = "others"
TIME_LIMIT = 600

# Layers of libsdd by parts of mangled names. The first one in a name counts, so that code of the standard library that
# was made for a type of a layer belongs to that layer.
TARGETS = {"3SDD": "façade", "9SDDEngine": "engine", "12SDDTransport": "transport", "9SDDCaches": "caches",
           "9SDDCoders": "coders", "7SDDBase": "base"}
TARGET = re.compile(r"(?<!\d)(?:3SDD(?![A-Z][a-z])|9SDDEngine|12SDDTransport|9SDDCaches|9SDDCoders|7SDDBase)")
RUNTIME = re.compile(r"_?swift_|_ZN?[A-Z0-9]*5swift|_ZL\d+_?swift|\$s|_\$s|__swift")
LIBRARIES = {"libcurl": "libcurl", "libjpeg": "libjpeg", "libpng16": "libpng and zlib", "libz": "libpng and zlib",
             "libc": "libc", "libm": "libc", "ld-linux-x86-64": "dynamic linker", "libssl": "OpenSSL",
             "libcrypto": "OpenSSL", "libnghttp2": "nghttp2", "libstdc++": "C++ runtime", "libgcc_s": "C++ runtime"}


Counts = collections.Counter[tuple[str, str]]


class NotMeasured(Exception):
    """A program or valgrind has failed, or a thread cannot be found."""


@dataclasses.dataclass(frozen=True)
class Thread:
    """The instructions of a thread."""

    own: Counts
    """By shared object and function, without those of the functions that it calls."""
    called: collections.Counter[str]
    """By function, with those of the functions that it calls."""
    calls: Counts
    """Not instructions but calls, by the calling function and the called one."""

    @property
    def total(self) -> int:
        return self.own.total()

    @property
    def name(self) -> str:
        functions = {function for _, function in self.own}
        return next((name for name, ones in THREADS.items() if not functions.isdisjoint(ones)), OTHERS)


def read(path: Path) -> Thread:
    """Reads a file of callgrind, which has the costs of one thread."""
    own: Counts = collections.Counter()
    called: collections.Counter[str] = collections.Counter()
    calls: Counts = collections.Counter()
    place, function, callee = "", "", None
    for line in path.read_text(errors="replace").splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            place = Path(value).name
        elif key == "fn":
            function = value
        elif key == "cfn":
            callee = value
        elif key == "calls" and callee is not None:
            calls[function, callee.partition("@@")[0]] += int(value.split()[0])
        elif line[:1].isdigit():
            count = int(line.split()[1])
            if callee is not None:  # the line after "calls=", which follows "cfn="
                called[callee] += count
                callee = None
            else:
                own[place, function] += count
    return Thread(own, called, calls)


def library(folder: Path) -> Path:
    """Makes a copy of the library that valgrind can read, because the compiler's debug information confuses it."""
    folder.mkdir()
    subprocess.run(["objcopy", "--strip-debug", BUILD / "libsdd.so", folder / "libsdd.so.0"], check=True)
    return folder


def run(command: list[str], libraries: Path) -> list[Thread]:
    """Runs a program with the libraries of a folder, and returns its threads."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes", "--compress-strings=no",
                    "--compress-pos=no", "--demangle=no", f"--callgrind-out-file={folder}/counts"]
        try:
            process = subprocess.run(valgrind + command, env=ENVIRONMENT | {"LD_LIBRARY_PATH": str(libraries)},
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIME_LIMIT)
        except FileNotFoundError as error:
            raise NotMeasured("valgrind is missing; Tests/run.sh installs it") from error
        except subprocess.TimeoutExpired as error:
            raise NotMeasured(f"{' '.join(command)}: no end after {TIME_LIMIT} s") from error
        if process.returncode != 0:
            raise NotMeasured(f"{' '.join(command)}: status {process.returncode}: {process.stdout.strip()[-500:]}")
        return [read(file) for file in sorted(Path(folder).glob("counts-*"))]


def layer(place: str, function: str) -> str:
    """Returns the part of the library, or the other library, that a function belongs to."""
    name = place.split(".so")[0]
    if name != "libsdd":
        return LIBRARIES.get(name, "program" if (BUILD / place).exists() else OTHERS)
    if match := TARGET.search(function):
        return TARGETS[match[0]]
    if RUNTIME.match(function):
        return "Swift runtime"
    return "façade" if function.startswith("sdd_") else "C parts, C++ runtime"


def profile(threads: list[Thread], by_object: bool = False) -> Counts:
    """Adds up instructions by name of the thread, and layer or shared object."""
    sums: Counts = collections.Counter()
    for thread in threads:
        for (place, function), count in thread.own.items():
            sums[thread.name, place if by_object else layer(place, function)] += count
    return sums


def table(sums: Counts, divisor: float) -> str:
    """Makes a table in Markdown: a row for each layer, a column for each thread. Leaves out what is less than 1."""
    threads: collections.Counter[str] = collections.Counter()
    places: collections.Counter[str] = collections.Counter()
    for (thread, place), count in sums.items():
        threads[thread] += count
        places[place] += count

    def significant(counts: collections.Counter[str]) -> list[str]:
        return [name for name, count in counts.most_common() if count >= divisor]

    columns = sorted(significant(threads), key=[*THREADS, OTHERS].index)

    def row(title: str, counts: list[int], all_: int) -> str:
        return f"| {title} | {' | '.join(f'{round(count / divisor):,}' for count in [*counts, all_])} |"

    return "\n".join([f"| | {' | '.join(columns)} | all |", "| --- |" + " ---: |" * (len(columns) + 1),
                      *(row(place, [sums[thread, place] for thread in columns], places[place])
                        for place in significant(places)),
                      row("all", [threads[thread] for thread in columns], threads.total())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by", choices=("layer", "object"), default="layer")
    parser.add_argument("--divide", type=float, default=1)
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    ENVIRONMENT.update(setting.split("=", 1) for setting in arguments.env)
    with tempfile.TemporaryDirectory() as folder:
        try:
            threads = run(arguments.command, library(Path(folder) / "library"))
        except NotMeasured as reason:
            sys.exit(f"callgrind.py: {reason}")
    print(table(profile(threads, arguments.by == "object"), arguments.divide))


if __name__ == "__main__":
    main()
