#!/usr/bin/env python3
"""Counts comments that cannot be read alone: those whose first word refers to the line or sentence before, such as
"What is left of it" or "Of those, the urgent ones". Fails if a folder has more of them than 1 in 100.

    Tests/house/comments.py [--list]       --list shows each of them
"""
import re
import sys

sys.dont_write_bytecode = True
from sources import ROOT  # noqa: E402

FOLDERS = ("Sources", "include", "Tests", "bench", "examples", "toolkits", "tools")
MOST = 0.01

OPENING = re.compile(
    r"(What|Who|Whom|Whose|Of|That of|Those (that|who|of|which)|The (one|ones|others) (that|of|which)|Which|Such as|"
    r"As (is|are)|So (is|are|does|do)|Nor|Neither of|Both of|None of) ?\b"
)
MARK = re.compile(r"^\s*(///?|/\*\*?|\*(?!/)|#)\s?(.*?)(\s*\*/)?$")
QUESTION = re.compile(r"\?\s*$")


def blocks(path):
    """Yields the number of the first line and the text of each block of comment lines."""
    start, lines = 0, []
    for number, line in enumerate([*path.read_text(errors="replace").splitlines(), ""], 1):
        match = MARK.match(line)
        if match and not (path.suffix in (".c", ".h") and line.lstrip().startswith("#")):
            if not lines:
                start = number
            lines.append(match[2])
        elif lines:
            text = " ".join(part for part in lines if part).strip()
            if text:
                yield start, text
            lines = []


def main():
    failed = False
    for folder in FOLDERS:
        total, found = 0, []
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".swift", ".c", ".h", ".hpp"):
                continue
            for line, text in blocks(path):
                total += 1
                if OPENING.match(text) and not QUESTION.search(text):
                    found.append(f"{path.relative_to(ROOT)}:{line}: {text[:80]}")
        share = len(found) / total if total else 0
        print(f"{folder}: {len(found)} of {total} comments, {100 * share:.1f} %")
        if share > MOST or "--list" in sys.argv:
            print("\n".join(found))
        failed = failed or share > MOST
    sys.exit(failed)


main()
