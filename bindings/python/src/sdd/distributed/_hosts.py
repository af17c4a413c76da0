"""Which lane each URL belongs to, and where in it: the URLs of one host are in one lane, spread over its shards."""

from __future__ import annotations

import heapq
import math
import zlib
from collections.abc import Iterable

import pyarrow as pa

from ._arrow import compute

# The host between "://" or a user's name and the port, path, query or fragment: what libsdd limits, without the port.
_HOST = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?(?P<host>\[[^\]/?#]*\]|[^/?#:]*)"


def hosts_of(urls: pa.ChunkedArray) -> pa.ChunkedArray:
    """The host of each URL in lower case; "" where there is none."""
    found = compute.struct_field(compute.extract_regex(urls, _HOST), "host")
    return compute.utf8_lower(compute.fill_null(found, ""))


class HostCounts:
    """How many URLs each host has."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, urls: pa.ChunkedArray) -> None:
        for entry in compute.value_counts(hosts_of(urls)).to_pylist():
            host = entry["values"]
            self.counts[host] = self.counts.get(host, 0) + entry["counts"]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class Placing:
    """Lanes of hosts. Large hosts are placed first, each into the lane that has least so far.

    Every run over the same list gives the same places.
    """

    def __init__(self, counts: dict[str, int], lanes: int, host_lanes: int) -> None:
        total = sum(counts.values())
        share = math.ceil(total / lanes) if lanes else 1
        parts: list[tuple[int, str]] = []
        """URLs and host; a host that is spread over several lanes occurs as often."""
        for host, count in counts.items():
            pieces = min(host_lanes, math.ceil(count / share), lanes) or 1
            parts += [(len(range(piece, count, pieces)), host) for piece in range(pieces)]
        parts.sort(key=lambda part: (-part[0], part[1]))
        loads = [(0, lane) for lane in range(lanes)]
        self._lanes: dict[str, list[int]] = {}
        for count, host in parts:
            load, lane = heapq.heappop(loads)
            self._lanes.setdefault(host, []).append(lane)
            heapq.heappush(loads, (load + count, lane))
        self._counts = counts
        self._seen: dict[str, int] = dict.fromkeys(counts, 0)

    def place(self, hosts: Iterable[str]) -> tuple[list[int], list[float]]:
        """The lane of the next URL of each host, and its place there, from 0 to 1: each host's URLs lie evenly."""
        lanes: list[int] = []
        places: list[float] = []
        for host in hosts:
            number = self._seen[host]
            self._seen[host] = number + 1
            of_host = self._lanes[host]
            lanes.append(of_host[number % len(of_host)])
            # Hosts with few URLs begin at different places, so that they do not all meet in the middle.
            places.append((number + zlib.crc32(host.encode()) / 2**32) / self._counts[host])
        return lanes, places
