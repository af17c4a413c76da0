#!/usr/bin/env python3
"""Holds docs/memory-order.md and the atomics of Sources together. Fails if

- an atomic has no row, or a row has no atomic,
- the operations and orders in a row are not those of the code,
- the code orders memory in a way that this program cannot tell an atomic of.

    Tests/house/atomics.py [--list]

--list prints place and operations of each atomic, as a row begins.
"""
import collections
import re
import sys

sys.dont_write_bytecode = True
from sources import ROOT, closing, swift_code  # noqa: E402

PAGE = ROOT / "docs" / "memory-order.md"
ROW = re.compile(r"^\| `([\w+.]+): (\w+)` \|([^|]*)\|([^|]*)\|([^|]*)\|$", re.MULTILINE)

SWIFT_MADE = re.compile(r"\b(?:let|var) (\w+)(?: = |: )(?:InlineArray<\d+, )?Atomic\b")
SWIFT_USED = re.compile(r"\b(\w+)(?:\[[^\]]*\])?\.(\w+)\(")
SWIFT_ORDER = re.compile(r"\bordering: \.(\w+)")
SWIFT_FENCE = "atomicMemoryFence"

C_MADE = re.compile(r"\b(?:atomic_\w+|_Atomic\(\w+\)) \*?(\w+)\b(?=[\[;,) =])")
C_USED = re.compile(r"\batomic_(\w+)_explicit\(&?(\w+)[^;]*?((?:memory_order_\w+(?:, )?)+)")
C_ORDER = re.compile(r"\bmemory_order_(\w+)")
C_OTHERS = re.compile(r"__atomic_\w+|__sync_\w+|\batomic_(?:load|store|exchange|fetch_\w+|thread_fence)\(|\bvolatile\b")

SHORT = {
    "acquiring": "acquire",
    "releasing": "release",
    "acquiringAndReleasing": "acq-rel",
    "acq_rel": "acq-rel",
    "sequentiallyConsistent": "seq-cst",
    "seq_cst": "seq-cst",
}


class Code:
    def __init__(self):
        self.made = set()  # (file, name)
        self.used = collections.defaultdict(set)  # (file, name): {"load relaxed"}
        self.wrong = []

    def read_swift(self, paths):
        texts = {path: swift_code(path.read_text(encoding="utf-8")) for path in paths}
        for path, text in texts.items():
            self.made |= {(path.name, name) for name in SWIFT_MADE.findall(text)}
        for path, text in texts.items():
            seen = 0
            for match in SWIFT_USED.finditer(text):
                orders = SWIFT_ORDER.findall(own_arguments(text, match.end() - 1))
                if not orders:
                    continue
                seen += len(orders)
                self.use(path, match[1], match[2], orders)
            for match in re.finditer(SWIFT_FENCE + r"\(ordering: \.(\w+)\)", text):
                seen += 1
                self.made.add((path.name, SWIFT_FENCE))
                self.used[path.name, SWIFT_FENCE].add("fence " + SHORT.get(match[1], match[1]))
            if seen != len(SWIFT_ORDER.findall(text)):
                self.wrong.append(f"{path.name}: {len(SWIFT_ORDER.findall(text))} orders, but {seen} are of known calls")

    def read_c(self, paths):
        for path in paths:
            text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
            self.made |= {(path.name, name) for name in C_MADE.findall(text)}
            seen = 0
            for call, name, orders in C_USED.findall(text):
                orders = C_ORDER.findall(orders)
                seen += len(orders)
                self.use(path, name, call, orders)
            if seen != len(C_ORDER.findall(text)):
                self.wrong.append(f"{path.name}: {len(C_ORDER.findall(text))} orders, but {seen} are of known calls")
            for word in C_OTHERS.findall(text):
                self.wrong.append(f"{path.name}: {word}: use <stdatomic.h>, with an explicit order")

    def use(self, path, name, call, orders):
        """Adds an operation to the atomic of that name in the file, or in the file whose type this one extends."""
        for file in (path.name, path.name.split("+")[0].removesuffix(path.suffix) + path.suffix):
            if (file, name) in self.made:
                self.used[file, name] |= {f"{call} {SHORT.get(order, order)}" for order in orders}
                return
        self.wrong.append(f"{path.name}: {name}.{call} has an order, and no atomic of that name is in its file")


def own_arguments(text, at):
    """Returns the arguments of the call whose bracket is at `at`, without those of calls inside."""
    inside, out, depth = text[at + 1 : closing(text, at)], [], 0
    for character in inside:
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(character, 0)
        if depth == 0:
            out.append(character)
    return "".join(out)


def main():
    code = Code()
    code.read_swift(sorted((ROOT / "Sources").rglob("*.swift")))
    code.read_c(sorted(path for path in (ROOT / "Sources").rglob("*.[ch]")))
    found = {key: ", ".join(sorted(code.used[key])) for key in code.made}
    if "--list" in sys.argv:
        for (file, name), operations in sorted(found.items()):
            print(f"| `{file}: {name}` | {operations} |")
        return 0

    wrong, rows = code.wrong, {}
    for file, name, operations, partner, reason in ROW.findall(PAGE.read_text(encoding="utf-8")):
        if (file, name) in rows:
            wrong.append(f"`{file}: {name}` has two rows")
        rows[file, name] = operations.strip()
        if not partner.strip() or not reason.strip():
            wrong.append(f"`{file}: {name}`: the row does not say what it pairs with, or why")
    for key in sorted(found.keys() | rows.keys()):
        place = "`{}: {}`".format(*key)
        if key not in rows:
            wrong.append(f"{place} has no row in docs/memory-order.md")
        elif key not in found:
            wrong.append(f"{place}: Sources has no such atomic")
        elif rows[key] != found[key]:
            wrong.append(f"{place}: the code has {found[key]}, the row {rows[key]}")
    for line in wrong:
        print("not ok", line)
    if not wrong:
        print(f"ok memory orders: {len(found)} atomics")
    return bool(wrong)


sys.exit(main())
