"""Results of requests: a picture or bytes, and facts about how they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from ._constants import Origin
from ._errors import Error, kind_of
from ._events import Event
from ._image import Image, view_of_bytes
from ._native import ffi, lib, text
from ._values import c_text
from ._words import in_python


@dataclass(frozen=True)
class Timings:
    """Seconds of each stage of a request; 0 for a stage that did not happen: sdd_timings."""

    queue: float
    """From the submitting call to the start of the transfer; in seconds."""
    name_lookup: float
    """The lookup of the host's name; in seconds."""
    connect: float
    """TCP connect alone; in seconds."""
    tls: float
    """TLS handshake alone; in seconds."""
    first_byte: float
    """From the request being ready to be sent to the first byte of the response; in seconds."""
    transfer: float
    """The whole transfer, all hops, from its start to its last byte; in seconds."""
    decode: float
    """From the last byte to the picture, including the wait for a decode thread; in seconds."""
    total: float
    """From the submitting call to the end; in seconds."""
    delivery: float
    """From the end until the event loop, or the thread that waits, took the result; in seconds."""
    cache: float
    """From the submitting call until the cache, or another process that was downloading the same URL, had answered; in
    seconds."""
    store: float
    """With wait_store_cache, from the picture until it was on disk; in seconds."""


@dataclass(frozen=True)
class Metrics:
    """The cost of a transfer: sdd_metrics."""

    request_bytes: int
    """Bytes sent, header and body."""
    response_header_bytes: int
    """Header bytes received."""
    response_body_bytes: int
    """Body bytes received, still packed by Content-Encoding."""
    body_bytes: int
    """Body bytes after unpacking."""
    http_version: int
    """10, 11, 20 or 30; 0 if there was no response."""
    connection_reused: bool
    """Whether no new connection was made."""
    redirects: int
    """Redirects that were followed."""
    attempts: int
    """Transfers started for this request. All other fields describe the last of them."""
    remote_port: int
    """The port of the server or proxy; 0 if there was no connection."""
    remote_address: str
    """The address of the server or proxy, "192.0.2.1" or "2001:db8::1"; "" if there was no connection."""
    saved_bytes: int
    """With stop_when_complete, bytes of the announced body that were not waited for."""
    resumed_bytes: int
    """With resume, bytes of the body that an earlier, broken transfer had left."""


class Response:
    """The status, URL and header fields of a response."""

    __slots__ = ("_handle",)

    def __init__(self, owner: Any) -> None:
        """`owner` is the sdd_response, with a reference of its own."""
        self._handle = owner

    @property
    def url(self) -> str:
        """The URL that answered, the last one of a chain of redirects."""
        return text(lib.sdd_response_url(self._handle))

    @property
    def status(self) -> int:
        """The HTTP status code; 0 for a scheme without one."""
        return lib.sdd_response_status(self._handle)  # type: ignore[no-any-return]

    @property
    def mime_type(self) -> str:
        """The media type in lower case, without parameters; "" if the response names none."""
        return text(lib.sdd_response_mime_type(self._handle))

    def header(self, name: str) -> str | None:
        """The value of the first header field with a name, compared without regard to case."""
        value = lib.sdd_response_header(self._handle, c_text(name, "name"))
        return ffi.string(value).decode("latin-1") if value else None

    @property
    def headers(self) -> list[tuple[str, str]]:
        """All header fields, in the order in which they arrived."""
        return list(self._fields())

    def _fields(self) -> Iterator[tuple[str, str]]:
        name, value = ffi.new("const char **"), ffi.new("const char **")
        for index in range(lib.sdd_response_header_count(self._handle)):
            lib.sdd_response_header_at(self._handle, index, name, value)
            yield ffi.string(name[0]).decode("latin-1"), ffi.string(value[0]).decode("latin-1")

    def __repr__(self) -> str:
        return f"<sdd.Response {self.status} {self.url}>"


class Result:
    """The outcome of a request that succeeded."""

    __slots__ = ("url", "image", "data", "origin", "http_status", "response", "is_end_unproven", "_times", "_costs",
                 "_address")  # fmt: skip

    url: str
    """The URL as submitted."""
    image: Image | None
    """None if only bytes were asked for."""
    data: memoryview | None
    """The body, read-only, without a copy. None for a scaled or transformed picture."""
    origin: Origin
    """The network or a cache."""
    http_status: int
    """The status of the response; 0 if there was none."""
    response: Response | None
    """None if a cache had no need to ask the server."""
    is_end_unproven: bool
    """Whether nothing proves that the body is complete."""
    _times: bytes
    """A copy of the sdd_timings."""
    _costs: bytes
    """A copy of the sdd_metrics."""
    _address: str

    @property
    def timings(self) -> Timings:
        """Seconds of each stage."""
        times = ffi.from_buffer("sdd_timings *", self._times)
        return Timings(*[getattr(times, f"{field.name}_us") / 1e6 for field in fields(Timings)])

    @property
    def metrics(self) -> Metrics:
        """The cost of the transfer."""
        costs = ffi.from_buffer("sdd_metrics *", self._costs)
        values = {field.name: getattr(costs, field.name) for field in fields(Metrics)}
        values.update(connection_reused=bool(costs.connection_reused), remote_address=self._address)
        return Metrics(**values)

    def __repr__(self) -> str:
        return f"<sdd.Result {self.url} {self.image or ('%d bytes' % len(self.data or b''))}>"


_TIMES = ffi.sizeof("sdd_timings")
_COSTS = ffi.sizeof("sdd_metrics")
_ORIGINS = {member.value: member for member in Origin}


def origin_of(number: int) -> Origin:
    return _ORIGINS.get(number) or Origin(number)


def result_of(event: Event) -> Result:
    """Copies everything of a terminal event without an error."""
    end, image, body = event
    given, made = end.result, Result()
    made.image = Image._of(image) if image else None
    made.data = view_of_bytes(body) if body else None
    made.url = text(given.url)
    made.origin = origin_of(given.origin)
    made.http_status = given.http_status
    made.response = Response(_retained(given.response)) if given.response else None
    made._times = ffi.buffer(given.timings, _TIMES)[:]
    made._costs = ffi.buffer(given.metrics, _COSTS)[:]
    made._address = text(given.metrics.remote_address)
    made.is_end_unproven = bool(given.end_unproven)
    return made


def _retained(response: Any) -> Any:
    """A new reference to an sdd_response, with its owner. One call of C makes both, which no signal comes between."""
    return next(map(ffi.gc, map(lib.sdd_response_retain, (response,)), (lib.sdd_response_release,)))


def error_of(given: Any) -> Error:
    """The exception for an sdd_result."""
    return failure_of(given, text(given.message) or text(lib.sdd_status_message(given.error)), text(given.url) or None)


def failure_of(given: Any, message: str, url: str | None) -> Error:
    """The exception for a struct with the facts of an error, an sdd_result or an sdd_batch_item."""
    return kind_of(given.error, given.detail)(
        in_python(message), code=given.error, detail=given.detail, http_status=given.http_status,
        retryable=bool(given.retryable), stage=given.stage, url=url, curl_code=given.curl_code,
        system_error=given.system_error,
    )  # fmt: skip
