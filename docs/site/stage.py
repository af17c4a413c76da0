#!/usr/bin/env python3
"""Gathers the pages of the site for Sphinx: Markdown from all over the repository, and the reference from the sources.

    docs/site/stage.py FOLDER       writes FOLDER, which is emptied first; docs/site/conf.py builds the site from it

Pages stay where they are in the repository, where their links work for readers of the repository too. Here

- a link to another page leads to its place in the site; a link to any other file of the repository becomes its name;
- the name of a call, type or number of the header, such as `sdd_load()`, becomes a link to the reference;
- the manual pages of docs/man become pages;
- ```dot blocks become diagrams, and the marks of the tests (Tests/Docs/run.py) go.

Fails if a link leads to a file that is not there, or a page of the repository has no place in the site.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import c_reference
import cpp_reference
import man_pages
import python_reference
from header import ROOT, known_names, read_header

# Pages outside docs/, and pages of docs/ that have another name in the site.
PLACES = {
    "docs/site/index.md": "index.md",
    "docs/site/reference.md": "reference/index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "bench/README.md": "bench.md",
    "bindings/python/README.md": "python.md",
    "bindings/python/DISTRIBUTED.md": "distributed.md",
    "bindings/rust/README.md": "rust.md",
    "examples/coders/README.md": "example-coders.md",
    "Tests/FaultServer/README.md": "fault-server.md",
}
SAME_TEXT = {"bindings/rust/sdd/README.md": "bindings/rust/README.md", "README.md": "docs/site/index.md"}
NO_PAGES = {f"docs/benchmarks/{part}.md" for part in ("distributed", "formats", "headline")}  # parts of other pages
NO_PAGES.add("docs/site/examples.md")  # its parts are on the pages of the reference

# The order of the pages, by their places in the site. A page that is nowhere here goes to the last part; one that the
# repository does not have is left out.
PARTS = [
    (
        "Get started",
        ["guides/install", "guides/start-c", "guides/start-cpp", "guides/start-python", "guides/start-rust"],
    ),
    (
        "Guides",
        [
            "guides/event-loops",
            "guides/toolkits",
            "guides/caching",
            "guides/sizes",
            "guides/colours",
            "guides/gain-maps",
            "guides/progressive",
            "guides/big-lists",
            "guides/untrusted-urls",
            "guides/extending",
            "coders",
            "debugging",
            "guides/packaging",
        ],
    ),
    (
        "Coming from",
        [
            "guides/from-sdwebimage",
            "guides/from-libcurl-stb",
            "guides/from-aiohttp-pillow",
            "guides/from-libsoup-gdk-pixbuf",
            "ports",
        ],
    ),
    (
        "Reference",
        ["reference/index", "python", "distributed", "rust", "tool", "man/sdd", "features", "sdwebimage", "examples",
         "example-coders"],
    ),
    ("Benchmarks", ["benchmarks", "bench", "performance", "scaling"]),
    (
        "Project",
        [
            "changelog",
            "abi",
            "security",
            "threat-model",
            "reliability",
            "requirements",
            "contributing",
            "design",
            "map",
            "glossary",
            "house",
            "memory-order",
            "decisions/index",
            "libcurl-state",
            "fuzzing",
            "packaging",
            "fault-server",
        ],
    ),
]
PICTURES = {".svg", ".png", ".jpg"}

FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE
)
MARK = re.compile(r"^<!-- test: .*?-->\n", re.DOTALL | re.MULTILINE)
LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])+)\]\((?P<target>[^)\s]+)(?P<title>\s+\"[^\"]*\")?\)"
)
NAME = re.compile(r"(?<!`)`(?P<name>(?:sdd|SDD)_\w+(?:\.\w+)?)(?:\(\))?`(?!`)")


def places() -> dict[str, str]:
    """Maps each page, by its path in the repository, to its path in the site."""
    found = dict(PLACES)
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        if name not in found and name not in NO_PAGES and not name.startswith("docs/man/"):
            found[name] = name.removeprefix("docs/")
            if name.startswith("docs/ports/"):  # a folder's README is the page of that name
                found[name] = found[name].replace("/README.md", ".md")
    return {name: place for name, place in found.items() if (ROOT / name).exists()}


class Stager:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = places()
        self.chapters = read_header()
        self.known = known_names(self.chapters)
        self.wrong: list[str] = []

    def target(self, page: str, target: str) -> str | None:
        """Returns a link's target in the site; None for a file without a page."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        name, hash_mark, anchor = target.partition("#")
        if page == "docs/site/reference.md" and name.endswith(".rst"):  # a page that is made here
            return name
        goal = ((ROOT / page).parent / name).resolve()
        if not goal.exists():
            self.wrong.append(f"{page}: {target} is not there")
            return None
        inside = goal.relative_to(ROOT).as_posix() if goal.is_relative_to(ROOT) else ""
        inside = SAME_TEXT.get(inside, inside)
        if found := re.fullmatch(r"include/sdd/(\w+)\.h", inside):
            return self.relative(page, f"reference/{found[1]}.rst") + hash_mark + anchor
        if inside.startswith("include/sdd/") and inside.endswith(".hpp"):
            return self.relative(page, "reference/cpp.md")
        if inside == "docs/decisions":
            return self.relative(page, "decisions/index.md")
        if inside in self.pages:
            return self.relative(page, self.pages[inside]) + hash_mark + anchor
        if inside.startswith("docs/man/") and goal.suffix == ".1":
            return self.relative(page, f"man/{goal.stem}.md")
        if goal.suffix in PICTURES and inside.startswith("docs/"):
            place = inside.removeprefix("docs/")
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(goal, self.folder / place)
            return self.relative(page, place)
        return None

    def relative(self, page: str, place: str) -> str:
        depth = self.pages[page].count("/")
        return "../" * depth + place

    def text(self, page: str, text: str) -> str:
        out, at = [], 0
        text = MARK.sub("", text)
        if page == "docs/site/index.md":
            headline = (ROOT / "docs" / "benchmarks" / "headline.md").read_text(encoding="utf-8")
            # The links of the headline are those of a page in docs/benchmarks.
            text = text.replace("HEADLINE\n", headline.replace("](", "](../benchmarks/"))
            text = text.replace("TOCTREE\n", self.toctree())
        if page == "docs/site/reference.md":
            names = [(chapter.name, chapter.title) for chapter in self.chapters]
            rows = [f"| [sdd/{name}.h]({name}.rst) | {title} |" for name, title in names]
            tree = "\n".join(name for name, _ in names)
            text = text.replace("CHAPTERS\n", "\n".join(rows) + "\n").replace("CHAPTERTREE\n", tree + "\n")
        for fence in FENCE.finditer(text):
            out.append(self.prose(page, text[at : fence.start()]))
            out.append(self.fence(fence))
            at = fence.end()
        out.append(self.prose(page, text[at:]))
        return "".join(out)

    def toctree(self) -> str:
        """The tree of all pages, in parts."""
        there = {place.removesuffix(".md") for place in self.pages.values()} | {"decisions/index", "man/sdd"}
        ports = sorted(name for name in there if name.startswith("ports/"))
        named = {name for _, names in PARTS for name in names} | set(ports)
        rest = sorted(name for name in there - named - {"index"} if not name.startswith("decisions/"))
        lines = []
        for title, names in [*PARTS, ("More", rest)]:
            shown = [name for name in names if name in there]
            if "ports" in shown:
                shown += ports
            if shown:
                lines += ["```{toctree}", ":hidden:", ":maxdepth: 1", f":caption: {title}", "", *shown, "```", ""]
        return "\n".join(lines)

    def fence(self, found: re.Match[str]) -> str:
        language = found["language"].strip()
        if language == "dot":
            caption = re.search(r"//\s*(.*)", found["body"])
            options = f":alt: {caption[1]}\n" if caption else ""
            return f"```{{graphviz}}\n{options}{found['body']}```"
        if language == "output":
            return f"```{{code-block}} text\n:class: sdd-output\n\n{found['body']}```"
        if not language:
            return f"{found['fence']}text\n{found['body']}{found['fence']}"
        return found[0]

    def prose(self, page: str, text: str) -> str:
        def link(found: re.Match[str]) -> str:
            target = self.target(page, found["target"])
            if target is None:
                label = found["text"]
                return label if "`" in label else f"`{label}`" if re.search(r"[/.]\w", label) else label
            return f"{found['picture']}[{found['text']}]({target}{found['title'] or ''})"

        def name(found: re.Match[str]) -> str:
            if found["name"] not in self.known:
                return found[0]
            return f"{{c:{self.known[found['name']][0]}}}`{found['name']}`"

        text = LINK.sub(link, text)
        # Names become links, except inside the text of a link and in headings, whose anchors are made of their text.
        lines = []
        for line in text.split("\n"):
            if not line.startswith("#"):
                parts = re.split(r"(\[[^\]]*`[^\]]*\]\([^)]*\))", line)
                line = "".join(part if index % 2 else NAME.sub(name, part) for index, part in enumerate(parts))
            lines.append(line)
        return "\n".join(lines)

    def write(self) -> None:
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True)
        for page, place in self.pages.items():
            path = self.folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text(page, (ROOT / page).read_text(encoding="utf-8")), encoding="utf-8")
        self.decisions()
        reference = self.folder / "reference"
        c_reference.write(self.chapters, self.known, reference)
        cpp_reference.write(reference / "cpp.md")
        python_reference.write(reference / "python.rst")
        self.manual()
        if self.wrong:
            sys.exit("\n".join(self.wrong))

    def manual(self) -> None:
        """The manual pages of the program sdd: those of its commands are below its own."""
        pages = man_pages.write(self.folder / "man")
        below = [name for name in pages if name != "sdd"]
        with (self.folder / "man" / "sdd.md").open("a", encoding="utf-8") as page:
            page.write("\n".join(["", "```{toctree}", ":hidden:", "", *below, "```", ""]))

    def decisions(self) -> None:
        lines = ["# Decisions", "", "Decisions that are hard to undo, with their reasons.", ""]
        names = [name for name in self.pages if name.startswith("docs/decisions/")]
        for name in names:
            title = (ROOT / name).read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            lines.append(f"- [{title}]({Path(name).name})")
        lines += ["", "```{toctree}", ":hidden:", "", *[Path(name).stem for name in names], "```"]
        (self.folder / "decisions" / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Stager(Path(sys.argv[1])).write()
