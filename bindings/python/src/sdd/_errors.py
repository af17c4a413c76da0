"""Exceptions. They mirror SDD_ERROR_, SDD_DETAIL_ and SDD_CLASS_ of the header."""

from __future__ import annotations

from typing import Any

from . import _constants as c
from ._constants import Detail, ErrorClass, Stage, Status
from ._native import lib, text


class Error(Exception):
    """A request or a call that failed. `str(error)` is one English sentence on this failure.

    The subclasses are the classes of the header, SDD_CLASS_, and the refusals of calls.
    """

    code: int
    """A `Status`, or a number that this version does not know."""
    detail: int
    """A `Detail`: what exactly happened; 0: nothing to add."""
    http_status: int
    """The status of the last response; 0 if there was none."""
    retryable: bool
    """Whether the same request may well succeed later."""
    stage: int
    """The `Stage` at which a request failed; 0 for calls and for items of batches."""
    url: str | None
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
        self.code = _member(Status, code)
        self.detail = _member(Detail, detail)
        self.http_status = http_status
        self.retryable = retryable
        self.stage = _member(Stage, stage)
        self.url = url
        self.curl_code = curl_code
        self.system_error = system_error

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


def _member(kind: Any, number: int) -> int:
    """The member of an enumeration, or the number itself if a newer library has others."""
    try:
        return kind(number)  # type: ignore[no-any-return]
    except ValueError:
        return number


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


class CallError(Error):
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
}

# The class of a status where no result says it: for calls and for items of batches.
_CLASS_OF_STATUS: dict[int, int] = {
    c.ERROR_INVALID_URL: c.CLASS_REQUEST,
    c.ERROR_INVALID_DOWNLOAD_OPERATION: c.CLASS_REQUEST,
    c.ERROR_BAD_IMAGE_DATA: c.CLASS_IMAGE,
    c.ERROR_CANCELLED: c.CLASS_CANCELLED,
    c.ERROR_TLS: c.CLASS_TLS,
    c.ERROR_TIMEOUT: c.CLASS_TIMEOUT,
    c.ERROR_BODY_TOO_LARGE: c.CLASS_LIMIT,
    c.ERROR_HEADERS_TOO_LARGE: c.CLASS_LIMIT,
    c.ERROR_ADDRESS_REFUSED: c.CLASS_LIMIT,
    c.ERROR_FILE_NOT_READABLE: c.CLASS_SYSTEM,
    c.ERROR_SINK: c.CLASS_SYSTEM,
    c.ERROR_NO_RESOURCES: c.CLASS_SYSTEM,
    c.ERROR_CACHE: c.CLASS_SYSTEM,
    c.ERROR_UNSUPPORTED: c.CLASS_REQUEST,
    c.ERROR_DOES_NOT_FIT: c.CLASS_REQUEST,
    **dict.fromkeys(
        (c.ERROR_TRANSPORT, c.ERROR_RESOLVE, c.ERROR_CONNECT, c.ERROR_CONNECTION_LOST, c.ERROR_PROTOCOL,
         c.ERROR_TRUNCATED_BODY, c.ERROR_CONTENT_ENCODING, c.ERROR_PROXY),
        c.CLASS_NETWORK,
    ),
    **dict.fromkeys(
        (c.ERROR_INVALID_DOWNLOAD_STATUS_CODE, c.ERROR_INVALID_DOWNLOAD_RESPONSE,
         c.ERROR_INVALID_DOWNLOAD_CONTENT_TYPE, c.ERROR_REDIRECT_REFUSED, c.ERROR_TOO_MANY_REDIRECTS),
        c.CLASS_RESPONSE,
    ),
}  # fmt: skip

_CLASS_OF_DETAIL: dict[int, int] = {
    c.DETAIL_IMAGE_TOO_MANY_PIXELS: c.CLASS_LIMIT,
    c.DETAIL_IMAGE_TOO_MANY_FRAMES: c.CLASS_LIMIT,
    c.DETAIL_IMAGE_CHUNK_TOO_LARGE: c.CLASS_LIMIT,
    c.DETAIL_IMAGE_NO_MEMORY: c.CLASS_SYSTEM,
    c.DETAIL_IMAGE_BUFFER_TOO_SMALL: c.CLASS_REQUEST,
    c.DETAIL_OPERATION_NO_TRANSFER: c.CLASS_SYSTEM,
    c.DETAIL_CACHE_TOO_LARGE: c.CLASS_LIMIT,
    c.DETAIL_CACHE_NOTHING: c.CLASS_REQUEST,
}

_RETRYABLE_HTTP = frozenset((408, 425, 429, 500, 502, 503, 504))
_RETRYABLE = frozenset((c.ERROR_RESOLVE, c.ERROR_CONNECT, c.ERROR_TIMEOUT, c.ERROR_CONNECTION_LOST,
                        c.ERROR_TRUNCATED_BODY, c.ERROR_NO_RESOURCES))  # fmt: skip
_RETRYABLE_DETAILS = frozenset((c.DETAIL_OPERATION_NO_TRANSFER, c.DETAIL_TLS_HANDSHAKE, c.DETAIL_IMAGE_NO_MEMORY,
                                c.DETAIL_IMAGE_TRUNCATED))  # fmt: skip


def retryable_of(code: int, detail: int, http_status: int) -> bool:
    """The value that sdd_result.retryable would have. Items of batches lack it."""
    if code == c.ERROR_INVALID_DOWNLOAD_STATUS_CODE:
        return http_status in _RETRYABLE_HTTP
    return code in _RETRYABLE or detail in _RETRYABLE_DETAILS


def kind_of(code: int, detail: int = 0, error_class: int = 0) -> type[Error]:
    """The exception for a status; `error_class` is the result's, 0 if there is no result."""
    exact = _STATUSES.get(code)
    if exact:
        return exact
    number = error_class or _CLASS_OF_DETAIL.get(detail) or _CLASS_OF_STATUS.get(code, 0)
    return _CLASSES.get(number, CallError)


def check(status: int, detail: int = 0) -> None:
    """Raises the exception for the call that this thread has just made, unless it gave SDD_OK."""
    if status != c.OK:
        raise call_error(status, detail)


def call_error(status: int, detail: int = 0) -> Error:
    """The exception for a call of this thread that has just failed."""
    message = text(lib.sdd_last_error_message()) or text(lib.sdd_status_message(status))
    return kind_of(status, detail)(message, code=status, detail=detail)
