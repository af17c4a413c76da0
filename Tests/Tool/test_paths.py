"""Where files go: whatever URLs, servers and lists choose, below the directory that the command line names."""
import os
import random
import subprocess
import urllib.parse

from harness import FIXTURES, MODE, SERVER, TOOL, QuietHandler, ToolTest

BODY = (FIXTURES / "large/baseline.jpg").read_bytes()
FIELDS = ("{n}", "{name}", "{ext}", "{host}", "{width}", "{height}")


class AnyHandler(QuietHandler):
    """Answers requests to a proxy, too: with a picture, or with bytes that are none if the path says so."""

    def do_GET(self):
        fields = {}
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        if "disposition" in query:
            fields["Content_Disposition"] = query["disposition"][0]
        self.send(200, b"text" if "text" in self.path else BODY, **fields)


class PathTests(ToolTest):
    def setUp(self):
        super().setUp()
        self.base = self.serve_http(AnyHandler)
        (self.folder / "in").mkdir()

    def get(self, *arguments, status=0):
        """Downloads to the directory "in", and gives the path in it."""
        line, = self.sdd("get", "--json", "--any", "-x", self.base, "-d", "in", *arguments, status=status).lines
        self.assertEqual({"a.jpg", "text", "unknown"} & set(os.listdir("/")), set())
        self.assertEqual([name for name in self.files() if not name.startswith("in/")], [])
        if line["ok"]:
            self.assertTrue((self.folder / line["path"]).resolve().is_relative_to(self.folder / "in"), line)
            self.assertTrue((self.folder / line["path"]).is_file(), line)
        return line.get("path")

    def test_a_field_without_a_value_has_a_placeholder(self):
        cases = [("{ext}/{name}", "in/unknown/text"), ("x{ext}", "in/xunknown"), ("{name}.{ext}", "in/text"),
                 (".{ext}/{name}", "in/.unknown/text"), ("..{ext}/{name}", "in/_/text"), ("{n}/{ext}", "in/1/unknown"),
                 ("x/{ext}/{name}.{ext}", "in/x/unknown/text")]
        for template, expected in cases:
            with self.subTest(template):
                self.assertEqual(self.get("-o", template, "http://a.test/text"), expected)

    def test_a_host_of_dots_is_a_name(self):
        for host in ("..", ".", "...", "..:80", "~", "-"):
            with self.subTest(host):
                path = self.get("-o", "{host}/{name}.{ext}", f"http://{host}/a.jpg", status=None)
                self.assertTrue(path is None or path.startswith("in/_"), path)

    def test_any_template_with_any_names_stays_below_the_directory(self):
        dice = random.Random(int(os.environ.get("SDD_TEST_SEED", "1")))
        parts = [*FIELDS, *FIELDS, ".", "..", "-", "a", "{{", "/", "/"]
        words = ["..", ".", "%2e%2e", "%2f", "%5c", "%00", "%0a", "%1b", "~", "-", "a", "a.jpg", ".jpg", "text", "%ff", "%20"]
        hosts = ["..", ".", "a.test", "...", "b.test:80", "-", "u:p@c.test"]
        ran = 0
        for _ in range(60 if MODE == "plain" else 20):
            template = "".join(dice.choice(parts) for _ in range(dice.randrange(1, 7))).lstrip("/.")
            if not any(field in template for field in FIELDS):
                template += "{name}"
            url = f"http://{dice.choice(hosts)}/{''.join(dice.choice(words) for _ in range(dice.randrange(4)))}"
            if dice.randrange(3) == 0:
                url += "?text&disposition=" + urllib.parse.quote(
                    f'a; filename="{"".join(dice.choice(words + ["/", ";"]) for _ in range(3))}"')
            with self.subTest(template=template, url=url):
                options = ["-J"] if dice.randrange(2) else []
                result = self.sdd("get", "--json", "--any", "-x", self.base, "-d", "in", *options, "-o", template, url)
                self.assertIn(result.status, (0, 2, 3), result.err)
                ran += result.status == 0
                self.assertEqual([name for name in self.files() if not name.startswith("in/")], [])
        self.assertGreater(ran, 10)

    def test_parts_behind_a_field_are_no_dots(self):
        for template in ("{n}/../{name}", "{n}/..", "{n}/.", "{n}//{name}", "{name}/", "{n}/./a"):
            with self.subTest(template):
                result = self.sdd("get", "-o", template, self.base + "/a.jpg", status=2)
                self.assertIn("behind the first field", result.err)
        self.assertEqual(self.files(), [])

    def test_directories_of_the_command_line_may_be_anywhere(self):
        (self.folder / "there").mkdir()
        (self.folder / "link").symlink_to("there")
        url = self.base + "/a.jpg"
        for options, expected in ((["-d", "link"], "link/a.jpg"), (["-o", "link/x/{name}.{ext}"], "link/x/a.jpg"),
                                  (["-d", "in", "-o", "../out/{n}.{ext}"], "in/../out/1.jpg"),
                                  (["-d", "in", "-o", f"{self.folder}/whole/{{n}}.{{ext}}"], f"{self.folder}/whole/1.jpg"),
                                  (["-d", "in", "-o", "../up.jpg"], "in/../up.jpg"), (["-o", "link/b.jpg"], "link/b.jpg"),
                                  (["-o", "{{b}}/{n}.{ext}"], "{b}/1.jpg")):
            with self.subTest(options):
                line, = self.sdd("get", "--json", *options, url, status=0).lines
                self.assertEqual(line["path"], expected)
                self.assertEqual((self.folder / expected).read_bytes(), BODY)

    def test_links_below_the_directory_are_not_followed(self):
        (self.folder / "out").mkdir()
        for number, target in enumerate(("../out", str(self.folder / "out"), "real")):
            link = self.folder / "in" / f"h{number}.test"
            (self.folder / "in" / "real").mkdir(exist_ok=True)
            link.symlink_to(target)
            with self.subTest(target):
                result = self.sdd("get", "-x", self.base, "-d", "in", "-o", "{host}/{name}.{ext}", f"http://{link.name}/a.jpg",
                                  status=3)
                self.assertIn("a symbolic link is where its directory would be", result.err)
            link.unlink()
        self.assertEqual(self.files(), [])
        (self.folder / "in" / "file.test").write_text("x")
        self.assertIn("Not a directory", self.sdd("get", "-x", self.base, "-d", "in", "-o", "{host}/{name}.{ext}",
                                                  "http://file.test/a.jpg", status=3).err)

    def test_names_of_lists_are_names(self):
        for name in ("..", ".", "...", "/", "../..", "./", "~", "-"):
            with self.subTest(name):
                self.write("home-list", f"http://a.test/a.jpg\n  out={name}\n")
                result = self.sdd("get", "--json", "--any", "-x", self.base, "-d", "in", "-i", "home-list")
                (self.folder / "home-list").unlink()
                for line in result.lines:
                    self.assertTrue(line["path"].startswith("in/_"), line)
                self.assertEqual([path for path in self.files() if not path.startswith("in/")], [])

    def test_an_explicit_name_that_is_a_directory(self):
        for name in (".", "in", "in/", "in/.", ".."):
            self.sdd("get", "-o", name, self.base + "/a.jpg", status=3)
        self.assertIn("use --directory", self.sdd("get", "-o", "new/", self.base + "/a.jpg", status=3).err)
        self.assertEqual(self.files(), [])


class DraftTests(ToolTest):
    """Files without a name cannot get one everywhere."""

    def run_script(self, script, *arguments):
        runner = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        environment = dict(self.environment, LD_LIBRARY_PATH=os.path.dirname(TOOL))  # $ORIGIN needs /proc
        done = subprocess.run([*runner, "sh", "-c", script, "sh", TOOL, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=300)
        if done.returncode in (77, 1) and "permitted" in done.stderr:
            self.skipTest("this user may not mount file systems")
        return done

    def test_files_are_written_without_proc(self):
        if MODE != "plain":
            self.skipTest("the sanitizers need /proc")
        self.write("baseline.jpg", "mine")
        url = f"{SERVER}/file/large/baseline.jpg"
        done = self.run_script('mount -t tmpfs tmpfs /proc || exit 77; "$@"', "get", "-o", "{name}.{ext}", url, url, url)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.files(), ["baseline.1.jpg", "baseline.2.jpg", "baseline.3.jpg", "baseline.jpg"])
        done = self.run_script('mount -t tmpfs tmpfs /proc || exit 77; "$@"', "get", "--force", "-d", "x/y", url, url)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.run_script('mount -t tmpfs tmpfs /proc || exit 77; "$@"', "get", "--force", url)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "baseline.jpg").read_bytes(), BODY)
        self.assertEqual(sum(name.startswith("x/y/baseline") for name in self.files()), 2)
        self.assertEqual(len(self.files()), 6)
        self.assertEqual((self.folder / "baseline.1.jpg").stat().st_mode & 0o777, 0o666 & ~current_umask())

    def test_files_are_written_without_links(self):
        """As on file systems that have neither files without names, nor hard links, nor renameat2()."""
        if MODE != "plain":
            self.skipTest("strace cannot follow the sanitizers")
        url = f"{SERVER}/file/large/baseline.jpg"
        calls = ("linkat:error=EPERM", "renameat2:error=EINVAL")
        for some in (calls[:1], calls):
            inject = [word for call in some for word in ("-e", f"inject={call}")]
            command = ["strace", "-f", "-o", "/dev/null", *inject, TOOL, "get", url, url]
            try:
                done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300)
            except FileNotFoundError:
                self.skipTest("strace is not installed")
            if "ptrace" in done.stderr:
                self.skipTest("this process may not trace others")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.files(), ["baseline.1.jpg", "baseline.jpg"])
            for name in self.files():
                self.assertEqual((self.folder / name).read_bytes(), BODY)
                (self.folder / name).unlink()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
