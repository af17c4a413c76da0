"""Has Chromium draw the pictures of a folder on a canvas, and keeps the pixels: chromium.py FOLDER.

NAME.shown has RGBA in sRGB; shown.json says the size of each, or why it is not shown.
"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from pathlib import Path

PATIENCE = 600  # seconds
TYPES = {"jpg": "image/jpeg", "svg": "image/svg+xml", "ico": "image/x-icon"}

PAGE = """<!doctype html><script>
(async () => {
  for (const name of NAMES) {
    const image = new Image();
    image.src = '/picture/' + encodeURIComponent(name);
    let query = '', pixels = '';
    try {
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.naturalWidth;
      canvas.height = image.naturalHeight;
      const context = canvas.getContext('2d', {colorSpace: 'srgb', willReadFrequently: true});
      context.drawImage(image, 0, 0);
      pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
      query = `width=${canvas.width}&height=${canvas.height}`;
    } catch (error) {
      query = 'error=' + encodeURIComponent(error);
    }
    await fetch(`/shown/${encodeURIComponent(name)}?${query}`, {method: 'POST', body: pixels});
  }
  await fetch('/done', {method: 'POST', body: ''});
})();
</script>"""


def serve(folder: Path, names: list[str], shown: dict, done: threading.Event) -> http.server.ThreadingHTTPServer:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            path = urllib.parse.unquote(self.path)
            if path.startswith("/picture/"):
                name = path.removeprefix("/picture/")
                ending = name.rpartition(".")[2]
                self.answer((folder / name).read_bytes(), TYPES.get(ending, f"image/{ending}"))
            else:
                self.answer(PAGE.replace("NAMES", json.dumps(names)).encode(), "text/html")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            url = urllib.parse.urlsplit(self.path)
            if url.path == "/done":
                done.set()
            else:
                name = urllib.parse.unquote(url.path).removeprefix("/shown/")
                shown[name] = dict(urllib.parse.parse_qsl(url.query))
                if "error" not in shown[name]:
                    (folder / f"{name}.shown").write_bytes(body)
            self.answer(b"", "text/plain")

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> None:
    folder = Path(sys.argv[1])
    names = json.loads((folder / "pictures.json").read_text()).keys()
    shown: dict[str, dict[str, str]] = {}
    done = threading.Event()
    server = serve(folder, sorted(names), shown, done)
    program = os.environ.get("SDD_BROWSER", "chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--force-color-profile=srgb",
             f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        in_time = done.wait(PATIENCE)
        browser.terminate()
        browser.wait()
    if not in_time:
        sys.exit(f"chromium.py: {program} has shown {len(shown)} of {len(names)} pictures in {PATIENCE} s")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()
    number = next((word for word in version if word[:1].isdigit()), "?")
    (folder / "shown.json").write_text(json.dumps({"version": number, "pictures": shown}))


if __name__ == "__main__":
    main()
