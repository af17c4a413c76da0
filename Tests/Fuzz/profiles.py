#!/usr/bin/env python3
"""Writes the colour profiles of the fixtures into a folder, as seeds for fuzzing.

    profiles.py FOLDER             the profiles
    profiles.py --bodies FOLDER    the bodies for the coder icc: pixels with their profile
"""

import struct
import sys
from pathlib import Path

from PIL import Image

LARGEST = 16384
FIXTURES = Path(__file__).parents[1] / "Fixtures/colour"

*options, folder = sys.argv[1:]
for path in sorted(FIXTURES.glob("*.*g")):
    profile = Image.open(path).info.get("icc_profile", b"")
    seed = profile if 0 < len(profile) < LARGEST else b""
    if seed and options == ["--bodies"]:
        head = struct.pack(">14s4I", b"libsdd pixels", 8, 2, profile[16:20] == b"CMYK", len(profile))
        seed = head + profile + bytes(range(0, 256, 4)) if profile[16:20] in (b"RGB ", b"CMYK") else b""
    if seed:
        Path(folder, f"profile-{path.stem}.icc").write_bytes(seed)
