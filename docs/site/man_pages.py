"""Turns the manual pages of docs/man, which mandoc reads, into pages of the site."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from header import ROOT

FOLDER = ROOT / "docs" / "man"
SPECIAL = re.compile(r"([\\`*_\[\]<>{}#|$])")


def plain(text: str) -> str:
    """Text whose characters mean nothing in Markdown."""
    return SPECIAL.sub(r"\\\1", text)


class Writer(HTMLParser):
    """Collects the parts of a page, as mandoc writes them in HTML, as Markdown.

    `blocks` are the paragraphs, lists and headings so far; `words` is the text of the paragraph that is being read. A
    definition's term and text have blocks of their own, which are joined when it ends.
    """

    def __init__(self, pages: set[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.pages = pages
        self.blocks: list[str] = []
        self.outer: list[list[str]] = []
        self.words = ""
        self.code: str | None = None  # the text inside of <code>, which is not escaped
        self.variable: str | None = None  # the text inside of <var>
        self.link: str | None = None  # the text inside of a reference to a page
        self.in_example = False
        self.skipping = ""  # the class of the table that names the page and its date

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        kind = dict(attributes).get("class") or ""
        if tag == "table" and kind in ("head", "foot"):
            self.skipping = kind
        elif tag in ("p", "dl", "table") or (tag == "div" and kind.startswith("Bd")):
            self.end_block()
            self.in_example = tag == "div"
        elif tag in ("h1", "dt"):
            self.end_block()
        elif tag == "dd":
            self.end_block()
            self.outer.append(self.blocks)
            self.blocks = []
        elif tag == "code":
            self.code = ""
        elif tag == "var":
            self.variable = ""
        elif tag == "a" and kind == "Xr":
            self.link = ""
        elif tag == "td" and self.words:
            self.words += " "

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self.skipping:
            self.skipping = ""
        elif tag == "code" and self.code is not None:
            text, self.code = " ".join(self.code.split()), None
            self.words += text if self.in_example else f"`{text}`"
        elif tag == "var" and self.variable is not None:
            text, self.variable = " ".join(self.variable.split()), None
            self.words += f"*{plain(text)}*" if text else ""
        elif tag == "a" and self.link is not None:
            text, self.link = self.link, None
            name = text.partition("(")[0]
            self.words += f"[{text}]({name}.md)" if name in self.pages else plain(text)
        elif tag == "h1":
            heading, self.words = " ".join(self.words.split()), ""
            self.blocks.append(f"## {heading if heading == 'JSON' else heading.capitalize()}")
        elif tag == "dt":
            self.end_block()
        elif tag == "dd":
            self.end_block()
            text, self.blocks = "\n\n".join(self.blocks), self.outer.pop()
            body = text.replace("\n", "\n  ")
            self.blocks[-1] += f"\n: {body}"
        elif tag in ("p", "table", "div", "section"):
            self.end_block()

    def handle_data(self, data: str) -> None:
        if self.skipping:
            return
        if self.code is not None:
            self.code += data
        elif self.variable is not None:
            self.variable += data
        elif self.link is not None:
            self.link += data
        else:
            self.words += plain(data)

    def end_block(self) -> None:
        text, self.words = " ".join(self.words.split()), ""
        if text and self.in_example:
            self.blocks.append(f"```text\n{text}\n```")
        elif text:
            self.blocks.append(text)
        self.in_example = False


def convert(path: Path, pages: set[str]) -> str:
    """Returns the page in Markdown. Its first section, the name, becomes the title."""
    command = ["mandoc", "-T", "html", "-O", "fragment", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    writer = Writer(pages)
    writer.feed(done.stdout)
    writer.end_block()
    head, name, *rest = writer.blocks
    assert head == "## Name", f"{path.name} does not begin with its name"
    what = name.partition("—")[2].strip()
    return "\n\n".join([f"# {path.stem}(1)", f"{what[0].upper()}{what[1:]}.", *rest]) + "\n"


def write(folder: Path) -> list[str]:
    """Writes a page for each manual page of the program sdd, and returns their names, that of sdd itself first."""
    paths = sorted(FOLDER.glob("*.1"))
    pages = {path.stem for path in paths}
    folder.mkdir(parents=True)
    for path in paths:
        (folder / f"{path.stem}.md").write_text(convert(path, pages), encoding="utf-8")
    return sorted(pages)
