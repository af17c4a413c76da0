#!/usr/bin/env python3
"""Compares sdd.distributed with img2dataset: 100,000 URLs of 200 hosts, two local workers, the same list and options.

    distributed.py WORK [--urls N] [--program NAME]... [--note TEXT] [--report]

Programs: local (sdd.distributed.download), dask, ray, pyspark (the scripts in bindings/python/examples) and
img2dataset; all of them, unless some are named. --urls 100000 writes docs/benchmarks/distributed.md, a part of
docs/benchmarks.md. --report writes it from the newest results, without a run.

The hosts are the addresses 127.0.1.1 and following, where one nginx listens. Most URLs are JPEGs of 256 x 256 of the
corpus, each tenth a photograph of 1 to 2 megapixels; some do not exist, are pages of HTML, or belong to a host that
refuses connections. Processor time is what the kernel accounts for all processes of a program that were waited for, or
what was last seen of each process, whichever is more. Memory is the sum of the processes' proportional set sizes, each
second.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import datetime
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import environment
from servers import is_open, wait_for

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "bindings" / "python"
PORT, HOSTS, WORKERS, SEED = 18710, 200, 2, 20
PEER = "img2dataset"
LINE = 120
PROGRAMS = ("local", "dask", "ray", "pyspark", PEER)
OPTIONS = {
    "image_size": 256, "resize_mode": "keep_ratio", "encode_quality": 95, "output_format": "webdataset",
    "number_sample_per_shard": 1000, "thread_count": 64, "caption_col": "caption", "timeout": 10, "retries": 0,
}  # fmt: skip
NGINX = """\
{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{
    worker_connections 4096;
}}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    open_file_cache max=5000 inactive=1h;
    open_file_cache_valid 1h;
    types {{
        image/jpeg jpg;
        text/html html;
    }}
    root {corpus};
    server {{
{listen}
        location = /page.html {{
            return 200 "<html>no picture</html>";
        }}
    }}
}}
"""


def address(host: int) -> str:
    return f"127.0.{1 + host // 250}.{1 + host % 250}"


# ---- the list


def write_list(work: Path, count: int) -> Path:
    """Writes a CSV with the columns url and caption. The last host refuses connections."""
    file = work / "distributed" / f"list-{count}.csv"
    chance = random.Random(SEED)
    weights = [1 / (host + 10) for host in range(HOSTS - 1)]
    weights.append(0.005 * sum(weights))
    parts = {part: sorted(path.name for path in (work / "corpus" / part).iterdir()) for part in ("small", "photo")}
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["url", "caption"])
        for number, host in enumerate(chance.choices(range(HOSTS), weights, k=count)):
            draw = chance.random()
            if draw < 0.015:
                path = f"none/{number}.jpg"
            elif draw < 0.02:
                path = "page.html"
            else:
                part = "photo" if draw < 0.12 else "small"
                path = f"{part}/{chance.choice(parts[part])}"
            writer.writerow([f"http://{address(host)}:{PORT}/{path}?{number}", f"picture {number}"])
    return file


@contextlib.contextmanager
def servers(work: Path) -> Iterator[None]:
    folder = work / "distributed" / "nginx"
    folder.mkdir(exist_ok=True)
    if is_open(PORT):
        sys.exit(f"distributed.py: port {PORT} is in use")
    listen = "\n".join(f"        listen {address(host)}:{PORT} backlog=1024;" for host in range(HOSTS - 1))
    settings = folder / "nginx.conf"
    settings.write_text(NGINX.format(user="user root;" if os.geteuid() == 0 else "", folder=folder,
                                     corpus=work / "corpus", listen=f"        listen 127.0.0.1:{PORT};\n{listen}"))
    process = subprocess.Popen(["nginx", "-c", settings], stderr=subprocess.DEVNULL,
                               env=os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin"})
    try:
        wait_for(PORT, "nginx", process)
        yield
    finally:
        process.terminate()
        process.wait()


# ---- programs


def venv(work: Path, name: str, packages: list[str]) -> Path:
    """Returns the interpreter of a virtual environment with these packages."""
    folder = work / "distributed" / f"venv-{name}"
    stamp = folder / "packages"
    if not stamp.exists() or stamp.read_text() != "\n".join(packages):
        print(f"installing {' '.join(packages)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
                       check=True)
        stamp.write_text("\n".join(packages))
    return folder / "bin" / "python"


PACKAGES = ["cffi", "pyarrow", "dask[distributed]", "ray[data]", "pyspark"]
LOCAL = ("import json, sys\nfrom sdd.distributed import download\n"
         "if __name__ == '__main__':\n    print(download(**json.loads(sys.argv[1])))\n")


def command(work: Path, program: str, urls: Path, output: Path) -> list[str | Path]:
    options = OPTIONS | {"processes_count": WORKERS}
    given = {"url_list": str(urls), "input_format": "csv", "output_folder": str(output)} | options
    if program == PEER:
        python = venv(work, PEER, ["img2dataset"])
        return [python.with_name("img2dataset"), *(f"--{name}={value}" for name, value in given.items())]
    python = venv(work, "sdd", PACKAGES)
    if program == "local":
        script = work / "distributed" / "local.py"
        script.write_text(LOCAL)
        return [python, script, json.dumps(given)]
    return [python, PYTHON / "examples" / f"{program}_images.py", urls, output, "-w", str(WORKERS), "-o",
            json.dumps(options)]


@dataclasses.dataclass
class Run:
    program: str
    urls: int
    images: int
    failures: dict[str, int]
    wall_s: float
    cpu_s: float
    peak_mb: float
    processes: int
    versions: dict[str, str]
    date: str
    load: float


class Watch:
    """Looks at the processes of a program each second: those that carry a mark in their environment."""

    def __init__(self, mark: str) -> None:
        self._mark = f"BENCH_MARK={mark}".encode()
        self._times: dict[tuple[int, int], float] = {}
        self.peak_mb = 0.0
        self.processes = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        self._thread.join()

    @property
    def cpu_s(self) -> float:
        return sum(self._times.values())

    def pids(self) -> list[int]:
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and self._mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found

    def _run(self) -> None:
        tick = os.sysconf("SC_CLK_TCK")
        while not self._end.wait(1):
            kilobytes, pids = 0, self.pids()
            for pid in pids:
                with contextlib.suppress(OSError, IndexError):
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    self._times[pid, int(fields[19])] = (int(fields[11]) + int(fields[12])) / tick
                    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                    kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            self.peak_mb, self.processes = max(self.peak_mb, kilobytes / 1024), max(self.processes, len(pids))


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(work: Path, program: str, urls: Path, count: int) -> Run:
    output = work / "distributed" / f"output-{program}"
    shutil.rmtree(output, ignore_errors=True)
    line = command(work, program, urls, output)
    mark, load = f"{program}-{os.getpid()}", os.getloadavg()[0]
    own = {"SDD_LIBRARY": str(ROOT / "build" / "libsdd.so"), "PYTHONPATH": str(PYTHON / "src"), "BENCH_MARK": mark,
           "WANDB_MODE": "disabled", "NO_ALBUMENTATIONS_UPDATE": "1", "RAY_USAGE_STATS_ENABLED": "0"}  # fmt: skip
    if program == PEER:
        del own["PYTHONPATH"]
    before, start = cpu_of_children(), time.monotonic()
    with (work / "distributed" / f"{program}.log").open("wb") as log, Watch(mark) as watch:
        status = subprocess.run(line, env=os.environ | own, stdout=log, stderr=log).returncode
        wall = time.monotonic() - start
        for pid in watch.pids():  # what an engine has left
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if status:
        sys.exit(f"distributed.py: {program} ended with status {status}: {work}/distributed/{program}.log")
    images, failures = counts(output, program)
    if images + sum(failures.values()) != count:
        sys.exit(f"distributed.py: {program} accounts for {images + sum(failures.values())} URLs of {count}")
    made = Run(program, count, images, failures, wall, max(cpu_of_children() - before, watch.cpu_s), watch.peak_mb,
               watch.processes, versions(Path(line[0])), datetime.date.today().isoformat(), load)
    shutil.rmtree(output)
    return made


def counts(output: Path, program: str) -> tuple[int, dict[str, int]]:
    failures: dict[str, int] = {}
    images = 0
    for file in output.glob("*_stats.json"):
        for text, count in json.loads(file.read_text())["status_dict"].items():
            if text == "success":
                images += count
            else:
                failures[text] = failures.get(text, 0) + count
    return images, failures


def versions(program: Path) -> dict[str, str]:
    script = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    done = subprocess.run([program.with_name("python"), "-c", script], capture_output=True, text=True, check=True)
    names = (PEER, "opencv-python-headless", "pyarrow", "dask", "ray", "pyspark")
    return {name: version for name, version in sorted(json.loads(done.stdout).items()) if name in names}


# ---- the page

TEXT = """\
## Many machines: a job of {urls:,} URLs

`make bench-distributed` has measured this: {urls:,} URLs of {hosts} hosts (addresses of the loopback network, where one
nginx listens), {workers} worker processes on this machine. Nine tenths are JPEGs of 256 x 256, one tenth photographs of
1 to 2 megapixels; some URLs do not exist, some are pages of HTML, and one host refuses connections. All programs have
the same list and options: `image_size=256`, `resize_mode="keep_ratio"`, JPEG with quality 95, tar shards of 1,000
pictures and Parquet, SHA-256 of each body, {threads} transfers at a time in a process. *local* is
`sdd.distributed.download()`; *dask*, *ray* and *pyspark* are the scripts in `bindings/python/examples`. They keep at
most 6 transfers to a host in the whole job; img2dataset has no such limit. CPU and memory are those of all processes of
a program, the engine's own included; nginx is not counted, but runs on the same processors. Start and end of the engine
are part of the wall time. [scaling.md](scaling.md) works out what this means for many machines.
"""


def page(runs: list[Run], note: str) -> str:
    header = ["program", "images a second", "wall s", "CPU s", "CPU ms an image", "peak MB", "processes", "images",
              "failed URLs"]
    rows = [[run.program, f"{run.images / run.wall_s:.0f}", f"{run.wall_s:.0f}", f"{run.cpu_s:.0f}",
             f"{1000 * run.cpu_s / run.images:.2f}", f"{run.peak_mb:.0f}", str(run.processes), f"{run.images:,}",
             f"{sum(run.failures.values()):,}"] for run in runs]
    words = TEXT.format(urls=runs[0].urls, hosts=HOSTS, workers=WORKERS, threads=OPTIONS["thread_count"])
    lines = [words]
    if note:
        lines += [*textwrap.wrap(f"**Note:** {note}", LINE), ""]
    lines += [table_line(header), "|" + " --- |" * len(header), *map(table_line, rows), "", "Failures as each names "
              "them:", ""]
    programs: dict[str, list[str]] = {}
    for run in runs:
        kinds = sorted(run.failures.items(), key=lambda kind: -kind[1])
        programs.setdefault(", ".join(f"{text}: {count:,}" for text, count in kinds), []).append(run.program)
    for kinds_text, names in programs.items():
        lines += textwrap.wrap(f"- {', '.join(names)}: {kinds_text}", LINE, subsequent_indent="  ")
    known: dict[str, str] = {}
    for run in runs:
        known.update(run.versions)
    facts = environment.machine()
    lines += ["", *textwrap.wrap(
        f"Measured on {runs[0].date} on {facts['processors']}, {facts['memory']}, {facts['system']}; libsdd "
        f"{environment.commit()}; {', '.join(f'{name} {version}' for name, version in known.items())}. Load averages "
        f"before the runs: {', '.join(f'{run.program} {run.load:.1f}' for run in runs)}.", LINE)]  # fmt: skip
    return "\n".join(lines) + "\n"


def table_line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def publish(text: str) -> None:
    """Writes the part, and puts it into the page in place of the one that is there."""
    (ROOT / "docs" / "benchmarks" / "distributed.md").write_text(text)
    file = ROOT / "docs" / "benchmarks.md"
    content = file.read_text()
    title = text.partition("\n")[0].partition(":")[0]
    before, found, after = content.partition(title)
    if found:
        after = after.partition("\n## ")[2]
        after = f"\n## {after}" if after else ""
    file.write_text(f"{before.rstrip()}\n\n{text.rstrip()}\n{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--note", default="")
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    (work / "distributed").mkdir(parents=True, exist_ok=True)
    results = work / "distributed" / "results.json"
    known: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {}
    if not arguments.report:
        urls = write_list(work, arguments.urls)
        for program in arguments.program or PROGRAMS:
            with servers(work):
                run = measure(work, program, urls, arguments.urls)
            print(json.dumps(dataclasses.asdict(run)), flush=True)
            known.setdefault(str(arguments.urls), {})[program] = dataclasses.asdict(run)
            results.write_text(json.dumps(known, indent=1))
    of_size = known.get(str(arguments.urls), {})
    runs = [Run(**of_size[program]) for program in PROGRAMS if program in of_size]
    text = page(runs, arguments.note)
    if arguments.urls == 100_000 and len(runs) == len(PROGRAMS):
        publish(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
