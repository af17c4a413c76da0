"""Command lines: bad ones are refused with a sentence, and every option has its place in help, pages and completions."""
import pathlib
import re
import subprocess
import sys
import unittest

from harness import ROOT, SERVER, TOOL, ToolTest

COMMANDS = ("get", "info", "thumbnail", "cache", "bench")
ROW = re.compile(r"^ (?:-(\S), |    )--([a-z0-9-]+)(?:\[=\S+\])?(?: \S+)? ")


def options_of(test, command):
    """Letters and names of all options of a command."""
    page = test.sdd(command, "--help=all", status=0).out
    return {found[2]: found[1] for line in page.splitlines() if (found := ROW.match(line))}


class OptionTests(ToolTest):
    def test_bad_command_lines_say_what_is_wrong(self):
        url = "http://127.0.0.1:1/a.jpg"
        cases = [([], "no command"), (["frobnicate"], "no command"), (["http://a/b.jpg"], "write: sdd get"),
                 (["get"], "no URL"), (["get", "--bogus", url], "there is no option --bogus"),
                 (["get", "--szie=3", url], "there is no option --szie; did you mean --size?"), (["gte"], "did you mean get?"),
                 (["get", "--paralel", url], "did you mean --parallel?"), (["thumbnial", "a"], "did you mean thumbnail?"),
                 (["info", "--resume", url], "there is no option --resume; sdd get has one"),
                 (["help", "gett"], "did you mean get?"), (["cache", "verfiy"], "did you mean verify?"),
                 (["get", "--re", url], "several: --resume, --referer, --resolve, --retry-delay, --refresh"),
                 (["get", "--limit-rate", "1k", "--http", "2", url], "needs HTTP/1.1"),
                 (["example.org/a.jpg"], "write: sdd get"),
                 (["get", "-Q", url], "there is no option -Q"), (["get", "--size"], "--size needs a value"),
                 (["get", "-s"], "-s needs a value"), (["get", "--json=1", url], "--json takes no value"),
                 (["get", "--re", url], "beginning of several"), (["get", "-o", "", url], "--output: the name is empty"),
                 (["get", "-d", "", url], "--directory: the name is empty"),
                 (["get", "-o", "-", "--json", url], "would mix"), (["get", "-f", "-n", url], "--force excludes"),
                 (["get", "--offline", "--refresh", url], "exclude each other"), (["info"], "no file and no URL"),
                 (["get", "-n", "-o", "{width}", url], "known before"), (["get", "--any", "-s", "1", url], "--any excludes"),
                 (["get", "--any", "--still", url], "--any excludes"),
                 (["thumbnail"], "no file or URL"), (["bench"], "no URL"), (["cache"], "no command"),
                 (["cache", "zap"], "is none of"), (["get", "-4", "-6", url], "exclude each other"),
                 (["get", "--key", "x", url], "--key needs --cert"), (["get", "-H", "nonsense", url], "Name: value"),
                 (["get", "-H", "Bad Name: x", url], "header"), (["get", "--allow", "x", url], "--allow needs --public-only"),
                 (["get", "--public-only", "--allow", "a b", url], "--allow: "), (["get", "--pass", "x", url], "needs --cert"),
                 (["get", "--json", "--show=kitty", url], "--show and --json would mix"),
                 (["get", "-o", "-", "--show=blocks", url], "--show and --output - would mix"),
                 (["info", "--json", "--show=sixel", url], "--show and --json would mix"),
                 (["get", "--cert", "x", "--pass", "@-", "-i", "-"], "--pass @- and --input - would both read"),
                 (["get", "-nJ", url], "known before"), (["get", "-cJ", url], "known before"),
                 (["get", "http://127.0.0.1:1/[001-100].jpg"], "are not expanded"),
                 (["get", "--accept-status", "x", url], "--accept-status: "), (["get", "--resolve", "x", url], "--resolve: \"x\""),
                 (["get", "--accept-type", "x", url], "--accept-type: "), (["get", "-x", "zz://h", url], "--proxy: the scheme zz"),
                 (["get", "--interface", "", url], "--interface: "), (["get", "-A", "a\nb", url], "--user-agent: "),
                 (["get", "--help=x"], "is not \"all\""), (["get", "--background", "red", url], "six hexadecimal")]
        for arguments, says in cases:
            with self.subTest(arguments):
                self.usage(*arguments, says=says)

    def test_bad_values_are_named(self):
        bad = {"size": ["0", "x", "0x0", "axb", "-5", "9999999999x1", "1x2x3", "5.5", ""], "fit": ["crop", ""],
               "to": ["bmp", "heif"], "quality": ["0", "101", "1e1", "-1", " 5"], "show": ["vga"], "max-size": ["0", "x", "1Q", "-1",
               "99999999999T"], "wait": ["x", "-1", "1y", "1e9"], "tries": ["0", "1001", "nan"], "parallel": ["0", "1001"],
               "http": ["4", "9"], "limit-rate": ["0", "fast"], "min-tls": ["1.4"], "max-redirects": ["-1", "1001"], "cache": ["yes"]}
        for name, values in bad.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    self.usage("get", f"--{name}={value}", "http://127.0.0.1:1/a.jpg", says=f"--{name}: \"{value}\"")

    def test_a_far_name_is_not_suggested(self):
        for arguments in (["frobnicate"], ["get", "--frobnicate"], ["get", "--x"], ["cache", "frobnicate"], ["x" * 5000]):
            with self.subTest(arguments):
                self.assertNotIn("did you mean", self.sdd(*arguments, status=2).err)

    def test_options_of_other_programs_are_refused_with_a_sentence(self):
        for arguments, says in ((["-O"], "named after their URLs anyway"), (["--continue"], "use --resume"),
                                (["--max-download-limit=1k"], "use --limit-rate"), (["--recursive"], "reads no pages"),
                                (["-L"], "followed anyway"), (["-C"], "use --resume"), (["--retry=3"], "--tries"),
                                (["--netrc"], "--user @FILE"), (["-r"], "parts of pictures"),
                                (["--no-check-certificate"], "use --insecure"), (["--certificate=x"], "use --cert"),
                                (["--oauth2-bearer", "x"], "use --bearer"), (["--http-user=x"], "--user @FILE"),
                                (["--spider"], "sdd info"), (["-S"], "shown anyway"), (["-K", "x"], "no configuration"),
                                (["-N"], "--no-clobber"), (["-D", "x"], "--json"), (["-Z"], "anyway"), (["-g"], "not expanded"),
                                (["--next"], "a run for each"), (["--create-dirs"], "made anyway")):
            with self.subTest(arguments):
                self.usage("get", *arguments, "http://127.0.0.1:1/a.jpg", says=says)

    def test_values_with_units(self):
        url = f"{SERVER}/file/large/baseline.jpg"
        for size in ("50000", "50K", "50k", "50KiB", "0.1M", "1G"):
            self.sdd("get", "-o", "/dev/null", "--max-size", size, url, status=0)
        for time in ("1", "0.5", "500ms", "1s", "1m", "0"):
            self.sdd("get", "-o", "/dev/null", "-m", time, url, status=0)

    def test_help_fits_a_screen(self):
        for command in COMMANDS:
            page = self.sdd(command, "--help", status=0).out
            self.assertLessEqual(len(page.splitlines()), 23, command)
            for line in page.splitlines() + self.sdd(command, "--help=all", status=0).out.splitlines():
                self.assertLessEqual(len(line), 80, line)
            self.assertEqual(self.sdd(command, "-h", status=0).out, page)
            self.assertEqual(self.sdd("help", command, status=0).out, page)
        self.assertEqual(self.sdd("help", status=0).out, self.sdd("--help", status=0).out)
        page = self.sdd("--help", status=0).out
        self.assertLessEqual(len(page.splitlines()), 23)
        self.assertTrue(all(command in page for command in COMMANDS))

    def test_the_documentation_shows_the_help(self):
        page = (ROOT / "docs/tool.md").read_text(encoding="utf-8")
        self.assertIn(self.sdd("get", "--help", status=0).out, page, "run tools/sdd/screens.py")
        sources = {path.name for path in (ROOT / "tools/sdd").glob("*.c")}
        self.assertEqual({name for name in sources if f"`{name}`" not in page}, set())

    def test_version(self):
        version = re.search(r'SDD_VERSION_STRING "(.*)"', (ROOT / "include/sdd/base.h").read_text())[1]
        self.assertRegex(self.sdd("--version", status=0).out, rf"^sdd {version} \(libsdd {version}, curl/\d+\.\d+\.\d+\)\n$")

    def test_pages_describe_every_option_and_no_other(self):
        common = named_in(ROOT / "docs/man/sdd.1")
        of_command = {command: options_of(self, command) for command in COMMANDS}
        for command, options in of_command.items():
            own = named_in(ROOT / f"docs/man/sdd-{command}.1")
            with self.subTest(command):
                self.assertEqual(own - set(options.items()), set(), "a page has an option that does not exist")
                self.assertEqual(set(options.items()) - own - common, set(), "an option is in no page")
        for option in common:
            users = {command for command, options in of_command.items() if option in options.items()}
            self.assertIn(users, ({*COMMANDS}, {*COMMANDS} - {"cache"}), option)

    def test_pages_have_no_faults(self):
        pages = sorted((ROOT / "docs/man").glob("sdd*.1"))
        self.assertEqual(len(pages), 6)
        for page in pages:
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
            self.assertEqual((lint.returncode, lint.stdout), (0, ""), page)
            shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True,
                                   text=True, env=dict(self.environment, MANROFFSEQ=""))
            # Since version 1.23 groff also says where a line of long words keeps a ragged margin.
            complaints = [line for line in shown.stderr.splitlines() if "cannot adjust line" not in line]
            self.assertEqual((shown.returncode, complaints), (0, []), page)
            text = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=1000", page], capture_output=True, text=True).stdout
            text = re.sub(".\b", "", text)  # bold letters are printed twice
            self.assertEqual(re.findall(r"‘[^’]* \.’", text), [], f"{page}: a full stop within the quotation marks")

    def test_completions_are_those_of_the_table(self):
        make = ROOT / "tools/sdd/completions/make.py"
        done = subprocess.run([sys.executable, make, "--check", TOOL], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_shells_complete(self):
        folder = ROOT / "tools/sdd/completions"
        cases = [("sdd ca", {"cache"}), ("sdd get --resu", {"--resume"}), ("sdd get --fit f", {"fill"}),
                 ("sdd cache ve", {"verify"}),
                 ("sdd cache --json l", {"ls"}), ("sdd cache --cache-dir x ve", {"verify"}), ("sdd bench --dec", {"--decode"}), ("sdd help th", {"thumbnail"}), ("sdd he", {"help"})]
        for line, expected in cases:
            words = line.split(" ")
            script = (f"source {folder}/sdd.bash; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
                      f"_sdd sdd '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            self.assertEqual(set(self.run_shell("bash", "-c", script).split()), expected, line)
            script = f"source {folder}/sdd.fish; complete -C '{line}'"
            rows = self.run_shell("fish", "-N", "-c", script).splitlines()
            # Since version 4 fish also names words that have the letters somewhere.
            self.assertEqual({row.split("\t")[0] for row in rows if row.startswith(words[-1])}, expected, line)

    def test_bash_completes_files_where_no_command_is_due(self):
        self.write("last", ""), self.write("verify-me", "")
        for line, expected in (("sdd cache --json rm l", {"last"}), ("sdd cache --cache-dir l", {"last"}),
                               ("sdd cache -o ve", {"verify-me"}), ("sdd cache verify ve", {"verify-me"})):
            words = line.split(" ")
            script = (f"source {ROOT}/tools/sdd/completions/sdd.bash; cd {self.folder}; COMP_WORDS=({line}); "
                      f"COMP_CWORD={len(words) - 1}; _sdd sdd '{words[-1]}' '{words[-2]}'; "
                      "printf '%s\\n' \"${COMPREPLY[@]}\"")
            self.assertEqual(set(self.run_shell("bash", "-c", script).split()), expected, line)

    def test_zsh_completes(self):
        import pexpect
        shell = pexpect.spawn("zsh", ["-f"], env=dict(self.environment, PS1="% ", TERM="dumb"), timeout=120,
                              cwd=str(self.folder), encoding="utf-8")
        self.addCleanup(shell.close, True)
        shell.sendline(f"fpath=({ROOT}/tools/sdd/completions $fpath); autoload -U compinit; compinit -u -d dump; echo rea''dy")
        shell.expect("ready\r?\n")
        shell.send("sdd get --resu\t")
        shell.expect(r"--resume")
        shell.send("\x15sdd cac\t")
        shell.expect(r"sdd cache")
        shell.send("\x15sdd get --fit=st\t")
        shell.expect(r"--fit=stretch")

    def run_shell(self, *command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=300)
        except FileNotFoundError:
            raise unittest.SkipTest(f"{command[0]} is not installed") from None
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


def named_in(page: pathlib.Path):
    """(name, letter) of the options that have an item of their own in a page."""
    items = re.findall(r"^\.It Fl (?:(\S) , Fl )?-([a-z0-9-]+)", page.read_text(), re.MULTILINE)
    return {(name, letter or None) for letter, name in items}
