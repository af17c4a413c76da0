"""Counts forks, so that objects made in a parent process are recognised in its child before they take any lock."""

from __future__ import annotations

import os

from ._constants import ERROR_FORKED
from ._errors import ForkedError

_generation = 0


def _count() -> None:
    global _generation
    _generation += 1


os.register_at_fork(after_in_child=_count)


def generation() -> int:
    """The number of forks between the process that imported this package and this one."""
    return _generation


def check_generation(made_in: int, what: str) -> None:
    """Raises ForkedError if the object was made before a fork()."""
    if made_in != _generation:
        raise ForkedError(
            f"This {what} was made before fork(), and belongs to the parent process; the child must make its own.",
            status=ERROR_FORKED,
        )
