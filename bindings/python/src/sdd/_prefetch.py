"""Lists of URLs that are loaded ahead of time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from . import _constants as c
from ._constants import Detail, Origin, Status
from ._events import Event
from ._native import ffi
from ._results import origin_of
from ._structs import Choices, Struct

_PLACES = Choices("to", memory=c.PREFETCH_MEMORY, disk=c.PREFETCH_DISK)


@dataclass(frozen=True)
class PrefetchOutcome:
    """The outcome of one URL of a list."""

    code: Status
    """OK for a success."""
    detail: Detail
    """What exactly happened; NONE: nothing to add."""
    http_status: int
    """The status of the response; 0 if there was none."""
    origin: Origin
    """The network, or a cache if the picture was there already."""
    retryable: bool
    """Whether the same request may well succeed later."""


@dataclass(frozen=True)
class PrefetchReport:
    """The outcome of a list."""

    total: int
    """URLs of the list."""
    failed: int
    """Those that failed, and so are in no cache."""
    outcomes: list[PrefetchOutcome]
    """In the order of the URLs."""


def prefetch_list(urls: Iterable[str], to: str, bits: int, decode: Struct | None) -> Struct:
    """An sdd_prefetch_list."""
    made = Struct("sdd_prefetch_list")
    made.set_texts("urls", "count", urls)
    made.c.options, made.c.to = bits, _PLACES.of(to)
    made.set("decode", decode)
    return made


def report_of(event: Event) -> PrefetchReport:
    """Copies the report of a list that has ended."""
    report = event[0].prefetch
    first, outcomes = ffi.cast("char *", report.outcomes), []
    for index in range(report.total if report.outcomes else 0):
        outcome = ffi.cast("sdd_prefetch_outcome *", first + index * report.outcome_size)
        outcomes.append(
            PrefetchOutcome(
                Status(outcome.error),
                Detail(outcome.detail),
                outcome.http_status,
                origin_of(outcome.origin),
                bool(outcome.retryable),
            )
        )
    return PrefetchReport(report.total, report.skipped, outcomes)
