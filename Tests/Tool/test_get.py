"""sdd get: files, formats, results, failures."""
import hashlib
import json
import os
import pathlib
import subprocess
import time
import urllib.request

from harness import FIXTURES, LIMIT, SERVER, QuietHandler, ToolTest, header, release, wait_for_request

PHOTO = FIXTURES / "large" / "baseline.jpg"
PHOTO_URL = f"{SERVER}/file/large/baseline.jpg"


class GetTests(ToolTest):
    def test_one_url_gives_a_file_and_no_output(self):
        result = self.sdd("get", PHOTO_URL, status=0)
        self.assertEqual((result.out, result.err), ("", ""))
        self.assertEqual((self.folder / "baseline.jpg").read_bytes(), PHOTO.read_bytes())
        self.assertEqual(self.files(), ["baseline.jpg"])

    def test_the_file_has_the_mode_of_the_umask(self):
        self.sdd("get", PHOTO_URL, status=0, preexec_fn=lambda: os.umask(0o027))
        self.assertEqual((self.folder / "baseline.jpg").stat().st_mode & 0o777, 0o640)

    def test_json_describes_the_result(self):
        line, = self.sdd("get", "--json", PHOTO_URL, status=0).lines
        expected = {"n": 1, "url": PHOTO_URL, "ok": True, "path": "baseline.jpg", "bytes": PHOTO.stat().st_size,
                    "body_bytes": PHOTO.stat().st_size, "format": "jpeg", "width": 640, "height": 480,
                    "origin": "network", "status": 200, "type": "image/jpeg", "attempts": 1, "final_url": PHOTO_URL}
        self.assertEqual({name: line[name] for name in expected}, expected)

    def test_an_existing_file_gets_a_number_beside_it(self):
        self.write("baseline.jpg", "mine")
        self.sdd("get", PHOTO_URL, PHOTO_URL, status=0)
        self.assertEqual(self.files(), ["baseline.1.jpg", "baseline.2.jpg", "baseline.jpg"])
        self.assertEqual((self.folder / "baseline.jpg").read_text(), "mine")

    def test_force_replaces_what_was_there_and_nothing_of_the_run(self):
        self.write("baseline.jpg", "mine")
        self.sdd("get", "--force", PHOTO_URL, PHOTO_URL, status=0)
        self.assertEqual(self.files(), ["baseline.1.jpg", "baseline.jpg"])
        self.assertEqual((self.folder / "baseline.jpg").read_bytes(), PHOTO.read_bytes())

    def test_force_replaces_a_link_and_not_its_target(self):
        self.write("mine", "mine")
        (self.folder / "baseline.jpg").symlink_to("mine")
        self.sdd("get", "--force", PHOTO_URL, status=0)
        self.assertEqual((self.folder / "mine").read_text(), "mine")
        self.assertFalse((self.folder / "baseline.jpg").is_symlink())

    def test_no_clobber_and_resume_skip_without_a_request(self):
        self.write("baseline.jpg", "mine")
        for option in ("--no-clobber", "-n", "--resume", "-c"):
            line, = self.sdd("get", option, "--json", "http://127.0.0.1:1/baseline.jpg", status=0).lines
            self.assertTrue(line["skipped"] and line["ok"])
            self.assertEqual(line["path"], "baseline.jpg")

    def test_no_clobber_knows_extensions_that_formats_give(self):
        self.write("photo.png", "mine")
        line, = self.sdd("get", "-n", "--json", "http://127.0.0.1:1/photo?x=1", status=0).lines
        self.assertEqual(line["path"], "photo.png")
        line, = self.sdd("get", "-n", "--json", "--to", "png", "http://127.0.0.1:1/photo.jpg", status=0).lines
        self.assertEqual(line["path"], "photo.png")

    def test_output_names_the_file_and_makes_its_directories(self):
        self.sdd("get", "-o", "a/b/c.jpg", PHOTO_URL, status=0)
        self.assertEqual(self.files(), ["a/b/c.jpg"])
        result = self.sdd("get", "-o", "a/b/c.jpg", PHOTO_URL, status=3)
        self.assertIn("it exists; --force replaces files", result.err)
        self.sdd("get", "-fo", "a/b/c.jpg", PHOTO_URL, status=0)
        self.assertEqual(self.files(), ["a/b/c.jpg"])

    def test_directory_is_made(self):
        self.sdd("get", "-d", "x/y", PHOTO_URL, status=0)
        self.assertEqual(self.files(), ["x/y/baseline.jpg"])

    def test_standard_output_gets_the_bytes(self):
        result = self.sdd("get", "-o", "-", PHOTO_URL, status=0)
        self.assertEqual(result.bytes, PHOTO.read_bytes())
        self.assertEqual(self.files(), [])

    def test_a_device_is_written_to_and_stays(self):
        result = self.sdd("get", "-o", "/dev/full", PHOTO_URL, status=3)
        self.assertIn("/dev/full: No space left on device", result.err)
        self.sdd("get", "-o", "/dev/null", PHOTO_URL, status=0)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_pictures_are_scaled_and_converted(self):
        cases = [(["--size", "100x"], "jpeg", 100, 75, "baseline.jpg"),
                 (["-s", "64", "--fit", "fill", "--to", "png"], "png", 64, 64, "baseline.png"),
                 (["-s", "64x10", "--fit", "stretch"], "jpeg", 64, 10, "baseline.1.jpg"),
                 (["-s", "xX"], None, 0, 0, None),
                 (["-s", "1000x1000", "--enlarge"], "jpeg", 1000, 750, "baseline.2.jpg"),
                 (["--to", "png"], "png", 640, 480, "baseline.1.png")]
        for options, form, width, height, name in cases:
            with self.subTest(options):
                if form is None:
                    self.sdd("get", *options, PHOTO_URL, status=2)
                    continue
                line, = self.sdd("get", "--json", *options, PHOTO_URL, status=0).lines
                self.assertEqual((line["format"], line["width"], line["height"], line["path"]),
                                 (form, width, height, name))
                line, = self.sdd("info", "--json", name, status=0).lines
                self.assertEqual((line["format"], line["width"], line["height"]), (form, width, height))

    def test_a_picture_that_is_turned_is_scaled_upright(self):
        line, = self.sdd("get", "--json", "-s", "4x", f"{SERVER}/file/facts/orientation-6.jpg", status=0).lines
        self.assertEqual((line["width"], line["height"]), (4, 6))

    def test_to_keeps_a_picture_that_has_the_format(self):
        self.sdd("get", "--to", "jpeg", PHOTO_URL, status=0)
        self.assertEqual((self.folder / "baseline.jpg").read_bytes(), PHOTO.read_bytes())

    def test_quality_progressive_background_and_max_output_change_the_file(self):
        sizes = {}
        for quality in ("5", "95"):
            line, = self.sdd("get", "--json", "--to", "jpg", "--quality", quality, PHOTO_URL, status=0).lines
            sizes[quality] = line["bytes"]
        self.assertLess(sizes["5"] * 3, sizes["95"])
        line, = self.sdd("get", "--json", "--max-output", "15K", PHOTO_URL, status=0).lines
        self.assertLessEqual(line["bytes"], 15 * 1024)
        self.sdd("get", "--max-output", "1K", PHOTO_URL, status=9)
        self.sdd("get", "-o", "p.jpg", "--progressive", PHOTO_URL, status=0)
        self.assertTrue(self.sdd("info", "--json", "p.jpg").lines[0]["progressive"])
        colours = {}
        for colour in ("ff0000", "0000ff"):
            self.sdd("get", "-o", f"{colour}.jpg", "--to", "jpeg", "--background", colour,
                     self.glass(), status=0)
            colours[colour] = (self.folder / f"{colour}.jpg").read_bytes()
        self.assertNotEqual(colours["ff0000"], colours["0000ff"])

    def glass(self):
        """The URL of a picture with transparent pixels."""
        import base64
        import struct
        import zlib

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        rows = b"".join(b"\0" + b"\x10\x20\x30\x00" * 8 for _ in range(8))
        png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 6, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        return "data:image/png;base64," + base64.b64encode(png).decode()

    def test_checksums(self):
        digest = hashlib.sha256(PHOTO.read_bytes())
        good = digest.hexdigest()
        import base64
        for text in (good, good.upper(), f"sha256:{good}", f"sha-256={good}",
                     "sha256-" + base64.b64encode(digest.digest()).decode()):
            self.sdd("get", "-f", "--checksum", text, PHOTO_URL, status=0)
        for path in self.folder.glob("*.jpg"):
            path.unlink()
        line, = self.sdd("get", "--json", "--checksum", "0" * 64, PHOTO_URL, status=7).lines
        self.assertEqual(line["detail"], 100117)
        self.assertEqual(self.files(), [])
        self.sdd("get", "--checksum", "123", PHOTO_URL, status=2)
        self.usage("get", "--checksum", good, PHOTO_URL, PHOTO_URL, says="--checksum is for one URL")

    def test_verify_finds_damage_that_the_bytes_hide(self):
        bad = self.write("bad.jpg", PHOTO.read_bytes()[:20000])
        import base64
        url = "data:image/jpeg;base64," + base64.b64encode(bad.read_bytes()).decode()
        self.sdd("get", "-o", "kept.jpg", url, status=0)
        result = self.sdd("get", "--verify", "-o", "no.jpg", url, status=7)
        self.assertNotIn("no.jpg", self.files())
        self.assertNotEqual(result.err, "")
        self.sdd("get", "--verify", "-o", "yes.jpg", PHOTO_URL, status=0)

    def test_what_is_no_picture_needs_any(self):
        result = self.sdd("get", f"{SERVER}/html", status=7)
        self.assertIn("It is no picture", result.err)
        self.assertIn("text/html", result.err)
        self.assertEqual(self.files(), [])
        self.sdd("get", "--any", f"{SERVER}/html", status=0)
        self.assertEqual(self.files(), ["html"])
        self.sdd("get", f"{SERVER}/empty", status=7)
        for options in (["-s", "9"], ["--verify"], ["-o", "a.jpg"]):
            for url in (f"{SERVER}/html", f"{SERVER}/ok?size=50000"):
                self.assertIn("It is no picture: ", self.sdd("get", *options, url, status=7).err)

    def test_what_is_no_picture_is_not_read_to_its_end(self):
        # The rest of the bodies is held back: only a program that needs no more of them ends.
        for number, options in enumerate(([], ["--to", "png"], ["-s", "10"], ["--verify"], ["-o", "a.jpg"], ["--cache"])):
            with self.subTest(options):
                url = f"{SERVER}/hold/end{number}?size=300000&after=20000"
                line, = self.sdd("get", "--json", *options, url, status=7).lines
                self.assertEqual((line["detail"], line["retryable"], line["attempts"]), (100102, False, 1))
                self.assertIn("It is no picture: 293 KiB of type application/octet-stream", line["message"])
                self.assertEqual("--any accepts it" in line["message"], not {"--to", "-s"} & set(options))
                requests = urllib.request.urlopen(f"{SERVER}/count?path=/hold/end{number}", timeout=300).read()
                self.assertEqual(int(requests), 1)
        self.assertEqual(self.files(), [])

    def test_a_picture_without_its_end_breaks_off(self):
        body = (FIXTURES / "large/baseline.jpg").read_bytes()

        class Cutting(QuietHandler):
            count = 0

            def do_GET(self):
                Cutting.count += 1
                self.send_response(200)
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body if self.path == "/whole.jpg" or Cutting.count == 2 else body[:-100])

        base = self.serve_http(Cutting)
        line, = self.sdd("get", "--json", f"{base}/again.jpg", status=0).lines
        self.assertEqual((line["attempts"], (self.folder / "again.jpg").read_bytes()), (1, body))
        line, = self.sdd("get", "--json", f"{base}/cut.jpg", status=4).lines
        self.assertEqual((line["error"], line["attempts"], Cutting.count), ("SDD_ERROR_TRUNCATED_BODY", 3, 5))
        self.sdd("get", f"{base}/whole.jpg", status=0)
        self.assertEqual(self.files(), ["again.jpg", "whole.jpg"])
        self.sdd("get", "--any", f"{base}/cut.jpg", status=0)

    def test_a_slow_picture_that_breaks_off_is_tried_again(self):
        attempts = []

        class Handler(QuietHandler):
            def do_GET(self):
                body = PHOTO.read_bytes()
                attempts.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body[:20000])
                self.wfile.flush()
                if len(attempts) > 1:
                    self.wfile.write(body[20000:])
                else:
                    time.sleep(0.6)  # a slow server: the body is looked at meanwhile
                self.close_connection = True

        line, = self.sdd("get", "--json", "--retry-delay", "1ms", self.serve_http(Handler) + "/a.jpg", status=0).lines
        self.assertEqual((line["attempts"], len(attempts)), (2, 2))

    def test_failures_have_statuses_and_sentences(self):
        cases = [(f"{SERVER}/status/404", 6, "response", 404), (f"{SERVER}/status/500", 6, "response", 500),
                 ("http://127.0.0.1:1/a.jpg", 4, "network", None), (f"{SERVER}/cut?size=100000", 4, "network", 200),
                 (f"{SERVER}/garbage", 4, "network", None), (f"{SERVER}/redirect-loop", 6, "response", 302),
                 ("http://", 2, "request", None), ("/nonsense", 2, "request", None), ("ftp://127.0.0.1/a.jpg", 2, "request", None),
                 ("file:///etc/passwd", 2, "request", None)]
        for url, status, kind, http in cases:
            with self.subTest(url):
                result = self.sdd("get", "--tries", "1", "--json", url, status=status)
                line, = result.lines
                self.assertEqual((line["ok"], line["class"], line.get("status")), (False, kind, http))
                self.assertTrue(line["message"] and line["error"].startswith("SDD_ERROR_"))
                self.assertIn(line["message"][:30], self.sdd("get", "-t", "1", url, status=status).err)
        self.assertEqual(self.files(), [])

    def test_messages_are_in_the_words_of_the_tool(self):
        quick = ["-t", "1"]
        cases = [(["--max-size", "1000", PHOTO_URL], "See --max-size."), (["--max-pixels", "10", "-s", "9", PHOTO_URL], "See --max-pixels."),
                 (["--public-only", PHOTO_URL], "See --allow."), (["--max-redirects", "1", f"{SERVER}/redirect-loop"], "See --max-redirects."),
                 (["-m", "200ms", f"{SERVER}/silence"], "See --max-time."), (["-T", "200ms", f"{SERVER}/silence"], "See --timeout."),
                 (["--accept-type", "image/png", PHOTO_URL], "See --accept-type."), (["--max-output", "1K", PHOTO_URL], "--max-output: "),
                 ([f"{SERVER}/challenge/basic?file=large/baseline.jpg"], "See --user and --bearer."), ([f"{SERVER}/status/429"], ""),
                 (["ftp://127.0.0.1/a.jpg"], ""), (["file:///etc/passwd"], ""), (["--max-redirects", "0", f"{SERVER}/redirect-loop"], ""),
                 (["-x", "http://127.0.0.1:1", PHOTO_URL], ""), (["--verify", f"{SERVER}/html"], ""), ([f"{SERVER}/garbage"], ""),
                 (["--offline", PHOTO_URL], ""), (["-6", PHOTO_URL], ""), (["-s", "9", f"{SERVER}/html"], "")]
        for arguments, says in cases:
            with self.subTest(arguments):
                result = self.sdd("get", *quick, *arguments)
                self.assertNotEqual(result.status, 0)
                self.assertIn(says, result.err)
                self.assertNotRegex(result.err, r"SDD_|sdd_|_ms\b|_bytes\b|max_|config")

    def test_limits_have_their_own_status(self):
        self.sdd("get", "--max-size", "1000", PHOTO_URL, status=9)
        self.sdd("get", "--max-pixels", "1000", "-s", "10", PHOTO_URL, status=9)
        self.sdd("get", "--public-only", PHOTO_URL, status=9)
        self.sdd("get", "--public-only", "--allow", "127.0.0.0/8", PHOTO_URL, status=0)
        self.sdd("get", "--max-time", "200ms", f"{SERVER}/silence", status=8)
        self.sdd("get", "--timeout", "200ms", "-t", "1", f"{SERVER}/stall?size=1000", status=8)

    def test_several_failures_of_a_kind_have_its_status(self):
        self.sdd("get", f"{SERVER}/status/404", f"{SERVER}/status/410", status=6)
        self.sdd("get", "-t", "1", f"{SERVER}/status/404", "http://127.0.0.1:1/", status=1)
        self.sdd("get", f"{SERVER}/status/404", PHOTO_URL, status=1)

    def test_retries(self):
        line, = self.sdd("get", "--json", "--retry-delay", "1ms",
                         f"{SERVER}/recover?fails=2&file=large/baseline.jpg&x=1", status=0).lines
        self.assertEqual(line["attempts"], 3)
        self.sdd("get", "--tries", "2", "--retry-delay", "1ms",
                 f"{SERVER}/recover?fails=2&file=large/baseline.jpg&x=2", status=6)

    def test_the_request_is_as_the_options_say(self):
        text = self.sdd("get", "--any", "-o", "-", "-A", "me/1", "-e", "http://r/", "-b", "a=1; b=2", "-H", "X-One: 1",
                        "-H", "X-Two:  two words", "-H", "Accept:", f"{SERVER}/echo", status=0).out
        for line in ("User-Agent: me/1", "Referer: http://r/", "Cookie: a=1; b=2", "X-One: 1", "X-Two: two words"):
            self.assertIn(line + "\r\n", text)
        self.assertNotIn("Accept:", text)
        self.assertIn("Authorization: Bearer abc\r\n",
                      self.sdd("get", "--any", "-o", "-", "--bearer", "abc", f"{SERVER}/echo", status=0).out)
        self.assertIn("HTTP/1.0\r\n", self.sdd("get", "--any", "-o", "-", "--http", "1.0", f"{SERVER}/echo").out)

    def test_credentials(self):
        url = f"{SERVER}/challenge/basic?file=large/baseline.jpg"
        self.sdd("get", url, status=6)
        self.sdd("get", "-u", "me:secret", "-o", "a.jpg", url, status=0)
        self.write("pass", "me:secret\n")
        self.sdd("get", "-u", "@pass", "-o", "b.jpg", url, status=0)
        self.usage_with("get", "-u", "me", url, says="NAME:PASSWORD")
        self.usage_with("get", "-u", "@nothing", url, says="No such file")
        self.usage_with("get", "-u", "a:b", "--bearer", "c", url, says="exclude each other")

    def usage_with(self, *arguments, says):
        self.assertIn(says, self.sdd(*arguments, status=2).err)

    def test_a_password_does_not_stay_among_the_arguments(self):
        process = self.start("get", "-u", "me:hunter2", f"{SERVER}/hold/password?size=10")
        wait_for_request("/hold/password")
        arguments = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
        self.assertTrue(b"get" in arguments and b"hunter2" not in arguments, arguments)
        release("password")

    def test_cookies_are_kept_in_a_file(self):
        url = f"{SERVER}/ok?file=large/baseline.jpg" + header("Set-Cookie: taste=sweet; Max-Age=1000")
        self.sdd("get", "--cookie-jar", "jar", url, status=0)
        self.assertIn("taste\tsweet", (self.folder / "jar").read_text())
        self.assertIn("Cookie: taste=sweet",
                      self.sdd("get", "--cookie-jar", "jar", "--any", "-o", "-", f"{SERVER}/echo").out)

    def test_a_cookie_jar_that_cannot_be_written_is_an_error(self):
        url = f"{SERVER}/file/large/baseline.jpg"
        result = self.sdd("get", "--cookie-jar", "none/jar", url, status=3)
        self.assertIn("none/jar cannot be written: No such file or directory", result.err)
        # Late: its directory goes while the run waits.
        (self.folder / "home" / "jars").mkdir(parents=True)
        process = self.start("get", "--cookie-jar", "home/jars/jar", f"{SERVER}/hold/jar?file=large/baseline.jpg")
        wait_for_request("/hold/jar")
        (self.folder / "home" / "jars").rmdir()
        release("jar")
        error = process.communicate(timeout=LIMIT)[1].decode()
        self.assertEqual(process.returncode, 3, error)
        self.assertIn("its new cookies are lost", error)

    def test_a_picture_is_no_cookie_jar(self):
        picture = self.write("a.jpg", (FIXTURES / "large/baseline.jpg").read_bytes())
        self.assertIn("--cookie-jar: ", self.sdd("get", "--cookie-jar", picture, f"{SERVER}/echo", status=2).err)
        self.assertEqual(picture.read_bytes(), (FIXTURES / "large/baseline.jpg").read_bytes())

    def test_proxies_and_addresses(self):
        text = self.sdd("get", "--any", "-o", "-", "-x", SERVER, "http://example.invalid/echo", status=0).out
        self.assertIn("example.invalid", text)
        environment = {"http_proxy": "http://127.0.0.1:1"}
        self.sdd("get", "-t", "1", "-o", "a.jpg", PHOTO_URL, status=4, environment=environment)
        self.sdd("get", "-x", "none", "-o", "a.jpg", PHOTO_URL, status=0, environment=environment)
        self.sdd("get", "--no-proxy", "127.0.0.1", "-o", "b.jpg", PHOTO_URL, status=0, environment=environment)
        port = SERVER.rpartition(":")[2]
        self.sdd("get", "--resolve", f"pictures.test:{port}:127.0.0.1",
                 f"http://pictures.test:{port}/file/large/baseline.jpg", status=0)
        self.sdd("get", "-t", "1", "-6", PHOTO_URL, status=4)
        self.sdd("get", "-4", PHOTO_URL, status=0)

    def test_redirects(self):
        url = f"{SERVER}/redirect-chain/3?file=large/baseline.jpg"
        line, = self.sdd("get", "--json", url, status=0).lines
        self.assertTrue(line["final_url"].startswith(f"{SERVER}/ok"))
        self.sdd("get", "--max-redirects", "2", url, status=6)
        self.sdd("get", "--max-redirects", "0", url, status=6)

    def test_statuses_and_types_can_be_accepted(self):
        url = f"{SERVER}/status/404?file=large/baseline.jpg"
        self.sdd("get", "--accept-status", "200,404", url, status=0)
        self.sdd("get", "--accept-type", "image/png", PHOTO_URL, status=6)

    def test_a_url_without_a_scheme_is_http(self):
        host = SERVER.partition("//")[2]
        self.write("list", f"{host}/status/404\t{host}/file/large/rows.png\n//{host}/file/large/rows.png\n")
        line, = self.sdd("get", "--json", "-o", "{host}/{name}", f"{host}/file/large/baseline.jpg?x=http://y", status=0).lines
        self.assertEqual((line["url"], line["path"]), (f"{host}/file/large/baseline.jpg?x=http://y", f"{host}/baseline"))
        self.assertEqual(len(self.sdd("get", "--json", "-i", "list", status=0).lines), 2)
        self.sdd("bench", "-n", "2", f"{host}/file/large/baseline.jpg", status=0)
        for url in ("mailto:a@b", "/etc/passwd", "javascript:x", ":", "?", "#"):
            line, = self.sdd("get", "--json", url, status=2).lines
            self.assertEqual((line["url"], line["class"]), (url, "request"))

    def test_resume_asks_for_the_rest_in_the_next_run(self):
        size = PHOTO.stat().st_size
        url = f"{SERVER}/ranged?file=large/baseline.jpg&cuts=30000"
        self.sdd("get", "--resume", "-t", "1", "-o", "a.jpg", url, status=4)
        self.assertEqual(self.files(), [])
        line, = self.sdd("get", "--resume", "--json", "-o", "a.jpg", url, status=0).lines
        self.assertEqual((line["resumed_bytes"], line["bytes"]), (30000, size))
        self.assertEqual((self.folder / "a.jpg").read_bytes(), PHOTO.read_bytes())

    def test_caches(self):
        fresh = f"{SERVER}/ok?file=large/baseline.jpg" + header("Cache-Control: max-age=1000")
        stale = f"{SERVER}/tagged?file=large/baseline.jpg" + header("Cache-Control: no-cache")
        where = ["--json", "-f", "-o", "a.jpg", "--cache-dir", "cache"]

        def origin(*options, status=0):
            line, = self.sdd("get", *where, *options, status=status).lines
            return line.get("origin", line.get("error"))

        self.assertEqual(origin("--cache", fresh), "network")
        self.assertEqual(origin("--cache", fresh), "http-fresh")
        self.assertEqual(origin("--cache=http", "--refresh", fresh), "network")
        self.assertEqual(origin("--cache", stale), "network")
        self.assertEqual(origin("--cache", stale), "http-revalidated")
        self.assertEqual(origin("--cache=any", stale), "disk")
        self.assertEqual(origin("--cache=any", "--refresh", stale), "network")
        self.assertEqual(origin("--offline", stale), "disk")
        self.assertIn(origin("--cache", "--offline", fresh), ("http-fresh", "http-stale"))
        self.assertEqual(origin("--offline", f"{SERVER}/ok?other", status=6), "SDD_ERROR_NOT_CACHED")
        self.assertEqual(origin("--cache", "--offline", f"{SERVER}/ok?other", status=6), "SDD_ERROR_NOT_CACHED")
        line, = self.sdd("get", "--json", "--cache=any", "--cache-dir", "cache", "-s", "20", stale, status=0).lines
        self.assertEqual((line["origin"], line["width"]), ("disk", 20))
        self.usage_with("get", "--cache-dir", "x", fresh, says="--cache-dir needs")
        self.usage_with("get", "--refresh", fresh, says="--refresh needs --cache")

    def test_verbose_prints_what_happens(self):
        self.assertIn("/status/404", self.sdd("get", "-v", f"{SERVER}/status/404", status=6).err)
        self.assertGreater(len(self.sdd("get", "-vv", PHOTO_URL, status=0).err.splitlines()), 1)

    def test_alternatives_are_tried_in_order(self):
        self.write("list", f"{SERVER}/status/404\t{SERVER}/status/410\t{PHOTO_URL}\n")
        line, = self.sdd("get", "--json", "-i", "list", status=0).lines
        self.assertEqual((line["url"], line["path"]), (f"{SERVER}/status/404", "404.jpg"))

    def test_a_closed_standard_output_is_noticed(self):
        self.assertIn("standard output", self.sdd("get", "--json", PHOTO_URL, status=3,
                                                  preexec_fn=lambda: os.close(1)).err)
        self.assertEqual(self.files(), [])
        self.sdd("get", PHOTO_URL, status=0, preexec_fn=lambda: os.close(1))
        self.assertEqual(self.files(), ["baseline.jpg"])
        with open("/dev/full", "wb") as full:
            self.assertIn("No space left", self.sdd("get", "--json", PHOTO_URL, status=3, stdout=full).err)

    def test_json_survives_any_bytes(self):
        raw = f"{SERVER}/ok?x=".encode() + bytes(range(128, 256)) + b'"\\\x7f'
        result = self.sdd("get", "--json", "--any", raw)
        line, = result.lines
        self.assertIn("\ufffd", line["url"])
        self.write("list", raw + b"\n")
        self.assertEqual(len(self.sdd("get", "--json", "--any", "-i", "list").lines), 1)
        self.assertTrue(json.loads(json.dumps(line)))

    def test_a_message_cannot_command_the_terminal(self):
        result = self.sdd("get", f"{SERVER}/\x1b[31m\u202e.jpg", status=2)
        self.assertNotIn("\x1b", result.err)
        self.assertNotIn("\u202e", result.err)
        result = self.sdd("get", "--bo\x1b[31mgus", status=2)
        self.assertNotIn("\x1b", result.err)


class DiskTests(ToolTest):
    def test_a_full_disk_is_a_failure_and_leaves_nothing(self):
        small = self.folder / "small"
        small.mkdir()
        script = ('mount -t tmpfs -o size=64k tmpfs small || exit 77; "$@"; status=$?; ls -A small; exit $status')
        runner = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        url = f"{SERVER}/ok?size=200000"
        from harness import TOOL
        done = subprocess.run([*runner, "sh", "-c", script, "sh", TOOL, "get", "--any", "-d", "small", url],
                              cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode in (77, 1) and "permitted" in done.stderr:
            self.skipTest("this user may not mount file systems")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("No space left on device", done.stderr)

    def test_a_directory_that_is_a_file(self):
        self.write("file", "x")
        self.assertIn("Not a directory", self.sdd("get", "-d", "file", PHOTO_URL, status=3).err)
