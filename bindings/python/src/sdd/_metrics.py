# Made from include/sdd/*.h by tools/make_python_options.py: `make bindings` makes it anew. Nothing is changed by hand.
"""What a request took and cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metrics:
    """How long the stages of a request took, 0 for one that did not happen, and what its transfer cost: sdd_metrics."""

    queue: float
    """From the submitting call to the start of the transfer; in seconds."""
    cache: float
    """From the submitting call until the cache, or another process that was downloading the same URL, had answered; in
    seconds."""
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
    store: float
    """With wait_store_cache, from the picture until it was on disk; in seconds."""
    total: float
    """From the submitting call to the end; in seconds."""
    delivery: float
    """From the end until the event loop, or the thread that waits, took the result; in seconds."""
    request_bytes: int
    """Bytes sent, header and body."""
    response_header_bytes: int
    """Header bytes received."""
    response_body_bytes: int
    """Body bytes received, still packed by Content-Encoding."""
    body_bytes: int
    """Body bytes after unpacking."""
    saved_bytes: int
    """With stop_when_complete, bytes of the announced body that were not waited for."""
    resumed_bytes: int
    """With resume, bytes of the body that an earlier, broken transfer had left."""
    remote_address: str
    """The address of the server or proxy, "192.0.2.1" or "2001:db8::1"; "" if there was no connection."""
    remote_port: int
    """The port of the server or proxy; 0 if there was no connection."""
    http_version: int
    """10, 11, 20 or 30: of the last response, also of one that confirms what a cache has; 0 if there was none."""
    connection_reused: bool
    """Whether no new connection was made."""
    redirects: int
    """Redirects that were followed."""
    attempts: int
    """Transfers started for this request. All other fields describe the last of them."""
    is_end_unproven: bool
    """Whether nothing proves that the body is complete: its length was not announced, and neither its packing nor its
    picture has an end. No cache stores such a body."""
