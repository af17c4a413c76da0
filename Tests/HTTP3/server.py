"""An HTTP/3 server that sends exactly the bytes of its script, and a server over TCP at the same port that offers it.

QUIC itself is aioquic's; `Wire` puts frames of any bytes into its packets. Each connection has a thread of its own, so
that a script can wait.
"""

import queue
import socket
import threading
import time

from aioquic.buffer import Buffer
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicPacketType, pull_quic_header

import HTTP2.server
from HTTP2 import frames as http2
from HTTP2.server import GOOD_BODY, Gone
from HTTP3 import frames as f


class Stopped(Exception):
    """Raised when the client takes no more of a stream."""


# How QUIC's parameter for the server's other address begins: RFC 9000 section 18.2.
PREFERRED_ADDRESS = b"\x0d\x31"


class Wire(QuicConnection):
    """aioquic's connection, with frames of any bytes in its packets."""

    def __init__(self, parameters=b"", **arguments):
        super().__init__(**arguments)
        self.raw, self.parameters = [], parameters
        if parameters.startswith(PREFERRED_ADDRESS):
            # It has the connection id that is number 1.
            self._host_cid_seq += 1

    def _write_connection_limits(self, builder, space):
        super()._write_connection_limits(builder, space)
        while self.raw:
            # A frame that does not fit leaves by an exception, and waits for the next packet.
            builder.start_frame(self.raw[0][0], capacity=len(self.raw[0])).push_bytes(self.raw[0][1:])
            self.raw.pop(0)

    def _serialize_transport_parameters(self):
        return super()._serialize_transport_parameters() + self.parameters

    def _handle_path_response_frame(self, context, frame_type, buf):
        # aioquic would end the connection over a challenge that is not its own.
        buf.pull_bytes(8)

    def unsent(self):
        """Returns how many bytes and frames wait to be sent, or to be acknowledged."""
        senders = [stream.sender for stream in self._streams.values()]
        streams = sum(
            len(sender._buffer) + (sender._buffer_fin is not None) for sender in senders
            if sender._reset_error_code is None and not sender.is_finished)
        return streams + len(self.raw) + len(self._datagrams_pending)


class Connection:
    def __init__(self, server, quic, address):
        self.server, self.quic, self.address = server, quic, address
        self.arrivals = queue.SimpleQueue()
        self.waiting, self.answered, self.stopped = [], set(), set()
        self.is_ready = self.is_silent = self.is_leaving = False
        self.control = self.encoder = self.decoder = None

    # ---- what scripts call

    def send(self, stream, *parts, end=False):
        if stream in self.stopped:
            raise Stopped
        self.quic.send_stream_data(stream, b"".join(parts), end)
        self._step(0)

    def heard(self, stream, *parts):
        """Sends bytes and waits until the client has them: until it acknowledges a PING behind them."""
        self.send(stream, *parts)
        while self.quic.unsent():
            self._step(0.5)
        self.pings = set()
        self.quic.send_ping(1)
        while not self.pings:
            self._step(0.5)

    def uni(self, kind, *parts):
        """Opens a stream of the server's own, and returns its number."""
        stream = self.quic.get_next_available_stream_id(is_unidirectional=True)
        self.send(stream, f.number(kind), *parts)
        return stream

    def raw(self, *frames):
        """Sends frames of QUIC."""
        self.quic.raw += frames
        self._step(0)

    def forget(self):
        """Sends a stateless reset, as a server does that does not know the connection: RFC 9000 section 10.3."""
        token = self.quic._host_cids[0].stateless_reset_token
        self.server.send_raw(b"\x40" + bytes(40) + token, self.address)
        raise Gone

    def reset(self, stream, code):
        """Resets a stream: what was sent before has arrived."""
        while self.quic.unsent():
            self._step(0.5)
        self.quic.reset_stream(stream, code)
        self._step(0)

    def end(self, stream):
        self.send(stream, end=True)

    def close(self, code=f.NO_ERROR, frame_type=None):
        """Closes the connection, after what was sent has arrived. With the type of a frame, by QUIC and not HTTP/3."""
        while self.is_ready and self.quic.unsent():
            self._step(0.5)
        self.quic.close(code, frame_type, "enough")
        self._transmit()
        raise Gone

    def cut(self):
        """Sends nothing any more, as if the machine had gone."""
        self.is_silent = True
        raise Gone

    def flood(self, feed):
        """Calls `feed` until the client leaves or the time for a flood is over; it sends a little each time."""
        end = time.monotonic() + self.server.longest_flood
        self.server.flood_began.set()
        try:
            while time.monotonic() < end and not self.server.is_closed:
                if self.quic.unsent() < 40000:
                    feed()
                self._step(0 if self.quic.unsent() < 40000 else 0.05)
        except (Gone, Stopped):
            self.server.was_cut_off.set()
            raise
        self.server.outlasted.set()
        raise Gone

    def wait(self, event, seconds=20):
        """Waits for an event while QUIC goes on."""
        end = time.monotonic() + seconds
        while not event.is_set() and time.monotonic() < end:
            self._step(0.1)

    # ---- QUIC

    def _transmit(self):
        # aioquic has nowhere to send before the first datagram.
        if not self.quic._network_paths:
            return
        for datagram, address in self.quic.datagrams_to_send(time.monotonic()):
            if not self.is_silent:
                self.server.send(datagram, address)

    def _step(self, longest):
        """Sends what can be sent, and takes what arrives within a time."""
        if self.server.is_closed:
            raise Gone
        self._transmit()
        timer = self.quic.get_timer()
        if timer is not None:
            longest = min(longest, max(0, timer - time.monotonic()))
        try:
            arrival = self.arrivals.get(timeout=longest) if longest else self.arrivals.get_nowait()
            while True:
                self.quic.receive_datagram(*arrival, time.monotonic())
                arrival = self.arrivals.get_nowait()
        except queue.Empty:
            pass
        timer = self.quic.get_timer()
        if timer is not None and timer <= time.monotonic():
            self.quic.handle_timer(time.monotonic())
        while (event := self.quic.next_event()) is not None:
            self._take(event)
        if self.is_leaving:
            self.quic.close(f.NO_ERROR)
            self._transmit()
            raise Gone
        self._transmit()

    def _take(self, event):
        if isinstance(event, events.HandshakeCompleted):
            self.is_ready = True
        elif isinstance(event, events.ConnectionIdIssued):
            self.server.ways[event.connection_id] = self
        elif isinstance(event, events.PingAcknowledged):
            self.pings.add(event.uid)
        elif isinstance(event, (events.StopSendingReceived, events.StreamReset)):
            self.stopped.add(event.stream_id)
        elif isinstance(event, events.StreamDataReceived):
            if event.end_stream and event.stream_id % 4 == 0 and event.stream_id not in self.answered:
                self.answered.add(event.stream_id)
                self.waiting.append(event.stream_id)
        elif isinstance(event, events.ConnectionTerminated):
            self.server.left.append(event)
            raise Gone

    # ---- a connection's thread

    def run(self):
        try:
            self._talk()
        except Gone:
            pass

    def _talk(self):
        while not self.is_ready:
            self._step(0.5)
        self.server.handshakes += 1
        self.server.tcp.may_serve.set()
        greet = self.server.greet if self.server.is_hostile else greeting
        greet(self)
        while True:
            while not self.waiting:
                self._step(0.5)
            try:
                self.server.script_for_next()(self, self.waiting.pop(0))
            except Stopped:
                pass


def greeting(connection):
    """Opens the streams that each side opens first, with SETTINGS."""
    connection.control = connection.uni(f.CONTROL, f.settings())
    connection.encoder = connection.uni(f.ENCODER)
    connection.decoder = connection.uni(f.DECODER)


def good(connection, stream):
    body = connection.server.body
    connection.send(stream, f.head(len(body)), f.data(body), end=True)


class Offering(HTTP2.server.Server):
    """The server over TCP. It offers HTTP/3 at its own port, and can hold its connections up."""

    def __init__(self, certificate):
        self.may_serve = threading.Event()
        self.may_serve.set()
        self.body = GOOD_BODY
        super().__init__(certificate, self._answer, hostile=1 << 60)

    def _serve(self, plain):
        while not self.is_closed and not self.may_serve.wait(0.5):
            pass
        super()._serve(plain)

    def _answer(self, connection, stream):
        offer = ("alt-svc", f'h3=":{self.port}"; ma=600')
        connection.send(http2.head(stream, len(self.body), more=[offer]),
                        http2.data(stream, self.body, end=True))


class Server:
    """A server of HTTP/3 and of the offer of it. While it `is_hostile`, its first `hostile` requests are answered by
    the script, all others well; `greet` begins its connections; `datagrams`, if there is one, takes each datagram in
    place of QUIC: it gets the server, the bytes, and the sender; and `mangle` each that QUIC is to send."""

    def __init__(self, certificate, script=good, hostile=1, greet=greeting, datagrams=None, longest_flood=20,
                 own_certificate=None, alpn="h3", mangle=None, streams=128, parameters=b""):
        self.script, self.hostile, self.greet, self.datagrams = script, hostile, greet, datagrams
        self.longest_flood, self.mangle, self.streams = longest_flood, mangle, streams
        self.parameters = parameters
        self.is_hostile = self.is_closed = False
        self.requests = self.handshakes = self.arrived = self.flooded = 0
        self.flood_began, self.was_cut_off, self.outlasted = (threading.Event() for _ in range(3))
        self.left, self.ways, self.connections = [], {}, []
        self.lock = threading.Lock()
        self.good_configuration = self._configuration(certificate, "h3")
        self.configuration = self._configuration(own_certificate or certificate, alpn)
        self._bind(certificate)
        threading.Thread(target=self._receive, daemon=True).start()

    def _bind(self, certificate):
        for _ in range(100):
            self.tcp = Offering(certificate)
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            try:
                self.udp.bind(("127.0.0.1", self.tcp.port))
                return
            except OSError:
                self.udp.close()
                self.tcp.close()
        raise OSError("no port is free for both")

    def _configuration(self, certificate, alpn):
        configuration = QuicConfiguration(is_client=False, alpn_protocols=[alpn], idle_timeout=120)
        configuration.load_cert_chain(certificate + ".pem", certificate + ".key")
        return configuration

    def url(self, path="/"):
        return self.tcp.url(path)

    @property
    def body(self):
        return self.tcp.body

    def close(self):
        self.is_closed = True
        self.tcp.may_serve.set()
        self.tcp.close()
        # A datagram wakes the thread that receives, unless another one has, and the socket is closed.
        try:
            self.udp.sendto(b"", self.udp.getsockname())
        except OSError:
            pass

    def leave_all(self):
        """Closes all connections, as a server does that restarts."""
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            connection.is_leaving = True
            # An empty datagram wakes its thread.
            connection.arrivals.put((b"", connection.address))
        for connection in connections:
            connection.thread.join(20)

    def script_for_next(self):
        with self.lock:
            if not self.is_hostile:
                return good
            self.requests += 1
            return self.script if self.requests <= self.hostile else good

    def send(self, datagram, address):
        """Sends a datagram of QUIC, by `mangle` if there is one."""
        self.flooded += len(datagram)
        if self.mangle is not None and self.is_hostile:
            self.mangle(self, datagram, address)
        else:
            self.send_raw(datagram, address)

    def send_raw(self, datagram, address):
        try:
            self.udp.sendto(datagram, address)
        except OSError:
            # The client's socket has gone, or the buffers are full: a datagram may be lost.
            pass

    def _receive(self):
        while not self.is_closed:
            try:
                data, address = self.udp.recvfrom(65536)
            except OSError:
                continue
            self.arrived += 1
            if self.is_hostile and self.datagrams is not None:
                try:
                    self.datagrams(self, data, address)
                except ValueError:
                    pass
                continue
            self.serve(data, address)
        self.udp.close()

    def serve(self, data, address, original=None, retried=None):
        """Gives a datagram to its connection, which may be a new one.

        original, retried: the numbers of the connection before and after a Retry.
        """
        try:
            header = pull_quic_header(Buffer(data=data), host_cid_length=8)
        except ValueError:
            return
        connection = self.ways.get(header.destination_cid)
        if connection is None:
            if header.packet_type != QuicPacketType.INITIAL or len(data) < 1200:
                return
            quic = Wire(
                parameters=self.parameters if self.is_hostile else b"",
                configuration=self.configuration if self.is_hostile else self.good_configuration,
                original_destination_connection_id=original or header.destination_cid,
                retry_source_connection_id=retried)
            quic._local_max_streams_bidi.value = self.streams if self.is_hostile else 128
            connection = Connection(self, quic, address)
            self.ways[header.destination_cid] = self.ways[quic.host_cid] = connection
            with self.lock:
                self.connections.append(connection)
            connection.arrivals.put((data, address))
            connection.thread = threading.Thread(target=connection.run, daemon=True)
            connection.thread.start()
        else:
            connection.arrivals.put((data, address))
