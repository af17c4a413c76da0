"""Reports of shards and of jobs: counts, and failures by kind."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ._failures import Failure, FailureStatus


@dataclass(frozen=True)
class FailureKind:
    """How many rows failed in one way, and the first of them."""

    status: FailureStatus
    error_class: str
    error_code: str
    error_detail: str
    http_status: int
    count: int
    message: str
    url: str

    def __str__(self) -> str:
        words = [self.error_class, self.error_code, self.error_detail, str(self.http_status or "")]
        return f"{self.count:>9}  {' '.join(word for word in words if word)}, as {self.url}: {self.message}"


def _kind(failure: Failure, count: int, url: str) -> FailureKind:
    return FailureKind(failure.status, failure.error_class, failure.error_code, failure.error_detail,
                       failure.http_status, count, failure.message, url)  # fmt: skip


class FailureCounts:
    """Counts failures by kind while a shard is made."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, str, str, int], list[Any]] = {}

    def add(self, failure: Failure, url: str) -> None:
        known = self._kinds.setdefault(failure.kind, [0, failure, url])
        known[0] += 1

    def kinds(self) -> list[FailureKind]:
        """The kinds, the most frequent first."""
        made = [_kind(failure, count, url) for count, failure, url in self._kinds.values()]
        return sorted(made, key=lambda kind: -kind.count)

    def count(self, status: FailureStatus) -> int:
        return sum(count for count, failure, _ in self._kinds.values() if failure.status == status)


class DamagedStats(ValueError):
    """A file of statistics that says nothing."""


@dataclass(frozen=True)
class ShardReport:
    """What `NNNNN_stats.json` says: the fields of img2dataset's, and `failures` and `bytes` besides."""

    shard: int
    count: int
    successes: int
    failed_to_download: int
    failed_to_resize: int
    duration: float
    start_time: float
    end_time: float
    bytes: int
    """Bytes of the bodies of the pictures that succeeded."""
    failures: tuple[FailureKind, ...]

    @property
    def status_dict(self) -> dict[str, int]:
        """Counts by a short text, as img2dataset has them."""
        counts = {"success": self.successes} if self.successes else {}
        for kind in self.failures:
            words = [kind.error_class, kind.error_code, kind.error_detail, str(kind.http_status or "")]
            counts[" ".join(word for word in words if word)] = kind.count
        return counts

    def to_json(self) -> str:
        content = asdict(self)
        content["status_dict"] = self.status_dict
        return json.dumps(content, indent=4)

    @staticmethod
    def read(file: Path) -> ShardReport:
        try:
            content = json.loads(file.read_text())
            del content["status_dict"]
            content["failures"] = tuple(FailureKind(**kind) for kind in content["failures"])
            return ShardReport(**content)
        except (ValueError, TypeError, KeyError):
            raise DamagedStats(f"{file} is damaged: remove it, and its shard is made again") from None


@dataclass(frozen=True)
class JobReport:
    """The sum of the shards that are done. `print(report)` shows the failures by kind."""

    shards: int
    missing: tuple[int, ...]
    """Shards that are not done."""
    count: int
    successes: int
    failed_to_download: int
    failed_to_resize: int
    bytes: int
    failures: tuple[FailureKind, ...]

    @staticmethod
    def of(reports: Iterable[ShardReport], missing: Iterable[int] = ()) -> JobReport:
        reports = list(reports)
        kinds: dict[tuple[Any, ...], FailureKind] = {}
        for report in reports:
            for kind in report.failures:
                key = (kind.status, kind.error_class, kind.error_code, kind.error_detail, kind.http_status)
                known = kinds.get(key)
                kinds[key] = replace(known, count=known.count + kind.count) if known else kind
        return JobReport(
            shards=len(reports), missing=tuple(missing), count=sum(report.count for report in reports),
            successes=sum(report.successes for report in reports),
            failed_to_download=sum(report.failed_to_download for report in reports),
            failed_to_resize=sum(report.failed_to_resize for report in reports),
            bytes=sum(report.bytes for report in reports),
            failures=tuple(sorted(kinds.values(), key=lambda kind: -kind.count)),
        )  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"{self.successes} of {self.count} URLs in {self.shards} shards gave a picture, {self.failed_to_download} "
            f"were not downloaded, {self.failed_to_resize} were refused or no pictures"
        ]
        if self.missing:
            lines.append(f"{len(self.missing)} shards are missing")
        return "\n".join([*lines, *map(str, self.failures)])
