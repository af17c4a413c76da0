#!/usr/bin/env python3
"""Writes what the Python package says of its options: descriptions out of the comments of the header, with defaults, in
seconds, and under Python's names.

    make_python_docs.py [FOLDER]       `tools/bindings.sh cffi` calls it; FOLDER: where to write, default the package

It writes the docstrings after the members of the classes in MEMBERS, in _options.py and _results.py; _descriptions.py,
the same texts for help(); and _names.py, the names in Python of what the header names, for the library's messages. The
header is read as the site reads it (docs/site/header.py). The types and names of the options are those of the package's
sources: a member that is none of the header's is an error here, unless OWN describes it; so is a field or bit of the
header that no member stands for, unless NO_OPTIONS or LOW_LAYER has it.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))
from header import Chapter, read_header  # noqa: E402
from python_names import CALLS, FIELDS, LOW_LAYER, NO_OPTIONS, OWN, WORDS  # noqa: E402

PACKAGE = ROOT / "bindings" / "python" / "src" / "sdd"
NOTE = """\
# Made from include/sdd/*.h by tools/make_python_docs.py: `tools/bindings.sh cffi` makes it anew. Nothing is changed by
# hand.
"""
WIDTH = 120

# The structs that have the members of a class, the first that has one counts; "bits" are those of SDD_OPTION_.
MEMBERS = {
    "_options.py": {
        "PictureOptions": ["sdd_decode_options"],
        "TransferOptions": ["sdd_transfer_options", "sdd_download_request", "bits"],
        "StoreOptions": ["bits"],
        "RequestOptions": ["sdd_download_request", "bits"],
        "DownloadOptions": ["sdd_download_request", "bits"],
        "LoadOptions": ["sdd_load_request", "bits"],
        "PrefetchOptions": ["sdd_prefetch_list", "bits"],
        "RowOptions": ["sdd_batch_config"],
        "BatchOptions": ["sdd_batch_config", "bits"],
        "Credential": ["sdd_credential"],
        "NetworkOptions": ["sdd_network_options"],
        "LimitOptions": ["sdd_limits"],
        "RetryOptions": ["sdd_retry_options"],
        "ReportOptions": ["sdd_callback_options"],
        "DownloaderOptions": ["sdd_downloader_config"],
        "CacheOptions": ["sdd_cache_config"],
    },
    "_results.py": {"Metrics": ["sdd_metrics"]},
}


def fail(sentence: str) -> None:
    sys.exit(f"make_python_docs.py: {sentence}")


# ---- the header


class Header:
    def __init__(self, chapters: list[Chapter]) -> None:
        self.texts: dict[str, str] = {}
        for chapter in chapters:
            for item in chapter.items:
                for member in item.members:
                    key = member.name if item.kind == "enum" else f"{item.name}.{member.name}"
                    self.texts[key] = " ".join(member.doc.text.split())


def bits() -> dict[str, str]:
    """The options that are bits, as _plans.py has them: {"resume": "SDD_OPTION_RESUME"}."""
    tree = ast.parse((PACKAGE / "_plans.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "BITS" and node.value:
            assert isinstance(node.value, ast.Dict)
            return {
                ast.literal_eval(key): f"SDD_{value.attr}"  # type: ignore[arg-type,attr-defined]
                for key, value in zip(node.value.keys, node.value.values)
            }
    raise SystemExit("make_python_docs.py: _plans.py has no BITS")


def place_of(name: str, structs: list[str], header: Header) -> str:
    """The field or bit of the header for a member: "sdd_limits.total_timeout_ms"; "" if there is none."""
    for struct in structs:
        if struct == "bits":
            if name in BITS:
                return BITS[name]
            continue
        for field in (FIELDS.get(f"{struct}.{name}", name), f"{name}_ms", f"{name}_us"):
            if f"{struct}.{field}" in header.texts:
                return f"{struct}.{field}"
    return ""


def without_member(sources: dict[str, tuple[list[Member], dict[str, list[str]]]], header: Header) -> list[str]:
    """The fields and bits for which there is no member. Of several structs with a field one counts."""
    structs = {struct for names in MEMBERS.values() for listed in names.values() for struct in listed}
    found = {*NO_OPTIONS, *LOW_LAYER, *CALLS}
    for file, (members, _) in sources.items():
        for member in members:
            for struct in MEMBERS[file][member.kind]:
                found.add(place_of(member.name, [struct], header).rpartition(".")[2])
    asked = (place for place in header.texts if place.startswith("SDD_OPTION_") or place.partition(".")[0] in structs)
    return sorted(place for place in asked if place.rpartition(".")[2] not in found)


BITS = bits()


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


# ---- the sources of the package


class Member:
    """A member of a class, with the lines of its docstring."""

    def __init__(self, kind: str, node: ast.AnnAssign, following: ast.stmt | None) -> None:
        assert isinstance(node.target, ast.Name)
        self.kind = kind
        self.name = node.target.id
        self.is_flag = ast.unparse(node.annotation) == "bool"
        self.line = node.end_lineno or 0
        is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        self.text_end = (following.end_lineno or 0) if is_text and following else self.line
        self.text = ""


def members_of(file: str, names: dict[str, list[str]]) -> tuple[list[Member], dict[str, list[str]]]:
    """The members of the classes, in order, and the bases of each class."""
    members, bases = [], {}
    for node in ast.parse((PACKAGE / file).read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name in names:
            bases[node.name] = [ast.unparse(base) for base in node.bases if ast.unparse(base) in names]
            for part, following in zip(node.body, [*node.body[1:], None]):
                if isinstance(part, ast.AnnAssign):
                    members.append(Member(node.name, part, following))
    if set(bases) != set(names):
        fail(f"{file} lacks {sorted(set(names) - set(bases))}")
    return members, bases


def docstring(text: str) -> str:
    """The lines of a docstring within a class."""
    text = text.replace("\\", "\\\\")
    if text.endswith('"'):
        text += " "
    lines = textwrap.wrap(f'"""{text}"""', WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "".join(f"    {line}\n" for line in lines)


def with_texts(file: str, members: list[Member]) -> str:
    lines = (PACKAGE / file).read_text().splitlines(keepends=True)
    for member in reversed(members):
        lines[member.line : member.text_end] = [docstring(member.text)]
    return "".join(lines)


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


def chain(name: str, bases: dict[str, list[str]]) -> list[str]:
    """A class after the classes that it inherits from."""
    found = [part for base in bases[name] for part in chain(base, bases)]
    return [*dict.fromkeys(found), name]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    header = Header(read_header())
    sources = {file: members_of(file, names) for file, names in MEMBERS.items()}
    names = dict(CALLS)
    for file, (members, _) in sources.items():
        for member in members:
            place = place_of(member.name, MEMBERS[file][member.kind], header)
            if place and file == "_options.py":
                names.setdefault(place, member.name)
    used: set[str] = set()
    for file, (members, _) in sources.items():
        for member in members:
            key = f"{member.kind}.{member.name}"
            place = place_of(member.name, MEMBERS[file][member.kind], header)
            comment = header.texts.get(place, "")
            member.text = OWN.get(key) or described(comment, place, member.is_flag, file == "_options.py", names)
            if key in OWN:
                check_default(key, member.text, comment, place)
            used.add(key)
            if not member.text:
                fail(f"{key} has no comment in the header ({place or 'no field'}); OWN must describe it")
        (folder / file).write_text(with_texts(file, members))
    if stale := sorted(OWN.keys() - used):
        fail(f"OWN describes {stale}, which are no members")
    if stale := sorted(place for option, field in FIELDS.items()
                       if (place := f"{option.partition('.')[0]}.{field}") not in header.texts):
        fail(f"FIELDS names {stale}, which are no fields")
    if missing := without_member(sources, header):
        fail(f"no member stands for {missing}; NO_OPTIONS and LOW_LAYER have those that need none")
    members, bases = sources["_options.py"]
    texts = {name: block([member for member in members if member.kind == name]) for name in MEMBERS["_options.py"]}
    lines = [NOTE + '"""The descriptions of all options, for help()."""', "", "OPTIONS: dict[str, str] = {"]
    for name, text in texts.items():
        lines += [f'    "{name}": """\\', text.replace("\\", "\\\\") + '""",']
    lines += ["}", '"""Of each class its own options."""', "", "CHAINS: dict[str, tuple[str, ...]] = {"]
    lines += [
        f'    "{name}": ({", ".join(repr(part) for part in chain(name, bases))},),'.replace("'", '"') for name in texts
    ]
    lines += ["}", '"""Of each class the classes whose options it has."""']
    (folder / "_descriptions.py").write_text("\n".join(lines) + "\n")
    lines = [NOTE + '"""The names in Python of what the header of libsdd names."""', "", "NAMES: dict[str, str] = {"]
    lines += [f'    "{name}": "{value}",' for name, value in sorted(names.items())]
    lines += ["}", "", "WORDS: list[tuple[str, str]] = ["]
    lines += [f"    (r'{pattern}', r'{replacement}'),".replace("'", '"') for pattern, replacement in WORDS]
    lines += ["]", '"""Patterns of texts, and what stands for them in Python."""']
    (folder / "_names.py").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
