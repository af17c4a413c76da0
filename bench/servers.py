#!/usr/bin/env python3
"""The servers of the benchmark: nginx, and two relays in front of it, on 127.0.0.1.

    servers.py WORK    runs them until it is interrupted, and writes the lists of URLs to WORK/urls
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from workloads import PORTS, WORKLOADS, write_urls

ROOT = Path(__file__).resolve().parent.parent
ROUND_TRIP_MS = 30
SLOW_ROUND_TRIP_MS = 20
SLOW_RATE = 1_000_000

# Pictures are sent from files that stay open, so that the server takes as little of the two processors as possible.
NGINX = """\
{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{
    worker_connections 2048;
}}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    keepalive_timeout 10m;
    open_file_cache max=5000 inactive=1h;
    open_file_cache_valid 1h;
    client_body_temp_path {folder}/client;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{
        image/jpeg jpg;
        image/png png;
        application/octet-stream bin;
    }}
    root {corpus};
    add_header Cache-Control "public, max-age=86400";
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    server {{
        listen 127.0.0.1:{http} backlog=1024;
    }}
    server {{
        listen 127.0.0.1:{http2} ssl http2 backlog=1024;
    }}
    server {{
        listen 127.0.0.1:{tls} ssl backlog=1024;
    }}
}}
"""


def certificate(work: Path) -> Path:
    """Returns the certificate of the servers, which signs itself: clients verify it as their only authority."""
    folder = work / "servers"
    folder.mkdir(exist_ok=True)
    file = folder / "certificate.pem"
    if not file.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-keyout",
                        folder / "key.pem", "-out", file, "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
    return file


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(port: int, name: str, process: subprocess.Popen[bytes]) -> None:
    """Returns when a server listens; ends the runner if it does not."""
    for _ in range(500):
        if is_open(port):
            return
        if process.poll() is not None:
            break
        time.sleep(0.02)
    sys.exit(f"servers.py: {name} does not listen on port {port}")


def start_nginx(work: Path) -> subprocess.Popen[bytes]:
    folder = work / "servers"
    user = "user root;" if os.geteuid() == 0 else ""
    settings = folder / "nginx.conf"
    settings.write_text(NGINX.format(user=user, folder=folder, corpus=work / "corpus", **PORTS))
    environment = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin"}
    return subprocess.Popen(["nginx", "-c", settings], env=environment, stderr=subprocess.DEVNULL)


def start_relay(port: int, round_trip_ms: int, rate: int | None) -> subprocess.Popen[bytes]:
    """Starts a relay to nginx. It also ends when the runner does, because it reads the runner's pipe."""
    command: list[str | Path] = [ROOT / "build" / "bench-relay", str(port), str(PORTS["http"]), str(round_trip_ms)]
    return subprocess.Popen(command + ([str(rate)] if rate else []), stdin=subprocess.PIPE)


@contextlib.contextmanager
def running(work: Path) -> Iterator[None]:
    """Runs all servers."""
    certificate(work)
    for port in PORTS.values():
        if is_open(port):
            sys.exit(f"servers.py: port {port} is in use")
    started: list[subprocess.Popen[bytes]] = []
    try:
        started.append(start_nginx(work))
        wait_for(PORTS["http"], "nginx", started[-1])
        for name, round_trip_ms, rate in (("delayed", ROUND_TRIP_MS, None), ("slow", SLOW_ROUND_TRIP_MS, SLOW_RATE)):
            started.append(start_relay(PORTS[name], round_trip_ms, rate))
            wait_for(PORTS[name], "the relay", started[-1])
        yield
    finally:
        for process in started:
            process.terminate()
            process.wait()


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    work = Path(sys.argv[1]).resolve()
    for workload in WORKLOADS.values():
        if all((work / "corpus" / part).is_dir() for part in workload.parts):
            write_urls(work, workload)
    with running(work):
        # Only a blocked signal is waited for; SIGTERM would end this process, and leave nginx behind.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        print("the servers are running", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
