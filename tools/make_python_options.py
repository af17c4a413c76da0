#!/usr/bin/env python3
"""Writes the options of the Python package out of the structs of the header: types, and descriptions with defaults, in
seconds, and under Python's names.

    make_python_options.py [FOLDER]       `tools/bindings.sh` calls it; FOLDER: where to write, default the package

It writes the classes of python_names.py into _options.py and _metrics.py; _descriptions.py, the same texts for help();
and _names.py, the names in Python of what the header names, for the library's messages. A field of a struct is a member
of its class, under its own name and with the type that its kind has, unless python_names.py says otherwise: what has
no counterpart in the header is an error here, and so is a bit without an option.
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))
from header import read_header  # noqa: E402
from interface import Interface, Variable, fail, read  # noqa: E402
from python_names import BITS, CALLS, CLASSES, FIELDS, LOW_LAYER, NO_OPTIONS, OWN, PATHS, TYPES, WORDS, Class  # noqa: E402

PACKAGE = ROOT / "bindings" / "python" / "src" / "sdd"
NOTE = """\
# Made from include/sdd/*.h by tools/make_python_options.py: `make bindings` makes it anew. Nothing is changed by hand.
"""
WIDTH = 120

HEADS = {
    "_options.py": '''\
"""Keyword options of requests, downloaders and caches. The header describes each in full, under the same name.

Times are seconds, sizes bytes, sides pixels. What is left out has the header's default; -1 is "no limit" where the
header says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from . import _constants as c
from ._constants import PixelFormat, Priority
from ._help import takes
from ._transforms import Fit, Transform

if TYPE_CHECKING:
    from ._cache import Cache

PixelFormatName = Literal[
    "rgba8", "rgba8_premultiplied", "bgra8", "bgra8_premultiplied", "rgb8", "grey8", "rgba16",
    "rgba16_premultiplied", "rgb8_planar",
]  # fmt: skip
PriorityName = Literal["very_low", "low", "normal", "high", "very_high"]
FormatName = Literal["jpeg", "jpg", "png", "webp", "avif", "jxl"]
Levels = Literal["all", "memory", "disk", "none"]
''',
    "_metrics.py": '''\
"""What a request took and cost."""

from __future__ import annotations

from dataclasses import dataclass
''',
}

# Types by kind. Fields whose names end with _ms or _us are times.
PATH = "str | os.PathLike[str]"
KINDS = {"number": "int", "count": "int", "real": "float", "flag": "bool"}


@dataclass
class Member:
    """A member of a class: a field or bit of the header, at "struct.field" or "SDD_OPTION_BIT", or neither: ""."""

    kind: str
    name: str
    type: str
    place: str = ""
    comment: str = ""
    text: str = ""

    @property
    def is_flag(self) -> bool:
        return self.type == "bool"


# ---- members


def type_of(field: Variable, key: str) -> str:
    if key in TYPES:
        return TYPES[key]
    if field.name.endswith(("_ms", "_us")):
        return "float"
    text = PATH if field.name in PATHS else "str"
    if field.type == "const char * const *":
        return f"Sequence[{text}]"
    if field.kind == "text":
        return text
    return KINDS.get(field.kind) or fail(f"TYPES must say what {key} ({field.type}) is in Python")


def inherited(name: str) -> set[str]:
    """The names that a class has from its bases."""
    bases = [part for part in chain(name) if part != name]
    return {key.partition(".")[2] for key in TYPES if key.partition(".")[0] in bases}


def fields_of(name: str, about: Class, interface: Interface) -> list[Member]:
    members = []
    renamed = {f"{option.partition('.')[0]}.{field}": option.partition(".")[2] for option, field in FIELDS.items()}
    for field in interface.structs.get(about.struct, []):
        place = f"{about.struct}.{field.name}"
        option = renamed.get(place) or re.sub(r"_[mu]s$", "", field.name)
        if field.name in NO_OPTIONS | LOW_LAYER or option in inherited(name):
            continue
        members.append(Member(name, option, type_of(field, f"{name}.{option}"), place, field.comment))
    return members


def own_members(name: str, about: Class, interface: Interface, bits: dict[str, str]) -> list[Member]:
    """A class's fields, bits, and what TYPES has besides."""
    members = fields_of(name, about, interface)
    members += [Member(name, option, "bool", bit, bits[bit]) for bit, (option, *of) in BITS.items() if name in of]
    known = {member.name for member in members}
    others = [key.partition(".")[2] for key in TYPES if key.partition(".")[0] == name]
    for option in (option for option in others if option not in known):
        field = next((one for one in interface.structs[about.also] if one.name == option), None) if about.also else None
        place = f"{about.also}.{option}" if field else ""
        members.append(Member(name, option, TYPES[f"{name}.{option}"], place, field.comment if field else ""))
    return members


def chain(name: str) -> list[str]:
    """A class after the classes that it inherits from."""
    found = [part for base in CLASSES[name].bases for part in chain(base)]
    return [*dict.fromkeys(found), name]


# ---- texts


def seconds(match: re.Match[str]) -> str:
    number = int(match[2]) / 1000
    return f"{match[1]}{number:g} {'second' if number == 1 else 'seconds'}" if number else f"{match[1]}0"


def described(text: str, place: str, is_flag: bool, is_option: bool, names: dict[str, str]) -> str:
    """A comment of the header in Python's words: a sentence, at least."""
    field = place.rpartition(".")[2]
    text = re.sub(r"^(?:[DLPBQ] )*[DLPBQ](?:, not [^:]*)?: ", "", text)
    if field.endswith("_ms"):
        text = re.sub(r"([Dd]efault )(\d+)\b(?! (?:day|minute))", seconds, text)
    if is_flag:
        text = re.sub(r"^1: ", "", text)
        text = re.sub(r"[Dd]efault 0\b", "default: False", text)
    text = in_python(text.replace("this bit", "this option"), names)
    if field.endswith(("_ms", "_us")) and "second" not in text:
        text = text.rstrip(".") + "; in seconds."
    text = text[0].upper() + text[1:] if text else ""
    text = text if not text or text.endswith((".", '."')) else text + "."
    return f"{text} Default: False." if text and is_flag and is_option and "efault" not in text else text


def check_default(key: str, text: str, header: str, place: str) -> None:
    """A description of OWN must have the number that the header says is the default."""
    found = re.search(r"[Dd]efault (\d+(?: (?:[KMG]iB|minutes|days?))?)\b", header)
    if found and "Default: False" not in text:
        is_plain = not place.endswith("_ms") or " " in found[1]
        number = f"Default {found[1]}" if is_plain else re.sub(r"(Default )(\d+)", seconds, f"Default {found[1]}")
        wanted = re.escape(number.partition(" ")[2])
        if not re.search(rf"[Dd]efault {wanted}\b", text):
            fail(f"OWN describes {key} with another default than the header: {found[0]}")


def in_python(text: str, names: dict[str, str]) -> str:
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    text = re.sub(r"\bsdd_\w+(?:\.\w+|\(\))?|\bSDD_[A-Z0-9_]+", lambda match: names.get(match[0], match[0]), text)
    return re.sub(r"\b(\w+)_ms\b", r"\1", text)


# ---- writing


def docstring(text: str) -> str:
    """The lines of a docstring within a class."""
    text = text.replace("\\", "\\\\")
    if text.endswith('"'):
        text += " "
    lines = textwrap.wrap(f'"""{text}"""', WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "".join(f"    {line}\n" for line in lines)


def class_text(name: str, about: Class, members: list[Member]) -> str:
    bases = ", ".join([*(about.bases or ["TypedDict"]), "total=False"])
    opening = f'@takes("{name}")\nclass {name}({bases}):'
    if about.is_data:
        opening = f"@dataclass(frozen=True)\nclass {name}:"
    text = f'\n\n{opening}\n    """{about.text}"""\n\n'
    return text + "".join(f"    {one.name}: {one.type}\n{docstring(one.text)}" for one in members) + about.end


def block(members: list[Member]) -> str:
    """The members for help(): a paragraph for each."""
    return "".join(
        textwrap.fill(
            f"{member.name}: {member.text}",
            100,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
        for member in members
    )


def descriptions(members: dict[str, list[Member]]) -> str:
    lines = [NOTE + '"""The descriptions of all options, for help()."""', "", "OPTIONS: dict[str, str] = {"]
    for name in members:
        lines += [f'    "{name}": """\\', block(members[name]).replace("\\", "\\\\") + '""",']
    lines += ["}", '"""Of each class its own options."""', "", "CHAINS: dict[str, tuple[str, ...]] = {"]
    chains = {name: ", ".join(f'"{part}"' for part in chain(name)) for name in members}
    lines += [f'    "{name}": ({text},),' for name, text in chains.items()]
    return "\n".join([*lines, "}", '"""Of each class the classes whose options it has."""']) + "\n"


def names_and_words(names: dict[str, str]) -> str:
    lines = [NOTE + '"""The names in Python of what the header of libsdd names."""', "", "NAMES: dict[str, str] = {"]
    lines += [f'    "{name}": "{value}",' for name, value in sorted(names.items())]
    lines += ["}", "", "WORDS: list[tuple[str, str]] = ["]
    lines += [f"    (r'{pattern}', r'{replacement}'),".replace("'", '"') for pattern, replacement in WORDS]
    lines += ["]", '"""Patterns of texts, and what stands for them in Python."""', "", "PATHS = frozenset({"]
    lines += [f'    "{name}",' for name in PATHS]
    return "\n".join([*lines, "})", '"""The fields that name files."""']) + "\n"


def check_names(interface: Interface, members: list[Member], bits: dict[str, str]) -> None:
    """What python_names.py has must be of use."""
    keys = {f"{member.kind}.{member.name}" for member in members}
    if stale := sorted((OWN.keys() | TYPES.keys()) - keys):
        fail(f"OWN or TYPES has {stale}, which are no members")
    fields = {f"{struct}.{one.name}" for struct, all_of in interface.structs.items() for one in all_of}
    if stale := [option for option, field in FIELDS.items() if f"{option.partition('.')[0]}.{field}" not in fields]:
        fail(f"FIELDS has {stale}, whose fields are none")
    if stale := sorted(set(PATHS) - {field.partition(".")[2] for field in fields}):
        fail(f"PATHS has {stale}, which are no fields")
    if missing := sorted(bits.keys() - BITS.keys() - LOW_LAYER - CALLS.keys()):
        fail(f"BITS has no option for {missing}; LOW_LAYER has those that need none")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    interface = read()
    bits = {
        member.name: " ".join(member.doc.text.split())
        for chapter in read_header() for item in chapter.items for member in item.members
        if item.kind == "enum" and member.name.startswith("SDD_OPTION_")
    }  # fmt: skip
    members = {name: own_members(name, about, interface, bits) for name, about in CLASSES.items()}
    options = {name: members[name] for name, about in CLASSES.items() if about.file == "_options.py"}
    names = dict(CALLS)
    for member in (one for each in options.values() for one in each if one.place):
        names.setdefault(member.place, member.name)
    every = [one for each in members.values() for one in each]
    for member in every:
        key = f"{member.kind}.{member.name}"
        is_option = member.kind in options
        member.text = OWN.get(key) or described(member.comment, member.place, member.is_flag, is_option, names)
        if key in OWN:
            check_default(key, member.text, member.comment, member.place)
        if not member.text:
            fail(f"{key} has no comment in the header ({member.place or 'no field'}); OWN must describe it")
    check_names(interface, every, bits)
    for file, head in HEADS.items():
        classes = [class_text(name, about, members[name]) for name, about in CLASSES.items() if about.file == file]
        (folder / file).write_text(NOTE + head + "".join(classes))
    lines = [f'    "{option}": c.{bit.removeprefix("SDD_")},\n' for bit, (option, *_) in BITS.items()]
    with (folder / "_options.py").open("a") as file:
        file.write(f'\n\nBITS: dict[str, int] = {{\n{"".join(lines)}}}\n"""Options that are bits of the header."""\n')
    (folder / "_descriptions.py").write_text(descriptions(options))
    (folder / "_names.py").write_text(names_and_words(names))


if __name__ == "__main__":
    main()
