"""What a person sees: bars, lines above them, pictures in terminals. pyte keeps the screen."""
import os
import re
import select
import subprocess

from harness import FIXTURES, LIMIT, SERVER, TOOL, Terminal, ToolTest, release

PHOTO = f"{SERVER}/file/large/baseline.jpg"
BAR = re.compile(r"^(\S.*?) +[\u2501\u2500\u2508]+ +(\d+%|\?) +([\d.]+ [KM]?i?B) +([\d.]+ [KM]?i?B|-)/s +(\S+)$", re.MULTILINE)


def bars(text):
    """(name, percent) of the bars on a screen."""
    return [(found[1], found[2]) for found in BAR.finditer(text)]


class BarTests(ToolTest):
    def test_bars_of_running_transfers_and_one_for_all(self):
        urls = [f"{SERVER}/hold/bars{number}?size=100000&after={number}0000" for number in (2, 5)]
        terminal = Terminal(self, "get", "--any", "-d", "out", *urls, PHOTO)
        terminal.until(lambda text: bars(text)[:2] == [("bars2", "20%"), ("bars5", "50%")] and
                       [name for name, _ in bars(text)][2:] == ["1 of 3"], "20 %, 50 % and the line of all")
        text = terminal.text()
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^out/baseline.jpg +41.2 KiB +640x480 jpeg +[\d.]+ s$")
        self.assertRegex(lines[2], r" 50% +48.8 KiB +\S+ \S+/s")
        self.assertEqual(len(lines), 4)
        release("bars2")
        release("bars5")
        self.assertEqual(terminal.wait(), 0)
        text = terminal.text()
        self.assertEqual(bars(text), [], "bars are removed at the end")
        self.assertRegex(text, r"3 files, 236 KiB in [\d.]+ s")
        self.assertEqual(len(text.splitlines()), 4)

    def test_failures_stand_above_the_bars(self):
        terminal = Terminal(self, "get", "--any", f"{SERVER}/hold/fail?size=1000&after=500", f"{SERVER}/status/404")
        terminal.until(lambda text: "1 of 2, 1 failed" in text)
        self.assertIn("sdd: ", terminal.text().splitlines()[0])
        release("fail")
        self.assertEqual(terminal.wait(), 1)
        self.assertIn("1 failed", terminal.text().splitlines()[-1])

    def test_bars_fit_narrow_and_low_terminals(self):
        for columns, rows in ((20, 5), (39, 8), (60, 3), (200, 60)):
            with self.subTest(columns=columns, rows=rows):
                urls = [f"{SERVER}/hold/w{columns}-{number}?size=100000&after=50000" for number in range(6)]
                terminal = Terminal(self, "get", "--any", "-d", f"out{columns}", *urls, columns=columns, rows=rows)
                terminal.until(lambda text: re.search("(?m)^0 (of 6|\u20266) .*%", text) and "50%" in text)
                self.assertLess(len(terminal.text().splitlines()), rows)
                for number in range(6):
                    release(f"w{columns}-{number}")
                self.assertEqual(terminal.wait(), 0)

    def test_many_transfers_are_counted(self):
        urls = [f"{SERVER}/hold/many{number}?size=100000&after=50000" for number in range(15)]
        terminal = Terminal(self, "get", "-j", "20", "--any", "-d", "out", *urls)
        terminal.until(lambda text: "and 5 more" in text and "0 of 15" in text)
        self.assertEqual(len(bars(terminal.text())), 11)
        for number in range(15):
            release(f"many{number}")
        self.assertEqual(terminal.wait(), 0)

    def test_ctrl_c_removes_the_bars(self):
        terminal = Terminal(self, "get", "--any", f"{SERVER}/hold/ctrl?size=1000&after=500")
        terminal.until(lambda text: "50%" in text)
        os.write(terminal.fd, b"\x03")
        self.assertEqual(terminal.wait(), 130)
        self.assertEqual(bars(terminal.text()), [])
        self.assertIn("interrupted: 0 files", terminal.text())
        self.assertEqual(self.files(), [])

    def test_colours_obey_no_color_and_dumb_terminals_have_no_bars(self):
        url = f"{SERVER}/hold/colour?size=1000&after=500"
        for environment, colours in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
            terminal = Terminal(self, "get", "--any", url, environment=environment)
            terminal.until(lambda text: "50%" in text)
            self.assertEqual(b"\x1b[36m" in terminal.raw, colours, environment)
            os.write(terminal.fd, b"\x03")
            terminal.wait()
        for options, environment in (([], {"TERM": "dumb"}), (["--quiet"], {}), (["--no-progress"], {})):
            terminal = Terminal(self, "get", *options, PHOTO, environment=environment)
            self.assertEqual(terminal.wait(), 0)
            self.assertEqual(terminal.raw, b"", options)

    def test_other_encodings_get_plain_bars(self):
        terminal = Terminal(self, "get", "--any", f"{SERVER}/hold/plain?size=1000&after=500",
                            environment={"LC_ALL": "C"})
        terminal.until(lambda text: "=" in text and "50%" in text)
        self.assertTrue(terminal.raw.isascii())
        release("plain")
        self.assertEqual(terminal.wait(), 0)

    def test_there_are_no_bars_without_a_terminal(self):
        self.assertEqual(self.sdd("get", PHOTO, status=0).err, "")

    def test_json_on_standard_output_goes_with_bars(self):
        terminal = Terminal(self, "get", "--json", "--any", f"{SERVER}/hold/json?size=1000&after=500",
                            out_to_terminal=False)
        terminal.until(lambda text: "50%" in text)
        release("json")
        self.assertEqual(terminal.wait(), 0)

    def test_json_on_the_terminal_goes_without_bars(self):
        terminal = Terminal(self, "get", "--json", PHOTO, columns=1000)
        self.assertEqual(terminal.wait(), 0)
        self.assertRegex(terminal.text(), r'^\{"n":1,.*\}$')
        self.assertNotIn(b"\x1b", terminal.raw)

    def test_names_cannot_command_the_terminal(self):
        self.write("list", f"{PHOTO}\n  out=a\x1b[31mb\u202ec.jpg\n{PHOTO}\n  out=\u6f22\u5b57{'x' * 150}.jpg\n")
        terminal = Terminal(self, "get", "-i", "list")
        self.assertEqual(terminal.wait(), 0)
        self.assertNotIn(b"\x1b[31m", terminal.raw)
        self.assertIn("a_[31mb_c.jpg", terminal.text())
        self.assertTrue(all(len(line) <= 80 for line in terminal.text().splitlines()))

    def test_bench_draws_a_bar(self):
        terminal = Terminal(self, "bench", "-n", "3", "-j", "1", f"{SERVER}/hold/bench?size=1000")
        terminal.until(lambda text: "0 of 3" in text)
        release("bench")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("requests:    3, 1 at a time, 0 failed", terminal.text())


class ShowTests(ToolTest):
    def decode_kitty(self, raw):
        """The PNG that kitty's protocol has transferred."""
        import base64
        parts = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", raw)
        self.assertIn(b"f=100", parts[0][0])
        self.assertTrue(all(len(data) <= 4096 for _, data in parts))
        self.assertTrue(all(b"m=1" in keys for keys, _ in parts[:-1]) and b"m=0" in parts[-1][0])
        return base64.b64decode(b"".join(data for _, data in parts))

    def test_forced_protocols(self):
        import base64
        kitty = self.sdd("info", "--show=kitty", FIXTURES / "large/baseline.jpg", status=0).bytes
        self.assertEqual(self.decode_kitty(kitty)[:8], b"\x89PNG\r\n\x1a\n")
        iterm = self.sdd("info", "--show=iterm", FIXTURES / "large/baseline.jpg", status=0).bytes
        found = re.search(rb"\x1b\]1337;File=inline=1;size=(\d+);[^:]*:([A-Za-z0-9+/=]+)\a", iterm)
        self.assertEqual(len(base64.b64decode(found[2])), int(found[1]))
        self.assertNotIn(b"\x1b", self.sdd("info", "--show=none", FIXTURES / "large/baseline.jpg", status=0).bytes)
        self.assertNotIn(b"\x1b", self.sdd("info", "--show", FIXTURES / "large/baseline.jpg", status=0).bytes)

    def test_sixels_show_the_picture(self):
        raw = self.sdd("info", "--show=sixel", FIXTURES / "large/baseline.jpg", status=0).bytes
        rows = read_sixels(raw)
        sys_path = FIXTURES / "large/baseline.jpg"
        width, height = len(rows[0]), len(rows)
        self.assertEqual((width, height), (560, 420))
        self.sdd("get", "--to", "png", "-s", f"{width}x{height}", "-o", "small.png", PHOTO, status=0)
        self.sdd("info", "small.png", status=0)
        from PIL import Image
        small = Image.open(self.folder / "small.png").convert("RGB").resize((width // 20, height // 20), Image.BOX)
        shown = Image.new("RGB", (width, height))
        shown.putdata([pixel for row in rows for pixel in row])
        shown = shown.resize((width // 20, height // 20), Image.BOX)
        differences = [abs(a - b) for one, other in zip(small.getdata(), shown.getdata()) for a, b in zip(one, other)]
        self.assertLess(sum(differences) / len(differences), 8, sys_path)

    def test_half_blocks_have_the_colours_of_the_picture(self):
        self.sdd("get", "-s", "8x8", "--fit", "stretch", "--to", "png", "-o", "a.png", PHOTO, status=0)
        terminal = Terminal(self, "info", "--show=blocks", "a.png", environment={"COLORTERM": "truecolor"})
        self.assertEqual(terminal.wait(), 0)
        from PIL import Image
        picture = Image.open(self.folder / "a.png").convert("RGB")
        row = next(number for number, line in enumerate(terminal.screen.display) if "\u2580" in line)
        for x in range(8):
            cell = terminal.screen.buffer[row + 1][x]
            self.assertEqual(cell.fg, "%02x%02x%02x" % picture.getpixel((x, 2)))
            self.assertEqual(cell.bg, "%02x%02x%02x" % picture.getpixel((x, 3)))

    def test_the_environment_decides(self):
        cases = [({"TERM": "xterm-kitty"}, b"\x1b_Gf=100"), ({"TERM_PROGRAM": "iTerm.app"}, b"\x1b]1337;File="),
                 ({"TERM_PROGRAM": "WezTerm"}, b"\x1b]1337;File="), ({"TERM": "xterm-kitty", "TMUX": "/x"}, "\u2580".encode()),
                 ({"TERM": "screen-256color"}, "\u2580".encode()), ({"TERM": "linux"}, "\u2580".encode())]
        for environment, expected in cases:
            terminal = Terminal(self, "info", "--show", FIXTURES / "large/baseline.jpg", environment=environment)
            self.assertEqual(terminal.wait(), 0)
            self.assertIn(expected, terminal.raw, environment)

    def test_the_terminal_is_asked_and_may_be_silent(self):
        for answer, expected in ((b"\x1b_Gi=31;OK\x1b\\\x1b[?62;c", b"\x1b_Gf=100"), (b"\x1b[?62;4;6c", b"\x1bPq"),
                                 (b"\x1b[?62;6c", "\u2580".encode()), (b"", "\u2580".encode()),
                                 (b"\x1b[?garbage" * 500, "\u2580".encode())):
            with self.subTest(answer[:30]):
                terminal = Terminal(self, "info", "--show", FIXTURES / "large/baseline.jpg")
                while b"\x1b[c" not in terminal.raw and terminal.read():
                    pass
                os.write(terminal.fd, answer)
                while terminal.read():
                    if expected in terminal.raw:
                        break
                self.assertIn(expected, terminal.raw)

    def test_get_shows_what_it_has_downloaded(self):
        terminal = Terminal(self, "get", "--show=blocks", PHOTO)
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("\u2580", terminal.text())
        self.assertEqual(self.files(), ["baseline.jpg"])


class TmuxTests(ToolTest):
    def test_bars_and_pictures_in_tmux(self):
        socket = str(self.folder / "tmux")

        def tmux(*arguments):
            return subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", *arguments], capture_output=True, text=True,
                                  timeout=LIMIT, env=self.environment).stdout

        tmux("new-session", "-d", "-x", "90", "-y", "30", "-c", str(self.folder),
             f"{TOOL} get --show --any {PHOTO} '{SERVER}/hold/tmux?size=1000&after=500'; echo status $?; read x")
        self.addCleanup(tmux, "kill-server")
        pane = self.folder / "pane"
        os.mkfifo(pane)
        fd = os.open(pane, os.O_RDWR)  # never at its end, whoever has it open
        self.addCleanup(os.close, fd)
        tmux("pipe-pane", f"cat >{pane}")
        printed = b""

        def wait_for(text):
            nonlocal printed
            while text not in printed:
                self.assertTrue(select.select([fd], [], [], LIMIT)[0], printed[-2000:])
                printed += os.read(fd, 65536)

        wait_for(b"50%")
        self.assertIn("\u2580\u2580\u2580", tmux("capture-pane", "-p"))
        release("tmux")
        wait_for(b"status 0")


def read_sixels(raw):
    """The pixels of a sixel picture, as rows of (red, green, blue)."""
    found = re.search(rb'\x1bPq"1;1;(\d+);(\d+)(.*?)\x1b\\', raw, re.DOTALL)
    width, height = int(found[1]), int(found[2])
    rows = [[None] * width for _ in range(height)]
    palette, colour, x, y = {}, 0, 0, 0
    for token in re.finditer(rb"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|(\$)|(-)", found[3]):
        if token[1]:
            palette[int(token[1])] = tuple(int(token[i]) * 255 // 100 for i in (2, 3, 4))
        elif token[5]:
            colour = int(token[5])
        elif token[9]:
            x = 0
        elif token[10]:
            x, y = 0, y + 6
        else:
            count, bits = int(token[6] or 1), (token[7] or token[8])[0] - 63
            for _ in range(count):
                for row in range(6):
                    if bits >> row & 1:
                        assert rows[y + row][x] is None, "two colours in one place"
                        rows[y + row][x] = palette[colour]
                x += 1
    assert all(pixel is not None for row in rows for pixel in row)
    return rows
