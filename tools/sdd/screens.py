#!/usr/bin/python3
"""Runs sdd in tmux against a slow server on this machine, and writes what a person sees into docs/tool.md as text, and
into docs/pictures/tool-*.png in colour.

    tools/sdd/screens.py      after `make`; needs tmux, jq, Pillow and the DejaVu fonts (fonts-dejavu-core)
"""
import http.server
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs" / "site"))
import terminal  # noqa: E402

PAGE = ROOT / "docs" / "tool.md"
LARGE = ROOT / "Tests" / "Fixtures" / "large"
COLUMNS, ROWS = 88, 24
SHEET, TILE = ROOT / "docs" / "pictures" / "previews.jpg", (978, 34, 1248, 214)  # a landscape of docs/site/pictures.py
PICTURES = {"/harbour.jpg": ("baseline.jpg", 30), "/lighthouse.jpg": ("progressive.jpg", 2),
            "/market.jpg": ("sequential-scans.jpg", 3), "/map.png": ("rows.png", 4), "/icon.png": ("interlaced.png", 30), "/lake.jpg": ("lake.jpg", 300)}
LISTED = [path for path in PICTURES if path != "/lake.jpg"]


def landscape():
    body = io.BytesIO()
    Image.open(SHEET).crop(TILE).save(body, "JPEG", quality=90)
    return body.getvalue()


LANDSCAPE = landscape()


class Handler(http.server.BaseHTTPRequestHandler):
    """Sends a picture, padded to be larger, with a pause after each piece; a range at once."""

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path not in PICTURES:
            self.send_error(404)
            return
        name, pieces = PICTURES[path]
        body = LANDSCAPE if path == "/lake.jpg" else (LARGE / name).read_bytes()
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        body += bytes(20 * len(body)) if name.endswith("jpg") and path != "/lake.jpg" else b""
        total = len(body)
        self.send_response(206 if found else 200)
        self.send_header("Content-Type", "image/jpeg" if name.endswith("jpg") else "image/png")
        self.send_header("Cache-Control", "max-age=86400")
        if found:
            last = min(int(found[2]), total - 1)
            self.send_header("Content-Range", f"bytes {found[1]}-{last}/{total}")
            body = body[int(found[1]):last + 1]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        step = len(body) if found or "fast" in self.path else max(1, total * pieces // 300)
        try:
            for start in range(0, len(body), step):
                self.wfile.write(body[start:start + step])
                time.sleep(0 if step == len(body) else 0.05)  # this server is slow; no test runs here
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Tmux:
    def __init__(self, folder, environment):
        self.socket, self.environment = str(folder / "tmux"), environment
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(folder),
                 "bash --norc")
        self.type("PS1='$ '")

    def run(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True, check=True,
                              env=self.environment)
        return done.stdout

    def type(self, line):
        self.run("send-keys", "-l", line)
        self.run("send-keys", "Enter")

    def screen(self):
        return "\n".join(line.rstrip() for line in self.run("capture-pane", "-p").splitlines()).rstrip()

    def coloured(self):
        """The screen with its colours, without a prompt below."""
        return re.sub(r"\n(\x1b\[[\d;]*m)*\$\s*$", "", self.run("capture-pane", "-e", "-p").rstrip())

    def until(self, condition):
        for _ in range(3000):
            if condition(text := self.screen()):
                return text
            time.sleep(0.02)
        raise SystemExit(f"screens.py: waited in vain; the screen:\n{self.screen()}")

    def command(self, line, until=None):
        """Types a command on an empty screen. Returns the screen at its end, or as soon as `until` holds."""
        self.type("clear")
        self.until(lambda text: text == "$")
        self.type(line)
        ended = lambda text: text != "$" and "\n" in text and text.endswith("\n$")  # noqa: E731
        if until:
            found = self.until(until)
            return found
        return self.until(ended).removesuffix("\n$")

    def finish(self):
        return self.until(lambda text: text.endswith("\n$")).removesuffix("\n$")


def take(folder, base, tmux):
    (folder / "urls.txt").write_text("".join(f"{base}{path}\n" for path in [*LISTED, "/gone.jpg"]))
    screens, coloured = {}, {}
    screens["get"] = tmux.command("sdd get -i urls.txt -d pictures --cache",
                                  until=lambda text: "3 of 6" in text and len(re.findall(r" [3-9]\d%", text)) == 4)
    coloured["get"] = tmux.coloured()
    screens["get-end"] = tmux.finish()
    screens["json"] = tmux.command("sdd get --json -n -i urls.txt -d pictures | jq -c '[.n, .ok, .path, .status]'")
    screens["help"] = tmux.command("sdd get --help")
    screens["refused"] = tmux.command(f"sdd get -O {base}/icon.png")
    screens["info"] = tmux.command(f"sdd info {base}/harbour.jpg")
    screens["cache"] = "\n".join(tmux.command(line) for line in (
        "sdd cache ls --sort size", "sdd cache stats", "sdd cache verify"))
    screens["bench"] = tmux.command(f"sdd bench -n 500 --decode '{base}/icon.png?fast'")
    tmux.run("resize-window", "-x", str(COLUMNS), "-y", "40")
    tmux.command(f"sdd get -d pictures --show=blocks {base}/lake.jpg")
    coloured["show"] = tmux.coloured()
    return screens, coloured


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="sdd-screens."))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = dict(os.environ, PATH=f"{ROOT / 'build'}:{os.environ['PATH']}", HOME=str(work), LC_ALL="C.UTF-8")
    environment["COLORTERM"] = "truecolor"
    for name in ("TMUX", "XDG_CACHE_HOME", "NO_COLOR", "http_proxy"):
        environment.pop(name, None)
    port = server.server_address[1]
    tmux = Tmux(work, environment)
    try:
        screens, coloured = take(work, f"http://127.0.0.1:{port}", tmux)
    finally:
        tmux.run("kill-server")
        shutil.rmtree(work, ignore_errors=True)
    text = PAGE.read_text(encoding="utf-8")
    for name, screen in screens.items():
        screen = screen.replace(f"127.0.0.1:{port}", "pictures.test").replace(str(work), "~")
        text, count = re.subn(rf"(<!-- screen: {name} -->\n).*?(<!-- end of screen -->)",
                              lambda found, screen=screen: f"{found[1]}\n```text\n{screen}\n```\n\n{found[2]}", text,
                              flags=re.DOTALL)
        assert count == 1, name
    PAGE.write_text(text, encoding="utf-8")
    for name, screen in coloured.items():
        picture = terminal.draw(screen.replace(f"127.0.0.1:{port}", "pictures.test"), COLUMNS)
        picture.quantize(256).save(PAGE.parent / "pictures" / f"tool-{name}.png", optimize=True)


main()
