"""Scripts of the servers and the expected verdicts. Each case is one hostile response, or one connection of them.

A case is met in one or more of three places:

    TRIAL     the first request after the offer, which libcurl sends by QUIC and over TCP
    JOINED    a request on a connection that has served others
    AGAIN     a request that makes a new connection, by HTTP/3 alone, since that worked before
"""

import os
from dataclasses import dataclass, field

from aioquic.quic.packet import encode_quic_version_negotiation

from HTTP2.frames import integer
from HTTP2.server import GOOD_BODY
from HTTP2.verdicts import BROKEN, FAILS, FLOOD, GOOD, HEADERS, RULES, TIMEOUT, TOLD, Case
from HTTP3 import frames as f
from HTTP3.datagrams import BAD_QUIC, NO_QUIC, retry, twice, with_garbage, with_losses
from HTTP3.server import PREFERRED_ADDRESS, good, greeting

TRIAL, JOINED, AGAIN = "trial", "joined", "again"
TCP, QUIC, ANY = (20,), (30,), (20, 30)
LARGE = "SDD_ERROR_BODY_TOO_LARGE"


@dataclass
class Place(Case):
    place: str = TRIAL
    # Versions of HTTP by which a good response may come.
    by: tuple = QUIC
    # Whether the connection over TCP waits for that by QUIC.
    is_held: bool = True
    server: dict = field(default_factory=dict)
    # Number of header fields of the response; None: not checked.
    fields: int | None = None


CASES = []


def add(name, script, *verdicts, places=(TRIAL, JOINED), **options):
    for place in places:
        CASES.append(Place(f"{name} [{place}]", script, verdicts, place=place, **options))


PART = bytes(range(250)) * 10
with open("Tests/Fixtures/png/rgb8.png", "rb") as file:
    PICTURE = file.read()


# ---- no QUIC, or one that fails: the response comes over TCP

for kind, datagrams in NO_QUIC.items():
    add(kind, good, GOOD, places=(TRIAL, AGAIN), by=TCP, is_held=False, server={"datagrams": datagrams})
add("a good Retry", good, GOOD, places=(TRIAL, AGAIN), server={"datagrams": retry(1, serves=True)})
for kind, options in BAD_QUIC.items():
    add(kind, good, GOOD, places=(TRIAL, AGAIN), by=TCP, is_held=False, server=options)
for kind, mangle in (("each datagram twice", twice), ("garbage between datagrams", with_garbage)):
    add(kind, good, GOOD, places=(TRIAL, JOINED, AGAIN), server={"mangle": mangle})
add("QUIC from another port", good, FAILS, places=(JOINED,), options="stall=1500", errors=(TIMEOUT,),
    server=BAD_QUIC["QUIC from another port"])
# Nobody is there, and libcurl 8.23 loses the connection.
add("a preferred address", good, GOOD, places=(TRIAL, AGAIN), by=ANY, server={
    "parameters": PREFERRED_ADDRESS + bytes([127, 0, 0, 1, 0, 9]) + bytes(18) + b"\x08another!" + bytes(16)})
add("parameters of QUIC that nobody knows", good, GOOD, places=(TRIAL, AGAIN), server={"parameters": b"".join(
    f.number(27 + 31 * number) + b"\x01x" for number in range(100, 150))})
for place in (TRIAL, JOINED, AGAIN):
    add("each third datagram lost", good, GOOD, places=(place,), by=ANY, server={"mangle": with_losses()})


# ---- a connection that is closed as soon as it is there. A GET may be asked for over TCP.

def closes(code, frame_type=None):
    def greet(connection):
        connection.close(code, frame_type)
    return greet


def closes_with_greeting(code):
    def greet(connection):
        greeting(connection)
        connection.close(code)
    return greet


for code in f.CODES:
    add(f"closed at once with {code:#x}", good, GOOD, places=(TRIAL, AGAIN), by=TCP, server={"greet": closes(code)},
        hostile=1000)
    add(f"closed after SETTINGS with {code:#x}", good, GOOD, places=(TRIAL,), by=TCP,
        server={"greet": closes_with_greeting(code)}, hostile=1000)
for code in f.TRANSPORT_CODES:
    add(f"closed at once with {code:#x} of QUIC", good, GOOD, places=(TRIAL, AGAIN), by=TCP,
        server={"greet": closes(code, 0)}, hostile=1000)
add("closed under 50 bodies", lambda c, s: (c.heard(s, f.head(5000), f.data(PART)), c.close()), FAILS, GOOD,
    places=(JOINED,), by=ANY, errors=BROKEN, in_flight=50, hostile=1000)
add("closed while nothing was asked", good, GOOD, places=(AGAIN,))
add("closed at the request", lambda c, s: c.close(), GOOD, places=(TRIAL, JOINED, AGAIN), by=ANY)
add("closed at each request", lambda c, s: c.close(), GOOD, places=(TRIAL, JOINED, AGAIN), by=TCP, hostile=1000)
add("closed at a POST", lambda c, s: c.close(), FAILS, places=(TRIAL, JOINED), options="post", errors=BROKEN,
    requests=(1,))
# libcurl notices only when it sends that the connection has been closed, and does not say what the server has seen.
add("closed before a POST", good, FAILS, GOOD, places=(AGAIN,), options="post", errors=BROKEN, requests=(0, 1))


# ---- faults of a connection: before the response, and within a body

def unknown_push(connection, stream):
    connection.uni(f.PUSH, f.number(0), f.head(3), f.data(b"abc"))


FAULTS = {
    "SETTINGS twice": lambda c, s: c.send(c.control, f.settings()),
    "a setting twice": lambda c, s: c.send(c.control, f.settings((6, 1), (6, 1))),
    "two control streams": lambda c, s: c.uni(f.CONTROL, f.settings()),
    "two encoder streams": lambda c, s: c.uni(f.ENCODER),
    "a control stream that ends": lambda c, s: c.end(c.control),
    "a control stream that is reset": lambda c, s: c.reset(c.control, f.NO_ERROR),
    "an encoder stream that ends": lambda c, s: c.end(c.encoder),
    "a decoder stream that ends": lambda c, s: c.end(c.decoder),
    "DATA of the control stream": lambda c, s: c.send(c.control, f.data(b"x")),
    "HEADERS of the control stream": lambda c, s: c.send(c.control, f.head()),
    "MAX_PUSH_ID from the server": lambda c, s: c.send(c.control, f.frame(f.MAX_PUSH_ID, f.number(1))),
    "CANCEL_PUSH of nothing": lambda c, s: c.send(c.control, f.frame(f.CANCEL_PUSH, f.number(1))),
    "PUSH_PROMISE": lambda c, s: c.send(s, f.frame(f.PUSH_PROMISE, f.number(0) + f.section((":method", "GET")))),
    "a push stream": unknown_push,
    "SETTINGS within a response": lambda c, s: c.send(s, f.settings()),
    "GOAWAY within a response": lambda c, s: c.send(s, f.goaway(s)),
    "PRIORITY of HTTP/2": lambda c, s: c.send(s, f.frame(f.PRIORITY_OF_HTTP2, b"12345")),
    "PING of HTTP/2": lambda c, s: c.send(c.control, f.frame(f.PING_OF_HTTP2, b"12345678")),
    "WINDOW_UPDATE of HTTP/2": lambda c, s: c.send(s, f.frame(f.WINDOW_UPDATE_OF_HTTP2, b"1234")),
    "CONTINUATION of HTTP/2": lambda c, s: c.send(s, f.frame(f.CONTINUATION_OF_HTTP2, f.section(("x", "y")))),
    "SETTINGS of half a number": lambda c, s: c.send(c.control, f.frame(f.SETTINGS, b"\x40")),
    "GOAWAY of half a number": lambda c, s: c.send(c.control, f.frame(f.GOAWAY, b"\x40")),
    "GOAWAY of a stream that is the server's": lambda c, s: c.send(c.control, f.goaway(3)),
    "GOAWAY that goes up": lambda c, s: c.send(c.control, f.goaway(400), f.goaway(800)),
    "an encoder's instruction beyond its table": lambda c, s: c.send(c.encoder, b"\x9f\xff\xff\x7f\x01a"),
    "an encoder's table that is too large": lambda c, s: c.send(c.encoder, integer(1 << 30, 5, 0x20)),
    "an encoder's name of 2^40 bytes": lambda c, s: c.send(c.encoder, integer(1 << 40, 5, 0x40)),
    "a decoder's number without end": lambda c, s: c.send(c.decoder, b"\xff" * 30),
    "a decoder's acknowledgement of nothing": lambda c, s: c.send(c.decoder, b"\x80"),
    "a decoder's increment of 0": lambda c, s: c.send(c.decoder, b"\x00"),
    "a field section of the table that is not": lambda c, s: c.send(s, f.headers(raw=b"\x05\x00\x80")),
    "a field section of no bytes": lambda c, s: c.send(s, f.headers(raw=b"")),
    "a field section of half a field": lambda c, s: c.send(s, f.headers(raw=b"\0\0\x27\x70abc")),
    "an index beyond the static table": lambda c, s: c.send(s, f.headers(raw=b"\0\0" + integer(99, 6, 0xC0))),
    "a code of Huffman's that is none": lambda c, s: c.send(s, f.headers(raw=b"\0\0\x21a\x84\xff\xff\xff\xff")),
    "an integer without end": lambda c, s: c.send(s, f.headers(raw=b"\0\0" + b"\xff" * 30)),
    # Frames of QUIC.
    "an unknown frame of QUIC": lambda c, s: c.raw(b"\x21"),
    "HANDSHAKE_DONE again": lambda c, s: c.raw(b"\x1e"),
    "a new token of nothing": lambda c, s: c.raw(b"\x07\x00"),
    "a STREAM of the client's that is not": lambda c, s: c.raw(b"\x0a" + f.number(4000) + b"\x01x"),
    "a STREAM beyond all limits": lambda c, s: c.raw(b"\x0e" + f.number(s) + f.number(1 << 40) + b"\x01x"),
    "a stream of the server's beyond all limits": lambda c, s: c.raw(b"\x0a" + f.number(4 * 100000 + 3) + b"\x01\x00"),
    "a stream of the server's in both directions": lambda c, s: c.raw(b"\x0a\x01\x01\x00"),
    "STOP_SENDING of a stream that is not": lambda c, s: c.raw(b"\x05" + f.number(4000) + b"\x00"),
    "MAX_STREAMS over 2^60": lambda c, s: c.raw(b"\x12" + f.number((1 << 60) + 1)),
    "a new connection id of 0 bytes": lambda c, s: c.raw(b"\x18" + f.number(9) + b"\x00\x00" + bytes(16)),
    "the retirement of a connection id that is not": lambda c, s: c.raw(b"\x19" + f.number(1000)),
    "the answer to a path that was not asked for": lambda c, s: c.raw(b"\x1b12345678"),
    "a DATAGRAM that was not agreed on": lambda c, s: c.raw(b"\x31\x03abc"),
    "half a frame of QUIC": lambda c, s: c.raw(b"\x0a\x03\x3f"),
    "an acknowledgement of what was not sent": lambda c, s: c.raw(b"\x02" + f.number(1 << 30) + b"\x00\x00\x00"),
}
# RFC 9114 lets a client bear these, or nghttp3 and ngtcp2 do: the response goes on.
MILD = {"the answer to a path that was not asked for", "CANCEL_PUSH of nothing",
        "HANDSHAKE_DONE again", "a field section of no bytes"}


def fault(kind, length, before, stays):
    def script(connection, stream):
        if before:
            connection.heard(stream, f.head(length), f.data(PART))
        FAULTS[kind](connection, stream)
        if stays is None:
            connection.wait(connection.server.was_cut_off, 20)
        if not stays:
            connection.close()
        # A client that bears it gets its response.
        if before:
            connection.send(stream, f.data(PART), end=True)
        else:
            good(connection, stream)
    return script


for kind in FAULTS:
    mild = [GOOD] if kind in MILD else []
    # A GET is asked for again: over another connection, and then over TCP.
    add(f"{kind}, before the answer", fault(kind, None, False, True), GOOD, by=ANY, hostile=1000)
    add(f"{kind}, within a body of a length", fault(kind, 5000, True, True), FAILS, *mild, errors=BROKEN, body=PART * 2)
    add(f"{kind}, within a body of no length", fault(kind, None, True, True), FAILS, *([TOLD] if mild else []),
        errors=BROKEN, body=PART * 2, places=(TRIAL,))
    add(f"{kind}, within a body, and closed", fault(kind, 5000, True, False), FAILS, errors=BROKEN, places=(TRIAL,))
    if not mild:
        # Nothing comes any more that could wake the client; it must find out before its time limit of 15 s.
        add(f"{kind}, within a body, and silence", fault(kind, 5000, True, None), FAILS, errors=BROKEN, places=(TRIAL,))


# ---- a body that ends too early, after each frame, in each way

def bodies(length):
    return [
        ("nothing", b""),
        ("half a frame's head", f.head(length)[:1]),
        ("half a header", f.head(length)[:-3]),
        ("the header", f.head(length)),
        ("the head of DATA", f.head(length) + f.number(0)),
        ("a frame", f.head(length) + f.data(PART)),
        ("two frames", f.head(length) + f.data(PART) + f.data(PART)),
        ("half a frame of DATA", f.head(length) + f.data(PART)[:1000]),
        ("an empty frame", f.head(length) + f.data(PART) + f.data()),
    ]


def ends_after(raw, end):
    def script(connection, stream):
        if raw:
            connection.send(stream, raw)
        end(connection, stream)
    return script


ENDS = {
    "closed": lambda c, s: c.close(),
    "closed with an error": lambda c, s: c.close(f.INTERNAL_ERROR),
    "closed by QUIC": lambda c, s: c.close(0, 0),
    "forgotten": lambda c, s: c.forget(),
    "ended": lambda c, s: c.end(s),
}
for length in (None, 5000):
    told = "no length" if length is None else "a length"
    for what, raw in bodies(length):
        for how, end in ENDS.items():
            is_whole_frame = what in ("the header", "a frame", "two frames", "an empty frame")
            if how == "ended" and length is None and is_whole_frame:
                # Nobody can tell this from a whole body.
                add(f"{how} after {what}, {told}", ends_after(raw, end), TOLD, body=b"")
                continue
            whole = length == 5000 and what == "two frames"
            unanswered = what in ("nothing", "half a frame's head")
            # Before a header is complete, a GET may be sent again.
            verdicts = [GOOD] if unanswered else [GOOD, FAILS] if whole or what == "half a header" else [FAILS]
            add(f"{how} after {what}, {told}", ends_after(raw, end), *verdicts, body=PART * 2 if whole else GOOD_BODY,
                by=ANY, errors=BROKEN, hostile=1000)


# ---- RESET_STREAM of each code

def resets(code, *before):
    def script(connection, stream):
        if before:
            connection.heard(stream, *before)
        connection.reset(stream, code)
    return script


for code in f.CODES:
    add(f"reset with {code:#x} before the answer", resets(code), GOOD, by=TCP, hostile=1000)
    add(f"reset with {code:#x} within a body of no length", resets(code, f.head(), f.data(PART)), FAILS,
        *([TOLD] if code == f.NO_ERROR else []), errors=BROKEN)
    add(f"reset with {code:#x} within a body of a length", resets(code, f.head(5000), f.data(PART)), FAILS,
        errors=BROKEN)
add("a POST reset before the answer", resets(f.INTERNAL_ERROR), FAILS, options="post", errors=BROKEN, requests=(1,))
# RFC 9114 section 4.1.1: it may be sent again, whatever its method.
add("a POST that is rejected", resets(f.REQUEST_REJECTED), GOOD, options="post", by=ANY, requests=(1, 2))
add("a POST that is always rejected", resets(f.REQUEST_REJECTED), GOOD, options="post", by=TCP, hostile=1000)


# ---- GOAWAY

# libcurl does not act on a GOAWAY: the limits on silence do.
add("GOAWAY below the request", lambda c, s: c.send(c.control, f.goaway(s)), GOOD, FAILS, options="stall=1500",
    errors=(*BROKEN, TIMEOUT), by=ANY)
add("GOAWAY below the request, and closed", lambda c, s: (c.send(c.control, f.goaway(s)), c.close()), GOOD, by=ANY)
add("GOAWAY below each request, and closed", lambda c, s: (c.send(c.control, f.goaway(s)), c.close()), GOOD, by=TCP,
    hostile=1000)
add("GOAWAY behind the request", lambda c, s: (c.send(c.control, f.goaway(s + 4)), good(c, s)), GOOD)
add("GOAWAY of the largest number", lambda c, s: (c.send(c.control, f.goaway((1 << 62) - 4)), good(c, s)), GOOD)
add("GOAWAY twice, downwards", lambda c, s: (
    c.send(c.control, f.goaway((1 << 62) - 4), f.goaway(s + 4)), good(c, s)), GOOD)


# ---- field sections, and the rules of HTTP

def answers(*parts, end=True):
    return lambda connection, stream: connection.send(stream, *parts, end=end)


def header(*fields, raw=None):
    return answers(f.headers(*fields, raw=raw), f.data(GOOD_BODY))


OK = (":status", "200")
HEADER_FAULTS = {
    "a name in capitals": header(OK, ("X-Name", "y")),
    "a Connection field": header(OK, ("connection", "close")),
    "a Transfer-Encoding field": header(OK, ("transfer-encoding", "chunked")),
    "a Keep-Alive field": header(OK, ("keep-alive", "1")),
    "a pseudo field behind others": header(("x", "y"), OK),
    "no status": header(("x", "y")),
    "two statuses": header(OK, (":status", "201")),
    "the same status twice": header(OK, OK),
    "a status of letters": header((":status", "abc")),
    "a status of nothing": header((":status", "")),
    "a status of two digits": header((":status", "20")),
    "status 99": header((":status", "99")),
    "status 099": header((":status", "099")),
    "status 1000": header((":status", "1000")),
    "status 2000": header((":status", "2000")),
    "status -200": header((":status", "-200")),
    "a status with a space": header((":status", "200 ")),
    "status 101": header((":status", "101")),
    "a pseudo field of requests": header(OK, (":path", "/")),
    "an unknown pseudo field": header(OK, (":x", "y")),
    "an empty name": header(OK, ("", "y")),
    "a name with a space": header(OK, ("a b", "y")),
    "a name with a colon": header(OK, ("a:b", "y")),
    "a name with CR LF": header(OK, ("a\r\nb", "y")),
    "NUL in a value": header(OK, ("x", "a\0b")),
    "CR LF in a value": header(OK, ("x", "a\r\nset-cookie: b=c")),
    "CR in a value": header(OK, ("x", "a\rb")),
    "LF in a value": header(OK, ("x", "a\nb")),
    "two lengths that differ": header(OK, ("content-length", "11"), ("content-length", "12")),
    "two lengths that are the same": header(OK, ("content-length", "11"), ("content-length", "11")),
    "a length that is too large": header(OK, ("content-length", "12")),
    "a length that is too small": header(OK, ("content-length", "10")),
    "a length of 0 with a body": header(OK, ("content-length", "0")),
    "a length that is no number": header(OK, ("content-length", "1x")),
    "a length below 0": header(OK, ("content-length", "-1")),
    "a length over 2^64": header(OK, ("content-length", "99999999999999999999")),
    "DATA before HEADERS": answers(f.data(GOOD_BODY)),
    "DATA before HEADERS, then a header": answers(f.data(GOOD_BODY), f.head(len(GOOD_BODY)), f.data(GOOD_BODY)),
    "an interim answer that ends the stream": answers(f.head(status="103")),
    "DATA behind an interim answer": answers(f.head(status="103"), f.data(GOOD_BODY)),
    "trailers with a pseudo field": answers(f.head(), f.data(GOOD_BODY), f.headers((":status", "200"))),
    "trailers twice": answers(f.head(), f.data(GOOD_BODY), f.headers(("a", "b")), f.headers(("a", "b"))),
    "DATA behind trailers": answers(f.head(), f.data(GOOD_BODY), f.headers(("a", "b")), f.data(b"more")),
    "a body with status 204": header((":status", "204")),
}
# nghttp3 leaves such a field out, and the response goes on without it.
LEFT_OUT = {"an empty name", "a name with a space", "a name with a colon", "a name with CR LF", "NUL in a value",
            "CR LF in a value", "CR in a value", "LF in a value"}
for kind, script in HEADER_FAULTS.items():
    if kind in LEFT_OUT:
        add(kind, script, TOLD, fields=0)
    else:
        # A header that breaks a rule ends the connection before libcurl has told of the response.
        add(kind, script, GOOD, FAILS, by=TCP, errors=BROKEN, options="total=5000", hostile=1000)
add("a body with status 304", header((":status", "304")), FAILS, errors=("SDD_ERROR_NOT_MODIFIED", *BROKEN))
for size in (60 << 10, 200 << 10, 1 << 20, 4 << 20):
    verdicts = [FAILS, TOLD] if size < 100 << 10 else [FAILS]
    add(f"a value of {size >> 10} KiB", header(OK, ("x", "y" * size)), *verdicts, errors=(HEADERS, *BROKEN))
add("80,000 fields in a header", header(OK, *[("a", "b")] * 80000), FAILS, errors=(HEADERS, *BROKEN))
add("300 fields in a header", header(OK, *[("a", "b")] * 300), FAILS, TOLD, errors=(HEADERS, *BROKEN))
add("1,000 interim answers", answers(*[f.head(status="103", more=[("link", "</a>" * 100)])] * 1000), FAILS,
    errors=(HEADERS, *BROKEN))
add("a frame of HEADERS of 2^62 - 1 bytes", answers(f.frame(f.HEADERS, b"\0\0", (1 << 62) - 1), end=False), FAILS,
    options="stall=1500", errors=(*BROKEN, TIMEOUT, HEADERS))
add("a frame of DATA of 2^62 - 1 bytes", answers(f.head(), f.frame(f.DATA, PART, (1 << 62) - 1), end=False), FAILS,
    options="stall=1500", errors=(*BROKEN, TIMEOUT, LARGE))
add("a body over the limit, no length", answers(f.head(), f.data(bytes(60000))), FAILS, config="max_body=20000",
    errors=(LARGE,))
add("a body over the limit, a length", answers(f.head(60000), f.data(bytes(60000))), FAILS, config="max_body=20000",
    errors=(LARGE,))


# ---- silence

SILENCES = {
    "before the answer": [],
    "behind half a header": [f.head(5000)[:-3]],
    "behind the header": [f.head(5000)],
    "within a body": [f.head(5000), f.data(PART)],
    "before the end of a stream": [f.head(), f.data(PART)],
}
for when, parts in SILENCES.items():
    add(f"silence {when}", answers(*parts, end=False), FAILS, options="stall=1500", errors=(TIMEOUT,), detail=300402)
    add(f"a server that has gone {when}", lambda c, s, parts=parts: (
        c.send(s, *parts) if parts else None, c.cut()), FAILS, options="stall=1500", errors=(TIMEOUT, *BROKEN))


def a_byte_at_a_time(connection, stream):
    connection.send(stream, f.head(5000))
    while True:
        connection.send(stream, f.data(b"x"))
        connection.wait(connection.server.was_cut_off, 0.2)


add("a byte at a time", a_byte_at_a_time, FAILS, options="total=1500", errors=(TIMEOUT,), detail=300405)


# ---- floods: as fast as they are read, without a byte of a response

FLOODS = {
    "empty DATA": lambda c, s: c.send(s, f.data() * 4000),
    "unknown frames": lambda c, s: c.send(s, f.frame(f.UNKNOWN, b"x" * 30) * 500),
    "empty unknown frames": lambda c, s: c.send(s, f.frame(f.UNKNOWN) * 4000),
    "large unknown frames": lambda c, s: c.send(s, f.frame(f.UNKNOWN, b"x" * 16384)),
    "an unknown frame without end": lambda c, s: c.send(s, b"x" * 16384),
    "unknown frames of the control stream": lambda c, s: c.send(c.control, f.frame(f.UNKNOWN, b"x" * 30) * 500),
    "GOAWAY": lambda c, s: c.send(c.control, f.goaway((1 << 62) - 4) * 1000),
    "an encoder's tables of 0": lambda c, s: c.send(c.encoder, b"\x20" * 8000),
    "a stream of an unknown kind": lambda c, s: c.send(c.unknown, b"x" * 16384),
    "streams of unknown kinds": lambda c, s: c.send(c.uni(f.UNKNOWN_STREAM), b"x", end=True),
    "PING": lambda c, s: c.raw(*[b"\x01"] * 4000),
    "PADDING": lambda c, s: c.raw(*[bytes(1000), b"\x01"] * 20),
    "MAX_DATA": lambda c, s: c.raw(*[b"\x10" + f.number(1 << 40)] * 1000),
    "PATH_CHALLENGE": lambda c, s: c.raw(*[b"\x1a12345678"] * 1000),
    "NEW_TOKEN": lambda c, s: c.raw(*[b"\x07\x40\x64" + bytes(100)] * 200),
    "RESET_STREAM of a stream that has ended": lambda c, s: c.raw(
        *[b"\x04" + f.number(c.unknown) + b"\x00\x01"] * 1000),
    "DATA_BLOCKED": lambda c, s: c.raw(*[b"\x14\x01"] * 1000),
    "STREAMS_BLOCKED": lambda c, s: c.raw(*[b"\x17\x01"] * 1000),
    "garbage datagrams": lambda c, s: [c.server.send_raw(b"\x40" + os.urandom(1100), c.address) for _ in range(20)],
    "version negotiation": lambda c, s: [c.server.send_raw(
        encode_quic_version_negotiation(b"12345678", b"12345678", [7] * 200), c.address) for _ in range(20)],
}


def flood(kind, *before):
    def script(connection, stream):
        connection.unknown = connection.uni(f.UNKNOWN_STREAM)
        if before:
            connection.send(stream, *before)
        if kind == "an unknown frame without end":
            connection.send(stream, f.frame(f.UNKNOWN, b"", (1 << 62) - 1))
        connection.flood(lambda: FLOODS[kind](connection, stream))
    return script


def interim(connection, stream):
    connection.flood(lambda: connection.send(stream, f.head(status="103", more=[("link", "</a>")]) * 100))


for kind in FLOODS:
    # What breaks a rule, too, ends the connection; a GET is asked for again then.
    add(f"flood of {kind}, before the answer", flood(kind), FLOOD, FAILS, GOOD, group="flood", by=ANY,
        options="stall=1500", errors=(TIMEOUT, *BROKEN), places=(JOINED,))
    add(f"flood of {kind}, within a body", flood(kind, f.head(5000), f.data(PART)), FLOOD, FAILS, group="flood",
        options="stall=1500", errors=(TIMEOUT, *BROKEN), places=(TRIAL,))
add("flood of interim answers", interim, FAILS, errors=(HEADERS, *BROKEN), group="flood", places=(TRIAL,))
add("flood of PING under a total limit", flood("PING"), FAILS, FLOOD, errors=(TIMEOUT, RULES), options="total=1000",
    group="flood", places=(TRIAL,))
add("flood of PING under six requests", flood("PING"), FLOOD, FAILS, options="stall=1500", errors=(TIMEOUT, *BROKEN),
    in_flight=6, hostile=6, group="flood", places=(JOINED,))


# ---- rare but valid responses must succeed

LENGTH = len(GOOD_BODY)


def gradually(connection, stream):
    connection.send(stream, f.head(LENGTH))
    for byte in GOOD_BODY:
        connection.heard(stream, f.data(bytes([byte])))
    connection.end(stream)


def large(length):
    def script(connection, stream):
        connection.send(stream, f.head(length))
        for _ in range(300):
            connection.send(stream, f.data(bytes(16000)))
            while connection.quic.unsent() > 1 << 18:
                connection._step(0.05)
        connection.end(stream)
    return script


def greeted(*settings, before=()):
    def greet(connection):
        connection.control = connection.uni(f.CONTROL, f.settings(*settings), *before)
        connection.encoder, connection.decoder = connection.uni(f.ENCODER), connection.uni(f.DECODER)
    return greet


add("a good answer, a byte a frame", gradually, GOOD)
add("a good answer behind 50 interim ones", answers(
    *[f.head(status="103")] * 50, f.head(LENGTH), f.data(GOOD_BODY)), GOOD)
add("a good answer with trailers", answers(f.head(LENGTH), f.data(GOOD_BODY), f.headers(("x-sum", "1"))), GOOD)
add("a good answer among unknown frames", answers(
    f.frame(f.UNKNOWN, b"x"), f.head(LENGTH), f.frame(f.UNKNOWN, b"x" * 100), f.data(GOOD_BODY), f.frame(f.UNKNOWN)),
    GOOD)
add("a good answer without a length", answers(f.head(), f.data(GOOD_BODY)), TOLD)
add("a good answer of nothing", answers(f.head(0)), GOOD, body=b"")
add("a good answer in two frames and an empty one", answers(
    f.head(LENGTH), f.data(GOOD_BODY[:5]), f.data(), f.data(GOOD_BODY[5:])), GOOD)
add("a large good answer, no length", large(None), TOLD, body=bytes(4800000), memory=160 << 10)
add("a large good answer, a length", large(4800000), GOOD, body=bytes(4800000), memory=160 << 10)
add("a good answer that offers another place", answers(
    f.head(LENGTH, more=[("alt-svc", 'h3="elsewhere.example:1"; ma=600')]), f.data(GOOD_BODY)), GOOD)
add("a good answer that takes the offer back", answers(
    f.head(LENGTH, more=[("alt-svc", "clear")]), f.data(GOOD_BODY)), GOOD)
add("a good answer with 100 offers", answers(
    f.head(LENGTH, more=[("alt-svc", 'h3=":1"; ma=600, ' * 10)] * 10), f.data(GOOD_BODY)), GOOD)
# libcurl 8.23 takes STOP_SENDING for the end of what it is to read.
add("STOP_SENDING, and a good answer", lambda c, s: (
    c.raw(b"\x05" + f.number(s) + f.number(f.NO_ERROR)), good(c, s)), GOOD, FAILS, options="stall=1500",
    errors=(TIMEOUT,))
add("six requests at a time", good, GOOD, in_flight=6, hostile=6, by=ANY)
add("50 requests at a time", good, GOOD, in_flight=50, hostile=50, places=(JOINED,))
for kind, greet in {
    "no SETTINGS": lambda c: setattr(c, "control", c.uni(f.CONTROL)),
    "another frame than SETTINGS": lambda c: setattr(c, "control", c.uni(f.CONTROL, f.goaway(0))),
    "settings of HTTP/2": greeted((2, 1), (4, 65535)),
    "a largest field section of 0": greeted((6, 0)),
    "a table of QPACK of 2^60": greeted((1, 1 << 60), (7, 1 << 60)),
    "100 unknown settings": greeted(*[(0x21 + 0x1F * number, number) for number in range(100)]),
}.items():
    verdicts = (GOOD,) if kind[0] in "a1" and kind[:7] != "another" else (GOOD, FAILS)
    add(f"greeted by {kind}", good, *verdicts, places=(TRIAL, AGAIN), by=ANY, errors=BROKEN, server={"greet": greet})
add("greeted by nothing", good, GOOD, FAILS, places=(TRIAL, AGAIN), by=ANY, errors=BROKEN,
    server={"greet": lambda connection: None})
add("no streams for the client", good, GOOD, FAILS, places=(TRIAL,), by=ANY, errors=(*BROKEN, TIMEOUT),
    options="total=3000", server={"streams": 0})
