"""sdd info, thumbnail, cache and bench; a few runs under valgrind."""
import base64
import fcntl
import json
import os
import re
import signal
import termios
import unittest
import urllib.request

from harness import FIXTURES, LIMIT, MODE, SERVER, QuietHandler, ToolTest, open_for_reader

PHOTO = FIXTURES / "large/baseline.jpg"
PHOTO_URL = f"{SERVER}/file/large/baseline.jpg"


class InfoTests(ToolTest):
    def test_facts_of_files(self):
        line, = self.sdd("info", "--json", FIXTURES / "facts/orientation-6.jpg", status=0).lines
        expected = {"ok": True, "format": "jpeg", "width": 12, "height": 8, "orientation": 6, "channels": 3, "depth": 8,
                    "frames": 1, "loops": 1, "progressive": False, "whole": True, "exif": {"Make": "abc"}}
        self.assertEqual({name: line[name] for name in expected}, expected)
        line, = self.sdd("info", "--json", FIXTURES / "facts/animated.png", status=0).lines
        self.assertEqual((line["format"], line["frames"], line["loops"]), ("png", 3, 2))
        text = self.sdd("info", FIXTURES / "facts/orientation-6.jpg", status=0).out
        self.assertIn("orientation: 6, to be turned right by 90 degrees; shown as 8 x 12", text)

    def test_every_fixture_has_an_answer(self):
        pictures = [path for path in FIXTURES.rglob("*") if path.suffix in (".jpg", ".png", ".gif", ".webp", ".avif")]
        self.assertGreater(len(pictures), 100)
        result = self.sdd("info", "--json", *pictures)
        self.assertIn(result.status, (0, 1))
        lines = result.lines
        self.assertEqual(len(lines), len(pictures))
        for line in lines:
            self.assertTrue(line["ok"] or line["class"] == "image", line)
            if line["ok"] and line["format"] in ("jpeg", "png"):
                self.assertGreater(line["width"] * line["height"], 0)

    def test_metadata(self):
        line, = self.sdd("info", "--json", FIXTURES / "metadata/kinds.png", status=0).lines
        self.assertEqual((line["exif_bytes"], line["xmp_bytes"]), (50, 72))
        texts = {item["keyword"]: item["text"] for item in line["texts"]}
        self.assertEqual(texts["Packed"], "caf\u00e9")
        self.assertEqual(texts["Behind"], "the pixels")
        line, = self.sdd("info", "--json", FIXTURES / "metadata/kinds.jpg", status=0).lines
        self.assertEqual(line["icc_bytes"], 100)

    def test_colours(self):
        folder = FIXTURES / "colour"
        for name, words, members in (
                ("display-p3.jpg", "Display P3", {"colour_kind": "matrix", "colour_name": "Display P3"}),
                ("grey.jpg", "dot gain 20%", {"colour_kind": "grey", "colour_name": "dot gain 20%"}),
                ("gama-chrm.png", "gamma 1.8", {"colour_kind": "matrix", "colour_name": "gamma 1.8"}),
                ("cicp-p3.png", "Display P3",
                 {"colour_kind": "matrix", "colour_name": "Display P3", "primaries": 12, "transfer": 13}),
                ("cicp-pq.png", "PQ, BT.2020",
                 {"colour_kind": "hdr", "colour_name": "BT.2020", "primaries": 9, "transfer": 16}),
                ("srgb.png", "sRGB", {"colour_kind": "srgb", "colour_name": "sRGB"}),
                ("tables.png", "a profile with tables", {"colour_kind": "tables"}),
                ("unstated.png", "not stated", {"colour_kind": "unstated"})):
            with self.subTest(name):
                shown = self.sdd("info", folder / name, status=0).out
                self.assertIn(f"  colours:     {words}\n", shown)
                line, = self.sdd("info", "--json", folder / name, status=0).lines
                keys = ("colour_kind", "colour_name", "primaries", "transfer")
                self.assertEqual({key: line[key] for key in keys if key in line}, members)
        shown = self.sdd("info", "--show=blocks", folder / "display-p3.jpg", status=0).out
        self.assertIn("  colours:     Display P3, converted to sRGB\n", shown)

    def test_gain_map(self):
        picture = FIXTURES / "metadata/gain-map.jpg"
        line, = self.sdd("info", "--json", picture, status=0).lines
        offset = line["gain_map"].pop("offset")
        self.assertEqual(line["gain_map"], {"kind": "ultra_hdr", "base_hdr": False, "bytes": line["bytes"] - offset,
                                            "max_boost": 2.5, "capacity_min": 0, "capacity_max": 2.5})
        expected = f"gain map:    Ultra HDR, 12 x 8, {line['bytes'] - offset} bytes at {offset}, up to 2.5 stops brighter\n"
        self.assertIn(expected, self.sdd("info", picture, status=0).out)
        self.assertNotIn("gain map", self.sdd("info", FIXTURES / "jpeg/baseline-420.jpg", status=0).out)
        # A picture that announces one, in its first segment.
        data = picture.read_bytes()
        name = b"urn:iso:std:iso:ts:21496:-1\0" + bytes(4)
        announced = data[:2] + b"\xff\xe2" + (len(name) + 2).to_bytes(2, "big") + name + data[2:]
        (self.folder / "cut.jpg").write_bytes(announced[:-9])
        self.assertIn("gain map:    damaged\n", self.sdd("info", "cut.jpg", status=0).out)

    def test_thumbhash(self):
        expected = {"png/rgb8.png": "png/rgb8.pam", "png/rgba8.png": "png/rgba8.pam"}
        known = dict(line.split() for line in (FIXTURES / "thumbhash/hashes.txt").read_text().splitlines())
        for name, row in expected.items():
            line, = self.sdd("info", "--thumbhash", "--json", FIXTURES / name, status=0).lines
            self.assertEqual(base64.b64decode(line["thumbhash"]).hex(), known[row])
            self.assertIn(f"ThumbHash:   {line['thumbhash']}\n", self.sdd("info", "--thumbhash", FIXTURES / name).out)
        self.assertNotIn("thumbhash", self.sdd("info", "--json", FIXTURES / "png/rgb8.png").lines[0])
        # A URL is read to its end, and a large picture has the hash of all its pixels.
        line, = self.sdd("info", "--thumbhash", "--json", PHOTO_URL, PHOTO, status=0).lines[:1]
        self.assertTrue(line["whole"])
        self.assertEqual(len(base64.b64decode(line["thumbhash"])), 21)
        cut = self.folder / "cut.jpg"
        cut.write_bytes(PHOTO.read_bytes()[:20000])
        self.sdd("info", "--thumbhash", cut, status=7)

    def test_exif_and_profiles_of_any_bytes(self):
        import random
        source = bytearray((FIXTURES / "facts/orientation-6.jpg").read_bytes())
        start = source.index(b"Exif\0\0") + 6
        dice = random.Random(1)
        files = []
        for number in range(100 if MODE == "plain" else 30):
            data = bytearray(source)
            for _ in range(dice.randrange(1, 6)):
                data[dice.randrange(start, start + 50)] = dice.randrange(256)
            files.append(self.write(f"{number}.jpg", bytes(data)))
        result = self.sdd("info", "--json", *files)
        self.assertEqual(len(result.lines), len(files))

    def test_only_a_jpeg_has_inks(self):
        self.assertIn("four inks, 8 bits", self.sdd("info", FIXTURES / "jpeg/cmyk-adobe.jpg", status=0).out)
        self.assertIn("colour and alpha, 8 bits", self.sdd("info", FIXTURES / "colour/glass.png", status=0).out)

    def test_bad_files(self):
        self.write("empty.jpg", "")
        self.write("text.jpg", "no picture at all")
        self.write("cut.jpg", PHOTO.read_bytes()[:100])
        os.mkfifo(self.folder / "pipe")
        for name, status in (("nothing", 3), ("empty.jpg", 7), ("text.jpg", 7), ("cut.jpg", 7), (".", 3)):
            with self.subTest(name):
                self.assertNotEqual(self.sdd("info", name, status=status).err, "")
                line, = self.sdd("info", "--json", name, status=status).lines
                self.assertTrue(line["message"] and not line["ok"])
        self.sdd("info", "nothing", PHOTO, status=1)

    def test_standard_input(self):
        line, = self.sdd("info", "--json", "-", status=0, input=PHOTO.read_bytes()).lines
        self.assertEqual((line["source"], line["width"], line["bytes"]), ("standard input", 640, PHOTO.stat().st_size))
        self.sdd("info", "--max-size", "1000", "-", status=3, input=PHOTO.read_bytes())

    def test_a_file_url_with_bytes_that_are_no_utf_8(self):
        with open(os.path.join(os.fsencode(self.folder), b"caf\xe9.jpg"), "wb") as file:
            file.write(PHOTO.read_bytes())
        line, = self.sdd("info", "--json", f"file://{self.folder}/caf%E9.jpg", status=0).lines
        self.assertEqual((line["format"], line["bytes"]), ("jpeg", PHOTO.stat().st_size))

    def test_a_named_pipe_is_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        for command, name in (("info", "pipe"), ("thumbnail", "pipe-thumb.jpg")):
            with self.subTest(command):
                process = self.start(command, "--json", "pipe")
                with open_for_reader(process, self.folder / "pipe") as pipe:
                    pipe.write(PHOTO.read_bytes())
                line = json.loads(process.communicate(timeout=LIMIT)[0])
                self.assertEqual((process.returncode, line["format"]), (0, "jpeg"))
                self.assertIn(name, (line.get("source"), line.get("path")))

    def test_a_pipe_that_is_written_slowly(self):  # as that of <(...) in a shell
        data = PHOTO.read_bytes()
        for command in ("info", "thumbnail"):
            with self.subTest(command):
                reader, writer = os.pipe()
                with open(writer, "wb", buffering=0) as pipe:
                    pipe.write(data[:1000])
                    process = self.start(command, "--json", f"/dev/fd/{reader}", pass_fds=[reader])
                    # Once these bytes have been read, the next ones are not there yet.
                    while process.poll() is None and fcntl.ioctl(reader, termios.FIONREAD, bytes(4)) != bytes(4):
                        os.sched_yield()
                    pipe.write(data[1000:])
                os.close(reader)
                line = json.loads(process.communicate(timeout=LIMIT)[0])
                self.assertEqual((process.returncode, line["format"]), (0, "jpeg"))

    def test_a_wait_for_a_pipe_is_ended_by_a_signal(self):
        os.mkfifo(self.folder / "pipe")
        process = self.start("info", "pipe")
        with open_for_reader(process, self.folder / "pipe"):
            process.send_signal(signal.SIGINT)
            self.assertEqual((process.communicate(timeout=LIMIT), process.returncode), ((b"", b""), 130))

    def test_a_url_is_read_no_further_than_needed(self):
        # The rest of the body is held back: only a program that needs no more of it ends.
        line, = self.sdd("info", "--json", f"{SERVER}/hold/info?file=large/baseline.jpg&after=2000", status=0).lines
        self.assertEqual((line["width"], line["whole"], line["bytes"]), (640, False, PHOTO.stat().st_size))
        self.assertLessEqual(line["read_bytes"], 2000)

    def test_a_packed_body_is_unpacked(self):
        url = f"{SERVER}/gzip?file=large/baseline.jpg"  # packed, whatever the request says
        for options in ([], ["--full"]):
            line, = self.sdd("info", "--json", *options, url, status=0).lines
            self.assertEqual((line["format"], line["width"]), ("jpeg", 640))
        self.assertEqual((line["whole"], line["bytes"], line["read_bytes"]), (True, *[PHOTO.stat().st_size] * 2))

    def test_ranges_are_asked_for(self):
        big = self.folder / "www"
        big.mkdir()
        # 300 KB of comments before the frame header: the facts are in the third piece.
        comment = b"\xff\xfe\xff\xff" + b"x" * 65533
        source = PHOTO.read_bytes()
        (big / "late.jpg").write_bytes(source[:2] + comment * 5 + source[2:] + b"\0" * 3000000)
        (big / "early.jpg").write_bytes(source + b"\0" * 3000000)
        base, sent = self.serve_ranges(big)
        line, = self.sdd("info", "--json", base + "/early.jpg", status=0).lines
        self.assertEqual((line["status"], line["requests"], line["width"]), (206, 1, 640))
        # The program ends a request as soon as it has the facts, which may be before the piece is complete.
        self.assertLessEqual(line["read_bytes"], 65536)
        self.assertEqual(line["bytes"], len(source) + 3000000)
        line, = self.sdd("info", "--json", base + "/late.jpg", status=0).lines
        self.assertEqual((line["requests"], line["width"]), (3, 640))
        self.assertGreater(line["read_bytes"], 65536 * 5)
        self.assertLessEqual(line["read_bytes"], 65536 * 21)
        self.assertEqual([code for code in sent if code != 206], [])
        line, = self.sdd("info", "--json", "--full", base + "/early.jpg", status=0).lines
        self.assertEqual((line["whole"], line["read_bytes"]), (True, len(source) + 3000000))

    def serve_ranges(self, folder):
        """Runs a server that knows ranges. Returns its URL and a list that gets the statuses that it sends."""
        sent = []

        class Handler(QuietHandler):
            def do_GET(self):
                body, status, fields = (folder / self.path[1:]).read_bytes(), 200, {}
                if found := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
                    first, last = int(found[1]), min(int(found[2]), len(body) - 1)
                    status, fields = 206, {"Content_Range": f"bytes {first}-{last}/{len(body)}"}
                    body = body[first:last + 1]
                sent.append(status)
                self.send(status, body, **fields)

        return self.serve_http(Handler), sent

    def test_metadata_of_a_beginning(self):
        url = f"{SERVER}/hold/head?file=metadata/kinds.jpg&after=600"
        line, = self.sdd("info", "--json", url, status=0).lines
        self.assertEqual((line["whole"], line.get("icc_bytes"), line.get("exif_bytes")), (False, 100, 50))

    def test_bad_urls(self):
        for url, status in ((f"{SERVER}/status/404", 6), (f"{SERVER}/html", 7), (f"{SERVER}/empty", 7),
                            ("http://127.0.0.1:1/", 4), (f"{SERVER}/garbage", 4), ("http://[", 2)):
            line, = self.sdd("info", "-t", "1", "--json", url, status=status).lines
            self.assertFalse(line["ok"], url)
        self.sdd("info", "--public-only", PHOTO_URL, status=9)
        self.assertIn("--public-only", self.sdd("info", "--public-only", f"FILE://{PHOTO}", status=9).err)
        self.sdd("info", "--public-only", PHOTO, status=0)

    def test_data_and_file_urls(self):
        data = "data:image/jpeg;base64," + base64.b64encode(PHOTO.read_bytes()).decode()
        lines = self.sdd("info", "--json", data, f"file://{PHOTO}", status=0).lines
        self.assertEqual([line["width"] for line in lines], [640, 640])

    def test_texts_of_pictures_cannot_command_the_terminal(self):
        source = PHOTO.read_bytes()
        text = "\x1b[31mred\n  format: forged".encode()
        self.write("a.jpg", source[:2] + b"\xff\xfe" + (len(text) + 2).to_bytes(2, "big") + text + source[2:])
        result = self.sdd("info", "a.jpg", status=0)
        self.assertNotIn("\x1b", result.out)
        self.assertEqual(result.out.count("\n  format:"), 1)


class ThumbnailTests(ToolTest):
    def test_files_and_urls(self):
        self.write("my photo.jpg", PHOTO.read_bytes())
        lines = self.sdd("thumbnail", "--json", "my photo.jpg", PHOTO_URL, FIXTURES / "large/rows.png", status=0).lines
        facts = {line["path"]: (line["format"], line["width"], line["height"]) for line in lines}
        self.assertEqual(facts, {"my photo-thumb.jpg": ("jpeg", 256, 192), "baseline-thumb.jpg": ("jpeg", 256, 192),
                                 "rows-thumb.png": ("png", 256, 192)})

    def test_sizes_formats_and_names(self):
        line, = self.sdd("thumbnail", "--json", "-s", "32", "--fit", "fill", "--to", "png", "-o", "{name}@{width}.{ext}",
                         PHOTO, status=0).lines
        self.assertEqual((line["path"], line["width"], line["height"]), ("baseline@32.png", 32, 32))
        png = self.sdd("thumbnail", "-o", "-", "--to", "png", PHOTO, status=0).bytes
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")

    def test_names_of_files_are_no_urls(self):
        (self.folder / "what?").mkdir()
        names = ["Photo #1.jpg", "Photo #2.jpg", "a?b.jpg", "100%25.jpg", "what?/x.jpg"]
        for name in names:
            self.write(name, PHOTO.read_bytes())
        lines = self.sdd("thumbnail", "--json", *names, status=0).lines
        self.assertEqual({line["url"]: line["path"] for line in lines},
                         {name: f"{name[:-4].rpartition('/')[2]}-thumb.jpg" for name in names})

    def test_lists_have_files_too(self):
        self.write("list", f"{PHOTO}\n{PHOTO_URL}\n")
        self.assertEqual(len(self.sdd("thumbnail", "--json", "-i", "list", status=0).lines), 2)

    def test_bad_sources(self):
        self.write("text.jpg", "no picture")
        for source, status in (("nothing.jpg", 3), ("text.jpg", 7), (".", 3), (f"{SERVER}/status/404", 6)):
            self.assertNotEqual(self.sdd("thumbnail", source, status=status).err, "")
        self.assertEqual(self.files(), ["text.jpg"])

    def test_a_name_with_any_bytes(self):
        name = b"a%20\xff?#.jpg"
        with open(os.path.join(os.fsencode(self.folder), name), "wb") as file:
            file.write(PHOTO.read_bytes())
        line, = self.sdd("thumbnail", "--json", name, status=0).lines
        self.assertTrue(line["path"].endswith("-thumb.jpg"))
        with open(os.path.join(os.fsencode(self.folder), b"caf\xe9.jpg"), "wb") as file:
            file.write(PHOTO.read_bytes())
        line, = self.sdd("thumbnail", "--json", b"caf\xe9.jpg", status=0).lines
        self.assertEqual((line["path"], line["width"]), ("caf_-thumb.jpg", 256))


class CacheTests(ToolTest):
    def setUp(self):
        super().setUp()
        self.urls = [f"{SERVER}/file/large/{name}" for name in ("baseline.jpg", "progressive.jpg", "rows.png")]
        self.sdd("get", "--cache=any", "--cache-dir", "cache", "-d", "out", *self.urls, status=0)

    def cache(self, *arguments, **options):
        return self.sdd("cache", *arguments, "--cache-dir", "cache", **options)

    def listed(self):
        return {line.get("key"): line for line in self.cache("ls", "--json", status=0).lines}

    def test_ls(self):
        before = {path.name: path.stat().st_atime_ns for path in (self.folder / "cache").iterdir()}
        lines = self.listed()
        self.assertEqual(set(lines), set(self.urls))
        line = lines[self.urls[0]]
        self.assertEqual((line["state"], line["format"], line["width"], line["bytes"]),
                         ("good", "jpeg", 640, PHOTO.stat().st_size))
        self.assertTrue((self.folder / line["path"]).is_file())
        after = {path.name: path.stat().st_atime_ns for path in (self.folder / "cache").iterdir()}
        entries = [os.path.basename(line["path"]) for line in lines.values()]
        self.assertEqual({name: before[name] for name in entries}, {name: after[name] for name in entries})
        self.assertEqual(set(before), set(after), "nothing is left in the directory")
        text = self.cache("ls", "--sort", "size", status=0).out.splitlines()
        self.assertEqual([line.split()[-1] for line in text], self.urls)
        self.assertEqual(len(self.cache("ls", "rows", status=0).out.splitlines()), 1)
        self.assertIn("none of name, size", self.cache("ls", "--sort", "x", status=2).err)

    def test_get(self):
        self.cache("get", self.urls[0], status=0)
        self.assertEqual((self.folder / "baseline.jpg").read_bytes(), PHOTO.read_bytes())
        self.assertEqual(self.cache("get", "-o", "-", self.urls[0], status=0).bytes, PHOTO.read_bytes())
        self.assertIn("exists", self.cache("get", "-o", "baseline.jpg", self.urls[0], status=3).err)
        self.cache("get", "-fo", "baseline.jpg", self.urls[0], status=0)
        self.assertIn("is a name for PNG", self.cache("get", "-o", "x.png", self.urls[0], status=2).err)
        self.assertFalse((self.folder / "x.png").exists())
        self.cache("get", "-o", "in/x", self.urls[0], status=0)
        line, = self.cache("get", "--json", "http://nowhere/", status=6).lines
        self.assertEqual((line["ok"], line["error"]), (False, "SDD_ERROR_NOT_CACHED"))

    def test_rm(self):
        self.assertIn("would remove", self.cache("rm", "--dry-run", self.urls[0], status=0).out)
        self.assertEqual(len(self.listed()), 3)
        self.cache("rm", self.urls[0], status=0)
        self.assertEqual(set(self.listed()), set(self.urls[1:]))
        self.assertIn("does not have it", self.cache("rm", self.urls[0], status=6).err)
        line, = self.cache("rm", "--json", "http://nowhere/", status=6).lines
        self.assertEqual(line["error"], "SDD_ERROR_NOT_CACHED")
        self.cache("rm", "http://nowhere/", self.urls[1], status=1)  # one went well
        self.cache("get", "http://nowhere/", self.urls[2], status=1)
        self.assertIn("no URL", self.cache("rm", status=2).err)
        self.assertIn("--all is for no URLs", self.cache("rm", "--all", "x", status=2).err)
        for options, removed in ((["--dry-run"], False), ([], True)):
            size = self.cache("stats", "--json", status=0).lines[0]["bytes"]
            line, = self.cache("rm", "--all", "--json", *options, status=0).lines
            self.assertEqual(line, {"directory": "cache", "ok": True, "removed": removed, "removed_entries": 1,
                                    "removed_bytes": size})
        self.cache("rm", "--all", status=0)
        self.assertEqual(self.cache("ls", status=0).out, "")

    def test_options_of_other_commands_are_refused(self):
        self.sdd("get", "--cache=any", "--cache-dir", "cache2", "-d", "out2", self.urls[0], status=0)
        for command, options in (("trim --dry-run", "--max-bytes 1K"), ("merge --dry-run", "cache2"), ("trim --all", ""),
                                 ("rm --remove", self.urls[0]), ("ls --force", ""), ("stats --sort", "size"),
                                 ("verify --output", "x"), ("ls --show", ""), ("rm --max-bytes", "1K"),
                                 ("get --max-age", f"1d {self.urls[0]}")):
            with self.subTest(command):
                name, option = command.split()
                err = self.cache(name, option, *options.split(), status=2).err
                self.assertIn(f"{name} has no {option}, which is for ", err)
        self.assertEqual(len(self.listed()), 3)
        self.assertTrue((self.folder / "cache2").exists())

    def test_stats_and_trim(self):
        line, = self.cache("stats", "--json", status=0).lines
        self.assertEqual((line["entries"], line["directory"]), (3, "cache"))
        self.assertIn("entries:   3", self.cache("stats", status=0).out)
        self.assertIn("removed 0 entries", self.cache("trim", status=0).out)
        line, = self.cache("trim", "--json", "--max-bytes", "100K", status=0).lines
        self.assertEqual(line["removed_entries"] + line["entries"], 3)
        self.assertGreater(line["removed_entries"], 0)
        self.cache("trim", "--max-age", "1ms", status=0)

    def test_looking_removes_nothing_that_is_old(self):
        for path in (self.folder / "cache").iterdir():
            if path.is_file() and len(path.name) >= 32:
                os.utime(path, (1, 1))
        for command in (["ls"], ["stats"], ["verify"], ["get", "-o", "-", "http://nowhere/"], ["rm", "http://nowhere/"]):
            self.cache(*command)
        self.assertEqual(len(self.listed()), 3)
        self.cache("trim", status=0)
        self.assertEqual(len(self.listed()), 0)

    def test_verify(self):
        self.assertIn("3 good, 0 damaged", self.cache("verify", status=0).out)
        lines = self.listed()
        hurt, cut = (self.folder / lines[url]["path"] for url in self.urls[:2])
        data = bytearray(hurt.read_bytes())
        data[20000] ^= 1
        hurt.write_bytes(data)
        cut.write_bytes(cut.read_bytes()[:5000])
        result = self.cache("verify", status=7)
        self.assertIn("1 good, 2 damaged", result.out)
        self.assertIn(hurt.name, result.err)
        self.assertIn(cut.name, result.err)
        states = sorted(line["state"] for line in self.cache("verify", "--json", status=7).lines)
        self.assertEqual(states, ["damaged", "damaged", "good"])
        self.cache("verify", "--remove", "--dry-run", status=7)
        self.assertTrue(hurt.exists())
        self.assertIn("(2 removed)", self.cache("verify", "--remove", status=7).out)
        self.assertIn("1 good, 0 damaged", self.cache("verify", status=0).out)
        self.assertEqual(self.cache("stats", "--json").lines[0]["entries"], 1)

    def test_an_entry_that_cannot_be_read_hides_no_other(self):
        cache, user = self.folder / "cache", {}
        (self.folder / self.listed()[self.urls[0]]["path"]).chmod(0)
        if os.geteuid() == 0:  # root may read every file
            user["user"] = 65534
            self.folder.parent.chmod(0o711)
            self.folder.chmod(0o755)
            for path in (cache, *cache.rglob("*")):
                os.chown(path, 65534, -1)
        result = self.cache("ls", status=3, **user)
        self.assertEqual([url for url in self.urls if url in result.out], self.urls[1:])
        self.assertIn("Permission denied", result.err)
        failure, *lines = self.cache("ls", "--json", status=3, **user).lines
        self.assertEqual((failure["ok"], {line["key"] for line in lines}), (False, set(self.urls[1:])))
        self.assertIn("2 good, 0 damaged", self.cache("verify", status=3, **user).out)

    def test_entries_of_an_identity_are_private(self):
        self.sdd("get", "--cache=any", "--cache-dir", "cache", "-u", "a:b", "-o", "x.png",
                 f"{SERVER}/challenge/basic?file=large/rows.png", status=0)
        self.assertIn("4 good, 0 damaged", self.cache("verify", status=0).out)
        url = f"{SERVER}/challenge/basic?file=large/rows.png"
        self.assertIn(f"(private) {url}", self.cache("ls", status=0).out)
        self.assertEqual([line["key"] for line in self.cache("ls", "--json", status=0).lines if line["private"]], [url])

    def test_merge(self):
        self.sdd("get", "--cache=any", "--cache-dir", "cache2", "-d", "out2", f"{SERVER}/file/large/interlaced.png",
                 self.urls[0], status=0)
        line, = self.cache("merge", "--json", "cache2", status=0).lines
        self.assertEqual(line["moved_entries"], 1)
        self.assertEqual(len(self.listed()), 4)
        self.assertFalse((self.folder / "cache2").exists())
        self.cache("merge", "cache2", status=3)
        self.sdd("get", "--cache=any", "--cache-dir", "cache3", "-d", "out3", self.urls[0], status=0)
        self.cache("merge", "cache2", "cache3", status=1)
        self.assertIn("no directory", self.cache("merge", status=2).err)

    def test_a_cache_that_does_not_exist_is_not_made(self):
        for command in ("ls", "stats", "verify", "trim"):
            self.assertIn("there is no cache", self.sdd("cache", command, "--cache-dir", "typo", status=3).err)
        self.assertFalse((self.folder / "typo").exists())
        notes = self.folder / "notes"
        notes.mkdir()
        (notes / "text").touch()
        for command in ("ls", "stats", "verify", "trim"):
            self.sdd("cache", command, "--cache-dir", "notes", status=3)
        self.assertEqual([path.name for path in notes.iterdir()], ["text"])
        self.assertIn(str(self.folder / "home/.cache/sdd/default"), self.sdd("cache", "ls", status=3).err)


class BenchTests(ToolTest):
    def test_counts_and_percentiles(self):
        line, = self.sdd("bench", "--json", "-n", "50", "-j", "3", PHOTO_URL, f"{SERVER}/file/large/rows.png", status=0).lines
        self.assertEqual((line["requests"], line["failed"], line["urls"], line["parallel"]), (50, 0, 2, 3))
        self.assertEqual(line["bytes"], 25 * (PHOTO.stat().st_size + (FIXTURES / "large/rows.png").stat().st_size))
        self.assertLessEqual(line["connections"], 3)
        total = line["total_ms"]
        self.assertTrue(0 < total["min"] <= total["p50"] <= total["p90"] <= total["p99"] <= total["max"])
        self.assertNotIn("decode_ms", line)

    def test_every_request_is_a_transfer(self):
        for options in ([], ["--decode"]):
            before = self.count()
            line, = self.sdd("bench", "--json", "-n", "40", *options, f"{PHOTO_URL}?bench", status=0).lines
            self.assertEqual(self.count() - before, 40)
            self.assertEqual(line["decoded"], 40 if options else 0)
        self.assertIn("decode_ms", line)

    def count(self):
        return int(urllib.request.urlopen(f"{SERVER}/count?path=/file/large/baseline.jpg%3Fbench", timeout=LIMIT).read())

    def test_failures(self):
        line, = self.sdd("bench", "--json", "-n", "5", f"{SERVER}/status/404", status=6).lines
        self.assertEqual((line["failed"], line["ok"]), (5, False))
        self.assertIn("5 failed, the first", self.sdd("bench", "-n", "5", f"{SERVER}/status/404", status=6).err)
        self.sdd("bench", "-n", "4", f"{SERVER}/status/404", PHOTO_URL, status=1)
        self.sdd("bench", "-n", "2", "--decode", f"{SERVER}/html", status=7)
        self.sdd("bench", "-n", "2", "http://", status=2)

    def test_text(self):
        text = self.sdd("bench", "-n", "10", "--decode", PHOTO_URL, status=0).out
        for word in ("requests:    10", "rate:", "median", "first byte", "decode", "total"):
            self.assertIn(word, text)


@unittest.skipIf(MODE == "asan", "the sanitizers are on already")
class ValgrindTests(ToolTest):
    """Runs of every command; under valgrind they also find leaks and wrong memory accesses."""

    __unittest_skip__ = False

    def test_get(self):
        self.write("list", f"{PHOTO_URL}\n  out=x.jpg\n{SERVER}/status/404\n{SERVER}/html\n")
        self.sdd("get", "--json", "-i", "list", "-J", "-u", "a:b", status=1)
        self.sdd("get", "-s", "40", "--to", "png", "-o", "{n}.{ext}", "--cache", "--cache-dir", "cache", PHOTO_URL, status=0)
        self.sdd("cache", "ls", "--cache-dir", "cache", status=0)
        self.sdd("cache", "verify", "--cache-dir", "cache", status=0)
        self.sdd("cache", "rm", "--all", "--cache-dir", "cache", status=0)

    def test_info(self):
        self.sdd("info", "--show=sixel", FIXTURES / "metadata/kinds.png", FIXTURES / "metadata/kinds.jpg", status=0)
        self.sdd("info", "--show=kitty", PHOTO_URL, status=0)

    def test_thumbnail_and_bench(self):
        self.sdd("thumbnail", FIXTURES / "large/rows.png", status=0)
        self.sdd("bench", "-n", "5", "--decode", PHOTO_URL, status=0)
