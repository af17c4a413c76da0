"""Formats of files: the name decides; what can be encoded, and what is told of pictures that coders decode."""
import pathlib
import re

from harness import CODERS, FIXTURES, SERVER, CoderTest, ToolTest

PHOTO = FIXTURES / "large" / "baseline.jpg"
PHOTO_URL = f"{SERVER}/file/large/baseline.jpg"
MAGIC = {b"\xff\xd8\xff": "jpeg", b"\x89PNG": "png"}


def format_of(data):
    """The format of a file's first bytes, without libsdd."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:12] == b"ftypavif":
        return "avif"
    if data[:2] == b"\xff\x0a" or data[4:8] == b"JXL ":
        return "jxl"
    return next((name for magic, name in MAGIC.items() if data.startswith(magic)), "?")


class NameDecidesTests(ToolTest):
    def setUp(self):
        super().setUp()
        self.environment["SDD_CODER_PATH"] = ""

    def made(self, name):
        return format_of((self.folder / name).read_bytes())

    def test_the_name_decides(self):
        cases = [(["get", "-o", "x.png"], "x.png", "png"), (["get", "-o", "x.JPG"], "x.JPG", "jpeg"),
                 (["get", "-o", "{name}.png"], "baseline.png", "png"), (["get", "-o", "bare"], "bare", "jpeg"),
                 (["thumbnail", "-o", "t.png"], "t.png", "png"), (["thumbnail", "-o", "t.jpeg"], "t.jpeg", "jpeg"),
                 (["thumbnail", "-o", "{n}.apng"], "1.apng", "png"), (["get", "-s", "9", "-o", "s.png"], "s.png", "png"),
                 (["get", "--to", "png", "-o", "x.dat"], "x.dat", "png"), (["get", "--any", "-o", "any.png"], "any.png", "jpeg"),
                 (["get", "--to", "png", "-o", "both.png"], "both.png", "png"),
                 (["get", "-o", "dir.png/{n}"], "dir.png/1", "jpeg"), (["get", "-o", "d/x.png"], "d/x.png", "png")]
        for arguments, name, form in cases:
            with self.subTest(arguments):
                line, = self.sdd(*arguments, "--json", PHOTO_URL, status=0).lines
                self.assertEqual((line["path"], line["format"], self.made(name)), (name, form, form))

    def test_a_picture_that_has_the_format_of_its_name_is_kept(self):
        self.sdd("get", "-o", "same.jpg", PHOTO_URL, status=0)
        self.assertEqual((self.folder / "same.jpg").read_bytes(), PHOTO.read_bytes())

    def test_names_of_lists_decide(self):
        self.write("list", f"{PHOTO_URL}\n  out=a.png\n{PHOTO_URL}\n  out=b.jpg\n{PHOTO_URL}\n  out=c\n{PHOTO_URL}\n  out=d.xyz\n")
        lines = sorted(self.sdd("get", "--json", "-i", "list", status=1).lines, key=lambda line: line["n"])
        self.assertEqual([line.get("format") for line in lines], ["png", "jpeg", "jpeg", None])
        self.assertIn("out=", lines[3]["message"])
        self.assertEqual((self.made("a.png"), self.made("b.jpg")), ("png", "jpeg"))
        self.assertEqual(self.files(), ["a.png", "b.jpg", "c", "list"])

    def test_unknown_names_are_refused(self):
        for command in ("get", "thumbnail"):
            for name in ("x.xyz", "{n}.txt", "a/b.pngg"):
                self.usage(command, "-o", name, PHOTO_URL, says="is no extension of pictures")
            self.usage(command, "-o", "x.png", "--to", "jpeg", PHOTO_URL, says="is a name for PNG, and --to asks for JPEG")
        for name, says in (("x.heic", "sdd does not write HEIF"),
                           ("x.gif", "no encoder for GIF is installed; the package libsdd-coder-gif has one"),
                           ("x.webp", "no encoder for WebP is installed; the package libsdd-coder-webp has one")):
            self.usage("thumbnail", "-o", name, PHOTO_URL, says=says)
            self.usage("get", "-s", "10", "-o", name, PHOTO_URL, says=says)
            result = self.sdd("get", "-o", name, PHOTO_URL, status=7)
            self.assertIn("It is JPEG, and the file's name says", result.err)
            self.assertIn(says, result.err)
            self.assertEqual(self.files(), [])
        for form, package in (("gif", "gif"), ("webp", "webp"), ("avif", "avif"), ("jxl", "jxl")):
            self.usage("get", "--to", form, PHOTO_URL, says=f"is installed; the package libsdd-coder-{package} has one")

    def test_a_format_that_nothing_makes_is_kept(self):
        self.write("a.gif", b"GIF89a\1\0\1\0\0\0\0;")
        import base64
        url = "data:image/gif;base64," + base64.b64encode((self.folder / "a.gif").read_bytes()).decode()
        self.sdd("get", "-o", "b.gif", url, status=0)
        self.assertEqual((self.folder / "a.gif").read_bytes(), (self.folder / "b.gif").read_bytes())

    def test_names_after_the_picture_when_asked(self):
        url = f"{SERVER}/file/large/rows.png?/photo.jpg"
        base = f"{SERVER}/ok?file=large/rows.png"
        self.write("list", f"{base}\n{url}\n")
        from harness import QuietHandler

        class Handler(QuietHandler):
            def do_GET(self):
                self.send(200, (FIXTURES / "large/rows.png").read_bytes(), Content_Type="image/jpeg")

        url = self.serve_http(Handler) + "/photo.jpg"
        for options, expected in (([], "photo.jpg"), (["--adjust-extension"], "photo.png"),
                                  (["--adjust-extension", "-o", "x/{name}.{ext}"], "x/photo.png"),
                                  (["--adjust-extension", "-o", "{ext}"], "png")):
            line, = self.sdd("get", "--json", *options, url, status=0).lines
            self.assertEqual(line["path"], expected)
        line, = self.sdd("get", "--json", "--adjust-extension", "-n", "http://127.0.0.1:1/photo.jpg", status=0).lines
        self.assertTrue(line["skipped"])
        (self.folder / "photo.jpg").unlink()
        line, = self.sdd("get", "--json", "--adjust-extension", "-n", "http://127.0.0.1:1/photo.jpg", status=0).lines
        self.assertEqual((line["skipped"], line["path"]), (True, "photo.png"))

    def test_messages_name_the_package(self):
        self.write("a.webp", b"RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0" + bytes(24))
        for arguments, status in ((["thumbnail", "a.webp"], 7), (["get", "-s", "9"], 7)):
            if arguments[0] == "get":
                import base64
                arguments.append("data:image/webp;base64," + base64.b64encode((self.folder / "a.webp").read_bytes()).decode())
            result = self.sdd(*arguments, status=status)
            self.assertIn("no decoder for WebP is installed: libsdd-coder-webp has one", result.err)
            self.assertNotIn("SDD_", result.err)
        out = self.sdd("info", "a.webp", status=0).out
        self.assertIn("webp (no decoder for WebP is installed: libsdd-coder-webp has one)", out)


class CoderTests(CoderTest):
    def formats(self):
        return [name for name in ("webp", "avif", "jxl") if (CODERS / f"{name}.so").exists()]

    def test_pictures_are_converted(self):
        for form in self.formats():
            for number, arguments in enumerate((["--to", form], ["-o", f"named.{form}"], ["-s", "40", "--to", form])):
                with self.subTest(arguments):
                    line, = self.sdd("get", "--json", "-d", str(number), *arguments, PHOTO_URL, status=0).lines
                    self.assertEqual((line["format"], pathlib.Path(line["path"]).suffix), (form, f".{form}"))
                    self.assertEqual(format_of((self.folder / line["path"]).read_bytes()), form)
            line, = self.sdd("thumbnail", "--json", "-o", f"t.{form}", PHOTO, status=0).lines
            self.assertEqual((line["path"], line["format"]), (f"t.{form}", form))

    def test_quality_and_largest_size_apply(self):
        low, = self.sdd("get", "--json", "--to", "webp", "--quality", "5", PHOTO_URL, status=0).lines
        high, = self.sdd("get", "--json", "--to", "webp", "--quality", "95", PHOTO_URL, status=0).lines
        self.assertLess(low["bytes"] * 2, high["bytes"])
        most = low["bytes"] * 3 // 2
        small, = self.sdd("get", "--json", "--to", "webp", "--max-output", str(most), PHOTO_URL, status=0).lines
        self.assertLessEqual(small["bytes"], most)

    def test_info_knows_what_thumbnail_decodes(self):
        for form in self.formats():
            with self.subTest(form):
                self.sdd("get", "-o", f"a.{form}", PHOTO_URL, status=0)
                line, = self.sdd("info", "--json", f"a.{form}", status=0).lines
                self.assertEqual((line["format"], line["width"], line["height"], line["frames"]), (form, 640, 480, 1))
                self.assertNotIn("depth", line)
                text = self.sdd("info", f"a.{form}", status=0).out
                self.assertIn("pixels:      640 x 480\n", text)
                made, = self.sdd("thumbnail", "--json", f"a.{form}", status=0).lines
                self.assertEqual((made["width"], made["height"], made["path"]), (256, 192, "a-thumb.jpg"))
                (self.folder / "a-thumb.jpg").unlink()
                (self.folder / f"cut.{form}").write_bytes((self.folder / f"a.{form}").read_bytes()[:2000])
                self.sdd("info", f"cut.{form}", status=7 if self.sdd("thumbnail", f"cut.{form}").status else 0)

    def test_info_tells_gain_maps(self):
        if not (CODERS / "avif.so").exists():
            self.skipTest("there is no coder for AVIF")
        picture = FIXTURES / "metadata/gain-map.avif"
        line, = self.sdd("info", "--json", picture, status=0).lines
        map = line["gain_map"]
        self.assertEqual((map["kind"], map["max_boost"]), ("iso", 2.5))
        self.assertIn(f"gain map:    ISO 21496-1, {map['bytes']} bytes at {map['offset']}, up to 2.5 stops brighter\n",
                      self.sdd("info", picture, status=0).out)

    def test_info_reads_what_a_coder_needs_of_a_url(self):
        from harness import QuietHandler
        self.sdd("get", "-o", "a.webp", "--quality", "100", PHOTO_URL, status=0)
        body, ranges = (self.folder / "a.webp").read_bytes(), []
        self.assertGreater(len(body), 65536)

        class Handler(QuietHandler):
            def do_GET(self):
                ranges.append(self.headers.get("Range"))
                first, last = (int(part) for part in ranges[-1][6:].split("-")) if "ranged" in self.path else (0, len(body))
                last = min(last, len(body) - 1)
                fields = {"Content_Range": f"bytes {first}-{last}/{len(body)}"} if "ranged" in self.path else {}
                self.send(206 if fields else 200, body[first:last + 1], Content_Type="image/webp", **fields)

        base = self.serve_http(Handler)
        for path in ("/ranged.webp", "/whole.webp"):
            line, = self.sdd("info", "--json", base + path, status=0).lines
            self.assertEqual((line["format"], line["width"], line["whole"]), ("webp", 640, True))
        self.environment["SDD_CODER_PATH"] = ""
        line, = self.sdd("info", "--json", base + "/ranged.webp", status=0).lines
        self.assertEqual((line["format"], "width" in line, line["requests"]), ("webp", False, 1))


class ColourTests(ToolTest):
    PICTURE = FIXTURES / "colour" / "display-p3.jpg"
    URL = f"{SERVER}/file/colour/display-p3.jpg"

    def pixels(self, name):
        from PIL import Image
        picture = Image.open(name)
        return picture.convert("RGBA").tobytes(), picture.info.get("icc_profile")

    def differ(self, a, b):
        return max(abs(one - other) for one, other in zip(a, b))

    def test_pictures_are_made_in_srgb(self):
        stored, profile = self.pixels(self.PICTURE)
        converted = (FIXTURES / "colour" / "display-p3.pam").read_bytes().split(b"ENDHDR\n", 1)[1]
        for command, source in (("get", self.URL), ("thumbnail", self.URL), ("thumbnail", self.PICTURE)):
            for words, expected, kept in (([], converted, None), (["--colour", "srgb"], converted, None),
                                          (["--colour=stored"], stored, profile)):
                for size in ([], ["-s", "100"]):
                    with self.subTest((command, words, size)):
                        self.sdd(command, "--to", "png", *size, *words, "-f", "-o", "x.png", source, status=0)
                        made, its_profile = self.pixels(self.folder / "x.png")
                        self.assertEqual(its_profile, kept)
                        self.assertLessEqual(self.differ(made, expected), 1)

    def test_what_is_only_downloaded_stays_as_it_is(self):
        for words in ([], ["--colour", "srgb"], ["--verify"]):
            self.sdd("get", *words, "-f", "-o", "a.jpg", self.URL, status=0)
            self.assertEqual((self.folder / "a.jpg").read_bytes(), self.PICTURE.read_bytes())

    def test_the_nearest_of_256_colours_is_shown(self):
        from PIL import Image
        levels = (0, 95, 135, 175, 215, 255)
        palette = {16 + r * 36 + g * 6 + b: (levels[r], levels[g], levels[b])
                   for r in range(6) for g in range(6) for b in range(6)}
        palette |= {232 + step: (8 + 10 * step,) * 3 for step in range(24)}
        colours = [(r, g, b) for r in (0, 40, 102, 255) for g in (0, 51, 120, 180) for b in (0, 70, 153, 235)]
        colours += [(grey,) * 3 for grey in range(0, 256, 5)] + [(76, 80, 78), (130, 121, 128)]
        picture = Image.new("RGB", (len(colours), 1))
        picture.putdata(colours)
        picture = picture.resize((len(colours), 2), Image.NEAREST)
        for start in range(0, len(colours), 40):
            part = picture.crop((start, 0, min(start + 40, len(colours)), 2))
            part.save(self.folder / "x.png")
            out = self.sdd("info", "--show=blocks", "x.png", environment={"COLORTERM": ""}, status=0).out
            shown = [palette[int(number)] for number in re.findall(r"\x1b\[38;5;(\d+)m", out)]
            self.assertEqual(len(shown), part.width)

            def away(one, other):
                return sum((a - b) ** 2 for a, b in zip(one, other))

            for colour, made in zip(part.crop((0, 0, part.width, 1)).getdata(), shown):
                least = min(away(colour, other) for other in palette.values())
                self.assertEqual(away(colour, made), least, (colour, made))

    def test_pictures_are_shown_in_srgb(self):
        plain = self.sdd("info", "--show=blocks", self.PICTURE, environment={"COLORTERM": "truecolor"}, status=0).out
        self.sdd("thumbnail", "--to", "png", "-o", "x.png", self.PICTURE, status=0)
        same = self.sdd("info", "--show=blocks", "x.png", environment={"COLORTERM": "truecolor"}, status=0).out
        self.assertEqual(plain[plain.index("\33["):], same[same.index("\33["):])
