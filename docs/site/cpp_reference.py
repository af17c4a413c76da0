"""Writes the reference of the C++ layer for Sphinx: each chapter of include/sdd/cpp with its comments and public
declarations, without the bodies of functions and what is in namespace detail."""

from __future__ import annotations

import re
from pathlib import Path

from header import ROOT, lines_of

FOLDER = ROOT / "include" / "sdd"
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)


def blank(text: str) -> str:
    """Replaces comments and strings by spaces, so that braces can be counted. The length stays."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def end_of(code: str, at: int) -> int:
    """Returns the index after the brace that closes the one at `at`."""
    depth = 0
    for index in range(at, len(code)):
        depth += (code[index] == "{") - (code[index] == "}")
        if depth == 0:
            return index + 1
    raise SystemExit(f"cpp_reference.py: a brace is not closed: {code[at - 80 : at + 40]!r}")


SCOPE = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|struct|class|enum|union)\b", re.DOTALL)
DETAIL = re.compile(r"\s*namespace detail\s*$")


def without_bodies(text: str) -> str:
    """Cuts out the bodies of functions with the initialisers before them, and namespace detail."""
    code = blank(text)
    out: list[str] = []
    begin = at = 0  # `begin` is where the statement begins
    while at < len(code):
        letter = code[at]
        if letter in ";}" or (letter == ":" and re.search(r"(?:public|private|protected)$", code[begin:at])):
            out.append(text[begin : at + 1])
            begin = at + 1
        elif letter == "{":
            statement = "\n".join(line for line in code[begin:at].split("\n") if not line.startswith("#"))
            if statement.count("(") > statement.count(")"):  # the default of a parameter
                at = end_of(code, at)
                continue
            if DETAIL.match(statement):
                at = begin = end_of(code, at)
                continue
            if SCOPE.match(statement) and "=" not in statement.partition("{")[0].rpartition(">")[2]:
                out.append(text[begin : at + 1])
                begin = at + 1
            elif "(" in statement:
                kept = declaration_end(code, begin, at)
                out.append(text[begin:kept].rstrip() + ";")
                at = begin = end_of(code, at)
                if code[at : at + 1] == ";":
                    at = begin = at + 1
                continue
            else:  # the default of a field
                at = end_of(code, at)
                continue
        at += 1
    return "".join(out) + text[begin:]


def declaration_end(code: str, begin: int, brace: int) -> int:
    """Returns where the declaration of a function ends: before the initialisers of a constructor, or the body."""
    depth = 0
    for index in range(begin, brace):
        depth += (code[index] == "(") - (code[index] == ")")
        if depth == 0 and re.match(r"[\s\w)]:(?!:)\s", code[index : index + 3]) and ")" in code[begin : index + 1]:
            return index + 1
    return brace


def public(text: str) -> str:
    """Cuts out the private parts of classes."""
    lines, hidden, depth = [], None, 0
    for line, code in zip(text.split("\n"), blank(text).split("\n")):
        stripped = code.strip()
        if stripped in ("private:", "protected:"):
            hidden = depth
        elif stripped == "public:":
            hidden = None
        depth += code.count("{") - code.count("}")
        if hidden is not None and depth < hidden:
            hidden = None
        if hidden is None:
            lines.append(line)
    return "\n".join(lines)


def synopsis(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    begin, end = text.index("\nSDD_CPP_BEGIN\n"), text.rindex("\nSDD_CPP_END")
    text = text[begin + len("\nSDD_CPP_BEGIN\n") : end]
    text = public(without_bodies(text))
    text = text.replace(" // namespace detail", "")
    text = re.sub(r"^#(?:pragma|endif|define SDD_CPP_\w+_HPP).*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n\s*friend [^;]*;", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def rules(text: str) -> list[str]:
    """The introduction of sdd.hpp: its first program and the rules."""
    head = lines_of(re.match(r"/\*.*?\*/", text, re.DOTALL)[0])
    before, _, rest = head.partition("\nCHAPTERS")
    _, _, after = rest.partition("\nTHE RULES")
    program = [line[4:] for line in before.split("\n") if line.startswith("    ") or not line]
    lines = ["```cpp", *"\n".join(program).strip().split("\n"), "```", "", "## The rules", ""]
    _, _, body = after.partition("\n\n")
    for rule in re.split(r"\n(?=\S)", body):
        name, _, words = " ".join(rule.split()).partition(" ")
        lines += [f"- **{name}** {words}".replace("<", "\\<"), ""]
    return lines


def write(path: Path) -> None:
    top = (FOLDER / "sdd.hpp").read_text(encoding="utf-8")
    order = re.findall(r"^ \*     (\w+)\.hpp +(.*)$", top, re.MULTILINE)
    lines = [
        "# The C++ layer",
        "",
        "`sdd/sdd.hpp` is a layer over the C header, in C++17 and with coroutines in C++20: owners of the C "
        "objects, lambdas as callbacks, results, futures. It is header only. A first program:",
        "",
        *rules(top),
        "## Chapters",
        "",
        "What follows are the declarations of each chapter, without the bodies of their functions.",
        "",
    ]
    for name, text in order:
        lines += [
            f"### {name}.hpp",
            "",
            text[0].upper() + text[1:] + ".",
            "",
            "```cpp",
            synopsis(FOLDER / "cpp" / f"{name}.hpp"),
            "```",
            "",
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
