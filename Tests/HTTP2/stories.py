"""Tests with more than one hostile response: the end of a downloader and of a request under a flood, and the caching of
bodies whose end is unproven. Each story returns a list of faults."""

import gzip
import socket
import tempfile
import threading

from HTTP2 import frames as f
from HTTP2.cases import LIBCURL
from HTTP2.server import Server, good

FRESH = ("cache-control", "max-age=3600")
PICTURE = "Tests/Fixtures/png/rgb8.png"


def flooded(certificate):
    return Server(certificate, lambda c, s: c.flood(f.ping(f.ACK)), hostile=1000)


def destroyed_under_a_flood(client, certificate):
    server = flooded(certificate)
    client.tell("make")
    client.tell(f"get a {server.url()}")
    server.flood_began.wait(60)
    client.tell("destroy")
    wrong = [] if client.number("destroyed") is not None else ["it was not destroyed"]
    if not server.was_cut_off.wait(60):
        wrong.append("the flood went on to its end")
    if client.ends.get("a", {}).get("error") != "SDD_ERROR_CANCELLED":
        wrong.append(f"the request ended with {client.ends.get('a')}")
    server.close()
    return wrong


def cancelled_under_a_flood(client, certificate):
    server = flooded(certificate)
    client.tell("make")
    client.tell(f"get a {server.url()}")
    server.flood_began.wait(60)
    client.tell("cancel a")
    end = client.end("a")
    wrong = [] if end and end["error"] == "SDD_ERROR_CANCELLED" else [f"the request ended with {end}"]
    # A cancel between two turns of the loop leaves a connection that nothing reads: it is closed here at the latest.
    client.tell("destroy")
    if client.number("destroyed") is None:
        wrong.append("it was not destroyed")
    if not server.was_cut_off.wait(60):
        wrong.append("the flood went on to its end")
    server.close()
    return wrong


def silent_connection_not_used_again(client, certificate):
    """After a connection has become silent, the host is asked over another one."""
    connections = []

    def script(connection, stream):
        if not connections: connections.append(connection)
        if connection is connections[0]:
            connection.heard()
            connection.wait(server.over, 120)
        else:
            good(connection, stream)

    server = Server(certificate, script, hostile=1000)
    server.over = threading.Event()
    client.tell("make")
    client.tell(f"get a {server.url('/a')} stall=300")
    first = client.end("a")
    client.tell(f"get b {server.url('/b')}")
    second = client.end("b")
    server.over.set()
    server.close()
    wrong = [] if first and first["error"] == "SDD_ERROR_TIMEOUT" else [f"the first ended with {first}"]
    if second is None or second["error"] != "SDD_OK":
        wrong.append(f"the second ended with {second}")
    return wrong


def _all_replaced(client, certificate, lose):
    """Many requests lose one connection before a byte of their responses, and share the next one."""
    many, first, waiting = 50, [], []

    def script(connection, stream):
        first.append(connection)
        if connection is not first[0]:
            return good(connection, stream)
        waiting.append(stream)
        if len(waiting) == many:
            lose(connection)

    server = Server(certificate, script, hostile=1000)
    client.tell(f"make requests={many}")
    for number in range(many):
        client.tell(f"get a{number} {server.url(f'/{number}')}")
    ends = [client.end(f"a{number}") for number in range(many)]
    server.close()
    wrong = [f"a request ended with {end}" for end in ends if end is None or end["error"] != "SDD_OK"][:3]
    # A request that was on its way to the old connection may need one of its own. libcurl 7.88 lets none wait for a
    # connection that is being made, see docs/libcurl-state.md.
    if server.connections > 4 and LIBCURL >= (8, 1):
        wrong.append(f"{server.connections} connections were opened for {many} requests")
    return wrong


def a_connection_refused_is_replaced_once(client, certificate):
    return _all_replaced(client, certificate, lambda connection: connection.send(f.goaway(0)))


def a_connection_closed_is_replaced_once(client, certificate):
    return _all_replaced(client, certificate, lambda connection: (connection.send(f.goaway(0)), connection.close()))


def a_post_refused_on_a_used_connection(client, certificate):
    """A POST that the server did not process is sent again; one that it may have processed is not."""
    wrong = []
    client.tell("make")
    for told in (True, False):
        posts = []

        def script(connection, stream):
            if stream == 1:
                return good(connection, stream)
            posts.append(stream)
            if told:
                connection.send(f.goaway(1))
            connection.close()

        server = Server(certificate, script, hostile=2, reads_body=True)
        client.tell(f"get first{told} {server.url('/first')}")
        client.end(f"first{told}")
        client.tell(f"get second{told} {server.url('/second')} post")
        end = client.end(f"second{told}")
        if end is None or (end["error"] == "SDD_OK") != told:
            wrong.append(f"the POST ended with {end}")
        if len(posts) != 1 or server.requests != (3 if told else 2):
            wrong.append(f"{server.requests} requests, and {len(posts)} POSTs that were refused")
        server.close()
    return wrong


def joined_flood_is_left(client, certificate):
    """A request joins a connection that floods after a good response. The host is asked again over another one. A flood
    that is slower than libcurl reads holds up nothing, and counts as silence; that may happen to a busy machine."""
    def script(connection, stream):
        good(connection, stream)
        connection.flood(f.ping(f.ACK))

    wrong, again = [], 0
    client.tell("make")
    for round in range(3):
        server = Server(certificate, script, hostile=1)
        for tag in (f"first{round}", f"second{round}"):
            client.tell(f"get {tag} {server.url('/' + tag)}")
            end = client.end(tag)
            again += end is not None and end["error"] == "SDD_OK" and tag.startswith("second")
            is_silent = end is not None and end["detail"] == "300402" and tag.startswith("second")
            if end is None or end["error"] != "SDD_OK" and not is_silent:
                wrong.append(f"the request {tag} ended with {end}")
            server.flood_began.wait(60)
        server.close()
    if again == 0:
        wrong.append("no host was asked again")
    return wrong


def not_tried_again_for_ever(client, certificate):
    server = flooded(certificate)
    client.tell("make attempts=5")
    client.tell(f"get a {server.url()}")
    end = client.end("a")
    wrong = [] if end and end["detail"] == "300701" and end["attempts"] == "1" else [f"the request ended with {end}"]
    if server.requests > 2:
        wrong.append(f"the host was asked {server.requests} times")
    server.close()
    return wrong


def _kept(client, url, told, entries):
    """Requests a URL twice with an HTTP cache."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        client.tell(f"make cache={folder}/cache")
        for tag in ("a", "b"):
            client.tell(f"get {tag} {url} http_cache")
            end = client.end(tag)
            if end is None or end["error"] != "SDD_OK" or int(end["unproven"]) != told:
                wrong.append(f"'{tag}' ended with {end}")
            elif (tag == "b" and entries == 1) != (end["origin"] == "4"):
                wrong.append(f"'{tag}' came from {end['origin']}")
        client.tell("entries")
        count = client.number("entries")
        if count != entries:
            wrong.append(f"{count} entries were written, not {entries}")
        client.finish()
    return wrong


def _kept_of(client, certificate, body, told, entries, script=None, more=()):
    def answer(connection, stream):
        connection.send(f.head(stream, more=[FRESH, *more]), f.data(stream, body, end=True))
    server = Server(certificate, script or answer, hostile=1000)
    wrong = _kept(client, server.url("/kept"), told, entries)
    server.close()
    return wrong


def picture():
    with open(PICTURE, "rb") as file:
        return file.read()


def bytes_without_a_length(client, certificate):
    return _kept_of(client, certificate, b"some bytes", told=1, entries=0)


def bytes_of_a_reset_stream(client, certificate):
    def script(connection, stream):
        connection.heard(f.head(stream, more=[FRESH]), f.data(stream, b"some bytes"))
        connection.send(f.reset(stream, f.NO_ERROR))
    return _kept_of(client, certificate, b"", told=1, entries=0, script=script)


def a_picture_without_a_length(client, certificate):
    return _kept_of(client, certificate, picture(), told=0, entries=1)


def a_picture_without_its_end(client, certificate):
    return _kept_of(client, certificate, picture()[:-12], told=1, entries=0)


def packed_bytes_without_a_length(client, certificate):
    return _kept_of(
        client, certificate, gzip.compress(b"some bytes" * 50), told=0, entries=1, more=[("content-encoding", "gzip")])


class Plain:
    """An HTTP/1.1 server whose bodies end with their connection."""

    def __init__(self, body):
        self.body = body
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://localhost:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            while b"\r\n\r\n" not in connection.recv(65536):
                pass
            connection.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\n\r\n" + self.body)
            connection.close()

    def close(self):
        self.listener.close()


def _kept_over_http1(client, body, told, entries):
    server = Plain(body)
    wrong = _kept(client, server.url, told, entries)
    server.close()
    return wrong


def bytes_that_end_by_closing(client, _):
    return _kept_over_http1(client, b"some bytes", told=1, entries=0)


def a_picture_that_ends_by_closing(client, _):
    return _kept_over_http1(client, picture(), told=0, entries=1)


def a_cut_picture_that_ends_by_closing(client, _):
    return _kept_over_http1(client, picture()[:-20], told=1, entries=0)


STORIES = [
    silent_connection_not_used_again, a_connection_refused_is_replaced_once, a_connection_closed_is_replaced_once,
    a_post_refused_on_a_used_connection, joined_flood_is_left,
    destroyed_under_a_flood, cancelled_under_a_flood, not_tried_again_for_ever, bytes_without_a_length,
    bytes_of_a_reset_stream, a_picture_without_a_length, a_picture_without_its_end, packed_bytes_without_a_length,
    bytes_that_end_by_closing, a_picture_that_ends_by_closing, a_cut_picture_that_ends_by_closing,
]
