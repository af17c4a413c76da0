"""Writes the reference of the C interface for Sphinx: one page for each chapter of the header."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from header import Chapter, Doc, Item, Member, Prose, Section

PARTS = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|(?P<call>\bsdd_\w+)\(\)"
    r"|(?P<name>\b(?:sdd|SDD)_\w+(?:\.\w+)?)"
    r"|(?P<plain>(?<![\w/])_?[a-zA-Z0-9]*_\w+)"
)
EXAMPLE = re.compile(r"^## (\w+): ([^\n]*)\n\n<!-- test: [^\n]*-->\n```c\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OTHERS = {"sdd_coder_main"}  # functions that a shared object of the application has
SPECIAL = re.compile(r"([\\*`|_<>])")
INDENT = "   "


class Writer:
    """Turns text of the header's comments into reStructuredText."""

    def __init__(self, known: dict[str, tuple[str, str]]) -> None:
        self.known = known

    def inline(self, text: str) -> str:
        out, at = [], 0
        for found in PARTS.finditer(text):
            out.append(SPECIAL.sub(r"\\\1", text[at : found.start()]))
            at = found.end()
            before = "\\ " if out and out[-1] and not out[-1][-1].isspace() and out[-1][-1] not in "([{\"'-/:" else ""
            after = "\\ " if at < len(text) and not text[at].isspace() and text[at] not in ")]}\"'-/:.,;!?" else ""
            out.append(f"{before}{self.word(found)}{after}")
        out.append(SPECIAL.sub(r"\\\1", text[at:]))
        return "".join(out)

    def word(self, found: re.Match[str]) -> str:
        if found["code"]:
            name = found["code"][1:-1]
            return self.role(name) if name in self.known else f"``{name}``"
        if found["call"]:
            if found["call"] in OTHERS:
                return f"``{found['call']}()``"
            if found["call"] not in self.known:
                raise SystemExit(f"the header has no {found['call']}(), which a comment names")
            return f":c:func:`{found['call']}`"
        if name := found["name"]:
            if name in self.known:
                return self.role(name)
            first, dot, rest = name.partition(".")
            if dot and first in self.known:
                return f"{self.role(first)}\\ {SPECIAL.sub(chr(92) * 2 + '1', dot + rest)}"
            return f"``{name}``"
        return f"``{found['plain']}``"

    def role(self, name: str) -> str:
        return f":c:{self.known[name][0]}:`{name}`"

    def block(self, text: str) -> list[str]:
        """Paragraphs, lists, and lines of code, which are indented."""
        lines: list[str] = []
        for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
            rows = paragraph.split("\n")
            if all(row.startswith("    ") for row in rows):
                lines += ["::", "", *[INDENT + row[4:] for row in rows], ""]
                continue
            if len(rows) == 1 and paragraph.endswith(";"):
                lines += [".. code-block:: c", "", INDENT + paragraph, ""]
                continue
            items = re.split(r"\n(?=- |\d+\. )", paragraph)
            for item in items:
                mark = re.match(r"(- |\d+\. )", item)
                if mark:
                    body = " ".join(item[len(mark[0]) :].split())
                    lines += textwrap.wrap(
                        self.inline(body),
                        100,
                        initial_indent="- " if mark[0] == "- " else "#. ",
                        subsequent_indent="  " if mark[0] == "- " else "   ",
                        break_long_words=False,
                        break_on_hyphens=False,
                    )
                else:
                    if lines and lines[-1]:
                        lines.append("")
                    lines += self.paragraph(item)
                    lines.append("")
            if lines[-1]:
                lines.append("")
        return lines

    def paragraph(self, text: str) -> list[str]:
        words = " ".join(text.split())
        keyword = re.match(r"([A-Z]{2}[A-Z ]+)\. (.*)", words)
        if keyword:
            return wrap(f"**{keyword[1]}.** {self.inline(keyword[2])}")
        return wrap(self.inline(words))

    def doc(self, doc: Doc) -> list[str]:
        lines = self.block(doc.text) if doc.text else []
        for names, text in doc.params:
            for index, name in enumerate(names.split(", ")):
                body = self.inline(" ".join(text.split())) if index == 0 else "As the one before."
                if index == 0 and ", " in names:
                    body = f"This and {' and '.join(f'``{n}``' for n in names.split(', ')[1:])}: {body}"
                lines += wrap(f":param {name}: {body}", hang=True)
        if doc.returns:
            first, *more = re.split(r"\n\s*\n", doc.returns)
            lines += wrap(f":returns: {self.inline(' '.join(first.split()))}", hang=True)
            for text in more:
                lines += ["", *[f"   {line}" for line in wrap(self.inline(" ".join(text.split())))]]
        lines.append("")
        if doc.notes or doc.since:
            notes = self.inline(doc.notes)
            notes = re.sub(r"(Thread|Lifetime):", r"**\1:**", notes)
            since = f"**Since:** {doc.since}." if doc.since else ""
            lines += [".. rst-class:: sdd-notes", "", *wrap(f"{notes} {since}".strip()), ""]
        return lines


def wrap(text: str, hang: bool = False) -> list[str]:
    return textwrap.wrap(
        text, 110, subsequent_indent="   " if hang else "", break_long_words=False, break_on_hyphens=False
    ) or [""]


def indented(lines: list[str], depth: int = 1) -> list[str]:
    return [INDENT * depth + line if line else "" for line in lines]


def title(text: str, mark: str) -> list[str]:
    return [text, mark * len(text), ""]


def member_lines(writer: Writer, member: Member, enum: bool) -> list[str]:
    lines = [*writer.block(member.heading), ""] if member.heading else []
    if enum:
        lines += [f".. c:enumerator:: {member.name} = {member.value}", ""]
    else:
        lines += [f".. c:member:: {member.declaration}", ""]
    text = member.doc.text
    if text:
        text = text[0].upper() + text[1:] if not re.match(r"[a-z]+_|[a-z]+\(", text) else text
        lines += indented(writer.block(text))
    if member.doc.since:
        lines += indented([f"**Since:** {member.doc.since}.", ""])
    return lines


def item_lines(writer: Writer, item: Item) -> list[str]:
    if item.kind == "enum":
        lines = [".. rst-class:: sdd-enum", "", *writer.doc(item.doc)]
        for member in item.members:
            lines += member_lines(writer, member, enum=True)
        return lines
    if item.kind == "macro":
        value = f" The value: ``{item.value}``." if item.value and not item.name.endswith("_INIT") else ""
        text = writer.doc(item.doc)
        if item.name.endswith("_INIT"):
            text = [f"The initial value of a :c:struct:`{struct_of(writer, item)}`.", ""]
        return [f".. c:macro:: {item.declaration}", "", *indented(text + ([value.strip(), ""] if value else []))]
    if item.kind == "struct":
        lines = [f".. c:struct:: {item.name}", "", *indented(writer.doc(item.doc))]
        for member in item.members:
            lines += indented(member_lines(writer, member, enum=False))
        return lines
    declaration = re.sub(r"^typedef ", "", item.declaration)
    directive = "function" if item.kind == "function" else "type"
    if item.kind == "handle":
        declaration = item.name
    return [f".. c:{directive}:: {declaration}", "", *indented(writer.doc(item.doc))]


def struct_of(writer: Writer, item: Item) -> str:
    name = item.name.removesuffix("_INIT").lower()
    return name if name in writer.known else item.name


def read_examples() -> dict[tuple[str, str], list[str]]:
    """The examples of docs/site/examples.md, by chapter and section."""
    text = (Path(__file__).parent / "examples.md").read_text(encoding="utf-8")
    return {(found[1], found[2]): found[3].rstrip().split("\n") for found in EXAMPLE.finditer(text)}


def example_lines(chapter: Chapter, examples: dict[tuple[str, str], list[str]], section: Section) -> list[str]:
    """The example of a section, which it takes out of the examples. A section with calls must have one."""
    example = examples.pop((chapter.name, section.title), None)
    if example is None:
        at = chapter.parts.index(section)
        for part in chapter.parts[at + 1 :]:
            if isinstance(part, Section):
                break
            if isinstance(part, Item) and part.kind == "function" and section.title != "version":
                raise SystemExit(f"docs/site/examples.md has no example for {chapter.name}: {section.title}")
        return []
    return [".. code-block:: c", "   :caption: An example", "", *indented(example), ""]


def page(chapter: Chapter, writer: Writer, examples: dict[tuple[str, str], list[str]]) -> str:
    lines = [
        f".. _chapter-{chapter.name}:",
        "",
        *title(f"sdd/{chapter.name}.h", "="),
        *wrap(writer.inline(chapter.title)),
        "",
    ]
    if chapter.name == "sdd":
        lines += rules(chapter, writer)
    elif chapter.intro:
        lines += writer.block(chapter.intro)
    if chapter.name != "sdd":
        lines += [
            ".. code-block:: c",
            "   :caption: A program, which the tests compile and run",
            "",
            *indented(chapter.program.rstrip().split("\n")),
            "",
        ]
        if chapter.output:
            lines += [f"It prints ``{chapter.output}``.", ""]
    for part in chapter.parts:
        if isinstance(part, Section):
            lines += title(part.title.capitalize(), "-")
            lines += example_lines(chapter, examples, part)
        elif isinstance(part, Prose):
            lines += writer.block(part.text)
        else:
            lines += [*item_lines(writer, part), ""]
    return "\n".join(lines) + "\n"


def rules(chapter: Chapter, writer: Writer) -> list[str]:
    """The page of sdd.h: its program, the chapters and the rules, which are laid out in columns there."""
    head, _, rest = chapter.intro.partition("\nCHAPTERS\n")
    listed, _, rules_text = rest.partition("\nTHE RULES, ")
    lines = writer.block(re.sub(r"This is the one header to include\. A first program:", "", head).strip())
    lines += [
        ".. code-block:: c",
        "   :caption: A first program, which the tests compile and run",
        "",
        *indented(chapter.program.rstrip().split("\n")),
        "",
        f"It prints ``{chapter.output}``.",
        "",
    ]
    lines += title("Chapters", "-")
    for name, text in re.findall(r"^    (\w+)\.h +(\S.*)$", listed, re.MULTILINE):
        lines.append(f":ref:`sdd/{name}.h <chapter-{name}>`")
        lines.append(f"   {writer.inline(text)}")
    intro, _, body = rules_text.partition("\n\n")
    intro = " ".join(intro.split())
    lines += ["", *title("The rules", "-"), *wrap(writer.inline(f"They {intro.removeprefix('which ')}")), ""]
    body, _, after = body.partition("\n\n")
    for rule in re.split(r"\n(?=\S)", body):
        name, text = rule.split(None, 1)
        lines += [f"**{name}**", *indented(wrap(writer.inline(" ".join(text.split())))), ""]
    return lines + (writer.block(after) if after else [])


def write(chapters: list[Chapter], known: dict[str, tuple[str, str]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(known)
    examples = read_examples()
    for chapter in chapters:
        (folder / f"{chapter.name}.rst").write_text(page(chapter, writer, examples), encoding="utf-8")
    if examples:
        raise SystemExit(f"docs/site/examples.md: the header has no section {', '.join(map(': '.join, examples))}")
