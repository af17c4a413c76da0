"""An HTTP/2 server over TLS, which sends exactly the bytes of its script."""

import select
import socket
import ssl
import struct
import threading
import time

from HTTP2 import frames


class Gone(Exception):
    """Raised when the client has closed the connection."""


class Connection:
    def __init__(self, plain, secure, server):
        self.plain, self.socket, self.server = plain, secure, server
        self.buffer, self.pending = b"", []
        # True to leave the connection open although the client has found a fault.
        self.stays_open = False

    def send(self, *parts):
        self._write(b"".join(parts))

    def _write(self, raw):
        """Writes everything, and reads what the client sends meanwhile, so that neither side blocks the other."""
        while True:
            try:
                self.socket.send(raw)
                return
            except ssl.SSLWantWriteError:
                select.select([self.plain], [self.plain], [], 1)
                self._drain()
            except ssl.SSLWantReadError:
                select.select([self.plain], [], [], 1)
            except OSError as error:
                raise Gone from error

    def _drain(self):
        """Reads the available bytes into the buffer."""
        try:
            while piece := self.socket.recv(65536):
                self.buffer += piece
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError as error:
            raise Gone from error
        else:
            raise Gone

    def _need(self, count):
        while len(self.buffer) < count:
            select.select([self.plain], [], [], 0.5)
            if self.server.is_closed:
                raise Gone
            self._drain()
        piece, self.buffer = self.buffer[:count], self.buffer[count:]
        return piece

    def next_frame(self):
        head = self._need(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        stream = struct.unpack(">I", head[5:])[0] & 0x7FFFFFFF
        payload = self._need(length)
        if kind == frames.GOAWAY and not self.stays_open:
            # The client has found a fault; servers close the connection then, too.
            self.close()
        return kind, flags, stream, payload

    def heard(self, *parts):
        """Sends frames and waits until the client has read them: until it answers a PING after them."""
        self.send(*parts, frames.ping(payload=b"heard? ."))
        while True:
            kind, flags, stream, payload = self.next_frame()
            if kind == frames.PING and flags & frames.ACK and payload == b"heard? .":
                return
            self.pending.append((kind, flags, stream, payload))

    def flood(self, raw):
        """Repeats the same frames until the client leaves or the time for a flood is over."""
        chunk = raw * max(1, 16000 // len(raw))
        end = time.monotonic() + self.server.longest_flood
        self.server.flood_began.set()
        while time.monotonic() < end and not self.server.is_closed:
            try:
                self._write(chunk)
                self.server.flooded += len(chunk)
                # Reads the client's answers now and then, and drops them.
                self._drain()
                self.buffer = b""
            except Gone:
                self.server.was_cut_off.set()
                raise
        self.server.outlasted.set()
        raise Gone

    def wait(self, event, seconds=20):
        event.wait(seconds)

    def close(self):
        """Closes the connection with TLS's close_notify."""
        try:
            self.socket.setblocking(True)
            self.socket.settimeout(1)
            self.socket.unwrap()
        except OSError:
            pass
        raise Gone

    def cut(self):
        """Cuts the connection, so that the client sees a reset."""
        self.plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Gone


GOOD_BODY = b"good answer"


def good(connection, stream):
    connection.send(frames.head(stream, len(GOOD_BODY)), frames.data(stream, GOOD_BODY, end=True))


class Server:
    """A server whose first `hostile` requests are answered by the script, and all later ones well."""

    def __init__(self, certificate, script=good, hostile=1, greeting=None, longest_flood=20, reads_body=False):
        self.script, self.hostile, self.longest_flood = script, hostile, longest_flood
        self.greeting = frames.settings() if greeting is None else greeting
        self.reads_body = reads_body
        self.requests = self.connections = self.flooded = 0
        self.flood_began, self.was_cut_off = threading.Event(), threading.Event()
        self.outlasted = threading.Event()
        self.is_closed = False
        self.lock = threading.Lock()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate + ".pem", certificate + ".key")
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path="/"):
        return f"https://localhost:{self.port}{path}"

    def close(self):
        self.is_closed = True
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()

    def _accept(self):
        while not self.is_closed:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain):
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secure = self.context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
            secure.settimeout(20)
            secure.do_handshake()
            secure.setblocking(False)
        except OSError:
            plain.close()
            return
        with self.lock:
            self.connections += 1
        connection = Connection(secure, secure, self)
        try:
            self._talk(connection)
        except Gone:
            pass
        finally:
            secure.close()

    def _talk(self, connection):
        connection._need(len(frames.PREFACE))
        connection.send(self.greeting)
        waiting = set()
        while True:
            pending = connection.pending
            kind, flags, stream, _ = pending.pop(0) if pending else connection.next_frame()
            if kind == frames.SETTINGS and not flags & frames.ACK:
                connection.send(frames.frame(frames.SETTINGS, frames.ACK, 0))
            elif kind == frames.PING and not flags & frames.ACK:
                connection.send(frames.ping(frames.ACK))
            if kind == frames.HEADERS and not flags & frames.END_STREAM and self.reads_body:
                waiting.add(stream)
            elif kind == frames.HEADERS or kind == frames.DATA and stream in waiting and flags & frames.END_STREAM:
                waiting.discard(stream)
                with self.lock:
                    self.requests += 1
                    number = self.requests
                (self.script if number <= self.hostile else good)(connection, stream)
