"""An HTTP/1.1 server on 127.0.0.1 that stands for many hosts, and remembers who asked for what.

    /pic/ANYTHING/FILE          a file of the folder; ANYTHING makes URLs different
    /gate/NAME/ANYTHING/FILE    the same, after /open/NAME
    /tag/VALUE/FILE             the same, with X-Robots-Tag: VALUE
    /once/ANYTHING/FILE         the same, but 503 the first time
    other paths                 404 with a page of HTML
    /open/NAME, /wait/NAME      orders: opens a gate; waits until somebody stands before it
    /log                        JSON: how often each URL was asked for, and most requests at a time of each host

    crowd.py FOLDER             prints the port, and ends when its standard input does
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

from server import LIMIT, TYPES, Handler, Server

folder = Path()
changed = threading.Condition()
opened: set[str] = set()
waiting: set[str] = set()
requests: Counter[str] = Counter()
running: Counter[str] = Counter()
most: Counter[str] = Counter()


class Crowd(Handler):
    def do_GET(self) -> None:
        word, _, rest = self.path.strip("/").partition("/")
        if word in ("open", "wait", "log"):
            return self.order(word, rest)
        host = self.headers["Host"]
        with changed:
            requests[f"http://{host}{self.path}"] += 1
            is_first = requests[f"http://{host}{self.path}"] == 1
            running[host] += 1
            most[host] = max(most[host], running[host])
        self.answer(word, rest, is_first)

    def answered(self) -> None:
        """Called before the response is sent: the client may begin the next request as soon as it has it."""
        with changed:
            running[self.headers["Host"]] -= 1

    def answer(self, word: str, rest: str, is_first: bool) -> None:
        fields: dict[str, str] = {}
        body, kind, status = b"<html>no picture</html>", "text/html", 404
        if word == "gate":
            name = rest.partition("/")[0]
            with changed:
                waiting.add(name)
                changed.notify_all()
                changed.wait_for(lambda: name in opened, 2 * LIMIT)
        elif word == "tag":
            fields["X-Robots-Tag"] = unquote(rest.partition("/")[0])
        file = folder / rest.rpartition("/")[2].partition("?")[0]
        if word == "once" and is_first:
            status = 503
        elif word in ("pic", "gate", "tag", "once") and file.exists():
            body, kind, status = file.read_bytes(), TYPES.get(file.suffix, "text/html"), 200
        self.answered()
        self.reply(status, body, kind, **fields)

    def order(self, word: str, name: str) -> None:
        with changed:
            if word == "open":
                opened.add(name)
                changed.notify_all()
            elif word == "wait":
                came = changed.wait_for(lambda: name in waiting, 2 * LIMIT)
                return self.reply(200 if came else 504, b"")
            body = json.dumps({"requests": requests, "most": most}).encode()
        self.reply(200, body, "application/json")


def main() -> None:
    global folder
    folder = Path(sys.argv[1])
    server = Server(("127.0.0.1", 0), Crowd)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
