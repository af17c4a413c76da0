"""The commands on pages for developers, which take hours or need other machines and are not run: their blocks in sh
must parse, and name only targets of the Makefile, scripts and folders that are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

BLOCK = re.compile(
    r"(?:^<!-- test: (?P<mark>.*?) -->\n)?^```(?P<language>[^\n`]*)\n(?P<body>.*?)^```[ \t]*$"
    r"(?:\n\n```output\n(?P<output>.*?)^```[ \t]*$)?",
    re.DOTALL | re.MULTILINE,
)

PLACE = re.compile(r"^(?:\./)?((?:Tests|tools|bench|bindings|docs|examples|debian|packaging)/[\w./-]+)$")
MADE = ("build/", ".build/")


def developer_pages(others: list[Path]) -> list[Path]:
    return [
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "bench/README.md",
            "examples/coders/README.md",
            "Tests/FaultServer/README.md",
            "bindings/rust/README.md",
        )
    ] + [page for page in sorted((ROOT / "docs").glob("*.md")) if page not in others]


def command_faults(page: Path, text: str) -> list[str]:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    faults = []
    for found in BLOCK.finditer(text):
        if found["language"].strip() != "sh":
            continue
        place = f"{page.name}:{text.count(chr(10), 0, found.start('language')) + 1}"
        done = subprocess.run(["bash", "-n", "-c", found["body"]], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            faults.append(f"{place}: {done.stderr}")
        for line in found["body"].replace("\\\n", " ").splitlines():
            words = line.partition(" #")[0].split()
            if "make" in words:
                goals = words[words.index("make") + 1 :]
                for goal in goals[: goals.index("&&")] if "&&" in goals else goals:
                    if re.fullmatch(r"[a-z][a-z-]*", goal) and goal not in targets:
                        faults.append(f"{place}: the Makefile has no target {goal}")
            for word in words:
                named = PLACE.match(word)
                if named and not named[1].startswith(MADE) and not (ROOT / named[1]).exists():
                    faults.append(f"{place}: there is no {named[1]}")
    return faults


def headline_faults() -> list[str]:
    """The README and the home page of the site show one chart, with the same figures."""
    pages = (ROOT / "README.md", ROOT / "docs" / "benchmarks" / "headline.md")
    texts = [
        re.findall(r"!\[([^\]]*)\]\((?:docs/benchmarks/)?headline\.svg\)", page.read_text("utf-8")) for page in pages
    ]
    if len(texts[0]) != 1 or texts[0] != texts[1]:
        return ["README.md and docs/benchmarks/headline.md have other figures: bench/report.py writes both"]
    return []


def check_commands(others: list[Path]) -> list[str]:
    broken = "```sh\nmake none\nTests/none.sh\nif\n```\n"
    if len(command_faults(Path("broken.md"), broken)) != 3:
        raise SystemExit("Tests/Docs/run.py: broken commands are not found")
    faults = headline_faults()
    for page in developer_pages(others):
        faults += command_faults(page, page.read_text(encoding="utf-8"))
    return faults
