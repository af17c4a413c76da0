#!/usr/bin/env python3
"""Writes the manual pages of the library from the comments of its header, in mdoc(7).

tools/make_man.py FOLDER      writes FOLDER/man3/sdd_CHAPTER.3 for each chapter, FOLDER/man7/libsdd.7, and for each
                              function and struct a page of its name that leads to that of its chapter
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))
sys.dont_write_bytecode = True

from header import Chapter, Doc, Item, Member, Prose, Section, known_names, read_header  # noqa: E402

DATE = "November 23, 2026"
CALL = re.compile(r"(\(?)(\w+)\(\)([.,;:)?!]*)$")
WIDTH = 78


def escape(text: str) -> str:
    return text.replace("\\", "\\e").replace("`", "").replace("-", "\\-" if text.startswith("-") else "-")


def safe(line: str) -> str:
    """A line of text must not begin as a request does."""
    return "\\&" + line if line[:1] in ".'" else line


class Writer:
    def __init__(self, chapters: list[Chapter]) -> None:
        self.chapters = chapters
        self.home = {name: chapter for name, (_, chapter) in known_names(chapters).items()}
        self.lines: list[str] = []
        self.seen: set[str] = set()

    def text(self, text: str) -> None:
        """One paragraph: each sentence on a line of its own, which mdoc wants."""
        words = escape(" ".join(text.split()))
        for sentence in re.split(r"(?<=[.:;])\s+(?=[A-Z])", words):
            self.note(sentence)
            self.sentence(sentence.split(" "))

    def sentence(self, words: list[str]) -> None:
        """Calls are marked as such, on lines of their own."""
        line = ""

        def flush() -> None:
            nonlocal line
            if line:
                self.lines.append(safe(line))
            line = ""

        for word in words:
            found = CALL.match(word)
            if found:
                flush()
                closing = " ".join(found[3])
                opening = ".Pf ( Fn" if found[1] else ".Fn"
                self.lines.append(f"{opening} {found[2]} {closing}".rstrip())
                continue
            if line and len(line) + 1 + len(word) > WIDTH:
                flush()
            line = f"{line} {word}" if line else word
        flush()

    def note(self, sentence: str) -> None:
        for name in re.findall(r"\bsdd_\w+", sentence):
            if name in self.home:
                self.seen.add(self.home[name])

    def paragraphs(self, text: str) -> None:
        for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
            rows = paragraph.split("\n")
            if number:
                self.break_paragraph()
            if all(row.startswith("    ") for row in rows) or (len(rows) == 1 and paragraph.endswith(";")):
                self.display([row[4:] if row.startswith("    ") else row for row in rows])
                continue
            parts = re.split(r"(?:^|\n)(?:- |\d+\. )", paragraph)
            if parts[0].strip():
                self.text(parts[0])
            if len(parts) > 1:
                mark = "enum" if re.search(r"(?:^|\n)1\. ", paragraph) else "bullet"
                self.lines.append(f".Bl -{mark} -compact")
                for part in parts[1:]:
                    self.lines.append(".It")
                    self.text(part)
                self.lines.append(".El")

    def break_paragraph(self) -> None:
        if self.lines and self.lines[-1] != ".Pp" and not self.lines[-1].startswith((".Sh", ".Ss", ".It")):
            self.lines.append(".Pp")

    def display(self, rows: list[str]) -> None:
        if self.lines and self.lines[-1] == ".Pp":
            self.lines.pop()
        self.lines.append(".Bd -literal -offset indent")
        self.lines += [safe(row.replace("\\", "\\e")) for row in rows]
        self.lines.append(".Ed")

    # ---- the parts of a page

    def doc(self, doc: Doc) -> None:
        if doc.text:
            self.paragraphs(doc.text)
        if doc.params:
            self.lines.append(".Bl -tag -width Ds")
            for names, text in doc.params:
                self.lines.append(".It " + " , ".join(f"Fa {name}" for name in names.split(", ")))
                self.text(text)
            self.lines.append(".El")
        if doc.returns:
            self.break_paragraph()
            self.text("Returns: " + doc.returns)
        notes = f"{doc.notes} Since: {doc.since}." if doc.since else doc.notes
        if notes.strip():
            self.break_paragraph()
            self.text(notes)

    def members(self, item: Item) -> None:
        self.lines.append(".Bl -tag -width Ds")
        for member in item.members:
            if member.name.startswith("reserved"):
                continue
            if member.heading:
                self.lines += [".El", ".Pp"]
                self.paragraphs(member.heading)
                self.lines.append(".Bl -tag -width Ds")
            self.member(item, member)
        self.lines.append(".El")
        self.lines = without_empty_lists(self.lines)

    def member(self, item: Item, member: Member) -> None:
        if item.kind == "enum":
            self.lines.append(f".It Dv {member.name} No = {escape(member.value).replace('|', 'or')}")
        else:
            declaration = escape(member.declaration).replace('"', "\\(dq")
            self.lines.append(f'.It Va "{declaration}"')
        if member.doc.text:
            self.paragraphs(
                member.doc.text[0].upper() + member.doc.text[1:]
                if member.doc.text[0].islower() and not re.match(r"\w+_", member.doc.text)
                else member.doc.text
            )
        elif self.lines[-1].startswith(".It"):
            self.lines.append("\\&")

    def item(self, item: Item) -> None:
        if item.kind == "macro":
            if item.name.endswith("_INIT") or "(" in item.declaration:
                return
            self.break_paragraph()
            self.lines.append(f".Dv {item.name}")
            if item.value:
                self.text(f"is {item.value}.")
            self.doc(item.doc)
            return
        if item.kind == "enum":
            self.break_paragraph()
            self.doc(item.doc)
            self.members(item)
            return
        self.lines.append(f".Ss {item.name}" + ("()" if item.kind == "function" else ""))
        if item.kind in ("callback", "type", "function"):
            self.display(declaration_rows(item))
        self.doc(item.doc)
        if item.members:
            self.break_paragraph()
            self.lines.append("Its fields:" if item.kind == "struct" else "Its values:")
            self.members(item)

    def synopsis(self, chapter: Chapter) -> None:
        self.lines += [".Sh SYNOPSIS", ".In sdd/sdd.h"]
        for item in chapter.items:
            if item.kind != "function":
                continue
            found = re.match(r"(.*?)(\w+)\((.*)\)$", item.declaration)
            assert found
            self.lines.append(f'.Ft "{found[1].strip()}"')
            arguments = [part.strip() for part in re.split(r",(?![^(]*\))", found[3])] if found[3] else ["void"]
            self.lines.append(f".Fo {item.name}")
            self.lines += [f'.Fa "{argument}"' for argument in arguments]
            self.lines.append(".Fc")

    def head(self, name: str, section: int, title: str, others: list[str]) -> None:
        names = [name, *others]
        self.lines = [
            '.\\" Made from the header by tools/make_man.py.',
            f".Dd {DATE}",
            f".Dt {name.upper()} {section}",
            ".Os",
            ".Sh NAME",
            *[f".Nm {each} ," for each in names[:-1]],
            f".Nm {names[-1]}",
            f".Nd {title}",
        ]
        if section == 3:
            self.lines += [".Sh LIBRARY", "libsdd (-lsdd)"]

    def page(self, chapter: Chapter) -> str:
        self.seen = set()
        title = chapter.title.rstrip(".")
        self.head(f"sdd_{chapter.name}", 3, title[0].lower() + title[1:], [])
        self.synopsis(chapter)
        self.lines.append(".Sh DESCRIPTION")
        if chapter.intro:
            self.paragraphs(chapter.intro)
        else:
            self.text("This page is a chapter of the header, with its comments as they are.")
        self.break_paragraph()
        self.text("The rules for all functions, on handles, threads, callbacks, errors and structs, are in libsdd(7).")
        for part in chapter.parts:
            if isinstance(part, Section):
                # ERRORS is a section that mdoc puts after the examples.
                title = "ERROR NUMBERS" if part.title == "errors" else part.title.upper()
                self.lines.append(f".Sh {title}")
            elif isinstance(part, Prose):
                self.break_paragraph()
                self.paragraphs(part.text)
            else:
                self.item(part)
        self.lines.append(".Sh EXAMPLES")
        self.display(chapter.program.rstrip().split("\n"))
        if chapter.output:
            self.text(f"It prints: {chapter.output}")
        others = sorted(({f"sdd_{name}" for name in self.seen} | {"sdd_error"}) - {f"sdd_{chapter.name}", "sdd_sdd"})
        self.see_also([*[(name, 3) for name in others], ("libsdd", 7)])
        return self.finish()

    def see_also(self, pages: list[tuple[str, int]]) -> None:
        pages = sorted(pages, key=lambda page: (page[1], page[0]))
        self.lines.append(".Sh SEE ALSO")
        self.lines += [f".Xr {name} {section} ," for name, section in pages[:-1]]
        self.lines.append(f".Xr {pages[-1][0]} {pages[-1][1]}")

    def overview(self) -> str:
        top = self.chapters[0]
        self.head("libsdd", 7, "loads pictures: downloads, caches and decodes them, asynchronously", [])
        head, _, rest = top.intro.partition("\nCHAPTERS\n")
        _, _, rules = rest.partition("\nTHE RULES, ")
        self.lines.append(".Sh DESCRIPTION")
        self.text(
            "libsdd loads pictures for programs in C, C++ and everything that can call C: give it a URL, and a "
            "callback delivers the pixels. It runs the network, the queue, the decoding and the cache on threads of "
            "its own."
        )
        self.break_paragraph()
        self.paragraphs(re.sub(r"This is the one header to include\. A first program:\s*", "", head))
        self.break_paragraph()
        self.text("Compile with the flags of pkg-config: cc program.c $(pkg-config --cflags --libs sdd).")
        self.lines.append(".Sh CHAPTERS")
        self.text(
            "The header has chapters, and each a page, under which each of its functions and structs is found, too."
        )
        self.lines.append('.Bl -tag -width "sdd_downloader(3)" -compact')
        for chapter in self.chapters[1:]:
            self.lines.append(f".It Xr sdd_{chapter.name} 3")
            self.text(chapter.title)
        self.lines += [".El", ".Sh RULES"]
        intro, _, body = rules.partition("\n\n")
        self.text(
            "These hold for every function unless its comment says otherwise. "
            + " ".join(intro.split()).partition(". ")[2]
        )
        body, _, after = body.partition("\n\n")
        for rule in re.split(r"\n(?=\S)", body):
            name, text = rule.split(None, 1)
            self.lines.append(f".Ss {name[0].upper() + name[1:]}")
            self.text(text)
        self.lines.append(".Sh UNITS")
        self.paragraphs(after)
        self.lines.append(".Sh ENVIRONMENT")
        self.lines.append(".Bl -tag -width Ds")
        for name, text in (
            (
                "SDD_LOG",
                "error, warning, info or debug: writes the library's messages up to that level to standard error.",
            ),
            (
                "XDG_CACHE_HOME",
                "The folder of caches that have a name: sdd/NAME in it, or in .cache of the home folder.",
            ),
            ("http_proxy , https_proxy , all_proxy , no_proxy", "Proxies, unless the configuration says otherwise."),
        ):
            self.lines.append(f".It Ev {name}")
            self.text(text)
        self.lines += [
            ".El",
            ".Sh FILES",
            ".Bl -tag -width Ds",
            ".It Pa ~/.cache/sdd/default",
            "The shared cache.",
            ".El",
        ]
        self.lines.append(".Sh EXAMPLES")
        self.display(top.program.rstrip().split("\n"))
        self.see_also([(f"sdd_{chapter.name}", 3) for chapter in self.chapters[1:]] + [("sdd", 1)])
        return self.finish()

    def finish(self) -> str:
        return "\n".join(tidy(self.lines)) + "\n"


def declaration_rows(item: Item) -> list[str]:
    """A declaration, with a line for each argument if it is long."""
    text = item.declaration + ";"
    if len(text) <= 76:
        return [text]
    found = re.match(r"(.*?\w+\)?\()(.*)(\);)$", text)
    assert found
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", found[2])]
    return [found[1], *[f"    {part}," for part in parts[:-1]], f"    {parts[-1]}{found[3]}"]


def without_empty_lists(lines: list[str]) -> list[str]:
    out: list[str] = []
    for line in lines:
        if line == ".El" and out and out[-1].startswith(".Bl "):
            out.pop()
            continue
        out.append(line)
    return out


def tidy(lines: list[str]) -> list[str]:
    """Leaves out paragraph marks where mdoc makes a new paragraph anyway."""
    out: list[str] = []
    for index, line in enumerate(lines):
        if line == ".Pp":
            following = lines[index + 1] if index + 1 < len(lines) else ".Sh"
            before = out[-1] if out else ""
            if (
                following.startswith((".Sh", ".Ss", ".El", ".It", ".Bd", ".Pp"))
                or (following.startswith(".Bl") and "-compact" not in following)
                or before.startswith((".Sh", ".Ss", ".Pp"))
            ):
                continue
        out.append(line.rstrip())
    return [line for line in out if line]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    chapters = read_header()
    writer = Writer(chapters)
    for name in ("man3", "man7"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "man7" / "libsdd.7").write_text(writer.overview(), encoding="utf-8")
    pages = {f"sdd_{chapter.name}" for chapter in chapters[1:]}
    for chapter in chapters[1:]:
        (folder / "man3" / f"sdd_{chapter.name}.3").write_text(writer.page(chapter), encoding="utf-8")
        for item in chapter.items:
            if item.kind in ("function", "struct", "callback", "handle", "type") and item.name not in pages:
                (folder / "man3" / f"{item.name}.3").write_text(f".so man3/sdd_{chapter.name}.3\n", encoding="utf-8")


main()
