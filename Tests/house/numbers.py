#!/usr/bin/env python3
"""Prints numbers of the code that documents quote (figures.py compares them).

    Tests/house/numbers.py interface    calls, structs and fields of the header
    Tests/house/numbers.py folders      the folders of Sources with the most files
    Tests/house/numbers.py guard        the record of `make bench-guard` with Debian 12's libcurl, a table
"""
import collections
import json
import sys

sys.dont_write_bytecode = True
from sources import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "docs" / "site"))
from header import read_header  # noqa: E402


def interface():
    items = [item for chapter in read_header() for item in chapter.parts if hasattr(item, "kind")]
    kinds = collections.Counter(item.kind for item in items)
    fields = sum(len(item.members) for item in items if item.kind == "struct")
    reserved = sum(m.name.startswith("reserved") for item in items if item.kind == "struct" for m in item.members)
    print(f"{kinds['function']} calls, {kinds['struct']} structs with {fields} fields, {reserved} of them reserved")


def folders():
    counts = collections.Counter(
        path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "Sources").rglob("*.swift")
    )
    for folder, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:3]:
        print(f"{folder}: {count} files")


def guard():
    figures = json.loads((ROOT / "bench" / "guard" / "libcurl-7.88.1.json").read_text())["figures"]
    units = list(next(iter(figures.values())))
    print(f"{'':24}" + "".join(f" {unit:>12}" for unit in units))
    for name, counts in figures.items():
        print(f"{name:24}" + "".join(f" {counts[unit]:>12,.{0 if unit == 'instructions' else 1}f}" for unit in units))


TOPICS = {"interface": interface, "folders": folders, "guard": guard}
if len(sys.argv) != 2 or sys.argv[1] not in TOPICS:
    sys.exit(__doc__)
TOPICS[sys.argv[1]]()
