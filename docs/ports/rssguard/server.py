#!/usr/bin/env python3
"""Serves the pictures of try.sh on 127.0.0.1, slowly, and counts.

    server.py FOLDER        prints its port; ends when its standard input does

    /picture/NAME   a file of the folder, after 0.3 seconds
    /moved/NAME     a redirect to it
    /icon/NAME      a file with an entity tag, to be validated each time
    /drip           a response that does not end
    /large          a PNG of 48 MiB, of which the server does not tell the length
    /missing        404
    /counts         what was counted since the last call, in lines "NAME VALUE"
"""

import socketserver
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from pathlib import Path

FOLDER = Path(sys.argv[1])
LARGE = 48 << 20
lock = threading.Lock()
counts: Counter[str] = Counter()
running = 0


def count(name: str, value: int = 1) -> None:
    with lock:
        counts[name] += value


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        count("connections")

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/counts":
            with lock:
                counts["connections"] -= 1  # the one that asks
                text = "".join(f"{name} {counts[name]}\n" for name in sorted(counts))
                counts.clear()
            self.respond(200, text.encode())
            return
        global running
        with lock:
            running += 1
            counts["requests"] += 1
            counts["at_a_time"] = max(counts["at_a_time"], running)
        try:
            self.answer(self.path.split("?")[0])
        except (BrokenPipeError, ConnectionResetError):
            count("given_up")
            self.close_connection = True
        finally:
            with lock:
                running -= 1

    def answer(self, path: str) -> None:
        kind, _, name = path[1:].partition("/")
        file = FOLDER / name
        if kind == "picture" and file.is_file():
            time.sleep(0.3)
            self.respond(200, file.read_bytes(), {"Content-Type": "image/unknown"})
        elif kind == "moved":
            self.respond(302, b"", {"Location": f"/picture/{name}"})
        elif kind == "icon" and file.is_file():
            tag = f'"{file.stat().st_size}"'
            headers = {"ETag": tag, "Cache-Control": "no-cache"}
            if self.headers["If-None-Match"] == tag:
                count("not_modified")
                self.respond(304, b"", headers)
            else:
                self.respond(200, file.read_bytes(), headers)
        elif kind == "drip":
            self.begin({"Content-Type": "image/png"})
            while True:
                self.wfile.write(b"\x89")
                time.sleep(0.1)
        elif kind == "large":
            self.begin({"Content-Type": "image/png"})
            piece = (FOLDER / "red.png").read_bytes()
            piece += bytes((1 << 20) - len(piece))
            for _ in range(LARGE >> 20):
                self.wfile.write(piece)
                count("large_mib")
        else:
            self.respond(404, b"missing")

    def begin(self, headers: dict[str, str]) -> None:
        """Begins a response that ends with the connection."""
        self.send_response(200)
        for item in headers.items():
            self.send_header(*item)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def respond(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for item in (headers or {}).items():
            self.send_header(*item)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
