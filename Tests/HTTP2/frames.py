"""HTTP/2 frames (RFC 9113) and header blocks (RFC 7541), encoded by hand, so that wrong ones are possible too."""

import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
ALTSVC, ORIGIN, UNKNOWN = 0x0A, 0x0C, 0x77

END_STREAM, ACK, END_HEADERS, PADDED = 0x1, 0x1, 0x4, 0x8

NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 0, 1, 2, 7, 8, 11

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b"", length=None):
    """Makes a frame. `length` replaces the true length."""
    told = len(payload) if length is None else length
    return struct.pack(">I", told)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def integer(value, bits, first=0):
    """Encodes an integer: RFC 7541 section 5.1."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    made, value = bytearray([first | most]), value - most
    while value >= 128:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)


def text(value):
    raw = value.encode("latin-1") if isinstance(value, str) else value
    return integer(len(raw), 7) + raw


def field(name, value):
    """Encodes a literal field without indexing: section 6.2.2."""
    return b"\x00" + text(name) + text(value)


def block(*fields):
    return b"".join(field(name, value) for name, value in fields)


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", key, value) for key, value in pairs))


def headers(stream, *fields, end=False, raw=None, flags=END_HEADERS):
    payload = block(*fields) if raw is None else raw
    return frame(HEADERS, flags | (END_STREAM if end else 0), stream, payload)


def data(stream, body=b"", end=False, padding=None):
    flags = END_STREAM if end else 0
    if padding is None:
        return frame(DATA, flags, stream, body)
    return frame(DATA, flags | PADDED, stream, bytes([padding]) + body + bytes(padding))


def reset(stream, code):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def goaway(last, code=NO_ERROR, text=b""):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code) + text)


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def ping(flags=0, payload=b"12345678"):
    return frame(PING, flags, 0, payload)


def trailers(stream, *fields, end=True):
    return headers(stream, *fields, end=end)


def head(stream, length=None, status="200", end=False, more=()):
    """Makes a good header. A length of None is not announced."""
    fields = [(":status", status), *more]
    if length is not None:
        fields.append(("content-length", str(length)))
    return headers(stream, *fields, end=end)
