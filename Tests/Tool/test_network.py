"""TLS, sockets, limits between requests; and that every option is used by some test."""
import re
import signal
import socketserver
import ssl
import subprocess
import time

from harness import FIXTURES, LIMIT, ROOT, SERVER, QuietHandler, ToolTest, http_server, release, wait_for_request

BODY = (FIXTURES / "large/baseline.jpg").read_bytes()
PHOTO_URL = f"{SERVER}/file/large/baseline.jpg"


class Handler(QuietHandler):
    starts = []
    body = BODY

    def do_GET(self):
        self.starts.append(time.monotonic())
        self.send(200, self.body)


class UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def get_request(self):
        return super().get_request()[0], ("local", 0)


class NetworkTests(ToolTest):
    def key(self, name, *more):
        """Makes a key and a certificate, and gives the files' names."""
        key, certificate = self.folder / "home" / f"{name}.key", self.folder / "home" / f"{name}.pem"
        key.parent.mkdir(exist_ok=True)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "3650", "-subj", f"/CN={name}", "-keyout", key, "-out", certificate, *more], check=True,
                       capture_output=True, timeout=LIMIT)
        return key, certificate

    def tls_server(self, client=None, highest=None):
        """A server with TLS. Returns its URL and the file of its certificate."""
        key, certificate = self.key("server", "-addext", "subjectAltName=IP:127.0.0.1")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(client)
        if highest:
            context.maximum_version = highest
        server = http_server(Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.handle_error = lambda *_: None
        self.serve(server)
        return f"https://127.0.0.1:{server.server_address[1]}/a.jpg", certificate

    def test_certificates_are_checked(self):
        url, certificate = self.tls_server()
        line, = self.sdd("get", "--json", "-t", "1", url, status=5).lines
        self.assertEqual(line["class"], "tls")
        self.sdd("get", "--cacert", certificate, url, status=0)
        hashed = self.folder / "home" / "hashed"
        hashed.mkdir()
        (hashed / "a.pem").write_bytes(certificate.read_bytes())
        subprocess.run(["openssl", "rehash", hashed], check=True, timeout=LIMIT)
        self.sdd("get", "--capath", hashed, url, status=0)
        self.sdd("get", "-k", url, status=0)
        self.sdd("get", "--insecure", url, status=0)
        broken = self.write("home/broken.pem", "no certificate")
        for name in ("nothing.pem", broken):
            self.assertIn(f"read from {name};", self.sdd("get", "-t", "1", "--cacert", name, url, status=5).err)

    def test_client_certificates(self):
        key, own = self.key("client")
        url, certificate = self.tls_server(client=own)
        self.assertNotEqual(self.sdd("get", "-t", "1", "--cacert", certificate, url).status, 0)
        self.sdd("get", "--cacert", certificate, "--cert", own, "--key", key, url, status=0)
        locked = self.folder / "home" / "locked.key"
        subprocess.run(["openssl", "ec", "-in", key, "-aes128", "-passout", "pass:open", "-out", locked], check=True,
                       capture_output=True, timeout=LIMIT)
        encrypted = ("get", "-t", "1", "--cacert", certificate, "--cert", own, "--key", locked, url)
        self.assertIn("--pass", self.sdd(*encrypted, "--pass", "shut", status=5).err)
        self.sdd(*encrypted, "--pass", "@-", input=b"open\n", status=0)
        both = self.folder / "home" / "both.pem"
        both.write_bytes(own.read_bytes() + key.read_bytes())
        self.sdd("get", "--cacert", certificate, "-E", both, url, status=0)

    def test_the_oldest_version_of_tls(self):
        url, certificate = self.tls_server(highest=ssl.TLSVersion.TLSv1_2)
        self.sdd("get", "--cacert", certificate, "--min-tls", "1.2", url, status=0)
        self.sdd("get", "-t", "1", "--cacert", certificate, "--min-tls", "1.3", url, status=5)

    def test_unix_sockets_and_interfaces(self):
        server = UnixServer(str(self.folder / "socket"), Handler)
        self.serve(server)
        self.sdd("get", "--unix-socket", "socket", "http://anything.test/a.jpg", "-o", "a.jpg", status=0)
        err = self.sdd("get", "--unix-socket", "missing", "http://anything.test/a.jpg", "-t", "1", status=4).err
        self.assertIn("There is no connection to the Unix socket missing, on the way to anything.test: No such file", err)
        self.sdd("get", "--interface", "127.0.0.1", PHOTO_URL, status=0)
        self.sdd("get", "-t", "1", "--interface", "192.0.2.1", PHOTO_URL, status=4)

    def test_hosts_without_a_proxy(self):
        self.sdd("get", "-t", "1", "--proxy", "http://127.0.0.1:1", PHOTO_URL, status=4)
        self.sdd("get", "--proxy", "http://127.0.0.1:1", "--no-proxy", "127.0.0.1", PHOTO_URL, status=0)

    def test_a_wait_between_requests_to_a_host(self):
        base = self.serve_http(Handler)
        Handler.starts.clear()
        self.sdd("get", "--wait", "300ms", *(f"{base}/{number}.jpg" for number in range(4)), status=0)
        gaps = [later - earlier for earlier, later in zip(sorted(Handler.starts), sorted(Handler.starts)[1:])]
        self.assertEqual(len(gaps), 3)
        self.assertGreater(sum(gaps), 0.75)  # the last request began 900 ms after the first; connecting takes some

    def test_the_rate_is_limited(self):
        server = http_server(Handler)
        server.handle_error = lambda *_: None  # the last run ends in the midst of its bodies
        self.serve(server)
        base = f"http://127.0.0.1:{server.server_address[1]}"
        urls = [f"{base}/{number}.jpg" for number in range(5)]
        began = time.monotonic()
        self.sdd("get", "--limit-rate", "100K", "-j", "1", *urls, status=0)
        # The last request began when the bytes of the others were within the rate.
        self.assertGreaterEqual(time.monotonic() - began, 4 * len(BODY) / (100 << 10))
        self.assertEqual(len(self.files()), 5)
        self.sdd("get", "--limit-rate", "10M", "-d", "all", *urls * 20, status=0)
        self.assertEqual(len(self.files()), 105)
        # One file is held up too: without that, a moment suffices.
        Handler.body = BODY + bytes(3 << 20)
        self.addCleanup(setattr, Handler, "body", BODY)
        longest = 0
        for _ in range(5):  # on a busy machine much arrives before the tool is told
            began = time.monotonic()
            self.sdd("get", "--limit-rate", "500K", f"{base}/long.jpg", status=0)
            longest = max(longest, time.monotonic() - began)
            if longest > 1:
                break
        self.assertGreater(longest, 1)
        Handler.body = BODY
        # A run that is paused ends with a signal.
        process = self.start("get", "--limit-rate", "1", f"{SERVER}/hold/rate?file=large/baseline.jpg&after=20000", *urls)
        wait_for_request("/hold/rate")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), 130)

    def test_transfers_at_a_time(self):
        import json
        import urllib.request

        def now(name):
            return json.load(urllib.request.urlopen(f"{SERVER}/stats", timeout=LIMIT))[name]

        for option, most in ((["--parallel", "3"], 3), (["-j", "8", "--per-host", "2"], 2)):
            urllib.request.urlopen(f"{SERVER}/reset-stats", timeout=LIMIT).read()
            name = f"at-a-time-{most}"
            process = self.start("get", "--any", "-d", "home", *option,
                                 *(f"{SERVER}/hold/{name}?size={number}" for number in range(1, 8)))
            wait_for_request(f"/hold/{name}", most)
            release(name)
            self.assertEqual(process.wait(LIMIT), 0)
            self.assertEqual(now("peak"), most)

    def test_a_limit_on_connecting(self):
        # The queue of a socket that nobody accepts from is full: further connections are not answered.
        import socket
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
            fillers.append(filler)
            self.addCleanup(filler.close)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/a.jpg"
        line, = self.sdd("get", "--json", "-t", "1", "--connect-timeout", "300ms", url, status=8).lines
        self.assertEqual(line["detail"], 300401)

    def test_every_option_is_used_by_a_test(self):
        texts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Tests/Tool").glob("test_*.py"))
        unused = []
        for command in ("get", "info", "thumbnail", "cache", "bench"):
            for row in self.sdd(command, "--help=all", status=0).out.splitlines():
                found = re.match(r"^ (?:-(\S), |    )(--[a-z0-9-]+)", row)
                if found and f'"{found[2]}' not in texts and f'"-{found[1]}"' not in texts:
                    unused.append(found[2])
        self.assertEqual(unused, [])
