"""Results of requests: a picture or bytes, and how they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, NoReturn

from ._constants import Origin
from ._errors import Error
from ._errors import error_of as error_of_failure
from ._image import Image, view_of_bytes
from ._metrics import Metrics
from ._native import ffi, lib, owned, text
from ._values import c_text


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

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Response cannot be pickled; send response.headers, or what else of it is needed")


class Result:
    """The outcome of a request that succeeded."""

    __slots__ = (
        "url", "http_status", "store_error", "_image", "_bytes", "_data", "_response", "_origin", "_metrics",
        "_address",
    )

    url: str
    """The URL as submitted."""
    http_status: int
    """The status of the response; 0 if there was none."""
    store_error: int
    """With `wait_store_cache`, the errno of the failure to store it on disk; 0: it is stored, or there was nothing to
    store."""
    _image: Any
    """The sdd_image with its owner, then the object for it; None if there is none."""
    _bytes: Any
    """The sdd_bytes with its owner, or None."""
    _data: memoryview | None
    """None until somebody asks for it."""
    _response: Any
    """The sdd_response with its owner, then the object for it; None if there is none."""
    _origin: int
    _metrics: bytes
    """A copy of the sdd_metrics."""
    _address: bytes

    @property
    def image(self) -> Image | None:
        """None if only bytes were asked for."""
        kept = self._image
        if kept is None or type(kept) is Image:
            return kept
        self._image = image = Image._of(kept)
        return image

    @property
    def data(self) -> memoryview | None:
        """The body, read-only, without a copy. None for a scaled or transformed picture."""
        if self._data is None and self._bytes is not None:
            self._data = view_of_bytes(self._bytes, self._bytes)
        return self._data

    @property
    def origin(self) -> Origin:
        """The network or a cache."""
        return origin_of(self._origin)

    @property
    def response(self) -> Response | None:
        """None if a cache had no need to ask the server."""
        kept = self._response
        if kept is None or type(kept) is Response:
            return kept
        self._response = response = Response(kept)
        return response

    @property
    def metrics(self) -> Metrics:
        """How long the stages took, and what the transfer cost."""
        return metrics_of_copy(self._metrics, self._address.decode())

    def __repr__(self) -> str:
        return f"<sdd.Result {self.url} {self.image or ('%d bytes' % len(self.data or b''))}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Result cannot be pickled; send bytes(result.data), or what else of it is needed")


_retain_image, _release_image = lib.sdd_image_retain, lib.sdd_image_release
_retain_bytes, _release_bytes = lib.sdd_bytes_retain, lib.sdd_bytes_release
_retain_response, _release_response = lib.sdd_response_retain, lib.sdd_response_release

_METRICS = ffi.sizeof("sdd_metrics")
_FIELDS = {field for field, _ in ffi.typeof("sdd_metrics").fields}
_SECONDS = [field.name for field in fields(Metrics) if f"{field.name}_us" in _FIELDS]
_COUNTS = [field.name for field in fields(Metrics) if field.name in _FIELDS and field.name != "remote_address"]
_ORIGINS = {member.value: member for member in Origin}


def metrics_of(given: Any, address: str) -> Metrics:
    """The metrics of an sdd_metrics, with its text."""
    values: dict[str, Any] = {name: getattr(given, f"{name}_us") / 1e6 for name in _SECONDS}
    values.update({name: getattr(given, name) for name in _COUNTS})
    values.update(connection_reused=bool(given.connection_reused), is_end_unproven=bool(given.end_unproven),
                  remote_address=address)  # fmt: skip
    return Metrics(**values)


def metrics_of_copy(copy: bytes, address: str) -> Metrics:
    """The metrics of a copy of an sdd_metrics, whose text it does not have."""
    return metrics_of(ffi.from_buffer("sdd_metrics *", copy), address)


_buffer, _string = ffi.buffer, ffi.string


def copy_of(metrics: Any) -> bytes:
    """A copy of an sdd_metrics."""
    return _buffer(metrics, _METRICS)[:]  # type: ignore[no-any-return]


def origin_of(number: int) -> Origin:
    return _ORIGINS.get(number) or Origin(number)


def image_of(given: Any) -> Image:
    """The picture of an sdd_result that has one, with a reference of its own."""
    return Image._of(owned(given.image, _retain_image, _release_image))


def data_of(given: Any) -> memoryview:
    """The bytes of an sdd_result that has some, with a reference of their own."""
    owner = owned(given.bytes, _retain_bytes, _release_bytes)
    return view_of_bytes(owner, owner)


def response_of(given: Any) -> Response | None:
    """The response of an sdd_result, with a reference of its own."""
    if not given.response:
        return None
    return Response(owned(given.response, _retain_response, _release_response))


def picture_of(given: Any, url: str) -> Image:
    """`image_of()` as what a request gives."""
    return image_of(given)


def result_of(given: Any, url: str) -> Result:
    """Everything of an sdd_result without an error: references of its own, and copies."""
    made = Result()
    made.url = url
    made.http_status = given.failure.http_status
    kept = given.image
    made._image = owned(kept, _retain_image, _release_image) if kept else None
    kept = given.bytes
    made._bytes = owned(kept, _retain_bytes, _release_bytes) if kept else None
    made._data = None
    kept = given.response
    made._response = owned(kept, _retain_response, _release_response) if kept else None
    made._origin = given.origin
    made.store_error = given.store_error
    metrics = given.metrics
    made._metrics = _buffer(metrics, _METRICS)[:]
    made._address = _string(metrics.remote_address)
    return made


def error_of(given: Any) -> Error:
    """The exception for an sdd_result with a failure."""
    return error_of_failure(given.failure, text(given.url) or None)
