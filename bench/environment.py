"""Collects the facts about the machine and the versions that the report names."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from clients import ROOT

PYTHON_PACKAGES = ("aiohttp", "pillow", "pycurl", "pyvips", "pyvips-binary", "simplejpeg")


def output_of(*command: str) -> str:
    """Returns the first line that a command prints; nothing if there is no such command."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    try:
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
                                 env=os.environ | {"PATH": path})
    except FileNotFoundError:
        return ""
    return process.stdout.strip().split("\n")[0] if process.returncode == 0 else ""


def first_match(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    return match.group(1).strip() if match else "unknown"


def machine() -> dict[str, str]:
    processors = first_match(r"^model name\s*:(.*)", Path("/proc/cpuinfo").read_text())
    memory = int(first_match(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text()))
    system = first_match(r'^PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text())
    return {
        "date": datetime.date.today().isoformat(),
        "processors": f"{os.cpu_count()} x {processors}",
        "memory": f"{memory / 1024 / 1024:.0f} GiB",
        "system": f"{system}, Linux {first_match(r'([0-9.]+)', platform.release())}",
        "load at the start": f"{os.getloadavg()[0]:.2f} (average of a minute)",
    }


def commit() -> str:
    name = output_of("git", "describe", "--always", "--abbrev=10", "--exclude=*")
    changed = output_of("git", "status", "--porcelain", "--untracked-files=no", "Sources", "include")
    return f"{name}{', with changes' if changed else ''}"


def versions(work: Path) -> dict[str, str]:
    header = (ROOT / "include" / "sdd" / "base.h").read_text()
    found = {
        "libsdd": f"{first_match(r'define SDD_VERSION_STRING .([0-9.]+)', header)}, commit {commit()}",
        "Swift": first_match(r"Swift version ([0-9.]+)", output_of("swift", "--version")),
        "C compiler": output_of("cc", "--version"),
        "libcurl": output_of("pkg-config", "--modversion", "libcurl"),
        "libjpeg-turbo": output_of("pkg-config", "--modversion", "libjpeg"),
        "libpng": output_of("pkg-config", "--modversion", "libpng"),
        "nginx": first_match(r"nginx/(\S+)", output_of("nginx", "-v")),
        "curl": first_match(r"curl (\S+)", output_of("curl", "--version")),
        "Python": platform.python_version(),
    }
    # Those of the peers, which --no-peers does without.
    for name in PYTHON_PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    with contextlib.suppress(ImportError):
        import pycurl
        found["libcurl of pycurl"] = first_match(r"libcurl/(\S+)", pycurl.version)
    lock = work / "reqwest" / "Cargo.lock"
    if lock.exists():
        found["reqwest"] = first_match(r'name = "reqwest"\nversion = "(.*)"', lock.read_text())
    return {name: version for name, version in found.items() if version}


def corpus_checksum(work: Path, parts: set[str]) -> str:
    whole = hashlib.sha256()
    for part in sorted(parts):
        whole.update((work / "corpus" / f"{part}.sha256").read_bytes())
    return whole.hexdigest()[:16]


def facts(work: Path, command: str, note: str, rounds: int, parts: set[str]) -> dict[str, Any]:
    return {"kind": "facts", "command": command, "note": note, "rounds": rounds, "machine": machine(),
            "versions": versions(work), "corpus": corpus_checksum(work, parts)}
