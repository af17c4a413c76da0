"""Scripts of the servers and the expected verdicts. Each case is one hostile response, or one connection of them."""

import ctypes
import re
import struct

from HTTP2 import frames as f
from HTTP2.server import GOOD_BODY
from HTTP2.verdicts import BROKEN, FAILS, FLOOD, GOOD, HEADERS, LOST, RULES, TIMEOUT, TOLD, Case

_curl = ctypes.CDLL("libcurl.so.4")
_curl.curl_version.restype = ctypes.c_char_p
_versions = {
    name: (int(major), int(minor))
    for name, major, minor in re.findall(r"(\w+)/(\d+)\.(\d+)", _curl.curl_version().decode())}
LIBCURL = _versions["libcurl"]
NGHTTP2 = _versions["nghttp2"]

CASES = []


def add(name, script, *verdicts, **options):
    CASES.append(Case(name, script, verdicts, **options))


PART = bytes(range(250)) * 10
PNG_END = b"\0\0\0\0IEND\xaeB`\x82"


# ---- floods: frames as fast as they are read, without a byte of a response

FLOODS = {
    "empty DATA": lambda s: f.data(s),
    "DATA of nothing but padding": lambda s: f.data(s, padding=255),
    "PING": lambda s: f.ping(),
    "PING answers that nobody asked for": lambda s: f.ping(f.ACK),
    "SETTINGS": lambda s: f.settings(),
    "SETTINGS that change and change back": lambda s: f.settings((4, 65535)) + f.settings((4, 65536)),
    "SETTINGS answers that nobody asked for": lambda s: f.frame(f.SETTINGS, f.ACK, 0),
    "PRIORITY": lambda s: f.frame(f.PRIORITY, 0, s, struct.pack(">IB", 0, 15)),
    "PRIORITY of streams that are not": lambda s: f.frame(f.PRIORITY, 0, s + 2, struct.pack(">IB", 0, 15)),
    "ALTSVC": lambda s: f.frame(f.ALTSVC, 0, s, b"\0\0" + b'h2=":1"; ma=1'),
    "ALTSVC of the connection": lambda s: f.frame(f.ALTSVC, 0, 0, b"\0\x09localhost" + b'h2=":1"'),
    "ORIGIN": lambda s: f.frame(f.ORIGIN, 0, 0, b"\0\x11https://localhost"),
    "unknown frames": lambda s: f.frame(f.UNKNOWN, 0, s, b"x" * 30),
    "empty unknown frames": lambda s: f.frame(f.UNKNOWN, 0, 0),
    "large unknown frames": lambda s: f.frame(f.UNKNOWN, 0, 0, b"x" * 16384),
    "WINDOW_UPDATE of the connection": lambda s: f.window_update(0, 1),
    "WINDOW_UPDATE of the stream": lambda s: f.window_update(s, 1),
    "GOAWAY that excludes nothing": lambda s: f.goaway(0x7FFFFFFF),
    "PUSH_PROMISE": lambda s: f.frame(f.PUSH_PROMISE, f.END_HEADERS, s, struct.pack(">I", 2) + f.block((":method", "GET"))),
    "HEADERS of streams that are not": lambda s: f.head(s + 2),
    "RST_STREAM of a stream that has ended": lambda s: f.reset(s, f.NO_ERROR),
    "DATA of streams that are not": lambda s: f.data(s + 2),
}


def flood(kind, before):
    def script(connection, stream):
        if before is not None:
            connection.send(*before(stream))
        connection.flood(FLOODS[kind](stream))
    return script


for kind in FLOODS:
    add(f"flood of {kind} before the answer", flood(kind, None), FLOOD, FAILS, group="flood")
    # nghttp2 may end the session over any of these. If it does so in the turn of the loop in which the body arrived,
    # libcurl reports success, and the body can only be marked as unproven.
    add(f"flood of {kind} within a body", flood(kind, lambda s: (f.head(s), f.data(s, PART))), FLOOD, FAILS, TOLD,
        group="flood")


def continuation(connection, stream):
    connection.send(f.headers(stream, (":status", "200"), flags=0))
    connection.flood(f.frame(f.CONTINUATION, 0, stream, f.field("x", "y" * 100)))


def empty_continuation(connection, stream):
    connection.send(f.headers(stream, (":status", "200"), flags=0))
    connection.flood(f.frame(f.CONTINUATION, 0, stream))


def interim(connection, stream):
    connection.flood(f.head(stream, status="103", more=[("link", "</a>")]))


def late_headers(connection, stream):
    connection.send(f.head(stream, 5000), f.data(stream, PART))
    connection.flood(f.headers(stream, ("x", "y")))


def many_fields(connection, stream):
    connection.send(f.headers(stream, (":status", "200"), flags=0))
    raw = f.field("a", "b") * 2000
    for _ in range(40):
        connection.send(f.frame(f.CONTINUATION, 0, stream, raw))
    connection.send(f.frame(f.CONTINUATION, f.END_HEADERS, stream))


def one_byte_each(connection, stream):
    connection.send(f.head(stream))
    connection.flood(f.data(stream, b"x", padding=255))


def by_turns(other):
    def script(connection, stream):
        connection.send(f.head(stream), f.data(stream, PART))
        connection.flood(f.ping(f.ACK) + other(stream))
    return script


add("flood of CONTINUATION", continuation, FLOOD, FAILS, group="flood")
add("flood of empty CONTINUATION", empty_continuation, FLOOD, FAILS, group="flood")
add("flood of interim answers", interim, FAILS, errors=(HEADERS,) + BROKEN, group="flood",
    settings={"after": False})
add("flood of HEADERS after the body began", late_headers, FLOOD, FAILS, group="flood")
add("80,000 fields in a header", many_fields, FAILS, errors=(HEADERS,) + BROKEN)
add("DATA of one byte and 255 of padding each", one_byte_each, FAILS, errors=("SDD_ERROR_BODY_TOO_LARGE",),
    config="max_body=20000", group="flood", settings={"after": False})
add("flood of two kinds by turns, no length", by_turns(lambda s: f.window_update(s, 1)), FLOOD, group="flood")
# nghttp2 counts empty DATA from 1.67 on, and ends the connection. On a machine that does much else the server pauses, so
# that libcurl's turns end: then it is not a flood, but a silence.
add("flood of two kinds by turns, with empty DATA", by_turns(f.data), FLOOD, FAILS, errors=(TIMEOUT, RULES),
    group="flood")
add("flood under a total limit", flood("empty DATA", lambda s: (f.head(s),)), FAILS, FLOOD,
    errors=(TIMEOUT, RULES), options="total=300", group="flood")
add("flood under six requests", flood("PING answers that nobody asked for", None), FLOOD, FAILS, GOOD, in_flight=6,
    hostile=6, group="flood")


# ---- a body that ends too early, after each frame, in each way

def bodies(stream, length):
    return [
        ("nothing", b""),
        ("half a frame's head", f.head(stream, length)[:5]),
        ("a frame's head", f.head(stream, length)[:9]),
        ("half a header", f.head(stream, length)[:-3]),
        ("the header", f.head(stream, length)),
        ("a frame", f.head(stream, length) + f.data(stream, PART)),
        ("two frames", f.head(stream, length) + f.data(stream, PART) + f.data(stream, PART)),
        ("half a frame of DATA", f.head(stream, length) + f.data(stream, PART)[:1000]),
        ("an empty frame", f.head(stream, length) + f.data(stream, PART) + f.data(stream)),
        ("a header that goes on", f.headers(stream, (":status", "200"), flags=0)),
    ]


def ends_after(index, length, way):
    def script(connection, stream):
        raw = bodies(stream, length)[index][1]
        if raw:
            connection.send(raw)
        getattr(connection, way)()
    return script


for length in (None, 5000):
    told = "no length" if length is None else "a length"
    for index, (what, _) in enumerate(bodies(1, length)):
        for way in ("close", "cut"):
            # Two frames are as long as the whole body; only the end of the stream is missing.
            whole = length == 5000 and what == "two frames"
            # Before a header is complete, a GET may be sent again, once.
            add(f"{way} after {what}, {told}", ends_after(index, length, way), FAILS, *([GOOD] if whole else []),
                body=PART * 2, errors=BROKEN, hostile=2)


# ---- faults of the server that break the connection in the middle of a body

FAULTS = {
    "a PING of 7 bytes": lambda s: f.ping(payload=b"1234567"),
    "a frame that is too large": lambda s: f.frame(f.DATA, 0, s, b"x" * 20000),
    "padding longer than its frame": lambda s: f.frame(f.DATA, f.PADDED, s, b"\xff123"),
    "a WINDOW_UPDATE of 0": lambda s: f.window_update(0, 0),
    "a window over 2^31": lambda s: f.window_update(0, 0x7FFFFFFF) * 2,
    "PUSH_PROMISE though it is switched off": lambda s: f.frame(
        f.PUSH_PROMISE, f.END_HEADERS, s, struct.pack(">I", 2) + f.block((":method", "GET"))),
    "SETTINGS of a stream": lambda s: f.frame(f.SETTINGS, 0, s),
    "SETTINGS of 5 bytes": lambda s: f.frame(f.SETTINGS, 0, 0, b"12345"),
    "an answer to SETTINGS with a payload": lambda s: f.frame(f.SETTINGS, f.ACK, 0, b"123456"),
    "ENABLE_PUSH of 2": lambda s: f.settings((2, 2)),
    "an initial window over 2^31": lambda s: f.settings((4, 1 << 31)),
    "a largest frame of 100": lambda s: f.settings((5, 100)),
    "DATA of stream 0": lambda s: f.data(0, b"x"),
    "HEADERS of stream 0": lambda s: f.head(0),
    "HEADERS of a stream of the server's": lambda s: f.head(2),
    "CONTINUATION of nothing": lambda s: f.frame(f.CONTINUATION, f.END_HEADERS, s, f.field("a", "b")),
    "RST_STREAM of a stream that never was": lambda s: f.reset(s + 100, 0),
    "RST_STREAM of 3 bytes": lambda s: f.frame(f.RST_STREAM, 0, s, b"123"),
    "GOAWAY of a stream": lambda s: f.frame(f.GOAWAY, 0, s, bytes(8)),
    "GOAWAY of 5 bytes": lambda s: f.frame(f.GOAWAY, 0, 0, b"12345"),
    "PING of a stream": lambda s: f.frame(f.PING, 0, s, b"12345678"),
    "a header block that is none": lambda s: f.headers(s, raw=b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", end=True),
    "a header block with the index 0": lambda s: f.headers(s, raw=b"\x80", end=True),
    "frames between HEADERS and CONTINUATION": lambda s: f.headers(s, ("x", "y"), flags=0) + f.ping(),
}
PRIORITY_OF_0 = f.frame(f.PRIORITY, 0, 0, bytes(5))
if NGHTTP2 < (1, 65):
    FAULTS["PRIORITY of stream 0"] = lambda s: PRIORITY_OF_0
else:
    # RFC 9113 has no use for this frame any more, and nghttp2 passes over it whatever is in it.
    add("PRIORITY of stream 0", lambda c, s: c.send(
        f.head(s, 5000), f.data(s, PART), PRIORITY_OF_0, f.data(s, PART, end=True)), GOOD, body=PART * 2)


def fault(kind, length, stays, separate, stays_open=False):
    def script(connection, stream):
        connection.stays_open = stays_open
        before = f.head(stream, length) + f.data(stream, PART)
        if separate:
            connection.heard()
            connection.heard(before)
            connection.send(FAULTS[kind](stream))
        else:
            connection.send(before + FAULTS[kind](stream))
        if not stays:
            connection.close()
    return script


for kind in FAULTS:
    # Where the test cannot see that libcurl has broken the connection, the body must at least be marked as unproven.
    add(f"{kind}, no length", fault(kind, None, True, True), FAILS, TOLD, errors=BROKEN, body=PART, group="seen")
    add(f"{kind}, no length, with the body", fault(kind, None, True, False), FAILS, TOLD, errors=BROKEN, body=PART)
    add(f"{kind}, no length, and closed", fault(kind, None, False, True), FAILS, TOLD, errors=BROKEN, body=PART)
    add(f"{kind}, a length", fault(kind, 5000, True, False), FAILS, errors=BROKEN)
    # Nothing comes any more that could wake the client; it must find out before its time limit of 15 s. libcurl before
    # 8.13 reports some of these to nobody, see docs/libcurl-state.md.
    late = {"errors": BROKEN} if LIBCURL >= (8, 13) else {"errors": (*BROKEN, TIMEOUT), "options": "stall=1500"}
    add(f"{kind}, a length, kept open", fault(kind, 5000, True, False, True), FAILS, **late)
    add(f"{kind}, a length, kept open, by itself", fault(kind, 5000, True, True, True), FAILS, **late)
add("a fault of the connection under 50 bodies", fault("a PING of 7 bytes", None, True, True), FAILS, TOLD, body=PART,
    errors=BROKEN, in_flight=50, hostile=1000)


# ---- RST_STREAM of each code

def resets(code, before, separate=True):
    def script(connection, stream):
        if separate:
            connection.heard(*before(stream))
            connection.send(f.reset(stream, code))
        else:
            connection.send(*before(stream), f.reset(stream, code))
    return script


for code in (*range(14), 0xFFFF):
    refused = code == f.REFUSED_STREAM
    add(f"RST_STREAM {code} before the answer", resets(code, lambda s: ()), GOOD if refused else FAILS, errors=BROKEN,
        requests=(2,) if refused else (1,))
    add(f"RST_STREAM {code} within a body, no length", resets(code, lambda s: (f.head(s), f.data(s, PART))),
        *((TOLD, FAILS) if code == 0 else (FAILS,)), errors=BROKEN, body=PART)
    add(f"RST_STREAM {code} with a body, no length", resets(code, lambda s: (f.head(s), f.data(s, PART)), False),
        *((TOLD, FAILS) if code == 0 else (GOOD, FAILS) if refused else (FAILS,)), errors=BROKEN,
        body=PART if code == 0 else GOOD_BODY)
    add(f"RST_STREAM {code} within a body, a length", resets(code, lambda s: (f.head(s, 5000), f.data(s, PART))), FAILS,
        errors=BROKEN)
    add(f"RST_STREAM {code} behind the end", resets(code, lambda s: (f.head(s, 2500), f.data(s, PART, end=True))), GOOD,
        *([] if code == 0 else [FAILS]), errors=BROKEN, body=PART)


# ---- GOAWAY and REFUSED_STREAM: not processed, so requested again, whatever the method

def away(last=0, code=f.NO_ERROR, closes=False):
    def script(connection, stream):
        connection.send(f.goaway(last, code, b"enough"))
        if closes:
            connection.close()
    return script


def refuse(connection, stream):
    connection.send(f.reset(stream, f.REFUSED_STREAM))


for method, options in (("GET", ""), ("POST", "post")):
    more = {"options": options, "reads_body": method == "POST"}
    add(f"GOAWAY below a {method}", away(), GOOD, requests=(2,), **more)
    add(f"GOAWAY below a {method}, and closed", away(closes=True), GOOD, requests=(2,), **more)
    add(f"GOAWAY below a {method}, with an error", away(code=f.ENHANCE_YOUR_CALM), GOOD, requests=(2,), **more)
    add(f"GOAWAY below a {method} three times", away(), GOOD, hostile=3, requests=(4,), **more)
    add(f"GOAWAY below a {method} without end", away(), FAILS, hostile=1000, errors=(LOST,), detail=300501, requests=(4, 5),
        **more)
    add(f"REFUSED_STREAM of a {method}", refuse, GOOD, requests=(2,), **more)
    add(f"REFUSED_STREAM of a {method} without end", refuse, FAILS, hostile=1000, errors=(LOST,), detail=300501, **more)
# A connection that ends in order without a word: a GET is sent once more, if libcurl tells that end apart.
add("closed before the answer to a GET", lambda c, s: c.close(), *((GOOD,) if LIBCURL < (8, 1) else (GOOD, FAILS)),
    errors=BROKEN, requests=(2,) if LIBCURL < (8, 1) else (1, 2))
add("closed before the answer to a GET without end", lambda c, s: c.close(), FAILS, errors=BROKEN, hostile=1000,
    requests=(2,) if LIBCURL < (8, 1) else (1, 2))
add("closed before the answer to a POST", lambda c, s: c.close(), FAILS, errors=BROKEN, requests=(1,), options="post",
    reads_body=True)
add("GOAWAY below four of six", lambda c, s: c.send(f.goaway(3)) if s > 3 else c.send(
    f.head(s, len(GOOD_BODY)), f.data(s, GOOD_BODY, end=True)), GOOD, hostile=6, in_flight=6)
add("GOAWAY at the stream, which ends", lambda c, s: c.send(
    f.goaway(s), f.head(s, 2500), f.data(s, PART, end=True)), GOOD, body=PART, requests=(1,))
add("GOAWAY at the stream, which ends, no length", lambda c, s: c.send(
    f.goaway(s), f.head(s), f.data(s, PART, end=True)), GOOD, TOLD, body=PART, requests=(1,))
add("GOAWAY at the stream, which is cut", lambda c, s: (c.send(f.goaway(s), f.head(s), f.data(s, PART)), c.close()),
    FAILS, errors=BROKEN)
add("GOAWAY with an error within a body", lambda c, s: (
    c.send(f.head(s), f.data(s, PART), f.goaway(s, f.INTERNAL_ERROR)), c.close()), FAILS, errors=BROKEN)
add("GOAWAY below a stream whose answer has begun", lambda c, s: (
    c.heard(f.head(s), f.data(s, PART)), c.send(f.goaway(0))), FAILS, errors=BROKEN, requests=(1,))
add("GOAWAY below a stream with its answer", lambda c, s: c.send(f.head(s), f.data(s, PART), f.goaway(0)), GOOD, FAILS,
    errors=BROKEN)


# ---- header blocks and header rules

def answers(*parts_of):
    return lambda connection, stream: connection.send(*(part(stream) for part in parts_of))


def header(*fields, raw=None):
    return lambda s: f.headers(s, *fields, raw=raw) + f.data(s, GOOD_BODY, end=True)


OK = (":status", "200")
HEADER_FAULTS = {
    "a name in capitals": header(OK, ("X-Name", "y")),
    "a Connection field": header(OK, ("connection", "close")),
    "a Transfer-Encoding field": header(OK, ("transfer-encoding", "chunked")),
    "a Keep-Alive field": header(OK, ("keep-alive", "1")),
    "a pseudo field behind others": header(("x", "y"), OK),
    "no status": header(("x", "y")),
    "two statuses": header(OK, (":status", "201")),
    "a status of letters": header((":status", "abc")),
    "a status of two digits": header((":status", "20")),
    "a pseudo field of requests": header(OK, (":path", "/")),
    "an unknown pseudo field": header(OK, (":x", "y")),
    "an empty name": header(OK, ("", "y")),
    "a name with a space": header(OK, ("a b", "y")),
    "NUL in a value": header(OK, ("x", "a\0b")),
    "CR LF in a value": header(OK, ("x", "a\r\nset-cookie: b=c")),
    "two lengths that differ": header(OK, ("content-length", "11"), ("content-length", "12")),
    "a length that is too large": header(OK, ("content-length", "12")),
    "a length that is too small": header(OK, ("content-length", "10")),
    "a length that is no number": header(OK, ("content-length", "1x")),
    "a length below 0": header(OK, ("content-length", "-1")),
    "an index beyond the tables": header(raw=f.block(OK) + f.integer(100, 7, 0x80)),
    "an integer without end": header(raw=f.block(OK) + b"\xff" * 30),
    "a text longer than its block": header(raw=f.block(OK) + b"\x00\x7f\x00abc"),
    "a code of Huffman's that is none": header(raw=f.block(OK) + b"\x00\x01a\x84\xff\xff\xff\xff"),
    "a table larger than allowed": header(raw=f.integer(1 << 20, 5, 0x20) + f.block(OK)),
    "a size of the table at the end": header(raw=f.block(OK) + f.integer(0, 5, 0x20)),
    "a header block of no bytes": header(raw=b""),
    "HEADERS of a padding that is too long": lambda s: f.frame(f.HEADERS, f.PADDED | f.END_HEADERS, s, b"\xff" + f.block(OK)),
    "HEADERS that depend on themselves": lambda s: f.frame(
        f.HEADERS, 0x20 | f.END_HEADERS, s, struct.pack(">IB", s, 1) + f.block(OK)) + f.data(s, GOOD_BODY, end=True),
    "DATA before HEADERS": lambda s: f.data(s, GOOD_BODY, end=True),
    "an interim answer that ends the stream": lambda s: f.head(s, status="103", end=True),
    "trailers with a pseudo field": lambda s: f.head(s) + f.data(s, GOOD_BODY) + f.trailers(s, (":status", "200")),
    "trailers that do not end the stream": lambda s: f.head(s, 11) + f.data(s, GOOD_BODY) + f.trailers(s, ("a", "b"), end=False),
    "status 101": header((":status", "101")),
}
# nghttp2 accepts these; the body is whole, and proven by its length or marked as unproven.
MILD = {"a Keep-Alive field", "trailers that do not end the stream", "HEADERS that depend on themselves",
        "a status of two digits", "a size of the table at the end", "an unknown pseudo field"}
# From 1.67 on nghttp2 drops a malformed field and goes on, as long as libcurl does not ask about such fields.
DROPPED = {"an empty name", "a name with a space", "NUL in a value", "CR LF in a value"}
for kind, script in HEADER_FAULTS.items():
    # A GET may be sent again, once.
    is_dropped = kind in DROPPED and NGHTTP2 >= (1, 67)
    add(kind, answers(script), FAILS, *([GOOD, TOLD] if kind in MILD or is_dropped else []), options="total=3000",
        group="header", hostile=2, fields=0 if is_dropped else None)


# ---- rare but valid responses must succeed

def gradually(connection, stream):
    connection.send(f.head(stream, len(GOOD_BODY)))
    for byte in GOOD_BODY[:-1]:
        connection.send(f.data(stream, bytes([byte])))
    connection.send(f.data(stream, GOOD_BODY[-1:], end=True))


add("a good answer, a byte a frame", gradually, GOOD)
add("a good answer with padding", lambda c, s: c.send(f.head(s, 11), f.data(s, GOOD_BODY, end=True, padding=200)), GOOD)
add("a good answer behind 50 interim ones", lambda c, s: c.send(
    *[f.head(s, status="103")] * 50, f.head(s, 11), f.data(s, GOOD_BODY, end=True)), GOOD)
add("a good answer with trailers", lambda c, s: c.send(
    f.head(s, 11), f.data(s, GOOD_BODY), f.trailers(s, ("x-sum", "1"))), GOOD)
add("a good answer behind 200 PINGs", lambda c, s: c.send(
    *[f.ping()] * 200, f.head(s, 11), f.data(s, GOOD_BODY, end=True)), GOOD)
add("a good answer among unknown frames", lambda c, s: c.send(
    f.frame(f.UNKNOWN, 0, s, b"x"), f.head(s, 11), f.frame(f.UNKNOWN, 0, 0, b"x" * 100), f.data(s, GOOD_BODY, end=True)),
    GOOD)
add("a good answer without a length", lambda c, s: c.send(f.head(s), f.data(s, GOOD_BODY, end=True)), GOOD, TOLD)
add("a good answer without a length, by an empty frame", lambda c, s: c.send(
    f.head(s), f.data(s, GOOD_BODY), f.data(s, end=True)), GOOD, TOLD)
add("a good answer of nothing", lambda c, s: c.send(f.head(s, 0, end=True)), GOOD, body=b"")
add("a good answer that takes no table", lambda c, s: c.send(
    f.headers(s, raw=f.integer(0, 5, 0x20) + f.block(OK, ("content-length", "11"))), f.data(s, GOOD_BODY, end=True)), GOOD)
add("a large good answer, no length", lambda c, s: c.send(
    f.head(s), *[f.data(s, bytes(16000))] * 1250, f.data(s, end=True)), GOOD, TOLD, body=bytes(16000) * 1250,
    memory=160 << 10)
add("a large good answer, a length", lambda c, s: c.send(
    f.head(s, 20000000), *[f.data(s, bytes(16000))] * 1250, f.data(s, end=True)), GOOD, body=bytes(16000) * 1250,
    memory=160 << 10)
add("no streams allowed", lambda c, s: None, FAILS, greeting=f.settings((3, 0)), options="total=1500", errors=(TIMEOUT,),
    settings={"after": False})
add("a header table of nothing", answers(header(OK, ("content-length", "11"))), GOOD, greeting=f.settings((1, 0)))
add("a window of nothing", answers(header(OK, ("content-length", "11"))), GOOD, greeting=f.settings((4, 0)))
add("a window of nothing under a POST", answers(), FAILS, greeting=f.settings((4, 0)), options="post total=1500",
    errors=(TIMEOUT,), reads_body=True, settings={"after": False})
add("a largest frame of 2^24", answers(header(OK, ("content-length", "11"))), GOOD, greeting=f.settings((5, (1 << 24) - 1)))
add("greeted by something else than SETTINGS", answers(), FAILS, greeting=f.ping(), errors=BROKEN,
    settings={"after": False})
add("greeted by HTTP/1.1", answers(), FAILS, greeting=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", errors=BROKEN,
    settings={"after": False})
add("greeted by nothing", answers(header(OK, ("content-length", "11"))), GOOD, FAILS, greeting=b"", errors=BROKEN, settings={"after": False})
add("silent after the header", answers(lambda s: f.head(s, 11)), FAILS, options="total=1500", errors=(TIMEOUT,))
