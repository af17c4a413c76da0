"""Stories of servers that speak HTTP/1.1 over TLS: a record that arrives slowly, a client that is not let in, and a
stream that is to be a request of HTTP/1.1. Each returns a list of faults, as those of `stories` do."""

import socket
import ssl
import threading
import time

from HTTP2 import frames as f

HTTP_1_1_REQUIRED = 13
PIECE, PAUSE = 1000, 0.25
BODY = b"z" * 16000


class Connection:
    """A connection whose bytes of TLS can be sent apart."""

    def __init__(self, plain, context):
        self.plain, self.arriving, self.leaving = plain, ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.arriving, self.leaving, server_side=True)

    def until_done(self, step):
        """Calls `step` until it has what it needs, and sends what it has to say."""
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.flush()
                piece = self.plain.recv(65536)
                if not piece:
                    raise OSError("the client has gone") from None
                self.arriving.write(piece)

    def read(self):
        return self.until_done(lambda: self.tls.read(65536))

    def flush(self):
        self.plain.sendall(self.leaving.read())

    def send(self, raw):
        self.tls.write(raw)
        self.flush()


class Secure:
    """A server that hands each connection to a function, once the client has sent the head of a request."""

    def __init__(self, certificate, serve, wants_client=False, protocols=("http/1.1",)):
        self.serve = serve
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate + ".pem", certificate + ".key")
        self.context.set_alpn_protocols(protocols)
        if wants_client:
            self.context.minimum_version = ssl.TLSVersion.TLSv1_3
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_verify_locations(certificate + ".pem")
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.url = f"https://localhost:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain):
        connection = Connection(plain, self.context)
        try:
            connection.until_done(connection.tls.do_handshake)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.read()
            self.serve(connection, head)
        except ssl.SSLError:
            connection.flush()
            while plain.recv(65536):  # unread bytes would make of the end a reset, which takes the alert along
                pass
        except OSError:
            pass
        finally:
            plain.close()

    def close(self):
        self.listener.close()


def _in_pieces(piece, pause):
    """Sends a response in one record, piece by piece."""

    def serve(connection, _):
        connection.tls.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
        record = connection.leaving.read()
        for start in range(0, len(record), piece):
            connection.plain.sendall(record[start : start + piece])
            time.sleep(pause)

    return serve


def a_record_that_arrives_slowly(client, certificate):
    """The record takes longer than the limit on silence, and there is no silence."""
    server = Secure(certificate, _in_pieces(PIECE, PAUSE))
    client.tell("make")
    client.tell(f"get a {server.url} stall=2000")
    end = client.end("a")
    server.close()
    return [] if end and end["error"] == "SDD_OK" and end["bytes"] == str(len(BODY)) else [f"it ended with {end}"]


def a_record_that_drips(client, certificate):
    """A few bytes now and then, fewer than the limit on slowness asks for, occupy a slot no longer than silence does."""
    server = Secure(certificate, _in_pieces(10, PAUSE))
    client.tell("make")
    begun = time.monotonic()
    client.tell(f"get a {server.url} stall=2000")
    end = client.end("a")
    seconds = time.monotonic() - begun
    server.close()
    wrong = [] if end and end["error"] == "SDD_ERROR_TIMEOUT" else [f"it ended with {end}"]
    return wrong if seconds < 60 else wrong + [f"it took {seconds:.0f} s"]


def a_client_without_a_certificate(client, certificate):
    """With TLS 1.3 the server says after the handshake that it wants one, which is no lost connection."""
    server = Secure(certificate, None, wants_client=True)
    client.tell("make attempts=3")
    client.tell(f"get a {server.url}")
    end = client.end("a")
    server.close()
    wrong = [] if end and end["detail"] == "300308" else [f"it ended with {end}"]
    return wrong if server.connections == 1 else wrong + [f"{server.connections} connections were made"]


def a_post_that_wants_http_1(client, certificate):
    """A server that resets a stream with HTTP_1_1_REQUIRED has not processed it, whatever its method."""
    bodies = []

    def serve(connection, head):
        if connection.tls.selected_alpn_protocol() == "h2":
            received = head
            while b"what is posted" not in received:
                received += connection.read()
            connection.send(f.settings() + f.reset(1, HTTP_1_1_REQUIRED))
            while True:
                connection.read()
        while not head.endswith(b"what is posted"):
            head += connection.read()
        bodies.append(head)
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")

    server = Secure(certificate, serve, protocols=("h2", "http/1.1"))
    client.tell("make")
    client.tell(f"get a {server.url} post")
    end = client.end("a")
    server.close()
    wrong = [] if end and end["error"] == "SDD_OK" else [f"it ended with {end}"]
    return wrong if len(bodies) == 1 else wrong + [f"{len(bodies)} requests came by HTTP/1.1"]


STORIES = [a_record_that_arrives_slowly, a_record_that_drips, a_client_without_a_certificate, a_post_that_wants_http_1]
