#!/usr/bin/env python3
"""Compares the tables "Moving from 0.3.0" of CHANGELOG.md with both headers. Fails if

- a name on the left side of a row is not one of 0.3.0, or is still there,
- a name on the right side is not there today,
- a name of 0.3.0 that is gone has no row. A row for a type stands for its fields and its _INIT macro, too, and
  `reserved` for the fields of that name in all structs.

    Tests/abi/check-migration.py

Each line of names-0.3.0, which never changes, is a kind (call, type, number, macro) and names, or `field`, a struct and
its fields. The tables for Python, Rust and C++ are not checked.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OLD = ROOT / "Tests/abi/names-0.3.0"
BEGIN, END = "### Moving from 0.3.0", "### Moving Python"


def names_of(text):
    """Returns the (kind, name) of all that a header declares."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    names = {("macro", name) for name in re.findall(r"^\s*#define (SDD_\w+)", text, re.MULTILINE)}
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    text = re.sub(r"\bSDD_(?:NULLABLE|NONNULL|NOEXCEPT)\b", "", text)
    names |= {("call", name) for name in re.findall(r"\bSDD_API\b[^;(]*?\b(sdd_\w+)\(", text)}
    for body in re.findall(r"\bSDD_ENUM\(\w+\) \{(.*?)\}", text, re.DOTALL):
        names |= {("number", name) for name in re.findall(r"\b(SDD_\w+)\s*=", body)}
    for struct, body in re.findall(r"\btypedef struct (\w+) \{(.*?)\n\}", text, re.DOTALL):
        names.add(("type", struct))
        for pointer, name in re.findall(r"\(\*\s*(\w+)\)\(|\b(\w+)\s*(?:\[\w+\])?;", body):
            names.add(("field", f"{struct}.{pointer or name}"))
    names |= {("type", name) for name in re.findall(r"\btypedef [^;{}()]*\b(sdd_\w+);", text)}
    return names | {("type", name) for name in re.findall(r"\btypedef [^;{}()]*\(\*\s*(sdd_\w+)\)\(", text)}


def rows_of(text):
    """Returns the two cells of each row of the tables."""
    section = text[text.index(BEGIN) : text.index(END)]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return [row for row in rows if not row[0].startswith("---") and row[0] != "0.3.0"]


def left_of(cell, old):
    """Returns the (kind, name) of 0.3.0 that a left cell stands for; of a name that is none, the kind is None."""
    words = re.findall(r"`([\w.]+)`", cell)
    if cell.startswith("`sdd_") and "`: " in cell:  # a struct and some of its fields
        words = [f"{words[0]}.{word}" for word in words[1:]]
    for word in words:
        if word.startswith("reserved"):
            yield from ((kind, name) for kind, name in old if kind == "field" and name.endswith("." + word))
        elif not word.startswith("int32_t"):
            yield from [each for each in old if each[1] == word] or [(None, word)]


def right_of(cell, left, old):
    """Returns what a right cell says is there today: names, fields as .field, and STRUCT.FIELD."""
    if cell.startswith("the same"):
        suffix = re.findall(r"with `(_\w+)` at the end", cell)
        struct = re.findall(r"^the same fields of `(\w+)`", cell)
        for _, name in left:
            yield f"{struct[0]}.{name.partition('.')[2]}" if struct else name + "".join(suffix)
    explained = {name.rpartition(".")[2] for kind, name in old if kind == "field" and is_of(name, left)}
    for word in re.findall(r"`([\w.>-]+)(?:\(\))?`", cell):
        if word.startswith(("sdd_", "SDD_")):
            yield word
        elif re.fullmatch(r"[a-z]\w*(->\w+)?", word) and word not in explained:
            yield from ("." + part for part in word.split("->"))


def is_of(field, left):
    """Whether a field belongs to a struct of a row's left side."""
    return any(field.split(".")[0] == name.split(".")[0] for _, name in left)


def main():
    header = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "include/sdd").glob("*.h")))
    new = names_of(header)
    old = set()
    for kind, *names in map(str.split, OLD.read_text(encoding="utf-8").splitlines()):
        struct = names.pop(0) + "." if kind == "field" else ""
        old |= {(kind, struct + name) for name in names}
    there = {name for _, name in new} | {"." + name.partition(".")[2] for kind, name in new if kind == "field"}
    wrong, told, rows = [], set(), rows_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    for before, after in rows:
        left = list(left_of(before, old))
        right = list(right_of(after, left, old))
        told.update(left)
        wrong += [f"{name} is no name of 0.3.0" for kind, name in left if kind is None]
        wrong += [f"{kind} {name} is still there" for kind, name in left if (kind, name) in new and name not in right]
        wrong += [f"{name}, on the right of {before[:60]}, is not in the header" for name in right if name not in there]
    for kind, name in sorted(old - new - told):
        struct = name.partition(".")[0] if kind == "field" else name.removesuffix("_INIT").lower()
        if kind not in ("field", "macro") or ("type", struct) not in told - new:
            wrong.append(f"{kind} {name} is gone, and no row says so")
    for line in wrong:
        print(f"check-migration.py: {line}", file=sys.stderr)
    if wrong or len(rows) < 30:
        sys.exit(f"check-migration.py: {len(wrong)} faults in {len(rows)} rows of CHANGELOG.md")
    print(f"ok migration: {len(rows)} rows, {len(old - new)} names of {len(old)} are gone, {len(new - old)} new")


if __name__ == "__main__":
    main()
