"""Lists of URLs that are loaded ahead of time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from . import _constants as c
from ._constants import Origin
from ._errors import Error, error_of
from ._options import PrefetchOptions
from ._plans import Plan, names_of, take_request
from ._results import origin_of
from ._structs import Choices, Struct
from ._values import no_option, texts

_PLACES = Choices("to", memory=c.PREFETCH_MEMORY, disk=c.PREFETCH_DISK)


@dataclass(frozen=True)
class PrefetchOutcome:
    """The outcome of one URL of a list."""

    url: str
    """The URL as given."""
    error: Error | None
    """The exception of a load that failed, else None."""
    origin: Origin
    """The network, or a cache if the picture was there already; NONE for a load that failed."""
    http_status: int
    """The status of the response; 0 if there was none."""

    @property
    def ok(self) -> bool:
        """Whether the picture is in the cache: `error` is None."""
        return self.error is None


@dataclass(frozen=True)
class PrefetchReport:
    """The outcome of a list."""

    total: int
    """URLs of the list."""
    failed: int
    """Those that failed, and so are in no cache."""
    outcomes: list[PrefetchOutcome]
    """In the order of the URLs."""


def prefetch_plan(
    urls: Iterable[str], to: str, options: dict[str, Any]
) -> tuple[Plan, Callable[[Any, str], PrefetchReport]]:
    """A list, and what makes its report."""
    made = Struct("sdd_prefetch_list")
    given = texts("urls", urls)
    made.set_texts("urls", "count", given)
    made.c.to = _PLACES.of(to)
    made.c.options = take_request(made, options)
    for name in options:
        raise no_option(name, names_of(PrefetchOptions), "of prefetching")
    return Plan(made, made.c.options, has_url=False), functools.partial(_report_of, given)


def _report_of(urls: list[str], report: Any, _: str) -> PrefetchReport:
    """Copies the report of a list that has ended."""
    outcomes = [_outcome_of(url, report.outcomes[index]) for index, url in enumerate(urls)]
    return PrefetchReport(report.total, report.skipped, outcomes)


def _outcome_of(url: str, given: Any) -> PrefetchOutcome:
    error = error_of(given.failure, url) if given.failure.status != c.OK else None
    return PrefetchOutcome(url, error, origin_of(given.origin), given.failure.http_status)
