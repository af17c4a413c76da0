"""Exceptions. They mirror SDD_ERROR_, SDD_DETAIL_ and SDD_CLASS_ of the header."""

from __future__ import annotations

from typing import Any, ClassVar

from . import _constants as c
from ._constants import Detail, ErrorClass, Stage, Status
from ._native import ffi, lib, text
from ._words import in_python


class Error(Exception):
    """A request or a call that failed. `str(error)` is one English sentence on this failure.

    The attributes are those of sdd_failure. The subclasses are the classes of the header, SDD_CLASS_, and the refusals
    of calls.
    """

    status: Status
    """What went wrong."""
    error_class: ErrorClass
    """The kind of failure, which has an exception of its own."""
    stage: Stage
    """Where a request failed; NONE for calls."""
    detail: Detail
    """What exactly happened; NONE: nothing to add."""
    http_status: int
    """The status of the last response; 0 if there was none."""
    retryable: bool
    """Whether the same request may well succeed later."""
    url: str | None
    """The URL of the request as submitted; None for calls."""
    curl_code: int
    """libcurl's CURLcode; 0 if it reported no error."""
    system_error: int
    """errno of the failed system call; 0 if unknown."""

    _CLASS: ClassVar[ErrorClass] = ErrorClass.NONE
    """The class of errors that the package itself raises."""

    def __init__(
        self, message: str, *, status: int, error_class: int = 0, stage: int = 0, detail: int = 0, http_status: int = 0,
        retryable: bool = False, url: str | None = None, curl_code: int = 0, system_error: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.status = Status(status)
        self.error_class = ErrorClass(error_class or self._CLASS)
        self.stage = Stage(stage)
        self.detail = Detail(detail)
        self.http_status = http_status
        self.retryable = retryable
        self.url = url
        self.curl_code = curl_code
        self.system_error = system_error

    @property
    def message(self) -> str:
        """The sentence of `str(error)`."""
        return str(self.args[0])

    @property
    def name(self) -> str:
        """The name of `status` in the header, such as "SDD_ERROR_TLS"."""
        return text(lib.sdd_status_name(self.status))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], self.__dict__.copy())


def _rebuild(kind: type[Error], message: str, values: dict[str, Any]) -> Error:
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__dict__.update(values)
    return error


class RequestError(Error):
    """The application's input: URL, header fields, options, buffer."""

    _CLASS = ErrorClass.REQUEST


class NotCached(RequestError):
    """No cache has it, and the network was not allowed."""


class Blocked(RequestError):
    """The URL failed recently, and is not tried again for a while."""


class RequestCancelled(Error):
    """The request was cancelled, or its loader or downloader was closed. A cancelled task gets CancelledError."""

    _CLASS = ErrorClass.CANCELLED


class ResponseError(Error):
    """The server's response: its status or media type, or a redirect that is not followed."""

    _CLASS = ErrorClass.RESPONSE


class NotModified(ResponseError):
    """The server confirmed what the request's condition names, and sent no body."""


class ImageError(Error):
    """The body is not a picture that can be decoded."""

    _CLASS = ErrorClass.IMAGE


class NetworkError(Error):
    """Name lookup, connection, protocol, or a body that broke off."""

    _CLASS = ErrorClass.NETWORK


class TLSError(Error):
    """The handshake or a certificate."""

    _CLASS = ErrorClass.TLS


class RequestTimeout(Error, TimeoutError):
    """A time limit of the request has passed."""

    _CLASS = ErrorClass.TIMEOUT


class LimitError(Error):
    """Over a limit of the configuration, or a refused address."""

    _CLASS = ErrorClass.LIMIT


class ResourceError(Error):
    """This machine: no memory, descriptor or thread, an unreadable file, a disk that cannot be written."""

    _CLASS = ErrorClass.SYSTEM


class CallError(RequestError):
    """A call that was refused."""


class InvalidArgument(CallError, ValueError):
    """A number or text that the call does not accept."""


class ClosedError(CallError):
    """The object was closed."""


class ForkedError(CallError):
    """The object was made before a fork(), and belongs to the parent process."""


_CLASSES: dict[int, type[Error]] = {
    kind._CLASS: kind
    for kind in (RequestError, RequestCancelled, ResponseError, ImageError, NetworkError, TLSError, RequestTimeout,
                 LimitError, ResourceError)
}  # fmt: skip

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


_OF_C = "a load can be told to try failed URLs all the same"
_OF_PYTHON = 'retry_failed=True loads it all the same, and a loader with fail_policy="none" forgets what has failed'


def error_of(failure: Any, url: str | None = None) -> Error:
    """The exception for an sdd_failure."""
    kind = _STATUSES.get(failure.status) or _CLASSES.get(failure.error_class, Error)
    message = in_python(text(failure.message))
    if kind is Blocked:
        message = message.replace(_OF_C, _OF_PYTHON)
    return kind(
        message, status=failure.status, error_class=failure.error_class, stage=failure.stage,
        detail=failure.detail, http_status=failure.http_status, retryable=bool(failure.retryable), url=url,
        curl_code=failure.curl_code, system_error=failure.system_error,
    )  # fmt: skip


def descriptor_error(error: OSError) -> ResourceError:
    """The exception for a descriptor that the package itself could not make."""
    return ResourceError(
        "The system gave no descriptor for events.", status=c.ERROR_NO_RESOURCES, system_error=error.errno or 0
    )


def check(status: int) -> None:
    """Raises the exception for the call that this thread has just made, unless it gave SDD_OK."""
    if status != c.OK:
        raise call_error()


def call_error() -> Error:
    """The exception for a call of this thread that has just failed."""
    failure = ffi.new("sdd_failure *")
    lib.sdd_last_error(failure)
    return error_of(failure)
