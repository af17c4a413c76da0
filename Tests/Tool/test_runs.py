"""Long lists, signals, closed pipes: runs as a whole."""
import contextlib
import os
import pathlib
import re
import select
import signal
import subprocess
import threading

from harness import (FIXTURES, LIMIT, MODE, SERVER, TOOL, QuietHandler, ToolTest, open_for_reader, release,
                     wait_for_file, wait_for_request)

PHOTO = f"{SERVER}/file/large/baseline.jpg"


class ListTests(ToolTest):
    def test_lists_have_comments_blank_lines_and_options(self):
        import hashlib

        good = hashlib.sha256((FIXTURES / "large/baseline.jpg").read_bytes()).hexdigest()
        self.write("list", f"# a comment\n\n  # another\n{PHOTO}\r\n  out=one.jpg\n  checksum=sha-256={good}\n{PHOTO}\n"
                           f"  checksum={'0' * 64}\n{SERVER}/file/large/rows.png")
        lines = sorted(self.sdd("get", "--json", "-i", "list", status=1).lines, key=lambda line: line["n"])
        self.assertEqual([line["ok"] for line in lines], [True, False, True])
        self.assertEqual([line.get("path") for line in lines], ["one.jpg", None, "rows.png"])

    def test_a_byte_order_mark_is_no_part_of_a_url(self):
        for list_, count in ((f"\ufeff{PHOTO}\n{PHOTO}\n", 2), (f"\ufeff# a comment\n{PHOTO}\n", 1), (f"\ufeff{PHOTO}", 1)):
            with self.subTest(list_):
                self.write("list", list_)
                result = self.sdd("get", "--json", "-i", "list", status=0)
                self.assertEqual([line["url"] for line in result.lines], [PHOTO] * count)

    def test_standard_input_and_several_lists(self):
        self.write("list", f"{PHOTO}\n")
        result = self.sdd("get", "--json", "-i", "list", "-i", "-", PHOTO, status=0, input=f"{PHOTO}\n".encode())
        self.assertEqual(len(result.lines), 3)

    def test_bad_lists_are_named_and_the_rest_goes_on(self):
        result = self.sdd("get", "-i", "nothing", PHOTO, status=1)  # one went well
        self.assertIn("nothing: No such file or directory", result.err)
        self.assertEqual(self.files(), ["baseline.jpg"])
        self.assertIn("Is a directory", self.sdd("get", "-i", ".", status=3).err)
        self.write("list", b"  out=x\n" + PHOTO.encode() + b"\n  frob=1\nhttp://a/\0b\n")
        err = self.sdd("get", "-i", "list", "-o", "{n}", status=1).err
        self.assertIn("line 1: an option without a URL", err)
        self.assertIn("line 3: the options of a URL are", err)
        self.assertIn("line 4: a NUL byte", err)
        self.write("first", f"{PHOTO}\n" * 5)
        self.write("second", f"{PHOTO}\n  frob=1\n{PHOTO}\n  frob=2\n")
        err = self.sdd("get", "-i", "first", "-i", "second", "-o", "{n}-{name}", status=1).err
        self.assertEqual([re.search("^sdd: (second, line .): ", line)[1] for line in err.splitlines()],
                         ["second, line 2", "second, line 4"])
        self.write("second", f"  out=x\n{PHOTO}\n")
        err = self.sdd("get", "-i", "first", "-i", "second", "-o", "{n}-{name}", status=1).err
        self.assertIn("second, line 1: an option without a URL", err)
        self.write("long", b"x" * (3 << 20) + b"\n")
        self.assertIn("is longer than", self.sdd("get", "-i", "long", status=3).err)

    def test_equal_names_get_numbers_in_the_order_of_the_list(self):
        asked, folder = [], self.folder

        class Handler(QuietHandler):
            def do_GET(self):
                asked.append(self.path)
                if self.path == "/0/a.jpg":
                    wait_for_file(folder / "a.1.jpg")
                self.send(200, self.path.encode())

        base = self.serve_http(Handler)
        paths = [f"/{number}/a.jpg" for number in range(60)]
        self.write("list", "".join(f"{base}{path}\n" for path in paths))
        names = ["a.jpg"] + [f"a.{number}.jpg" for number in range(1, 60)]
        for option in ("-q", "-n", "-c"):
            with self.subTest(option):
                self.sdd("get", "--any", option, "--limit-rate", "1G", "-i", "list", status=0)  # a small window
                self.assertEqual([(self.folder / name).read_text() for name in names], paths)
                asked.clear()
                for number in (7, 59):
                    (self.folder / names[number]).unlink()
                lines = self.sdd("get", "--any", "--json", "-n", "-i", "list", status=0).lines
                self.assertEqual(sorted(asked), ["/59/a.jpg", "/7/a.jpg"])
                self.assertEqual({line["n"]: line["path"] for line in lines}, dict(enumerate(names, 1)))
                for name in names:
                    (self.folder / name).unlink()

    def test_no_url_is_skipped_for_a_file_of_the_same_run(self):
        class Handler(QuietHandler):
            def do_GET(self):
                self.send(200, (FIXTURES / "large" / "baseline.jpg").read_bytes())

        base = self.serve_http(Handler)
        for paths, names in (("1/a.jpg 2/a.jpg 3/a.1.jpg", "a.1.1.jpg a.1.jpg a.jpg"),
                             ("1/a.1.jpg 2/a.jpg 3/a.jpg", "a.1.jpg a.2.jpg a.jpg"),
                             ("1/a.jpg 2/a", "a.1.jpg a.jpg"), ("1/a.php 2/a.php.jpg", "a.php.1.jpg a.php.jpg")):
            with self.subTest(paths):
                for path in self.files():
                    (self.folder / path).unlink()
                # A window of one URL: each has its file before the next begins.
                options = ["--limit-rate", "1G", "-j", "1"]
                urls = [f"{base}/{path}" for path in paths.split()]
                self.sdd("get", "-n", *options, *urls, status=0)
                self.assertEqual(self.files(), names.split())

    def test_an_empty_list_is_fine(self):
        self.write("list", "\n# nothing\n")
        self.assertEqual(self.sdd("get", "-i", "list", status=0).out, "")

    def test_urls_of_a_pipe_start_while_it_is_open(self):
        process = self.start("get", "--json", "-i", "-", stdin=subprocess.PIPE)
        process.stdin.write(f"{PHOTO}\n{SERVER}/file/large/rows.png\n".encode())
        process.stdin.flush()
        self.assertIn(b"baseline.jpg", process.stdout.readline())  # the pipe is still open
        process.stdin.close()
        process.stdin = None
        self.assertIn(b"rows.png", process.communicate(timeout=LIMIT)[0])
        self.assertEqual(process.returncode, 0)

    def test_a_program_that_waits_for_each_answer(self):
        process = self.start("get", "--json", "-i", "-", stdin=subprocess.PIPE)
        for name in ("one.jpg", "two.jpg"):
            process.stdin.write(f"{PHOTO}\n  out={name}\n\n".encode())
            process.stdin.flush()
            self.assertTrue(select.select([process.stdout], [], [], LIMIT / 4)[0], "the URL has not begun")
            self.assertIn(name.encode(), process.stdout.readline())
        process.stdin.close()
        process.stdin = None
        self.assertEqual((process.communicate(timeout=LIMIT), process.returncode), ((b"", b""), 0))

    def test_a_named_pipe_is_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        self.write("list", f"{PHOTO}\n\n")
        process = self.start("get", "--json", "-i", "list", "-i", "pipe")
        self.assertIn(b"baseline.jpg", process.stdout.readline())  # the pipe has no writer yet
        with open_for_reader(process, self.folder / "pipe") as pipe:
            pipe.write(f"{SERVER}/file/large/rows.png\n".encode())
        self.assertIn(b"rows.png", process.communicate(timeout=LIMIT)[0])
        self.assertEqual(process.returncode, 0)

    def test_ctrl_c_ends_the_wait_for_a_named_pipe(self):
        os.mkfifo(self.folder / "pipe")
        process = self.start("get", "-i", "pipe")
        with open_for_reader(process, self.folder / "pipe"):
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=LIMIT)[1].decode()
        self.assertEqual(process.returncode, 130)
        self.assertRegex(err, r"\Asdd: interrupted: [^\n]*\n\Z")

    def test_a_list_of_10000_urls_takes_little_memory(self):
        count = 10000 if MODE == "plain" else 1000
        with open(self.folder / "list", "w", encoding="utf-8") as file:
            for number in range(count):
                file.write(f"{SERVER}/file/encoded/opaque-90.jpg?{number}{'x' * 500}\n")
        process = self.start("get", "--json", "-i", "list", "-d", "out", "-o", "{n:05}.{ext}")
        peak, lines = 0, 0
        for line in process.stdout:
            lines += 1
            assert b'"ok":true' in line, line
            if lines % 500 == 0:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
                peak = max(peak, int(re.search(r"VmHWM:\s+(\d+)", status)[1]))
        self.assertEqual((process.wait(LIMIT), lines), (0, count))
        self.assertEqual(len(list((self.folder / "out").iterdir())), count)
        if MODE == "plain":
            self.assertLess(peak, 80 << 10)

    def test_a_million_lines_are_not_read_ahead(self):
        # The server holds every reply back, so that the program must stop reading the list.
        process = self.start("get", "-i", "-", "--any", stdin=subprocess.PIPE)
        os.set_blocking(process.stdin.fileno(), False)
        line, sent = f"{SERVER}/hold/never?size=1&{'x' * 1000}\n".encode(), 0
        sent += os.write(process.stdin.fileno(), line * 2)  # options of the first might follow
        wait_for_request("/hold/never")
        # A program that goes on reading makes room in the pipe long before this limit ends.
        while sent < 4 << 20 and select.select([], [process.stdin], [], 2)[1]:
            sent += os.write(process.stdin.fileno(), line * 10)
        self.assertLess(sent, 4 << 20)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), 130)


class SignalTests(ToolTest):
    def interrupt(self, number, status):
        (self.folder / "out").mkdir(exist_ok=True)
        process = self.start("get", "-d", "out", "--any", PHOTO, f"{SERVER}/hold/signal{number}?size=100000&after=50000")
        wait_for_file(self.folder / "out/baseline.jpg")
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, out), (status, b""))
        self.assertRegex(err.decode(), r"interrupted: 1 file, 41.2 KiB in .* 1 not finished\n")
        self.assertEqual(self.files(), ["out/baseline.jpg"])
        (self.folder / "out/baseline.jpg").unlink()

    def test_signals_cancel_leave_no_part_and_report(self):
        self.interrupt(signal.SIGINT, 130)
        self.interrupt(signal.SIGTERM, 143)
        self.interrupt(signal.SIGHUP, 129)

    def test_two_signals_in_short_order_are_one(self):
        process = self.start("get", "--cookie-jar", "jar", "--any", f"{SERVER}/hold/twice?size=10")
        wait_for_request("/hold/twice")
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        _, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(err.decode(), r"interrupted: 0 files.* 1 not finished\n")
        self.assertEqual(self.files(), ["jar"])

    def test_a_pipe_that_nobody_reads_does_not_keep_the_run(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(writer, bytes(4096)):
                pass
        os.set_blocking(writer, True)
        for name, out, error in (("out", writer, subprocess.PIPE), ("err", subprocess.DEVNULL, writer)):
            process = subprocess.Popen([TOOL, "get", "--json", "-t", "1", "-v", "http://127.0.0.1:1/",
                                        f"{SERVER}/hold/stuck-{name}?size=10"],
                                       cwd=self.folder, env=self.environment, stdout=out, stderr=error)
            self.addCleanup(self._stop, process)
            wait_for_request(f"/hold/stuck-{name}")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(LIMIT), 143)
        os.close(reader), os.close(writer)

    def test_every_url_is_in_one_of_the_counts(self):
        (self.folder / "out").mkdir()
        good, held = f"{PHOTO}\n", f"{SERVER}/hold/counts?size=10\n"
        self.write("list", f"{SERVER}/status/404\n" + good * 20 + held * 2000)
        self.write("again", held * 30 + "# no URL\n\n" + held)
        for options in (["-i", "list", "-i", "again"], ["--json", "-j", "2", "-i", "list", "-i", "again"]):
            process = self.start("get", "--any", "-d", "out", *options, "-i", "-", stdin=subprocess.PIPE)
            # A line for each URL is more than a pipe holds.
            reader = threading.Thread(target=process.stdout.read)
            reader.start()
            process.stdin.write(held.encode() * 5)  # the pipe stays open
            process.stdin.flush()
            wait_for_file(self.folder / "out/baseline.19.jpg")
            process.send_signal(signal.SIGINT)
            err = process.stderr.read().decode()
            self.assertEqual(process.wait(LIMIT), 130)
            reader.join(LIMIT)
            process.stdin.close()
            process.stdin = None
            self.assertIn("interrupted: 20 files, ", err)
            counts = re.findall(r"(\d+) (?:files|failed|not finished)", err[err.rindex("interrupted"):])
            self.assertEqual(sum(map(int, counts)), 1 + 20 + 2000 + 31 + 5, err)
            for path in (self.folder / "out").iterdir():
                path.unlink()

    def test_an_interrupted_run_is_resumed(self):
        url = f"{SERVER}/ranged?file=large/baseline.jpg&cuts=20000&retry=no"
        process = self.start("get", "-c", "-t", "1", "-o", "{name}.{ext}", url, f"{SERVER}/hold/resumed?size=10")
        self.assertIn(b"ended before", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), 130)
        line, = self.sdd("get", "-c", "--json", "-o", "{name}.{ext}", url, status=0).lines
        self.assertEqual(line["resumed_bytes"], 20000)

    def test_an_ignored_signal_stays_ignored(self):
        process = self.start("get", "--any", f"{SERVER}/hold/nohup?size=10",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for_request("/hold/nohup")
        process.send_signal(signal.SIGHUP)
        release("nohup")
        self.assertEqual(process.wait(LIMIT), 0)

    def test_a_closed_pipe_ends_the_run_quietly(self):
        self.write("list", f"{PHOTO}\n" * 2000)
        script = '"$1" get --json -i list -d out | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"'
        done = subprocess.run(["bash", "-c", script, "bash", TOOL], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual((done.stdout, done.stderr), ("141\n", ""))
        self.assertLess(len(self.files()), 1900)

    def test_a_closed_pipe_ends_a_run_that_waits_for_nothing(self):
        self.write("list", f"{PHOTO}\n" * 3)
        self.sdd("get", "-i", "list", status=0)
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = subprocess.run([TOOL, "get", "-n", "--json", "-i", "list"], cwd=self.folder, env=self.environment,
                                  stdout=writer, stderr=subprocess.PIPE, timeout=LIMIT)
        finally:
            os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (141, b""))

    def test_info_and_bench_end_with_a_signal(self):
        for arguments in (["info", f"{SERVER}/hold/i1?size=10"], ["bench", f"{SERVER}/hold/b1?size=10"]):
            process = self.start(*arguments)
            wait_for_request("/hold/i1" if arguments[0] == "info" else "/hold/b1")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 130, arguments)
