"""Tests with more than one hostile response, and how a client is brought to a hostile server by HTTP/3. Each story
returns a list of faults."""

import tempfile

from HTTP2.client import is_right
from HTTP2.server import GOOD_BODY
from HTTP3 import frames as f
from HTTP3.cases import AGAIN, JOINED, PART, PICTURE, TRIAL
from HTTP3.server import Server


def lead(place, client, server, config=""):
    """Brings the client to where the next request meets the server's hostility."""
    client.tell("make http3 " + config)
    steps = [("offer", 20)] if place == TRIAL else [("offer", 20), ("trial", 30), ("known", 30)]
    for tag, version in steps:
        # A machine under load answers by QUIC too late for a trial, unless TCP waits for it.
        if tag == "trial":
            server.tcp.may_serve.clear()
        client.tell(f"get {tag} {server.url('/' + tag)}")
        end = client.end(tag)
        if end is None or not is_right(end, GOOD_BODY) or int(end["version"]) != version:
            return [f"the good answer '{tag}': {end}"]
    if place == AGAIN:
        server.leave_all()
    return []


def _joined(client, certificate, script, hostile=1000, config=""):
    """Makes a server and lets the client join it by HTTP/3; returns it with the faults so far."""
    server = Server(certificate, script, hostile)
    wrong = lead(JOINED, client, server, config)
    server.is_hostile = True
    return server, wrong


def destroyed_under_a_flood(client, certificate):
    server, wrong = _joined(client, certificate, lambda c, s: c.flood(lambda: c.raw(*[b"\x01"] * 4000)))
    client.tell(f"get a {server.url()}")
    server.flood_began.wait(60)
    client.tell("destroy")
    if client.number("destroyed") is None:
        wrong.append("it was not destroyed")
    if not server.was_cut_off.wait(60):
        wrong.append("the flood went on to its end")
    if client.ends.get("a", {}).get("error") != "SDD_ERROR_CANCELLED":
        wrong.append(f"the request ended with {client.ends.get('a')}")
    server.close()
    return wrong


def cancelled_under_a_flood(client, certificate):
    server, wrong = _joined(client, certificate, lambda c, s: c.flood(lambda: c.send(s, f.data() * 4000)))
    client.tell(f"get a {server.url()}")
    server.flood_began.wait(60)
    client.tell("cancel a")
    end = client.end("a")
    if end is None or end["error"] != "SDD_ERROR_CANCELLED":
        wrong.append(f"the request ended with {end}")
    client.tell("destroy")
    if client.number("destroyed") is None:
        wrong.append("it was not destroyed")
    server.close()
    return wrong


def cancelled_while_nothing_answers(client, certificate):
    server = Server(certificate, datagrams=lambda *_: server.flood_began.set())
    wrong = lead(AGAIN, client, server)
    server.is_hostile = True
    client.tell(f"get a {server.url('/a')}")
    server.flood_began.wait(60)
    client.tell("cancel a")
    client.tell(f"get b {server.url('/b')}")
    ends = [client.end(tag) for tag in "ab"]
    if ends[0] is None or ends[0]["error"] != "SDD_ERROR_CANCELLED":
        wrong.append(f"the request ended with {ends[0]}")
    if ends[1] is None or not is_right(ends[1], GOOD_BODY) or ends[1]["version"] != "20":
        wrong.append(f"the next one ended with {ends[1]}")
    server.close()
    return wrong


def silence_leads_to_tcp(client, certificate):
    """After a connection has become silent, the host is asked over TCP, and no more by HTTP/3."""
    server, wrong = _joined(client, certificate, lambda c, s: c.cut())
    client.tell(f"get a {server.url('/a')} stall=300")
    first = client.end("a")
    if first is None or first["error"] != "SDD_ERROR_TIMEOUT":
        wrong.append(f"the first ended with {first}")
    server.is_hostile = False
    for number in range(5):
        client.tell(f"get b{number} {server.url('/b')}")
        end = client.end(f"b{number}")
        if end is None or not is_right(end, GOOD_BODY) or end["version"] != "20":
            wrong.append(f"a later one ended with {end}")
    if server.handshakes != 1:
        wrong.append(f"{server.handshakes} connections by HTTP/3")
    server.close()
    return wrong


def a_connection_that_many_lose_is_replaced_once(client, certificate):
    """Many requests lose one connection before a byte of their responses, and share the next one."""
    many, waiting = 50, []

    def script(connection, stream):
        waiting.append(stream)
        if len(waiting) == many:
            server.is_hostile = False
            connection.close()

    server, wrong = _joined(client, certificate, script, config=f"requests={many}")
    for number in range(many):
        client.tell(f"get a{number} {server.url(f'/{number}')}")
    ends = [client.end(f"a{number}") for number in range(many)]
    wrong += [f"a request ended with {end}" for end in ends if end is None or not is_right(end, GOOD_BODY)][:3]
    if any(end["version"] != "30" for end in ends if end):
        wrong.append("not all came by HTTP/3")
    if server.handshakes > 4:
        wrong.append(f"{server.handshakes} connections for {many} requests")
    server.close()
    return wrong


def an_offer_that_is_taken_back_is_not_followed(client, certificate):
    def script(connection, stream):
        connection.send(stream, f.head(len(GOOD_BODY), more=[("alt-svc", "clear")]), f.data(GOOD_BODY), end=True)

    server, wrong = _joined(client, certificate, script, hostile=1)
    for tag, version in (("a", "30"), ("b", "20")):
        client.tell(f"get {tag} {server.url('/' + tag)}")
        end = client.end(tag)
        if end is None or not is_right(end, GOOD_BODY) or end["version"] != version:
            wrong.append(f"'{tag}' ended with {end}")
    server.close()
    return wrong


def _kept(client, certificate, body, told, entries, end=lambda c, s: c.end(s)):
    """Requests a body without a length twice, with an HTTP cache."""
    def script(connection, stream):
        connection.heard(stream, f.head(more=[("cache-control", "max-age=3600")]), f.data(body))
        end(connection, stream)

    with tempfile.TemporaryDirectory() as folder:
        server, wrong = _joined(client, certificate, script, config=f"cache={folder}/cache")
        for tag in ("a", "b"):
            client.tell(f"get {tag} {server.url('/kept')} http_cache")
            said = client.end(tag)
            if said is None or said["error"] != "SDD_OK" or int(said["unproven"]) != told:
                wrong.append(f"'{tag}' ended with {said}")
            elif (tag == "b" and entries == 1) != (said["origin"] == "4"):
                wrong.append(f"'{tag}' came from {said['origin']}")
        client.tell("entries")
        count = client.number("entries")
        if count != entries:
            wrong.append(f"{count} entries were written, not {entries}")
        client.finish()
    server.close()
    return wrong


def bytes_without_a_length(client, certificate):
    return _kept(client, certificate, PART, told=1, entries=0)


def bytes_of_a_reset_stream(client, certificate):
    return _kept(client, certificate, PART, told=1, entries=0, end=lambda c, s: c.reset(s, f.NO_ERROR))


def a_picture_without_a_length(client, certificate):
    return _kept(client, certificate, PICTURE, told=0, entries=1)


def a_picture_without_its_end(client, certificate):
    return _kept(client, certificate, PICTURE[:-12], told=1, entries=0)


STORIES = [
    destroyed_under_a_flood, cancelled_under_a_flood, cancelled_while_nothing_answers,
    silence_leads_to_tcp,
    a_connection_that_many_lose_is_replaced_once, an_offer_that_is_taken_back_is_not_followed, bytes_without_a_length,
    bytes_of_a_reset_stream, a_picture_without_a_length, a_picture_without_its_end,
]
