"""An HTTP/1.1 server on 127.0.0.1 for the tests. The path of a request says what it does:

    /file/NAME                  a file, with an ETag; 304 if the request has it; 404 if there is none
    /hold/NAME/FILE             the header and half of the file; the rest after /release/NAME
    /late/NAME/FILE             nothing until /release/NAME, then the file
    /steps/NAME/FILE            the file in 8 parts, each after one more /release/NAME
    /cut/FILE                   announces the file, sends half of it and closes
    /status/CODE                that status with a page of HTML
    /echo                       the request's header fields as JSON
    /redirect/PATH              302 to /PATH
    /release/NAME, /count/PATH, /wait/PATH   orders: releases; counts requests; waits for the first request

    server.py FOLDER            prints the port, and ends when its standard input does
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LIMIT = 60
TYPES = {".jpg": "image/jpeg", ".png": "image/png"}

folder = Path()
changed = threading.Condition()
releases: Counter[str] = Counter()
requests: Counter[str] = Counter()


def wait_for_release(name: str, number: int) -> None:
    with changed:
        changed.wait_for(lambda: releases[name] >= number, LIMIT)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def reply(self, status: int, body: bytes, kind: str = "text/plain", **fields: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def head_of(self, file: str) -> bytes:
        data = (folder / file).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", TYPES.get(Path(file).suffix, "text/plain"))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.flush()
        return data

    def do_GET(self) -> None:
        path = self.path.split("?")[0].strip("/")
        word, _, rest = path.partition("/")
        if word not in ("release", "count", "wait"):
            with changed:
                requests[path] += 1
                changed.notify_all()
        getattr(self, f"do_{word}", self.unknown)(rest)

    def unknown(self, rest: str) -> None:
        self.reply(404, b"what is that?")

    def do_file(self, rest: str) -> None:
        if not (folder / rest).exists():
            return self.reply(404, b"no such file")
        data = (folder / rest).read_bytes()
        tag = f'"{hashlib.md5(data).hexdigest()}"'
        if self.headers["If-None-Match"] == tag:
            self.send_response(304)
            self.send_header("ETag", tag)
            self.end_headers()
        else:
            self.reply(200, data, TYPES.get(Path(rest).suffix, "text/plain"), ETag=tag)

    def do_hold(self, rest: str) -> None:
        name, file = rest.split("/")
        data = self.head_of(file)
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        wait_for_release(name, 1)
        self.wfile.write(data[len(data) // 2 :])

    def do_late(self, rest: str) -> None:
        name, file = rest.split("/")
        wait_for_release(name, 1)
        self.wfile.write(self.head_of(file))

    def do_steps(self, rest: str) -> None:
        name, file = rest.split("/")
        data = self.head_of(file)
        for step in range(8):
            wait_for_release(name, step)
            self.wfile.write(data[len(data) * step // 8 : len(data) * (step + 1) // 8])
            self.wfile.flush()

    def do_cut(self, rest: str) -> None:
        data = self.head_of(rest)
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True

    def do_status(self, rest: str) -> None:
        self.reply(int(rest), b"<html>no picture</html>", "text/html")

    def do_echo(self, rest: str) -> None:
        self.reply(200, json.dumps(list(self.headers.items())).encode(), "application/json")

    def do_redirect(self, rest: str) -> None:
        self.reply(302, b"", Location="/" + rest)

    def do_release(self, rest: str) -> None:
        with changed:
            releases[rest] += 1
            changed.notify_all()
        self.reply(200, b"")

    def do_count(self, rest: str) -> None:
        with changed:
            self.reply(200, str(requests[rest]).encode())

    def do_wait(self, rest: str) -> None:
        with changed:
            came = changed.wait_for(lambda: requests[rest] > 0, LIMIT)
        self.reply(200 if came else 504, b"")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # clients that go away are a part of the tests


def main() -> None:
    global folder
    folder = Path(sys.argv[1])
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
