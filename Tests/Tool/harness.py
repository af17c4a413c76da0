"""What the tests of the program sdd share: servers, a folder for each test, runs of the program."""
import atexit
import ctypes
import fcntl
import http.server
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "Tests" / "Fixtures"
CODERS = ROOT / "build" / "coders"
TOOL = os.environ["SDD_TEST_TOOL"]
MODE = os.environ["SDD_TEST_MODE"]
RUNNER = os.environ.get("SDD_TEST_RUNNER", "").split()
LIMIT = 300  # seconds; far more than any run takes
IN_MOVED_TO, IN_CREATE = 0x80, 0x100  # inotify(7)

# A shell starts programs in the background with SIGINT ignored, and nohup(1) does so with SIGHUP. Programs inherit that,
# and the tool keeps it; but a handler of this process is their default.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(_number, signal.SIG_DFL)

_server = subprocess.Popen([os.environ["FAULT_SERVER"], "--files", FIXTURES], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
SERVER = "http://127.0.0.1:" + _server.stdout.readline().split()[1]


def _end():
    _server.stdin.close()
    _server.wait()


atexit.register(_end)


class Result:
    """The outcome of a run: status, standard output and standard error."""

    def __init__(self, status, out, err):
        self.status, self.bytes, self.err = status, out, err.decode("utf-8", "replace")
        self.out = out.decode("utf-8", "replace")

    @property
    def lines(self):
        """Standard output as lines of JSON. Each must be one object, in strict UTF-8, with the member "ok" and, where that
        is false, those that describe a failure."""
        objects = [json.loads(line.decode("utf-8", "strict")) for line in self.bytes.splitlines()]
        assert all(isinstance(item, dict) and isinstance(item["ok"], bool) for item in objects), self.out
        failures = {"error": str, "code": int, "detail": int, "class": str, "message": str}
        assert all(isinstance(item.get(name), kind) for item in objects if not item["ok"]
                   for name, kind in failures.items()), self.out
        return objects


@unittest.skipIf(MODE == "valgrind", "under valgrind only a few runs")
class ToolTest(unittest.TestCase):
    """A test with a folder of its own, in which the program runs, and which is its home."""

    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = dict(os.environ, HOME=str(self.folder / "home"), TERM="xterm-256color")
        self.environment.pop("XDG_CACHE_HOME", None)

    def sdd(self, *arguments, status=None, **options):
        """Runs the program, and checks its status if one is given."""
        options.setdefault("stdin", subprocess.DEVNULL if "input" not in options else None)
        if options["stdin"] is None:
            del options["stdin"]
        environment = dict(self.environment, **options.pop("environment", {}))
        done = subprocess.run([*RUNNER, TOOL, *map(os.fspath, arguments)], cwd=self.folder, env=environment,
                              timeout=LIMIT, stdout=options.pop("stdout", subprocess.PIPE),
                              stderr=subprocess.PIPE, **options)
        result = Result(done.returncode, done.stdout or b"", done.stderr)
        if status is not None:
            self.assertEqual(result.status, status, result.out[-2000:] + result.err[-4000:])
        self.assertNotIn("Sanitizer", result.err)
        return result

    def start(self, *arguments, **options):
        """Starts the program, and ends it when the test ends."""
        process = subprocess.Popen([*RUNNER, TOOL, *arguments], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(self._stop, process)
        return process

    @staticmethod
    def _stop(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def serve(self, server):
        """Runs a server of Python until the test ends."""
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def serve_http(self, handler):
        """Runs an HTTP server with a handler until the test ends. Returns its URL."""
        server = http_server(handler)
        self.serve(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def files(self):
        """The names of all files in the folder, without those of the home."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if not path.is_dir() and path.relative_to(self.folder).parts[0] not in ("home", "cache"))

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def usage(self, *arguments, says):
        """Checks that a command line is refused with a sentence, before anything happens."""
        result = self.sdd(*arguments, status=2)
        self.assertIn(says, result.err)
        self.assertRegex(result.err, r"^sdd.*\nTry: sdd .*--help\n$")
        self.assertEqual(result.out, "")
        self.assertEqual(self.files(), [])


class CoderTest(ToolTest):
    """A test with the coders of build/coders, where the formats' libraries are installed."""

    def setUp(self):
        super().setUp()
        if MODE != "plain" or not (CODERS / "webp.so").exists():
            self.skipTest("there are no coders: make coders")
        coders = self.folder / "home" / "coders"
        coders.mkdir(parents=True)
        for path in CODERS.glob("*.so"):
            shutil.copy(path, coders)
        # A coder is used only where nobody else can write.
        for path in (coders, *coders.iterdir()):
            path.chmod(path.stat().st_mode & ~(stat.S_IWGRP | stat.S_IWOTH))
        self.environment["SDD_CODER_PATH"] = str(coders)


def wait_for_file(path):
    """Waits until a file gets its name, in a directory that exists."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    try:
        if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(path.parent), IN_CREATE | IN_MOVED_TO) < 0:
            raise OSError(ctypes.get_errno(), f"inotify: {path.parent}")
        end = time.monotonic() + LIMIT
        while not path.exists():
            if not select.select([watch], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"waited in vain for {path}")
            os.read(watch, 65536)
    finally:
        os.close(watch)


def open_for_reader(process, path):
    """Opens a named pipe for writing, once a process has opened it for reading."""
    while True:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(fd, True)
            return open(fd, "wb", buffering=0)
        except OSError:
            if process.poll() is not None:
                raise
            os.sched_yield()


class QuietHandler(http.server.BaseHTTPRequestHandler):
    """A handler of requests for servers of Python that prints nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, **fields):
        """Sends a whole reply. Underscores in the names of fields stand for hyphens."""
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def http_server(handler):
    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)


class Terminal:
    """A run of the program in a terminal of its own, whose screen pyte keeps."""

    def __init__(self, test, *arguments, columns=80, rows=24, environment=None, out_to_terminal=True):
        import pyte

        self.screen = pyte.HistoryScreen(columns, rows, history=1000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.screens = []
        self.process_id, self.fd = pty.fork()
        if self.process_id == 0:
            os.chdir(test.folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            if not out_to_terminal:
                os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
            os.execve(TOOL, [TOOL, *map(os.fspath, arguments)], dict(test.environment, **(environment or {})))
        test.addCleanup(self._stop)
        self.status = None

    def _stop(self):
        if self.status is None:
            os.kill(self.process_id, signal.SIGKILL)
            os.waitpid(self.process_id, 0)
        os.close(self.fd)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def read(self, seconds=0.05):
        """Reads what the program has printed; returns False at its end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            piece = b""
        self.raw += piece
        # pyte ignores the escape sequences of pictures; tests look for them in `raw`.
        self.stream.feed(piece)
        self.screens.append(self.text())
        return piece != b""

    def until(self, condition, what="the screen"):
        end = time.monotonic() + LIMIT
        while not condition(self.text()):
            if not self.read() or time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}:\n{self.text()}")

    def wait(self):
        end = time.monotonic() + LIMIT
        while self.read():
            if time.monotonic() > end:
                raise AssertionError(f"the program does not end:\n{self.text()}")
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.process_id, 0)[1])
        return self.status


def wait_for_request(path, count=1):
    """Waits until the fault server has got requests for a path."""
    urllib.request.urlopen(f"{SERVER}/wait?path={path}&count={count}", timeout=LIMIT).read()


def release(name):
    """Lets a reply of the fault server that is held go on."""
    urllib.request.urlopen(f"{SERVER}/release/{name}", timeout=LIMIT).read()


def header(text):
    """The part of a fault server's URL that adds a header line to its reply."""
    return "&header=" + urllib.parse.quote(text, safe="")
