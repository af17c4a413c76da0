"""Animations: what keeps its frames, what gets the first one, and what is told of it."""
from harness import CODERS, FIXTURES, SERVER, CoderTest, ToolTest

NAME = "facts/animated.png"  # 3 frames of 12 x 8 pixels, shown twice
URL = f"{SERVER}/file/{NAME}"


def frames_of(path):
    """Size, pixels and milliseconds of each frame, without libsdd."""
    from PIL import Image, ImageSequence
    with Image.open(path) as picture:
        return [(frame.size, frame.convert("RGB").tobytes(), frame.info.get("duration"))
                for frame in ImageSequence.Iterator(picture)]


class PNGTests(ToolTest):
    """Without coders: the library itself writes animated PNGs."""

    def setUp(self):
        super().setUp()
        self.environment["SDD_CODER_PATH"] = ""
        self.original = frames_of(FIXTURES / NAME)
        self.assertEqual(len(self.original), 3)

    def made(self, *arguments, name, says=""):
        """The frames of the file that is made. Standard error has nothing, or one line that ends with a sentence."""
        result = self.sdd("get", "-f", "-o", name, *arguments, URL, status=0)
        if says:
            self.assertEqual(result.err, f"sdd: {URL}: {says}\n")
        else:
            self.assertEqual(result.err, "")
        return frames_of(self.folder / name)

    def test_a_png_that_need_not_be_changed_is_kept(self):
        for form in ("png", "apng"):
            self.made("--to", form, name="a.png")
            self.assertEqual((self.folder / "a.png").read_bytes(), (FIXTURES / NAME).read_bytes())

    def test_a_scaled_animation_keeps_its_frames(self):
        for arguments in ([], ["--to", "png"]):
            made = self.made("-s", "6x4", *arguments, name="a.png")
            self.assertEqual([size for size, _, _ in made], [(6, 4)] * 3)
            self.assertEqual([time for _, _, time in made], [time for _, _, time in self.original])
            self.assertEqual(len({pixels for _, pixels, _ in made}), 3)

    def test_other_formats_get_the_first_frame_and_that_is_told(self):
        says = "no animation is written as JPEG: the file has the first of 3 frames"
        for arguments, name in ((["--to", "jpeg"], "a"), ([], "a.jpg"), (["-s", "6", "--to", "jpeg"], "b.jpg")):
            self.assertEqual(len(self.made(*arguments, name=name, says=says)), 1)
            self.assertEqual(len(self.made(*arguments, "-q", name=name)), 1)
            self.assertEqual(len(self.made(*arguments, "--still", name=name)), 1)

    def test_still_keeps_the_first_frame_alone(self):
        for arguments in ([], ["--to", "png"], ["-s", "12x8"]):
            (_, pixels, _), = self.made("--still", *arguments, name="a.png")
            self.assertEqual(pixels, self.original[0][1])

    def test_still_changes_no_other_picture(self):
        for name in ("large/baseline.jpg", "large/rows.png"):
            self.sdd("get", "--still", "-f", "-o", "a", f"{SERVER}/file/{name}", status=0)
            self.assertEqual((self.folder / "a").read_bytes(), (FIXTURES / name).read_bytes())

    def test_thumbnails_are_stills(self):
        self.assertEqual(self.sdd("thumbnail", "-s", "6", "-o", "t.png", URL, status=0).err, "")
        self.assertEqual(len(frames_of(self.folder / "t.png")), 1)
        self.assertIn("there is no option --still; sdd get has one", self.sdd("thumbnail", "--still", URL, status=2).err)


class CoderFormatTests(CoderTest):
    def setUp(self):
        super().setUp()
        if not (CODERS / "gif.so").exists():
            self.skipTest("coders/gif.c was not built")
        self.original = frames_of(FIXTURES / NAME)

    def made(self, *arguments):
        line, = self.sdd("get", "--json", "-f", *arguments, status=0).lines
        frames = frames_of(self.folder / line["path"])
        self.assertEqual([time for _, _, time in frames], [time for _, _, time in self.original])
        return line, frames

    def data_url(self, name, mime_type):
        import base64
        return f"data:{mime_type};base64," + base64.b64encode((self.folder / name).read_bytes()).decode()

    def test_animations_stay_animations(self):
        for form in ("gif", "webp"):
            for arguments in (["--to", form, "-o", "a"], ["-o", f"a.{form}"], ["-s", "6x4", "--to", form, "-o", "b"]):
                with self.subTest(arguments):
                    line, frames = self.made(*arguments, URL)
                    self.assertEqual(line["format"], form)
                    self.assertEqual(len({pixels for _, pixels, _ in frames}), 3)

    def test_a_gif_becomes_a_png_with_the_same_pixels(self):
        _, gif = self.made("-o", "a.gif", URL)
        url = self.data_url("a.gif", "image/gif")
        line, png = self.made("--to", "apng", "-o", "{n}.{ext}", url)
        self.assertEqual((line["path"], line["format"]), ("1.png", "png"))
        self.assertEqual(png, gif)
        line, small = self.made("-s", "6x4", "-o", "{n}.{ext}", url)  # it stays what it is, since that can be written
        self.assertEqual((line["path"], line["format"]), ("1.gif", "gif"))
        self.assertEqual([size for size, _, _ in small], [(6, 4)] * 3)

    def test_still_is_one_frame_in_each_format(self):
        for form in ("gif", "webp", "png"):
            self.sdd("get", "--still", "--to", form, "-f", "-o", "a", URL, status=0)
            self.assertEqual(len(frames_of(self.folder / "a")), 1)

    def test_formats_without_animations_are_named(self):
        for form, title in (("avif", "AVIF"), ("jxl", "JPEG XL")):
            if (CODERS / f"{form}.so").exists():
                err = self.sdd("get", "--to", form, "-f", "-o", "a", URL, status=0).err
                self.assertIn(f"no animation is written as {title}: the file has the first of 3 frames\n", err)
