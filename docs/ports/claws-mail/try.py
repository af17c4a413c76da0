#!/usr/bin/env python3
"""Runs Claws Mail with each of two libravatar plugins, in an X server without a screen, and compares what is seen.

    try.py CLAWS_MAIL BEFORE.so AFTER.so     the program, and the plugin before and after the port

A server on 127.0.0.1 has the avatars. Messages are selected by the program's own --select, and whether the program
responds is measured with its own --status, which the main loop answers. What is shown is read from the X server's
memory. Fails if the plugin after the port shows, asks for or does anything else than EXPECTED.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

SIDE = 48  # of an avatar, in pixels
LIMIT = 60  # seconds to wait for anything
SLOW = 4  # seconds that the slow server takes


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    row = b"\0" + bytes(colour) * width
    rows = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


RED, GREEN, BLUE, PINK, GOLD = (201, 7, 13), (9, 177, 33), (17, 39, 211), (233, 88, 177), (222, 170, 5)
PEOPLE = ["plain", "large", "slow", "missing", "vast", "left", "inside", "down", "quit"]


def digest(name: str) -> str:
    return hashlib.md5(f"{name}@example.org".encode()).hexdigest()


class Avatars(http.server.BaseHTTPRequestHandler):
    """Answers for each of PEOPLE in its own way."""

    asked: list[str] = []
    broken: list[str] = []
    inner_port = 0
    names = {digest(name): name for name in PEOPLE}
    bodies = {
        "plain": png(SIDE, SIDE, RED),
        "large": png(200, 200, GREEN),
        "slow": png(SIDE, SIDE, BLUE),
        "left": png(SIDE, SIDE, PINK),
        "quit": png(SIDE, SIDE, PINK),
        "vast": png(9000, 9000, BLUE),
        "inside": png(SIDE, SIDE, PINK),
        "down": png(SIDE, SIDE, GOLD),
    }

    def do_GET(self) -> None:
        name = self.names.get(self.path.partition("?")[0].rpartition("/")[2], "?")
        if self.path == "/private":
            name = "private"
        self.asked.append(name)
        if name == "inside":
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.inner_port}/private")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = self.bodies.get("inside" if name == "private" else name, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            if name in ("slow", "left", "quit"):
                for _ in range(SLOW * 10):  # a byte at a time, which tells when the other end has gone
                    self.wfile.write(body[:1])
                    body = body[1:]
                    time.sleep(0.1)
            self.wfile.write(body)
        except OSError:
            self.broken.append(name)

    def log_message(self, *_: object) -> None:
        pass


class Server:
    def __init__(self) -> None:
        self.port = 0
        self.start()

    def start(self) -> None:
        """Starts, at the same port if it has been stopped."""
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Avatars)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()


class Screen:
    """An X server whose picture is a file in the format of xwd."""

    def __init__(self, folder: Path) -> None:
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1100x800x24", "-fbdir", str(folder), "-noreset",
             "-nolisten", "tcp"],
            pass_fds=[write], stderr=subprocess.DEVNULL,
        )
        os.close(write)
        with os.fdopen(read) as number:
            self.name = ":" + number.readline().strip()
        self.file = folder / "Xvfb_screen0"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def pixels(self, colour: tuple[int, int, int]) -> int:
        """How many pixels have this colour."""
        data = self.file.read_bytes()
        size, colours = struct.unpack(">I", data[:4])[0], struct.unpack(">I", data[76:80])[0]
        wanted = bytes((colour[2], colour[1], colour[0]))
        body = data[size + 12 * colours :]
        count, at = 0, body.find(wanted)
        while at >= 0:
            count += at % 4 == 0
            at = body.find(wanted, at + 1)
        return count

    def shows(self, colour: tuple[int, int, int]) -> bool:
        return wait(lambda: self.pixels(colour) == SIDE * SIDE)


def wait(condition: Callable[[], bool], seconds: float = LIMIT) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Program:
    def __init__(self, claws: str, plugin: str, folder: Path, screen: Screen, port: int) -> None:
        self.claws, self.folder = claws, folder
        self.processes: list[subprocess.Popen[bytes]] = []  # the last one is running
        self.config = folder / "config"
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.environment = environment | {"HOME": str(folder), "DISPLAY": screen.name, "XDG_RUNTIME_DIR": str(folder),
                                          "NO_AT_BRIDGE": "1", "GIO_USE_VFS": "local", "GSETTINGS_BACKEND": "memory",
                                          "G_DEBUG": "fatal-criticals"}
        inbox = folder / "Mail" / "inbox"
        for name in ("inbox", "sent", "draft", "queue", "trash"):
            (folder / "Mail" / name).mkdir(parents=True)
        for number, name in enumerate(PEOPLE, 1):
            (inbox / str(number)).write_text(
                f"From: {name} <{name}@example.org>\nTo: me@example.org\nSubject: {name}\n"
                f"Date: Mon, 02 Nov 2026 10:00:0{number} +0000\nMessage-ID: <{number}@example.org>\n\n{name}\n")
        self.config.mkdir()
        (self.config / "clawsrc").write_text(
            "[Common]\nconfig_version=5\nwork_offline=0\n\n"
            f"[Plugins_GTK3]\n{plugin}\n\n"
            f"[Libravatar]\nbase_url=http://127.0.0.1:{port}/avatar\nallow_federated=0\nallow_redirects=1\n")
        (self.config / "accountrc").write_text(
            "[Account: 1]\naccount_name=me\nis_default=1\nname=me\naddress=me@example.org\nprotocol=4\n"
            "smtp_server=127.0.0.1\nconfig_version=5\n")
        items = "".join(f'<folderitem type="{kind}" name="{name}" path="{name}" mtime="0" new="0" unread="0" total="0"/>'
                        for kind, name in (("inbox", "inbox"), ("outbox", "sent"), ("draft", "draft"),
                                           ("queue", "queue"), ("trash", "trash")))
        (self.config / "folderlist.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<folderlist config_version="5">'
            f'<folder type="mh" name="Mailbox" path="{folder}/Mail">{items}</folder></folderlist>\n')

    def command(self, *arguments: str) -> list[str]:
        return [self.claws, "--alternate-config-dir", str(self.config), *arguments]

    def tell(self, *arguments: str) -> float:
        """Sends a command to the running program. Returns how long that took, in seconds."""
        begin = time.monotonic()
        subprocess.run(self.command(*arguments), env=self.environment, check=False, timeout=LIMIT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.monotonic() - begin

    def start(self) -> None:
        shutil.rmtree(self.folder / "claws-mail", ignore_errors=True)
        self.log = open(self.folder / "log", "a", encoding="utf-8")
        self.processes.append(
            subprocess.Popen(self.command(), env=self.environment, stdout=self.log, stderr=self.log))
        # Commands wait for the program's socket: one that finds nobody at it puts a socket of its own in its place.
        if not wait(lambda: any((self.folder / "claws-mail").glob("*"))):
            raise SystemExit("the program does not start:\n" + (self.folder / "log").read_text(encoding="utf-8"))
        time.sleep(1)
        self.tell("--status")

    def stop(self) -> int:
        self.tell("--exit")
        code = self.processes[-1].wait(LIMIT)
        self.log.close()
        return code

    def kill(self) -> None:
        """Ends what a run has left behind that failed."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()

    def select(self, name: str) -> None:
        self.tell("--select", f"#mh/Mailbox/inbox/{PEOPLE.index(name) + 1}")

    def peak(self) -> int:
        """The most memory that the program has had, in MiB."""
        status = Path(f"/proc/{self.processes[-1].pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmHWM:")[1].split()[0]) // 1024


EXPECTED = {
    "a picture of the right size is shown": "yes",
    "a larger picture is shown, made smaller": "yes",
    "the program responds while a picture takes its time": "yes",
    "that picture is shown when it is there": "yes",
    "a load ends when another message is shown": "yes",
    "requests for an address without a picture, shown twice": "1",
    "memory for a picture of 81 million pixels": "under 50 MiB",
    "a redirect into the user's own network is followed": "no",
    "a picture is shown once a server is back": "yes",
    "the program quits during a load without waiting": "yes",
    "after a restart, pictures are shown from the disk": "yes",
    "after a restart, requests for the same addresses": "0",
    "the program ended without a crash": "yes",
}


def yes(value: bool) -> str:
    return "yes" if value else "no"


def observe(claws: str, plugin: str) -> dict[str, str]:
    """What is seen with one plugin, in the order of EXPECTED."""
    Avatars.asked, Avatars.broken = [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, contextlib.ExitStack() as ends:
        server = Server()
        ends.callback(server.stop)
        inner = Server()
        ends.callback(inner.stop)
        Avatars.inner_port = inner.port
        screen = Screen(Path(name))
        ends.callback(screen.stop)
        program = Program(claws, plugin, Path(name), screen, server.port)
        ends.callback(program.kill)
        seen = dict(zip(EXPECTED, steps(program, screen, server), strict=True))
    return seen


def steps(program: Program, screen: Screen, server: Server) -> Iterator[str]:
    asked = Avatars.asked
    program.start()
    program.select("plain")
    yield yes(screen.shows(RED))
    program.select("large")
    yield yes(screen.shows(GREEN))

    program.select("slow")
    wait(lambda: "slow" in asked)
    yield yes(program.tell("--status") < SLOW / 2)
    yield yes(screen.shows(BLUE))

    program.select("left")
    wait(lambda: "left" in asked)
    program.select("plain")
    yield yes(screen.shows(RED) and wait(lambda: "left" in Avatars.broken, SLOW))

    for _ in range(2):
        program.select("missing")
        wait(lambda: screen.pixels(RED) == 0)
        program.select("plain")
        screen.shows(RED)
    yield str(asked.count("missing"))

    before = program.peak()
    program.select("vast")
    wait(lambda: screen.pixels(BLUE) == SIDE * SIDE, 5)
    program.select("plain")
    screen.shows(RED)
    more = program.peak() - before
    yield "under 50 MiB" if more < 50 else f"{more} MiB"

    program.select("inside")
    wait(lambda: "inside" in asked)
    program.select("plain")
    screen.shows(RED)
    yield yes("private" in asked)

    server.stop()
    program.select("down")
    program.tell("--status")
    program.select("plain")
    screen.shows(RED)
    server.start()
    program.select("down")
    yield yes(wait(lambda: screen.pixels(GOLD) == SIDE * SIDE, 5))

    program.select("quit")
    wait(lambda: "quit" in asked)
    begin = time.monotonic()
    codes = [program.stop()]
    yield yes(time.monotonic() - begin < SLOW / 2)

    asked.clear()
    program.start()
    program.select("large")
    shown = screen.shows(GREEN)
    program.select("missing")
    wait(lambda: screen.pixels(GREEN) == 0)
    program.select("slow")
    yield yes(shown and screen.shows(BLUE))
    yield str(len(asked))
    codes.append(program.stop())
    yield yes(codes == [0, 0])


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    before, after = (observe(sys.argv[1], os.path.abspath(plugin)) for plugin in sys.argv[2:])
    width = max(map(len, EXPECTED))
    print(f"{'':{width}}  {'before':14}after")
    for what, wanted in EXPECTED.items():
        print(f"{what:{width}}  {before[what]:14}{after[what]}{'' if after[what] == wanted else f'   EXPECTED {wanted}'}")
    return after != EXPECTED


if __name__ == "__main__":
    sys.exit(main())
