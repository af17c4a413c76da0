#!/usr/bin/env python3
"""Rewrites one file for doxygen, to standard output; docs/Doxyfile names it as its filter.

- A chapter of the header: comments on fields and numbers become doc comments, the comment at the top and the prose
  between the declarations become the text of the chapter's page.
- A Markdown page: ```dot blocks become pictures; links that lead out of the site become plain text.

    tools/doxygen-filter.py FILE
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

TOKENS = re.compile(r"/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*|[{}]", re.DOTALL | re.MULTILINE)
SECTION = re.compile(r"/\* -{8,} (.*?) \*/", re.DOTALL)
HEADING = re.compile(r"\n\s*(?:/\*|\n)|\n[^\n/]*/\*")  # what follows has a comment of its own
BEFORE_MACRO = re.compile(r"\s*#")  # a comment there is about the macro


def lines_of(comment):
    """Returns the lines of a comment, without its marks."""
    body = re.sub(r"^/\*+|\*/$", "", comment)
    return [re.sub(r"^\s*\* ?", "", line) if index else line.lstrip() for index, line in enumerate(body.split("\n"))]


def doc(lines, mark="/**"):
    text = "\n".join(lines).strip()
    return f"{mark} {text}\n*/" if "\n" in text else f"{mark} {text} */"


def page(lines):
    """Marks the parts of a chapter's prose that are laid out in columns: CHAPTERS and THE RULES of sdd.h."""
    text = "\n".join(lines)
    head, mark, rules = text.partition("THE RULES,")
    if mark:
        head = re.sub(r"CHAPTERS\n\n(.*?)\n\n", r"@verbatim\n\1\n@endverbatim\n\n", head, flags=re.DOTALL)
        intro, _, rules = rules.partition("\n\n")
        text = f"{head}THE RULES,{intro}\n\n@verbatim\n{rules.rstrip()}\n@endverbatim"
    return text.split("\n")


def with_paragraphs(comment):
    """Makes a paragraph of Thread, Lifetime and Since, which doxygen would add to @return or the last @param. Escapes
    backslashes, which begin commands."""
    comment = comment.replace("\\", "\\\\")
    return re.sub(r"\n( +\*) (?=(?:Thread|Lifetime|Since|WAITS)\b)", r"\n\1\n\1 ", comment)


def header(name, text):
    out, at, depth, title = [], 0, 0, None
    is_first = True
    for token in TOKENS.finditer(text):
        before = text[at : token.start()]
        out.append(before)
        at = token.end()
        found = token[0]
        if found in "{}":
            depth += 1 if found == "{" else -1
        elif is_first and found.startswith("/*"):
            is_first = False
            lines = page(lines_of(found))
            brief = "\n".join(lines).strip().partition(" - ")[2].split("\n")
            found = doc([f"@file {name}", f"@brief {brief[0]}", *brief[1:]])
        elif SECTION.fullmatch(found):
            title, found = SECTION.fullmatch(found)[1].strip(), ""
        elif found.startswith("/**"):
            found = with_paragraphs(found)
        elif not found.startswith("/*"):
            pass
        elif depth > 0:
            line = "".join(out)[-200:].rpartition("\n")[2].strip()
            after = text[at:]
            if line and not line.endswith("{"):
                found = doc(lines_of(found), "/**<")
            elif not line and not HEADING.match(after):
                found = doc(lines_of(found))
        elif text[at:].startswith("\n\n") and not BEFORE_MACRO.match(text[at:]):
            heading = [f"## {title.capitalize()}", ""] if title else []
            title = None
            found = doc([f"@file {name}", *heading, *lines_of(found)])
        out.append(found)
    return "".join(out) + text[at:]


def markdown(path, text):
    def link(match):
        target = match[2].partition("#")[0]
        goal = (path.parent / target).resolve()
        if re.match(r"\w+:", target) or (target and goal.suffix == ".md" and goal.is_file()):
            return match[0]
        return match[1]

    text = re.sub(r"\A# .*", lambda match: match[0].replace("`", ""), text)
    # A quote would end a code span.
    text = re.sub(r"(?<!`)`([^`\n]*'[^`\n]*)`(?!`)", r"``\1``", text)
    text = re.sub(r"^```dot\n(.*?)^```$", r"@dot\n\1@enddot", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!\!)\[([^\]\n]+)\]\(([^)\s]+)\)", link, text)


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    text = path.read_text(encoding="utf-8")
    sys.stdout.write(header(path.name, text) if path.suffix == ".h" else markdown(path, text))


main()
