"""Why a URL gave no picture."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .._constants import Detail, Status
from .._errors import ClosedError, Error, ForkedError, RequestCancelled, ResourceError

FailureStatus = Literal["failed_to_download", "failed_to_resize"]


_OF_THE_URL = (Status.FILE_NOT_READABLE, Status.BAD_IMAGE_DATA)
"""What a ResourceError has that another URL need not meet: a file: URL, and a picture too large for the memory."""


class Failure(NamedTuple):
    """A row that failed. `error_class` is the name of the exception of `sdd`, or "Rejected": refused by an option."""

    status: FailureStatus
    error_class: str
    error_code: str
    """The name of the `Status`, or of the option's reason."""
    error_detail: str
    """The name of the `Detail`; "" if there is none."""
    http_status: int
    """0: no response came."""
    message: str
    """One sentence."""

    @property
    def kind(self) -> tuple[str, str, str, str, int]:
        """What failures are counted by."""
        return self[:5]


class Rejected(Exception):
    """A picture that an option of the job refuses."""

    def __init__(self, code: str, message: str, status: FailureStatus = "failed_to_resize") -> None:
        super().__init__(message)
        self.code = code
        self.status: FailureStatus = status


def failure_of(error: Exception, status: FailureStatus, http_status: int = 0) -> Failure:
    """The failure for an error of the library or of an option.

    Raises other exceptions, those of a downloader that was closed, as at the end of the interpreter, and those of this
    machine, as without descriptors: the row has not failed then, but the worker.
    """
    if isinstance(error, Rejected):
        return Failure(error.status, "Rejected", error.code, "", http_status, str(error))
    if not isinstance(error, Error) or isinstance(error, (ClosedError, ForkedError, RequestCancelled)):
        raise error
    if isinstance(error, ResourceError) and error.status not in _OF_THE_URL:
        raise error
    return Failure(status, type(error).__name__, _name(Status, error.status), _name(Detail, error.detail),
                   error.http_status or http_status, str(error))  # fmt: skip


def _name(kind: type[Status] | type[Detail], number: int) -> str:
    """The name of a number; the number itself if a newer library has it."""
    if not number:
        return ""
    try:
        return kind(number).name
    except ValueError:
        return str(number)
