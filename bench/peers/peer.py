#!/usr/bin/env python3
"""Runs a workload with libraries of Python, as an experienced user of them would write it.

    peer.py --client pycurl|aiohttp [--decoder simplejpeg|pillow|pyvips] --workload W2 --urls FILE [--inflight N]
            [--cacert PEM] [--verify] [--pictures DIR]

It prints the line of JSON of the other programs. The time in it is without that of Python's start and of the imports;
the runner also measures the whole process.
"""

from __future__ import annotations

import importlib
import sys

import decoders
from program import Program, parse


def main() -> int:
    arguments = parse()
    decode = decoders.make(arguments.decoder) if arguments.decoder else None
    client = importlib.import_module(f"fetch_{arguments.client}")
    program = Program(arguments, decode)
    client.fetch(program)
    return program.finish()


sys.exit(main())
