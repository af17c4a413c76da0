#!/usr/bin/env python3
"""Follows a load through the debug build, step by step, and prints the tables "Hops of a load" of docs/design.md: a row
for each step that says its name (Sources/SDDBase/Threads/Trace.swift).

    Tests/Hops/hops.py [--check | --write]

  --check   compares the tables with docs/design.md; the status is 1 if they differ, or a load takes more steps or locks
            than MOST allows
  --write   writes them there

  SCRATCH   SwiftPM's build folder, which has the debug library and the fault server; default: .build
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs/design.md"
BUILT = ROOT / os.environ.get("SCRATCH", ".build") / "debug"
BEGIN, END = "<!-- Written by Tests/Hops/hops.py. -->\n", "<!-- Until here. -->\n"

# The kinds of loads: their names, the path at the server, and the most steps, locks of the downloader's table and of
# the loader's that they may take.
KINDS = {
    "cold": ("cold load", "file/png/rgb8.png", (14, 3, 3)),
    "disk": ("disk hit", "file/png/rgb8.png", (12, 2, 3)),
    "memory": ("memory hit", "file/png/rgb8.png", (4, 0, 0)),
    "cancel": ("cancel of a running load", "hold/hops", (5, 1, 1)),
}


def steps_of(kind, path, port, program, work):
    """Returns the steps of a load: (thread, lock, file, name)."""
    trace = work / f"{kind}.trace"
    trace.touch()
    url = f"http://127.0.0.1:{port}/{path}"
    environment = dict(os.environ, SDD_TRACE=str(trace))
    subprocess.run([program, kind, url, work / kind], env=environment, check=True, timeout=300)
    lines = trace.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[lines.index("begin") + 1:]]


def thread_name(name):
    return name.rstrip("0123456789").rstrip("-") if name.startswith("sdd-") else "the application's"


def table(kind, steps):
    yield f"| | {KINDS[kind][0]} | in | lock | thread |"
    yield "| --- | --- | --- | --- | --- |"
    last = None
    for number, (thread, lock, file, name) in enumerate(steps, 1):
        thread = thread_name(thread)
        where = "" if thread == last else thread
        last = thread
        yield f"| {number} | {name} | `{Path(file).stem}` | {lock} | {where} |"


def counts(steps):
    locks = [lock for _, lock, _, _ in steps]
    return len(steps), locks.count("T"), locks.count("L")


def walk(work):
    program = work / "walk"
    subprocess.run(
        ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-D_DEFAULT_SOURCE", f"-I{ROOT}/include",
         ROOT / "Tests/Hops/walk.c", "-o", program, f"-L{BUILT}", "-lsdd", f"-Wl,-rpath,{work}"], check=True)
    (work / "libsdd.so.0").symlink_to(BUILT / "libsdd.so")
    server = subprocess.Popen([BUILT / "fault-server", "--files", ROOT / "Tests/Fixtures"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().split()[1]
        return {kind: steps_of(kind, path, port, program, work) for kind, (_, path, _) in KINDS.items()}
    finally:
        server.stdin.close()
        server.wait()


def main():
    if sys.argv[1:] not in ([], ["--check"], ["--write"]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        steps = walk(Path(work))
    summary = ["| | hops | locks of tables |", "| --- | --- | --- |"]
    for kind, (name, _, _) in KINDS.items():
        hops, table_locks, loader_locks = counts(steps[kind])
        summary.append(f"| {name} | {hops} | {table_locks} T, {loader_locks} L |")
    text = "\n".join(["\n".join(table(kind, steps[kind])) + "\n" for kind in KINDS] + summary) + "\n"
    if not sys.argv[1:]:
        return print(text, end="")
    document = DOCUMENT.read_text(encoding="utf-8")
    start, end = document.index(BEGIN) + len(BEGIN), document.index(END)
    if sys.argv[1:] == ["--write"]:
        DOCUMENT.write_text(document[:start] + text + document[end:], encoding="utf-8")
        return None
    wrong = [f"{KINDS[kind][0]}: {counts(steps[kind])} steps, T and L, at most {KINDS[kind][2]} are allowed"
             for kind in KINDS if any(a > b for a, b in zip(counts(steps[kind]), KINDS[kind][2]))]
    if document[start:end] != text:
        wrong.append(f"docs/design.md has other tables; Tests/Hops/hops.py --write writes these:\n{text}")
    if wrong:
        sys.exit("hops.py: " + "\nhops.py: ".join(wrong))
    return print("ok hops of a load: " + ", ".join(f"{KINDS[kind][0]} {counts(steps[kind])[0]}" for kind in KINDS))


if __name__ == "__main__":
    main()
