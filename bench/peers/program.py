"""The common parts of the peers in Python: arguments, decode threads, counting, and the line of JSON at the end."""

from __future__ import annotations

import argparse
import concurrent.futures
import ctypes
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

CLIENTS = ("aiohttp", "pycurl")
DECODERS = ("pillow", "pyvips", "simplejpeg")
DECODING = ("W2", "W3", "W4", "W5")
DECODE_THREADS = 2
CHECKSUM_START = 1469598103934665603
CHECKSUM_LIBRARY = Path(__file__).resolve().parent.parent.parent / "build" / "bench-checksum.so"


class Pixels(NamedTuple):
    """A decoded picture, RGBA with 8 bits a channel. `read` copies the pixels; it is called only to compare them."""

    width: int
    height: int
    read: Callable[[], bytes]


Decode = Callable[[bytes, int], Pixels]
"""Decodes a body to fit into a square of that side, or as it is if the side is 0."""


def parse() -> argparse.Namespace:
    """Parses the arguments that all programs of the benchmark take, and those that select the peer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--client", required=True, choices=CLIENTS)
    parser.add_argument("--decoder", choices=DECODERS)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--urls", type=Path, required=True)
    parser.add_argument("--inflight", type=int, default=6)
    parser.add_argument("--cacert")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--pictures", type=Path)
    return parser.parse_args()


class Program:
    """One run. `body` and `failed` are called once for each URL, by the thread that fetches."""

    def __init__(self, arguments: argparse.Namespace, decode: Decode | None) -> None:
        self.arguments = arguments
        self.urls: list[str] = arguments.urls.read_text().split()
        self._decode = decode if arguments.workload in DECODING else None
        self._side = 512 if arguments.workload == "W4" else 0
        self._threads = concurrent.futures.ThreadPoolExecutor(DECODE_THREADS) if self._decode else None
        self._lock = threading.Lock()
        self._hash = self._load_checksum() if arguments.verify else None
        self._ok = self._failed = self._bytes = self._pixels = self._checksum = self._sum = 0
        self._start = time.perf_counter()

    @staticmethod
    def _load_checksum() -> Callable[[bytes], int]:
        function = ctypes.CDLL(str(CHECKSUM_LIBRARY)).checksum
        function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
        function.restype = ctypes.c_uint64
        return lambda data: function(data, len(data), CHECKSUM_START)

    def body(self, index: int, data: bytes) -> None:
        """Takes a whole body, and decodes it if the workload says so."""
        if self._threads:
            self._threads.submit(self._decode_one, index, data)
        else:
            self._count(len(data), 0, self._hash(data) if self._hash else 0)

    def failed(self, index: int, why: object) -> None:
        with self._lock:
            self._failed += 1
            if self._failed == 1:
                print(f"{self.urls[index]}: {why}", file=sys.stderr)

    def _decode_one(self, index: int, data: bytes) -> None:
        """Runs on a decode thread."""
        assert self._decode
        try:
            pixels = self._decode(data, self._side)
        except Exception as error:  # decoders raise exceptions of many kinds
            self.failed(index, error)
            return
        if self.arguments.pictures:
            name = f"{index}-{pixels.width}x{pixels.height}.rgba"
            (self.arguments.pictures / name).write_bytes(pixels.read())
        self._count(len(data), pixels.width * pixels.height, self._hash(pixels.read()) if self._hash else 0)

    def _count(self, size: int, pixels: int, hash_: int) -> None:
        with self._lock:
            self._ok += 1
            self._bytes += size
            self._pixels += pixels
            self._checksum ^= hash_
            self._sum = (self._sum + hash_) % (1 << 64)

    def finish(self) -> int:
        """Waits for the decode threads and prints the result. Returns the exit status."""
        if self._threads:
            self._threads.shutdown()
        print(json.dumps({
            "workload": self.arguments.workload, "ok": self._ok, "failed": self._failed, "bytes": self._bytes,
            "pixels": self._pixels, "wall_s": round(time.perf_counter() - self._start, 6), "first_frame_ms": -1,
            "checksum": f"{self._checksum:016x}", "sum": f"{self._sum:016x}"}))
        return 1 if self._failed else 0
