"""Names of files: attacks, templates, header fields."""
import urllib.parse

from harness import FIXTURES, QuietHandler, ToolTest


class PictureHandler(QuietHandler):
    """Answers every path with a picture, and with the Content-Disposition that the query names."""

    body = (FIXTURES / "large" / "baseline.jpg").read_bytes()

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        fields = {"Content_Disposition": query["disposition"][0]} if "disposition" in query else {}
        self.send(200, self.body, Content_Type="image/jpeg", **fields)


class NameTests(ToolTest):
    def setUp(self):
        super().setUp()
        self.base = self.serve_http(PictureHandler)

    def get(self, path, *options, expect=0):
        line, = self.sdd("get", "--json", *options, self.base + path, status=expect).lines
        return line["path"]

    def test_names_of_urls_stay_in_the_directory(self):
        (self.folder / "in").mkdir()
        cases = [("/..%2f..%2fevil.jpg", "_._.._evil.jpg"), ("/%2e%2e", "index"), ("/%2fetc%2fpasswd", None),
                 ("/a%00b.jpg", "a_b.jpg"), ("/a%0ab%1b[31m.jpg", "a_b_[31m.jpg"), ("/.bashrc", "_bashrc.jpg"),
                 ("/-rf.jpg", "_rf.jpg"), ("/~root.jpg", "_root.jpg"), ("/%5c..%5cx.jpg", None),
                 ("/%e2%80%aegpj.exe", "_gpj.exe.jpg"), ("/%ff%fe.jpg", "__.jpg"), ("/", "index.jpg"),
                 ("/x/", "index.jpg"), ("/caf%C3%A9.jpg", "caf\u00e9.jpg"), ("/a%20b.jpeg", "a b.jpeg"),
                 ("/image.php?id=3", "image.php.jpg"), ("/UP.JPG", "UP.JPG"), ("/a.png", "a.png"),
                 ("/" + "y" * 300 + ".jpg", "y" * 196 + ".jpg"), ("/" + "%C3%A9" * 200 + ".jpg", None)]
        for path, expected in cases:
            with self.subTest(path):
                given = self.get(path, "-d", "in")
                self.assertTrue(given.startswith("in/"))
                name = given[3:]
                self.assertNotIn("/", name)
                self.assertFalse(name.startswith((".", "-", "~")))
                self.assertLessEqual(len(name.encode()), 210)
                self.assertTrue((self.folder / "in" / name).is_file())
                if expected and expected != "index":
                    stem = expected.rpartition(".")
                    self.assertIn(name, (expected, f"{stem[0]}.1.{stem[2]}", f"{stem[0]}.2.{stem[2]}"))
        self.assertTrue(all(name.startswith("in/") for name in self.files()))

    def test_names_of_servers_stay_in_the_directory(self):
        (self.folder / "in").mkdir()
        cases = [('attachment; filename="../../evil.jpg"', "evil.jpg"), ('attachment; filename="/etc/passwd"', "passwd.jpg"),
                 ("attachment; filename=plain.jpg", "plain.jpg"),
                 ("attachment; filename=a b c.jpg ; x=y", "a b c.jpg"), ('x; filename="a\\"b.jpg"', 'a"b.jpg'),
                 ("attachment; filename*=UTF-8''%e2%82%ac%2f..%2fx.jpg; filename=no.jpg", "x.jpg"),
                 ("attachment; filename*=utf-8'de'%c3%a4.jpg", "\u00e4.jpg"), ('a; filename="..\\\\..\\\\w.jpg"', "w.jpg"),
                 ('attachment; filename=".."', "fallback.jpg"), ('attachment; filename=""', "fallback.1.jpg"),
                 ("attachment", "fallback.2.jpg"), ('attachment; filename="' + "z" * 300 + '.jpg"', "z" * 196 + ".jpg"),
                 ('attachment; filename=".htaccess"', "_htaccess.jpg")]
        for field, expected in cases:
            with self.subTest(field):
                path = "/fallback.jpg?disposition=" + urllib.parse.quote(field, safe="")
                self.assertEqual(self.get(path, "-J", "-d", "in"), "in/" + expected)
        self.assertTrue(all(name.startswith("in/") for name in self.files()))
        self.assertEqual(self.get("/own.jpg?disposition=" + urllib.parse.quote("a; filename=b.jpg")), "own.jpg")

    def test_templates(self):
        host = self.base.partition("//")[2]
        cases = [("{n:04}-{name}.{ext}", "0001-a.jpg"), ("{host}/{width}x{height}.{ext}", f"{host}/640x480.jpg"),
                 ("{{{n}}}", "{1}"), ("t/{n}/{name}", "t/1/a")]
        for template, expected in cases:
            with self.subTest(template):
                self.assertEqual(self.get("/a.jpg", "-o", template), expected)
        for wrong in ("{x}", "{n", "{n:}", "{n:99}", "{name:x}", "{}"):
            self.assertIn("fields are", self.sdd("get", "-o", wrong, self.base + "/a.jpg", status=2).err)
        self.assertIn("is the name of one file",
                      self.sdd("get", "-o", "one.jpg", self.base + "/a.jpg", self.base + "/b.jpg", status=2).err)

    def test_each_format_has_a_name_and_an_extension(self):
        jxl = "data:image/jxl;base64,/woAAAAAAAAAAAAA"
        line, = self.sdd("get", "--json", jxl, status=0).lines
        self.assertEqual((line["format"], line["path"]), ("jxl", "data.jxl"))
        line, = self.sdd("get", "--json", "-n", jxl, status=0).lines
        self.assertTrue(line["skipped"])

    def test_a_host_of_dots_stays_a_name(self):
        port = self.base.rpartition(":")[2]
        line, = self.sdd("get", "--json", "-o", "{host}/{name}.{ext}", "--resolve", f"..x:{port}:127.0.0.1",
                         f"http://..x:{port}/a.jpg").lines
        self.assertFalse(line["ok"] and line["path"].startswith("."))

    def test_names_of_lists_stay_in_the_directory(self):
        self.write("list", f"{self.base}/a.jpg\n  out=../../up.jpg\n{self.base}/b.jpg\n\tout=good name.jpg\n")
        paths = {line["path"] for line in self.sdd("get", "--json", "-i", "list", status=0).lines}
        self.assertEqual(paths, {"_._.._up.jpg", "good name.jpg"})

    def test_many_urls_of_one_name_are_numbered(self):
        self.write("list", f"{self.base}/same.jpg\n" * 300)
        lines = self.sdd("get", "--json", "-i", "list", status=0).lines
        self.assertEqual(len({line["path"] for line in lines}), 300)
        self.assertEqual(len(self.files()), 301)
