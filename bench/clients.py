"""The programs that the benchmark compares: libsdd (the candidate), the baseline in C, and the peers."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import sys
from pathlib import Path
from typing import Protocol

from workloads import Workload

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CHECKSUM_START = 1469598103934665603

BASELINE, CANDIDATE, PYTHON = "baseline", "libsdd", "libsdd from Python"
EXACT = (CANDIDATE, PYTHON)
"""The programs whose pixels must be those of the baseline in every workload."""


@dataclasses.dataclass(frozen=True)
class Job:
    """One run of a program."""

    workload: Workload
    in_flight: int
    urls: Path
    ca_file: Path
    scratch: Path
    """An empty folder, which is deleted after the run."""
    cache: Path | None = None
    """The folder of the disk cache of W9 and W9d."""
    is_check: bool = False
    """Whether the checksums are computed. These runs are not timed."""
    is_prefill: bool = False
    """Whether the cache is filled."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a program says about its run."""

    ok: int
    failed: int
    bytes: int | None
    """None if the program gets pictures from a cache, which has read the bytes."""
    pixels: int | None = None
    wall_s: float | None = None
    first_frame_ms: float | None = None
    checksum: str | None = None
    sum: str | None = None


class Client(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def discards(self) -> bool: ...

    def command(self, job: Job) -> list[str]: ...

    def answer(self, job: Job, output: str) -> Answer | None:
        """Reads what the program has printed; None: not what was expected."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A program with the arguments of sdd-bench, which prints one line of JSON."""

    name: str
    start: tuple[str, ...]
    discards: bool = False
    """Whether it receives bodies without keeping them, so that only their sizes can be compared."""

    def command(self, job: Job) -> list[str]:
        command = [*self.start, "--workload", job.workload.argument, "--inflight", str(job.in_flight),
                   "--urls", str(job.urls)]
        if job.workload.needs_tls:
            command += ["--cacert", str(job.ca_file)]
        if job.cache:
            command += ["--cache", str(job.cache / self.name)]
        if job.is_prefill:
            command.append("--prefill")
        if job.is_check:
            command.append("--verify")
        if job.is_check and job.workload.tolerance and self.name not in EXACT:
            command += ["--pictures", str(job.scratch)]
        return command

    def answer(self, job: Job, output: str) -> Answer | None:
        lines = [line for line in output.splitlines() if line.startswith("{")]
        if not lines:
            return None
        values = json.loads(lines[-1])
        values["bytes"] = values["bytes"] or None
        return Answer(**{field.name: values.get(field.name) for field in dataclasses.fields(Answer)})


@dataclasses.dataclass(frozen=True)
class Curl:
    """The curl program, which writes the bodies to /dev/null; for the check, to files."""

    name: str = "curl"
    discards: bool = False

    def command(self, job: Job) -> list[str]:
        settings = job.scratch / "curl"
        urls = job.urls.read_text().split()
        targets = [str(job.scratch / f"{index}.body") if job.is_check else "/dev/null" for index in range(len(urls))]
        settings.write_text("".join(f'url = "{url}"\noutput = "{target}"\n'
                                    for url, target in zip(urls, targets, strict=True)))
        tls = ["--cacert", str(job.ca_file)] if job.workload.needs_tls else []
        version = "--http2" if job.workload.server == "http2" else "--http1.1"
        # -q: no settings of the user. Without --parallel-immediate curl waits for HTTP/2 on each new connection.
        return ["curl", "-q", "--silent", "--show-error", "--noproxy", "*", "--parallel", "--parallel-immediate",
                "--parallel-max", str(job.in_flight), version, *tls, "--write-out",
                "%{http_code} %{size_download}\\n", "--config", str(settings)]

    def answer(self, job: Job, output: str) -> Answer | None:
        transfers = [line.split() for line in output.splitlines()]
        if any(len(words) != 2 for words in transfers):
            return None
        sizes = [int(size) for status, size in transfers if status == "200"]
        answer = Answer(ok=len(sizes), failed=len(transfers) - len(sizes), bytes=sum(sizes))
        if not job.is_check:
            return answer
        checksum, sum_ = checksums(job.scratch)
        return dataclasses.replace(answer, checksum=checksum, sum=sum_)


def checksums(folder: Path) -> tuple[str, str]:
    """Computes the two checksums of all bodies in a folder."""
    function = ctypes.CDLL(str(BUILD / "bench-checksum.so")).checksum
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    function.restype = ctypes.c_uint64
    exclusive = total = 0
    for file in folder.glob("*.body"):
        data = file.read_bytes()
        hash_ = function(data, len(data), CHECKSUM_START)
        exclusive ^= hash_
        total = (total + hash_) % (1 << 64)
    return f"{exclusive:016x}", f"{total:016x}"


def peer(name: str, client: str, decoder: str | None = None) -> Program:
    start = (sys.executable, str(ROOT / "bench" / "peers" / "peer.py"), "--client", client)
    return Program(name, start + (("--decoder", decoder) if decoder else ()))


def package_for_python() -> Program:
    """The package in bindings/python, as it is in the source tree, under asyncio."""
    folder = ROOT / "bindings" / "python"
    return Program(PYTHON, ("env", f"SDD_LIBRARY={BUILD / 'libsdd.so'}", f"PYTHONPATH={folder / 'src'}",
                            sys.executable, str(folder / "bench" / "candidate.py")))


baseline = Program(BASELINE, (str(BUILD / "bench-baseline"),))
candidate = Program(CANDIDATE, (str(BUILD / "sdd-bench"),))
discarding = (Program("libsdd, discarding", (str(BUILD / "sdd-bench"), "--sink"), discards=True),
              Program("baseline, discarding", (str(BUILD / "bench-baseline"), "--sink"), discards=True))


def peers_of(workload: Workload, work: Path) -> list[Client]:
    """Returns the peers that can do the same work. None of them has a disk cache, or previews of a JPEG."""
    if workload.is_cached or workload.name == "W10":
        return []
    if workload.decodes:
        decoding: list[Client] = [package_for_python(), peer("aiohttp + Pillow", "aiohttp", "pillow"),
                                  peer("pycurl + pyvips", "pycurl", "pyvips")]
        if workload.name not in ("W4", "W5"):  # simplejpeg has few sizes to reduce to, and no PNG
            decoding[1:1] = [peer("pycurl + simplejpeg", "pycurl", "simplejpeg"),
                             peer("aiohttp + simplejpeg", "aiohttp", "simplejpeg")]
        return decoding
    fetching: list[Client] = [package_for_python()] if workload.argument == "W1" else []
    fetching += [Curl(), peer("pycurl", "pycurl")]
    if workload.server != "http2":  # aiohttp has no HTTP/2
        fetching.append(peer("aiohttp", "aiohttp"))
    reqwest = work / "reqwest" / "target" / "release" / "reqwest-peer"
    if reqwest.exists():
        fetching.append(Program("reqwest", (str(reqwest),)))
    return [*discarding, *fetching] if workload.name == "W6" else fetching
