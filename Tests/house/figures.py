#!/usr/bin/env python3
"""Compares figures that a document quotes from a tool with what the tool says. A document quotes a tool so:

    <!-- output of Tests/house/lengths.py -->
    ```
    what the tool prints
    ```

Fails if the tool prints something else, or fails; if docs/reliability.md, which `make torture` writes, has a row that
failed, or rows of different commits; or if no document quotes anything. With --write, the tools' outputs are written
into the documents.

    Tests/house/figures.py [--write]
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from sources import ROOT  # noqa: E402

QUOTE = re.compile(r"(<!-- output of (\S[^\n]*?) -->\n```[a-z]*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
OPENED = re.compile(r"<!-- output of ")
TOOLS = "Tests/house/"  # they take seconds and change nothing


def output_of(command):
    if not command.startswith(TOOLS):
        return None, f"{command} is no tool of {TOOLS}"
    done = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"{command} failed: {done.stderr.strip()[-300:]}"
    return done.stdout, None


def reliability(text):
    """Yields what is wrong with the table of the page that `make torture` writes."""
    rows = [line for line in text.split("<!-- From here on by hand. -->")[0].splitlines() if re.match(r"\| .*`", line)]
    for row in rows:
        if "**failed**" in row:
            yield "a suite has failed: " + row[:60]
    commits = {row.rstrip(" |").rsplit(", ", 1)[-1] for row in rows}
    if len(commits) > 1:
        yield f"its rows are of the commits {', '.join(sorted(commits))}, not of one"


def main():
    is_writing = sys.argv[1:] == ["--write"]
    if sys.argv[1:] and not is_writing:
        sys.exit(__doc__)
    wrong, count = [], 0
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT)
        quotes = list(QUOTE.finditer(text))
        if len(quotes) != len(OPENED.findall(text)):
            wrong.append(f"{name}: a mark \"output of\" without a block of code behind it")
        new = text
        for quote in quotes:
            count += 1
            said, fault = output_of(quote[2])
            if fault:
                wrong.append(f"{name}: {fault}")
            elif said != quote[3]:
                new = new.replace(quote[0], quote[1] + said + quote[4])
                if not is_writing:
                    wrong.append(f"{name}: {quote[2]} now prints\n{said}")
        if new != text and is_writing:
            path.write_text(new, encoding="utf-8")
        if name.as_posix() == "docs/reliability.md":
            wrong += [f"{name}: {fault}" for fault in reliability(text)]
    if not count:
        wrong.append("no document quotes a tool")
    for line in wrong:
        print(f"figures.py: {line}", file=sys.stderr)
    if wrong:
        sys.exit("figures.py: Tests/house/figures.py --write writes what the tools say into the documents")
    print(f"ok figures: {count} outputs of tools in documents")


main()
