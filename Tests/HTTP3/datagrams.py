"""Servers and networks that misbehave below HTTP/3: functions that take each datagram in place of QUIC, or each that
QUIC is to send."""

import os
import socket

from aioquic.buffer import Buffer
from aioquic.quic.packet import QuicPacketType, encode_quic_retry, encode_quic_version_negotiation, pull_quic_header


def silent(server, data, address):
    pass


def garbage(server, data, address):
    for size in (1, 20, 21, 100, 1200, 1472):
        server.send_raw(os.urandom(size), address)


def short_headers(server, data, address):
    server.send_raw(b"\x40" + os.urandom(60), address)


def nothing(server, data, address):
    server.send_raw(b"", address)


def echo(server, data, address):
    server.send_raw(data, address)


def garbage_flood(server, data, address):
    for _ in range(2000):
        server.send_raw(b"\xc0" + os.urandom(1199), address)


def header_of(data):
    return pull_quic_header(Buffer(data=data), host_cid_length=8)


def versions(*offered, own=False, count=1):
    def datagrams(server, data, address):
        header = header_of(data)
        more = [header.version] if own else []
        for _ in range(count):
            server.send_raw(encode_quic_version_negotiation(
                source_cid=header.destination_cid, destination_cid=header.source_cid,
                supported_versions=[*offered, *more]), address)
    return datagrams


def versions_by_turns(server, data, address):
    """Offers the version that the client does not speak at the moment."""
    versions(0x6B3343CF if header_of(data).version == 1 else 1)(server, data, address)


def retry(times, serves=False, breaks=False):
    """Asks each connection to come again so many times."""
    asked = {}

    def datagrams(server, data, address):
        header = header_of(data)
        count, original = asked.get(header.destination_cid, (0, header.destination_cid))
        if serves and (count == times or header.destination_cid in server.ways):
            server.serve(data, address, original, header.destination_cid)
        if count == times or header.packet_type != QuicPacketType.INITIAL:
            return
        own = os.urandom(8)
        asked[own] = (count + 1, original)
        packet = encode_quic_retry(
            version=header.version, source_cid=own, destination_cid=header.source_cid,
            original_destination_cid=header.destination_cid, retry_token=b"come again" + own)
        server.send_raw(packet[:-1] + bytes([packet[-1] ^ breaks]), address)
    return datagrams


# There is no connection.
NO_QUIC = {
    "no answer": silent,
    "garbage": garbage,
    "short headers of nobody": short_headers,
    "empty datagrams": nothing,
    "the client's own datagrams": echo,
    "a flood of garbage": garbage_flood,
    "unknown versions": versions(0x1A2A3A4A, 0xFF00001D),
    "no versions": versions(),
    "the client's own version offered": versions(0x1A2A3A4A, own=True),
    "versions by turns": versions_by_turns,
    "a flood of versions": versions(*range(100, 300), count=500),
    "Retry, and no answer": retry(1),
    "Retry without end": retry(1 << 60),
    "a broken Retry": retry(1 << 60, breaks=True),
}


def flipped(server, datagram, address):
    middle = len(datagram) // 2
    server.send_raw(datagram[:middle] + bytes([datagram[middle] ^ 0xFF]) + datagram[middle + 1:], address)


def halved(server, datagram, address):
    server.send_raw(datagram[:len(datagram) // 2], address)


def first_only(server, datagram, address):
    server.mangle = lambda *_: None
    server.send_raw(datagram, address)


ELSEWHERE = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def from_elsewhere(server, datagram, address):
    ELSEWHERE.sendto(datagram, address)


# ---- what a network does to QUIC, which is to be borne

def twice(server, datagram, address):
    server.send_raw(datagram, address)
    server.send_raw(datagram, address)


def with_losses():
    count = 0

    def mangle(server, datagram, address):
        nonlocal count
        count += 1
        if count % 3:
            server.send_raw(datagram, address)
    return mangle


def with_garbage(server, datagram, address):
    server.send_raw(os.urandom(1200), address)
    server.send_raw(datagram, address)
    server.send_raw(b"\x40" + os.urandom(40), address)


# Options of a server with which no connection is made.
BAD_QUIC = {
    "QUIC with wrong bytes": {"mangle": flipped},
    "QUIC of half datagrams": {"mangle": halved},
    "QUIC that ends after a datagram": {"mangle": first_only},
    "QUIC from another port": {"mangle": from_elsewhere},
    "a certificate of a stranger": {"own_certificate": "stranger"},
    "a certificate for another host": {"own_certificate": "elsewhere"},
    "a certificate that has expired": {"own_certificate": "expired"},
    "another protocol than h3": {"alpn": "hq-interop"},
    "datagrams of 100 bytes at most": {"parameters": b"\x03\x02\x40\x64"},
    "a parameter of QUIC without its end": {"parameters": b"\x0d\x29abc"},
    "a preferred address of no connection id": {"parameters": b"\x0d\x29" + bytes(41)},
}
