"""Reads the chapters of the C header, include/sdd/*.h: what they declare, and the comments on it.

The header is written in one form, which this file holds it to: a comment at the top of each chapter, with a program;
sections; prose between declarations; doc comments before declarations; comments beside or above the fields
of a struct and the names of an enum. Anything else is an error here, so that no comment gets lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

TOKEN = re.compile(r"/\*.*?\*/", re.DOTALL)
SECTION = re.compile(r"/\* -{8,} (.*?) \*/", re.DOTALL)
WORDS = re.compile(r"\b(?:SDD_API|SDD_NULLABLE|SDD_NONNULL|SDD_NOEXCEPT)\b ?")
NOTE = re.compile(r"^(Thread|Lifetime):", re.MULTILINE)
SINCE = re.compile(r"\s*\bSince:? (\d+\.\d+\.\d+)[.:]?(?:\s*$)?")


class HeaderError(Exception):
    """A comment or declaration that is not in the form of the header."""


@dataclass
class Doc:
    """The parts of a comment. Texts are paragraphs, separated by empty lines."""

    text: str = ""
    params: list[tuple[str, str]] = field(default_factory=list)  # "bytes, extended": one entry for both
    returns: str = ""
    notes: str = ""  # the sentences on thread and lifetime
    since: str = ""


@dataclass
class Member:
    """A field of a struct, or a name of an enum."""

    name: str
    declaration: str
    value: str
    doc: Doc
    heading: str = ""  # a comment over this member and those after it


@dataclass
class Item:
    """A declaration: kind is function, callback, struct, handle, type, enum or macro."""

    kind: str
    name: str
    declaration: str
    doc: Doc
    members: list[Member] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    value: str = ""


@dataclass
class Section:
    title: str


@dataclass
class Prose:
    text: str


@dataclass
class Chapter:
    name: str  # "loader"
    title: str  # the sentence after "sdd/loader.h -"
    intro: str
    program: str
    output: str
    parts: list[Item | Section | Prose] = field(default_factory=list)

    @property
    def items(self) -> list[Item]:
        return [part for part in self.parts if isinstance(part, Item)]


def lines_of(comment: str) -> str:
    """Returns the text of a comment without its marks."""
    body = re.sub(r"^/\*+<?|\*/$", "", comment)
    lines = [re.sub(r"^\s*\* ?", "", line) if index else line.strip() for index, line in enumerate(body.split("\n"))]
    # Comments on fields have no stars: their lines are indented.
    if "\n" in body and not re.search(r"\n\s*\*", body):
        lines = [line.strip() for line in body.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip()


def doc_of(text: str) -> Doc:
    doc = Doc()
    text = text.replace("\nSince 0.2.0:", "").replace("\nSince 0.3.0:", "")
    note = NOTE.search(text)
    if note:
        tail = text[note.start() :]
        text = text[: note.start()]
        # Text that follows the notes as a paragraph of its own belongs to the comment.
        tail, _, more = tail.partition("\n\n")
        if found := SINCE.search(tail):
            doc.since = found[1]
        doc.notes = " ".join(SINCE.sub("", tail).split())
        text = f"{text.rstrip()}\n\n{more}" if more else text
    if not doc.since and (found := SINCE.search(text)):
        doc.since = found[1]
        text = SINCE.sub("", text, count=1)
    head, *tags = re.split(r"^@(?=param|return)", text, flags=re.MULTILINE)
    doc.text = head.strip()
    for tag in tags:
        word, _, rest = tag.strip().partition(" ")
        lines = [line.strip() for line in rest.split("\n")]
        if word == "return":
            doc.returns = "\n".join(lines).strip()
        else:
            found = re.match(r"((?:\w+, )*\w+)\s+(.*)", "\n".join(lines), re.DOTALL)
            if not found:
                raise HeaderError(f"@{tag}: no name, or no text")
            doc.params.append((found[1], found[2].strip()))
    return doc


def clean(declaration: str) -> str:
    return " ".join(WORDS.sub("", declaration).replace("* ", "*").replace("*const", "* const").split())


# ---- members of structs and enums


def members_of(body: str, enum: bool) -> list[Member]:
    members: list[Member] = []
    pending, heading, code, last = "", "", "", 0
    value = 0

    def flush(text: str) -> None:
        """Takes whole declarations out of the code that has gathered."""
        nonlocal code, pending, heading, value
        code += text
        separator = "," if enum else ";"
        while True:
            depth = 0
            for at, letter in enumerate(code):
                depth += (letter == "(") - (letter == ")")
                if letter == separator and depth == 0:
                    break
            else:
                return
            one, code = clean(code[:at]), code[at + 1 :]
            add(one)

    def add(one: str) -> None:
        nonlocal pending, heading, value
        if enum:
            name, _, given = (part.strip() for part in one.partition("="))
            member = Member(name, name, given or str(value), doc_of(pending), heading)
        else:
            found = re.search(r"\(\*(\w+)\)\(|(\w+)(?:\[\d+\])?$", one)
            if not found:
                raise HeaderError(f"a field without a name: {one}")
            member = Member(found[1] or found[2], one, "", doc_of(pending), heading)
        value += 1
        pending = heading = ""
        members.append(member)

    for token in TOKEN.finditer(body):
        flush(body[last : token.start()])
        line = body[: token.start()].rpartition("\n")[2].strip()
        rest = body[token.end() :]
        text = lines_of(token[0])
        last = token.end()
        if line:  # beside a declaration, which is complete unless it is the last name of an enum
            if enum and code.strip():
                flush(",")
            if not members:
                raise HeaderError(f"a comment beside nothing: {text}")
            members[-1].doc = doc_of(text)
        elif re.match(r"\n\s*(?:/\*|\n)", rest) or re.match(r"\n[^\n/]*/\*", rest):
            heading = f"{heading}\n\n{text}".strip() if heading else text
        else:
            pending = text
    flush(body[last:] + ("," if enum and (code + body[last:]).strip() else ""))
    return members


# ---- declarations


def item_of(declaration: str, doc: str) -> Item | None:
    """Reads one declaration with its comments. None: it is part of the form, such as `SDD_BEGIN_DECLS`."""
    bare = clean(TOKEN.sub("", declaration))
    if not bare or bare.startswith(("#if", "#else", "#endif", "#include", "SDD_BEGIN", "SDD_END", "_Pragma")):
        return None
    if found := re.match(r"#define (\w+)(\([^)]*\))?\s*(.*)", bare):
        return Item(
            "macro", found[1], f"{found[1]}{found[2] or ''}", doc_of(doc), value=re.sub(r"\\ ?", "", found[3]).strip()
        )
    if found := re.match(r"typedef struct (\w+) \{(.*)\} \w+;$", declaration, re.DOTALL):
        return Item("struct", found[1], found[1], doc_of(doc), members_of(found[2], enum=False))
    if found := re.match(r"SDD_ENUM\((\w+)\) \{(.*)\};$", declaration, re.DOTALL):
        members = members_of(found[2], enum=True)
        return Item("enum", members[0].name, found[1], doc_of(doc), members)
    if found := re.match(r"typedef struct (\w+) \w+;$", bare):
        return Item("handle", found[1], f"struct {found[1]}", doc_of(doc))
    if found := re.match(r"typedef .*\(\*(\w+)\)\((.*)\)", bare):
        return Item("callback", found[1], bare.rstrip("; "), doc_of(doc), arguments=arguments_of(found[2]))
    if found := re.match(r"typedef (.*) (\w+);$", bare):
        return Item("type", found[2], bare.rstrip("; "), doc_of(doc))
    if found := re.match(r"(.*?)(\w+)\((.*)\);$", bare):
        return Item("function", found[2], bare.rstrip("; "), doc_of(doc), arguments=arguments_of(found[3]))
    raise HeaderError(f"what is this: {bare[:100]}")


def arguments_of(text: str) -> list[str]:
    names = []
    for part in re.split(r",(?![^(]*\))", text):
        found = re.search(r"\(\*(\w+)\)|(\w+)(?:\[\d*\])?$", part.strip())
        if found and part.strip() != "void":
            names.append(found[1] or found[2])
    return names


def declarations(text: str) -> list[tuple[str, str]]:
    """Splits a chapter into comments that stand alone ("comment", text) and declarations with the comments inside."""
    parts: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text.startswith("/*", at):
            end = text.index("*/", at) + 2
            parts.append(("comment", text[at:end]))
            at = end
        elif text[at] == "#":
            found = re.compile(r"#(?:[^\n\\]|\\.)*", re.DOTALL).match(text, at)
            assert found
            parts.append(("macro", found[0]))
            at = found.end()
        elif found := re.compile(r"SDD_(?:BEGIN|END)_DECLS").match(text, at):
            at = found.end()
        else:
            depth, end = 0, at
            while end < len(text):
                if text.startswith("/*", end):
                    end = text.index("*/", end) + 2
                    continue
                depth += (text[end] in "({") - (text[end] in ")}")
                end += 1
                if depth == 0 and text[end - 1] == ";":
                    break
            parts.append(("code", text[at:end]))
            at = end
    return parts


def top_of(comment: str) -> tuple[str, str, str, str]:
    """Returns title, introduction, program and output of the comment at the top of a chapter."""
    text = lines_of(comment)
    head, _, body = text.partition(" - ")
    title, _, rest = body.partition("\n\n")
    lines = rest.split("\n")
    code = [index for index, line in enumerate(lines) if line.startswith("    ")]
    begin = next((index for index in code if lines[index].startswith("    #include")), None)
    if begin is None:
        raise HeaderError(f"{head} begins without a program")
    end = begin
    while end < len(lines) and (not lines[end] or lines[end].startswith("    ")):
        end += 1
    program = "\n".join(line[4:] for line in lines[begin:end]).strip() + "\n"
    output = ""
    after = lines[end:]
    if after and after[0].startswith("It prints: "):
        output = after.pop(0).removeprefix("It prints: ")
    before = re.sub(r"A program, which the tests of the library compile and run:\s*$", "", "\n".join(lines[:begin]))
    intro = before.strip() + "\n\n" + "\n".join(after).strip()
    return " ".join(title.split()), intro.strip(), program, output


def read_chapter(path: Path) -> Chapter:
    text = path.read_text(encoding="utf-8")
    top = TOKEN.match(text)
    if not top:
        raise HeaderError(f"{path.name} does not begin with a comment")
    chapter = Chapter(path.stem, *top_of(top[0]))
    parts = declarations(text[top.end() :])
    guard = re.compile(r"#(?:ifndef|define) SDD_\w+_H\b|#(?:if|ifdef|ifndef|else|elif|endif|include)\b")
    doc = ""
    inside_conditional = 0
    for index, (kind, part) in enumerate(parts):
        following = parts[index + 1][0] if index + 1 < len(parts) else ""
        if kind == "comment":
            if found := SECTION.fullmatch(part):
                chapter.parts.append(Section(found[1].strip()))
            elif part.startswith("/**"):
                doc = lines_of(part)
            elif following != "macro" or lines_of(part).startswith("Define "):
                chapter.parts.append(Prose(lines_of(part)))
            continue
        if kind == "macro":
            if re.match(r"#if(?!ndef SDD_\w+_H)", part):
                inside_conditional += 1
            elif part.startswith("#endif"):
                inside_conditional -= 1
            if guard.match(part) or inside_conditional > 0:
                continue
            if re.match(r"#define SDD_(?:EXTERN_C|NULLABLE|NONNULL|API|NOEXCEPT|ENUM|BEGIN|END)", part):
                continue
        try:
            item = item_of(part.strip(), doc)
        except HeaderError as error:
            raise HeaderError(f"{path.name}: {error}") from None
        doc = ""
        if item:
            check(path, item)
            chapter.parts.append(item)
    return chapter


def check(path: Path, item: Item) -> None:
    """A name after @param must be one of the declaration."""
    for names, _ in item.doc.params:
        for name in names.split(", "):
            if name not in item.arguments:
                raise HeaderError(f"{path.name}: {item.name} has no parameter {name}")


ORDER_LINE = re.compile(r"^    (\w+)\.h +\S", re.MULTILINE)


def read_header(folder: Path = ROOT / "include" / "sdd") -> list[Chapter]:
    """Reads all chapters, in the order of the list in sdd.h. The first is sdd.h, with the rules."""
    chapters = [read_chapter(folder / "sdd.h")]
    names = ORDER_LINE.findall(lines_of(TOKEN.match((folder / "sdd.h").read_text(encoding="utf-8"))[0]))
    found = {path.stem for path in folder.glob("*.h")} - {"sdd"}
    if set(names) != found:
        raise HeaderError(f"sdd.h lists {sorted(names)}, the folder has {sorted(found)}")
    return chapters + [read_chapter(folder / f"{name}.h") for name in names]


def known_names(chapters: list[Chapter]) -> dict[str, tuple[str, str]]:
    """Maps each name of the header to its role in Sphinx's domain for C, and its chapter; "struct.field" too."""
    roles = {
        "function": "func",
        "callback": "type",
        "struct": "struct",
        "handle": "type",
        "type": "type",
        "macro": "macro",
    }
    names = {}
    for chapter in chapters:
        for item in chapter.items:
            if item.kind != "enum":
                names[item.name] = (roles[item.kind], chapter.name)
            for member in item.members:
                key = member.name if item.kind == "enum" else f"{item.name}.{member.name}"
                names[key] = ("enumerator" if item.kind == "enum" else "member", chapter.name)
    return names
