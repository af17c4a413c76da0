#!/usr/bin/env python3
"""Writes the low layer of the Python package: the interface of the header for cffi, and its numbers as constants.

    make_cffi.py FOLDER        `tools/bindings.sh` calls it with bindings/python/src/sdd

It writes FOLDER/_ffi.py, the declarations in the form that cffi loads without a compiler and without pycparser, and
FOLDER/_constants.py. pycparser reads what gcc's preprocessor makes of the header; a program in C, compiled with the
header, tells the values of the constants. Besides pycparser (Debian: python3-pycparser) this needs cffi (Debian:
python3-cffi). What the script does not understand ends it with a sentence: nothing of the header is ever left out.
"""

import keyword
import os
import re
import sys
import tempfile

from pycparser import c_ast, c_generator

sys.dont_write_bytecode = True
from interface import HEADER, INCLUDE, fail, macros, parse, run  # noqa: E402

try:
    import cffi
except ImportError:
    sys.exit("make_cffi.py: no cffi (Debian: python3-cffi)")

NOTE = "# Made from include/sdd/*.h by tools/make_cffi.py: `make bindings` makes it anew. Do not edit it.\n"

# The class of the enumerations.
NUMBER = '''\
class Number(IntEnum):
    """A number of the header. One that this version does not know, of a newer library, has the name UNKNOWN_1234."""

    @classmethod
    def _missing_(cls, value: object) -> Number | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_, member._value_ = f"UNKNOWN_{value}", value
        return member'''

# Enumerations of Python, by the beginning of the constants' names. All other numbers are plain constants.
ENUMERATIONS = {
    "ERROR_": ("Status", "Outcomes of calls and requests, `Error.status`: SDD_ERROR_ of the header."),
    "DETAIL_": ("Detail", "What exactly happened, `Error.detail`: SDD_DETAIL_ of the header."),
    "CLASS_": ("ErrorClass", "Kinds of failures: SDD_CLASS_ of the header."),
    "STAGE_": ("Stage", "Stages of a request, `Error.stage`: SDD_STAGE_ of the header."),
    "ORIGIN_": ("Origin", "Where a result comes from: SDD_ORIGIN_ of the header."),
    "PRIORITY_": ("Priority", "Priorities of requests: SDD_PRIORITY_ of the header."),
    "ENTRY_": ("EntryState", "States of an entry on disk: SDD_ENTRY_ of the header."),
    "COLOUR_KIND_": ("ColourKind", "Kinds of colours, `Colour.kind`: SDD_COLOUR_KIND_ of the header."),
    "IMAGE_FORMAT_": ("ImageFormat", "Formats of encoded pictures: SDD_IMAGE_FORMAT_ of the header."),
    "PIXEL_FORMAT_": ("PixelFormat", "Layouts of pixels: SDD_PIXEL_FORMAT_ of the header."),
}


def values_of(numbers, texts, beginnings):
    """The constants by name, int or bytes, as a program in C prints them.

    It fails if there is a struct that does not begin with zeros: then constructors need to know of that.
    """
    lines = [HEADER, "#include <stdio.h>", "#include <string.h>", "int main(void)", "{"]
    for name in numbers:
        lines.append(f'printf({name} < 0 ? "{name} %lld\\n" : "{name} %llu\\n", (long long)({name}));')
    for name in texts:
        lines.append(f'printf("{name} \\"%s\\"\\n", {name});')
    for name in beginnings:
        struct = name[:-len("_INIT")].lower()
        lines.append(f"{{ static {struct} it = {name}, zeros; zeros.struct_size = sizeof zeros;")
        lines.append(f'if (memcmp(&it, &zeros, sizeof it)) printf("{name} !\\n"); }}')
    lines += ["return 0;", "}"]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "values")
        run("gcc", "-w", f"-I{INCLUDE}", "-x", "c", "-", "-o", program, input="\n".join(lines))
        values = {}
        for line in run(program).splitlines():
            name, value = line.split(" ", 1)
            if value == "!":
                fail(f"{name} has other defaults than zero, and this script knows no others")
            values[name] = value[1:-1].encode() if value.startswith('"') else int(value)
    return values


# ---- writing


def checked(name):
    if not name.isidentifier() or keyword.iskeyword(name):
        fail(f"{name} cannot be a name in Python")
    return name


def declarations(nodes, values, numbers):
    """The header as text for ffi.cdef(): macros, enumerations with their values, types and calls."""
    generator = c_generator.CGenerator()
    lines = [f"#define {name} {values[name]}" for name in numbers]
    for node in nodes:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
            entries = [f"{entry.name} = {values[entry.name]}" for entry in node.type.values.enumerators]
            lines.append(f"enum {{ {', '.join(entries)} }};")
        else:
            lines.append(generator.visit(node) + ";")
    return "\n".join(lines)


def constants(names, values, texts):
    """The file of the constants. Their names lack the "SDD_" of C."""
    members = {prefix: [] for prefix in ENUMERATIONS}
    plain = []
    for name in names:
        short = name[len("SDD_"):]
        prefix = next((prefix for prefix in ENUMERATIONS if short.startswith(prefix)), None)
        if prefix:
            member = short[len(prefix):]
            members[prefix].append((checked(member), values[name]))
        plain.append((short, values[name]))
    about = '"""The numbers of the header, under their names without "SDD_"; the most used also as enumerations."""'
    lines = [NOTE + about, "", "from __future__ import annotations", "", "from enum import IntEnum",
             "from typing import Final", ""]
    lines += [f"{name[len('SDD_'):]}: Final = {values[name].decode()!r}".replace("'", '"') for name in texts]
    lines += [f"{name}: Final = {value}" for name, value in plain]
    lines += ["", "", NUMBER]
    for prefix, entries in members.items():
        name, text = ENUMERATIONS[prefix]
        if prefix == "ERROR_":
            entries = [("OK", values["SDD_OK"]), *entries]
        if prefix == "IMAGE_FORMAT_":
            entries = [("NONE", 0), *entries]
        lines += ["", "", f"class {name}(Number):", f'    """{text}"""', ""]
        lines += [f"    {member} = {value}" for member, value in entries]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit("make_cffi.py FOLDER")
    folder = sys.argv[1]
    nodes = parse()
    numbers, texts, beginnings = macros()
    names = list(numbers)
    for node in nodes:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
            names += [entry.name for entry in node.type.values.enumerators]
    values = values_of(names, texts, beginnings)

    builder = cffi.FFI()
    builder.cdef(declarations(nodes, values, numbers))
    builder.set_source("sdd._ffi", None)
    file = os.path.join(folder, "_ffi.py")
    builder.emit_python_code(file)
    with open(file) as made:
        text = re.sub(r"^# auto-generated file\n", NOTE, made.read())
    with open(file, "w") as made:
        made.write(text)
    with open(os.path.join(folder, "_constants.py"), "w") as made:
        made.write(constants(names, values, texts))


if __name__ == "__main__":
    main()
