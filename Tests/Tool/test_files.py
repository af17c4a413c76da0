"""sdd get and sdd thumbnail: files that were there, descriptors, and what a URL may do."""
import contextlib
import hashlib
import json
import pathlib
import subprocess
import threading

from harness import FIXTURES, LIMIT, MODE, SERVER, TOOL, QuietHandler, ToolTest, http_server

PHOTO = FIXTURES / "large" / "baseline.jpg"
PHOTO_URL = f"{SERVER}/file/large/baseline.jpg"


class DescriptorTests(ToolTest):
    def test_a_descriptor_is_written_to_whatever_is_open_there(self):
        (self.folder / "link").symlink_to("/dev/stdout")
        inside = pathlib.Path("/dev/stdout").readlink()
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "link"):
            for options in ([], ["--force"], ["--no-clobber"], ["--resume"]):
                with self.subTest(name=name, options=options), open(self.folder / "out", "wb") as out:
                    self.sdd("get", *options, "-o", name, PHOTO_URL, status=0, stdout=out)
                    self.assertEqual((self.folder / "out").read_bytes(), PHOTO.read_bytes())
                    self.assertEqual(pathlib.Path("/dev/stdout").readlink(), inside)
        self.assertTrue((self.folder / "link").is_symlink())
        for options in ([], ["--force"], ["--no-clobber"]):
            with self.subTest(options=options), open(self.folder / "other", "wb") as other:
                line, = self.sdd("get", "--json", *options, "-o", f"/dev/fd/{other.fileno()}", PHOTO_URL, status=0,
                                 pass_fds=[other.fileno()]).lines
                self.assertEqual(line["path"], f"/dev/fd/{other.fileno()}")
                self.assertEqual((self.folder / "other").read_bytes(), PHOTO.read_bytes())
        self.assertEqual(self.files(), ["link", "other", "out"])

    def test_a_descriptor_that_is_not_open_is_refused(self):
        for number in range(3, 12):
            self.assertIn("Bad file descriptor", self.sdd("get", "-o", f"/dev/fd/{number}", PHOTO_URL, status=3).err)
        self.usage("get", "--json", "-o", "/dev/stdout", PHOTO_URL, says="would mix on standard output")


class NameTests(ToolTest):
    def test_braces_of_one_name_are_braces(self):
        for name, expected in (("{{n}}.jpg", "{n}.jpg"), ("{{d}}/a}}.jpg", "{d}/a}.jpg"), ("a}.jpg", "a}.jpg")):
            line, = self.sdd("get", "--json", "-o", name, PHOTO_URL, status=0).lines
            self.assertEqual(line["path"], expected)
            self.assertTrue((self.folder / expected).is_file())
            self.sdd("get", "-o", name, PHOTO_URL, status=3)

    def test_a_tab_is_a_part_of_the_name_of_a_file(self):
        self.write("a\tb.jpg", PHOTO.read_bytes())
        line, = self.sdd("thumbnail", "--json", "a\tb.jpg", status=0).lines
        self.assertEqual((line["url"], line["path"]), ("a\tb.jpg", "a_b-thumb.jpg"))


class EarlierFileTests(ToolTest):
    def test_no_clobber_leaves_the_files_of_other_urls_to_them(self):
        kinds = [("jpg", "large/baseline.jpg"), ("png", "metadata/kinds.png")]
        for kind, fixture in kinds:
            self.sdd("get", "-o", f"home/IMG.{kind}", f"{SERVER}/file/{fixture}", status=0)
            self.sdd("thumbnail", "-n", *(f"home/IMG.{other}" for other, _ in kinds[:kinds.index((kind, fixture)) + 1]),
                     status=0)
        self.assertEqual(self.files(), ["IMG-thumb.jpg", "IMG-thumb.png"])
        self.assertEqual(self.sdd("thumbnail", "-n", "--json", "home/IMG.png", "home/IMG.jpg", status=0).lines[1]["skipped"],
                         True)

    def test_resume_leaves_the_file_of_a_later_url_to_it(self):
        class Handler(QuietHandler):
            def do_GET(self):
                self.send(200 if "png" in self.path or answers else 404, PHOTO.read_bytes())

        answers = []
        base = self.serve_http(Handler)
        urls = [f"{base}/photo?x", f"{base}/photo.png", f"{base}/photo?y"]
        self.sdd("get", "--resume", *urls, status=1)
        self.assertEqual(self.files(), ["photo.png"])
        answers.append(True)
        lines = self.sdd("get", "--resume", "--json", *urls, status=0).lines
        self.assertEqual({line["n"]: line.get("skipped") for line in lines}, {1: None, 2: True, 3: None})
        self.assertEqual(self.files(), ["photo.1.jpg", "photo.jpg", "photo.png"])
        self.assertTrue(all(line["skipped"] for line in self.sdd("get", "--resume", "--json", *urls, status=0).lines))

    def test_resume_finds_each_of_several_files_once(self):
        urls = [f"{PHOTO_URL}/{name}" for name in ("photo", "photo.jpg")]
        self.write("photo.jpg", "one")
        lines = self.sdd("get", "--resume", "--json", "-t", "1", *urls).lines
        self.assertEqual([line["n"] for line in lines if line["ok"]], [2])
        self.write("photo.1.jpg", "other")
        self.assertTrue(all(line["skipped"] for line in self.sdd("get", "--resume", "--json", *urls, status=0).lines))


class InfoFileTests(ToolTest):
    def test_files_that_others_may_truncate_are_not_mapped(self):
        if MODE != "plain":
            self.skipTest("strace cannot follow the sanitizers")
        self.write("a.jpg", PHOTO.read_bytes())
        try:
            done = subprocess.run(["strace", "-f", "-y", "-e", "trace=mmap,openat", "-o", "trace", TOOL, "info",
                                   "--thumbhash", "a.jpg"], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT)
        except FileNotFoundError:
            self.skipTest("strace is not installed")
        if "ptrace" in done.stderr:
            self.skipTest("this process may not trace others")
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = [line.split("(")[0].split()[-1] for line in (self.folder / "trace").read_text().splitlines()
                 if "a.jpg" in line]
        self.assertEqual(calls, ["openat"])

    def test_of_a_large_file_the_beginning_is_read(self):
        size = PHOTO.stat().st_size
        line, = self.sdd("info", "--json", "--max-size", "20000", PHOTO, status=0).lines
        self.assertEqual((line["width"], line["whole"], line["read_bytes"], line["bytes"]), (640, False, 20000, size))
        self.assertTrue(self.sdd("info", "--json", "--max-size", str(size), PHOTO, status=0).lines[0]["whole"])
        self.assertIn("File too large", self.sdd("info", "--thumbhash", "--max-size", "20000", PHOTO, status=3).err)


class RequestTests(ToolTest):
    def test_a_slow_picture_is_asked_for_once(self):
        class Handler(QuietHandler):
            def do_GET(self):
                paths.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(2 * len(PHOTO.read_bytes())))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(PHOTO.read_bytes())
                begun.release()
                self.server.rest.wait(LIMIT)
                self.wfile.write(bytes(len(PHOTO.read_bytes())))

        begun = threading.Semaphore(0)
        for number, options in enumerate((["--cookie-jar", "home-jar"], ["--resume"], ["--checksum", hashlib.sha256(
                PHOTO.read_bytes() + bytes(PHOTO.stat().st_size)).hexdigest()])):
            with self.subTest(options):
                paths = []
                server = http_server(Handler)
                server.rest = threading.Event()
                self.serve(server)
                process = self.start("get", "-o", f"{number}.jpg", *options,
                                     f"http://127.0.0.1:{server.server_address[1]}/a.jpg")
                self.assertTrue(begun.acquire(timeout=LIMIT))
                # This run looks at what it gets, which ends it; the one before it would have done so by now.
                self.sdd("get", f"{SERVER}/hold/looked{number}?size=300000&after=20000", status=7)
                server.rest.set()
                self.assertEqual(process.wait(LIMIT), 0)
                self.assertEqual(paths, ["/a.jpg"])

    def test_secrets_of_files_are_whole(self):
        class Handler(QuietHandler):
            def do_GET(self):
                sent.append(self.headers["Authorization"])
                self.send(200, PHOTO.read_bytes())

        sent, token = [], "t" * 6000
        self.write("token", token + "\r\nmore\n")
        self.sdd("get", "--bearer", "@token", self.serve_http(Handler), status=0)
        self.assertEqual(sent, [f"Bearer {token}"])

    def test_public_only_reads_no_files_of_strangers(self):
        self.write("home-list", f"{PHOTO}\nFile://{PHOTO}\nhttp://127.0.0.1:1/\tfile:{PHOTO}\n-\n")
        for command in ("get", "thumbnail"):
            lines = self.sdd(command, "--public-only", "-t", "1", "--json", "-i", "home-list", f"file://{PHOTO}").lines
            refused = [line["n"] for line in lines if "--public-only" in line.get("message", "")]
            self.assertEqual(refused, [1, 3, 4] if command == "get" else [1, 2, 3, 4, 5])
        self.assertEqual(self.sdd("thumbnail", "--public-only", "-i", "home-list").status, 9)
        self.assertEqual(self.files(), ["home-list"])
        self.sdd("thumbnail", "--public-only", "--json", PHOTO, status=0)


class CacheFileTests(ToolTest):
    def test_a_url_without_its_scheme_is_one_of_http(self):
        url = PHOTO_URL.removeprefix("http://")
        self.sdd("get", "--cache=any", "-o", "/dev/null", url, status=0)
        self.sdd("cache", "get", "-o", "a.jpg", url, status=0)
        self.sdd("cache", "rm", url, status=0)
        self.assertEqual(self.sdd("cache", "ls", status=0).out, "")
        self.assertIn("the cache does not have it", self.sdd("cache", "rm", url, status=6).err)

    def test_pictures_do_not_mix_with_data(self):
        self.sdd("get", "--cache=any", "-o", "/dev/null", PHOTO_URL, status=0)
        for options, words in ((["-o", "-"], "--output - "), (["-o", "/dev/stdout"], "--output - "), (["--json"], "--json ")):
            self.usage("cache", "get", "--show=blocks", *options, PHOTO_URL, says=f"--show and {words}would mix")
        self.sdd("cache", "get", "--json", "--show", PHOTO_URL, status=0)

    def test_a_file_that_the_system_refuses_is_an_error(self):
        if MODE != "plain":
            self.skipTest("strace cannot follow the sanitizers")
        self.sdd("get", "--cache=any", "-o", "/dev/null", PHOTO_URL, status=0)
        inject = ("linkat:error=EPERM", "renameat2:error=EINVAL", "?renameat:error=EINVAL")
        command = ["strace", "-f", "-o", "/dev/null", *(word for call in inject for word in ("-e", f"inject={call}")),
                   TOOL, "cache", "get", "--json", PHOTO_URL]
        try:
            done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                                  timeout=LIMIT)
        except FileNotFoundError:
            self.skipTest("strace is not installed")
        if "ptrace" in done.stderr:
            self.skipTest("this process may not trace others")
        self.assertEqual((done.returncode, json.loads(done.stdout)["message"]), (3, "Invalid argument"))
        self.assertEqual(self.files(), [])


class RangeTests(ToolTest):
    """sdd info of a server that sends less of each range than it is asked for."""

    def serve_pieces(self, size, delay=0):
        class Handler(QuietHandler):
            disable_nagle_algorithm = True

            def do_GET(self):
                first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
                ranges.append((first, last))
                gone.wait(delay)
                end = min(last, first + size - 1)
                with contextlib.suppress(OSError):  # the program has gone
                    self.send(206, (head if first == 0 else b"").ljust(end - first + 1, b"\xff"),
                              Content_Range=f"bytes {first}-{end}/100000000")

        head, ranges, gone = b"\xff\xd8", [], threading.Event()
        self.addCleanup(gone.set)
        return self.serve_http(Handler) + "/a.jpg", ranges

    def test_requests_have_an_end(self):
        url, ranges = self.serve_pieces(1000)
        line, = self.sdd("info", "--json", url, status=4).lines
        self.assertIn("too little of each range", line["message"])
        self.assertEqual([first for first, _ in ranges], list(range(0, 128000, 1000)))
        self.assertTrue(all(first < last < 64 << 20 for first, last in ranges))

    def test_the_largest_size_is_that_of_the_url(self):
        url, ranges = self.serve_pieces(900000)
        self.assertIn("do not have the facts", self.sdd("info", "--max-size", "200000", url, status=9).err)
        self.assertEqual(ranges, [(0, 65535), (65536, 199999)])

    def test_the_longest_time_is_that_of_the_url(self):
        url, ranges = self.serve_pieces(1000, delay=0.1)
        self.sdd("info", "-m", "1", url, status=8)
        self.assertLess(len(ranges), 128)
