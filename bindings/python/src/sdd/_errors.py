"""Exceptions. They mirror SDD_ERROR_, SDD_DETAIL_ and SDD_CLASS_ of the header."""

from __future__ import annotations

from typing import Any

from . import _constants as c
from ._constants import Detail, ErrorClass, Stage, Status
from ._native import lib, text
from ._words import in_python


class Error(Exception):
    """A request or a call that failed. `str(error)` is one English sentence on this failure.

    The subclasses are the classes of the header, SDD_CLASS_, and the refusals of calls.
    """

    code: Status
    """What went wrong."""
    detail: Detail
    """What exactly happened; NONE: nothing to add."""
    http_status: int
    """The status of the last response; 0 if there was none."""
    retryable: bool
    """Whether the same request may well succeed later."""
    stage: Stage
    """Where a request failed; NONE for calls."""
    url: str | None
    """The URL of the request as submitted; None for calls."""
    curl_code: int
    """libcurl's CURLcode; 0 if it reported no error."""
    system_error: int
    """errno of the failed system call; 0 if unknown."""

    def __init__(
        self,
        message: str,
        *,
        code: int,
        detail: int = 0,
        http_status: int = 0,
        retryable: bool = False,
        stage: int = 0,
        url: str | None = None,
        curl_code: int = 0,
        system_error: int = 0,
    ) -> None:
        super().__init__(message)
        self.code = Status(code)
        self.detail = Detail(detail)
        self.http_status = http_status
        self.retryable = retryable
        self.stage = Stage(stage)
        self.url = url
        self.curl_code = curl_code
        self.system_error = system_error

    @property
    def error_class(self) -> ErrorClass:
        """The class of `code` and `detail`."""
        return ErrorClass(lib.sdd_status_class(self.code, self.detail))

    @property
    def name(self) -> str:
        """The name of `code` in the header, such as "SDD_ERROR_TLS"."""
        return text(lib.sdd_status_name(self.code))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], self.__dict__.copy())


def _rebuild(kind: type[Error], message: str, values: dict[str, Any]) -> Error:
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__dict__.update(values)
    return error


class RequestError(Error):
    """The application's input: URL, header fields, options, buffer."""


class NotCached(RequestError):
    """No cache has it, and the network was not allowed."""


class Blocked(RequestError):
    """The URL failed recently, and is not tried again for a while."""


class RequestCancelled(Error):
    """The request was cancelled, or its loader or downloader was closed. A cancelled task gets CancelledError."""


class ResponseError(Error):
    """The server's response: its status or media type, or a redirect that is not followed."""


class NotModified(ResponseError):
    """The server confirmed what the request's condition names, and sent no body."""


class ImageError(Error):
    """The body is not a picture that can be decoded."""


class NetworkError(Error):
    """Name lookup, connection, protocol, or a body that broke off."""


class TLSError(Error):
    """The handshake or a certificate."""


class RequestTimeout(Error, TimeoutError):
    """A time limit of the request has passed."""


class LimitError(Error):
    """Over a limit of the configuration, or a refused address."""


class ResourceError(Error):
    """This machine: no memory, descriptor or thread, an unreadable file, a disk that cannot be written."""


class CallError(RequestError):
    """A call that was refused."""


class InvalidArgument(CallError, ValueError):
    """A number or text that the call does not accept."""


class ClosedError(CallError):
    """The object was closed."""


class ForkedError(CallError):
    """The object was made before a fork(), and belongs to the parent process."""


_CLASSES: dict[int, type[Error]] = {
    ErrorClass.REQUEST: RequestError,
    ErrorClass.CANCELLED: RequestCancelled,
    ErrorClass.RESPONSE: ResponseError,
    ErrorClass.IMAGE: ImageError,
    ErrorClass.NETWORK: NetworkError,
    ErrorClass.TLS: TLSError,
    ErrorClass.TIMEOUT: RequestTimeout,
    ErrorClass.LIMIT: LimitError,
    ErrorClass.SYSTEM: ResourceError,
}

# More exact than the class.
_STATUSES: dict[int, type[Error]] = {
    c.ERROR_NOT_CACHED: NotCached,
    c.ERROR_BLOCKED: Blocked,
    c.ERROR_NOT_MODIFIED: NotModified,
    c.ERROR_INVALID_ARGUMENT: InvalidArgument,
    c.ERROR_CLOSED: ClosedError,
    c.ERROR_FORKED: ForkedError,
    c.ERROR_NOT_FOUND: CallError,
    c.ERROR_WRONG_DELIVERY: CallError,
    c.ERROR_BUSY: CallError,
    c.ERROR_WOULD_DEADLOCK: CallError,
    c.ERROR_BUFFER_TOO_SMALL: CallError,
}


def kind_of(code: int, detail: int = 0) -> type[Error]:
    """The exception for a status."""
    return _STATUSES.get(code) or _CLASSES.get(lib.sdd_status_class(code, detail), Error)


def check(status: int, detail: int = 0) -> None:
    """Raises the exception for the call that this thread has just made, unless it gave SDD_OK."""
    if status != c.OK:
        raise call_error(status, detail)


def call_error(status: int, detail: int = 0) -> Error:
    """The exception for a call of this thread that has just failed."""
    message = text(lib.sdd_last_error_message()) or text(lib.sdd_status_message(status))
    return kind_of(status, detail)(in_python(message), code=status, detail=detail)
