"""HTTP/3 frames (RFC 9114) and field sections (RFC 9204), encoded by hand, so that wrong ones are possible too."""

from HTTP2.frames import integer

DATA, HEADERS, CANCEL_PUSH, SETTINGS, PUSH_PROMISE, GOAWAY, MAX_PUSH_ID, UNKNOWN = 0, 1, 3, 4, 5, 7, 13, 0x21
# Of HTTP/2: they must not appear.
PRIORITY_OF_HTTP2, PING_OF_HTTP2, WINDOW_UPDATE_OF_HTTP2, CONTINUATION_OF_HTTP2 = 2, 6, 8, 9

CONTROL, PUSH, ENCODER, DECODER, UNKNOWN_STREAM = 0, 1, 2, 3, 0x21

NO_ERROR, INTERNAL_ERROR, REQUEST_REJECTED, REQUEST_CANCELLED = 0x100, 0x102, 0x10B, 0x10C
# RFC 9114 section 8.1, RFC 9204 section 6, and some that are nobody's.
CODES = (*range(0x100, 0x111), 0x200, 0x201, 0x202, 0, 0x33, (1 << 62) - 1)
# RFC 9000 section 20.1, and an alert of TLS.
TRANSPORT_CODES = (*range(0x11), 0x128)


def number(value):
    """Encodes an integer of variable length: RFC 9000 section 16."""
    for power in range(4):
        size = 1 << power
        if value < 1 << (8 * size - 2):
            return (value | power << (8 * size - 2)).to_bytes(size, "big")
    raise ValueError(value)


def frame(kind, payload=b"", length=None):
    """Makes a frame. `length` replaces the true length."""
    return number(kind) + number(len(payload) if length is None else length) + payload


def text(value):
    return value.encode("latin-1") if isinstance(value, str) else value


def field(name, value):
    """Encodes a literal field line with a literal name: RFC 9204 section 4.5.6."""
    name, value = text(name), text(value)
    return integer(len(name), 3, 0x20) + name + integer(len(value), 7) + value


def section(*fields):
    """Encodes a field section that uses no dynamic table."""
    return b"\0\0" + b"".join(field(name, value) for name, value in fields)


def headers(*fields, raw=None):
    return frame(HEADERS, section(*fields) if raw is None else raw)


def data(body=b""):
    return frame(DATA, body)


def settings(*pairs):
    return frame(SETTINGS, b"".join(number(key) + number(value) for key, value in pairs))


def goaway(stream):
    return frame(GOAWAY, number(stream))


def head(length=None, status="200", more=()):
    """Makes a good header. A length of None is not announced."""
    fields = [(":status", status), *more]
    if length is not None:
        fields.append(("content-length", str(length)))
    return headers(*fields)
