#!/usr/bin/env python3
"""Reads what the simulation writes, and puts functions and lines in place of the addresses of its stacks.

    simulate --seed N 2>&1 | stacks.py
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys

PLACE = re.compile(r"^(/?[^(\s]+)\((\w*)\+(0x[0-9a-f]+)\)\[0x[0-9a-f]+\]$")


@functools.cache
def name_of(program: str, address: str) -> str:
    said = subprocess.run(["addr2line", "-fpse", program, address], capture_output=True, text=True).stdout.strip()
    if "?" in said or not said:
        return ""
    if shutil.which("swift"):
        name, _, place = said.partition(" at ")
        plain = subprocess.run(["swift", "demangle", "--compact", "--simplified", name], capture_output=True, text=True)
        said = f"{plain.stdout.strip()} at {place}"
    return said


def main() -> int:
    for line in sys.stdin:
        found = PLACE.match(line.strip())
        name = name_of(found[1], found[3]) if found and not found[2] else ""
        print(f"    {name}" if name else line, end="\n" if name else "", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
