"""Reads what the header declares, as the compiler sees it: calls, structs, callback types, enumerations and macros.

pycparser (Debian: python3-pycparser) reads what gcc's preprocessor makes of the header. The generators of bindings.sh
and make_tables.py, which writes the tables of the tests in C, work from it. The comments are docs/site's header.py to
read, from which the pages are made; here they also tell which fields are flags.
"""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = os.path.join(ROOT, "include")
HEADER = "#include <sdd/sdd.h>\n"

# The system types that the header uses. They are defined here because pycparser cannot read glibc's headers (GNU C).
SYSTEM = {
    "stddef.h": {"size_t": "unsigned long"},
    "stdint.h": {"uint8_t": "unsigned char", "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long",
                 "uint64_t": "unsigned long"},
}

# With these the header has its marks for pointers that must not be NULL, as a qualifier that it has nowhere else.
MARKS = ("-D__clang__", "-D_Nonnull=volatile", "-D_Nullable=")


def fail(sentence):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {sentence}")


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        fail(f"status {done.returncode}: {' '.join(command)}")
    return done.stdout


def parse(include=INCLUDE, marks=()):
    """The header's declarations as pycparser's nodes, those of the system left out."""
    with tempfile.TemporaryDirectory() as folder:
        for name, types in SYSTEM.items():
            with open(os.path.join(folder, name), "w") as file:
                file.writelines(f"typedef {meaning} {new};\n" for new, meaning in types.items())
        text = run("gcc", "-std=c11", "-E", "-P", "-nostdinc", f"-I{folder}", f"-I{include}", "-DSDD_API=", *marks,
                   "-x", "c", "-", input=HEADER)
    if marks:  # pycparser does not know enumerations with a type: it becomes their name
        text = re.sub(r"^#.*$", "", re.sub(r"\benum : (\w+)", r"enum \1", text), flags=re.MULTILINE)
    system = {name for types in SYSTEM.values() for name in types}
    return [node for node in c_parser.CParser().parse(text).ext if node.name not in system]


def macros(include=INCLUDE):
    """Three lists of names: the macros that are numbers, those that are texts, those that begin a struct (_INIT)."""
    options = "-std=c11", "-E", "-P", f"-I{include}", "-DSDD_API=", "-x", "c", "-"
    given = sorted(re.findall(r"^#define (SDD_\w+) ", run("gcc", "-dM", *options, input=HEADER), re.MULTILINE))
    # In the second run each name is text before the sign, and the preprocessor replaces it after the sign.
    asked = "".join(f'"{name}" => {name}\n' for name in given)
    numbers, texts, beginnings = [], [], []
    for name, meaning in re.findall(r'^"(\w+)" => *(\S.*)$', run("gcc", *options, input=HEADER + asked), re.MULTILINE):
        {'"': texts, "{": beginnings}.get(meaning[0], numbers).append(name)
    return numbers, texts, beginnings


# ---- the interface in types of its own


@dataclass
class Variable:
    """A field of a struct, or a parameter. Kinds of its type are those of `kind_of()`."""

    name: str
    type: str
    kind: str
    target: str  # the enumeration, struct, handle or callback type that it is of, or points to; or ""
    is_nonnull: bool
    comment: str


@dataclass
class Function:
    """A call, or a callback type."""

    name: str
    result: Variable
    parameters: list[Variable]


@dataclass
class Interface:
    calls: list[Function] = field(default_factory=list)
    callbacks: dict[str, Function] = field(default_factory=dict)  # those in structs as "sdd_coder_open"
    structs: dict[str, list[Variable]] = field(default_factory=dict)
    handles: set[str] = field(default_factory=set)
    enums: dict[str, list[str]] = field(default_factory=dict)  # type: its numbers' names
    zeros: dict[str, str] = field(default_factory=dict)  # type: the name of its number 0, if it has one
    bits: set[str] = field(default_factory=set)  # those whose numbers are bits
    inits: dict[str, str] = field(default_factory=dict)  # struct: its _INIT macro
    options: dict[str, str] = field(default_factory=dict)  # SDD_OPTION_ bit: where it has a meaning, "DLPB"


def unnamed(node):
    """The type of a declaration as text."""
    node = copy.deepcopy(node)
    inner = node
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = None
    text = c_generator.CGenerator().visit(c_ast.Typename(None, [], None, node))
    return re.sub(r"\s+", " ", re.sub(r"\bvolatile\b ?", "", text)).strip()


def base_name(node):
    """The name of the type at the end of pointers; "" for a function."""
    while isinstance(node, c_ast.PtrDecl):
        node = node.type
    if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.IdentifierType):
        return node.type.names[-1]
    return ""


def kind_of(interface, node, owner, comment):
    """The kind of a type, and what it is of or points to.

    size: struct_size. flag: 0 or 1. enum, bits: numbers of an enumeration, or a set of them. number, count, real:
    others; a count is a size_t. text: a const char *. options: a struct that the library reads; record: one that it
    fills. handle: an object. out: where an object is returned to. callback. pointer: anything else.
    """
    base = base_name(node)
    if isinstance(node, c_ast.PtrDecl):
        if isinstance(node.type, c_ast.FuncDecl):
            return "callback", owner
        if isinstance(node.type, c_ast.PtrDecl):
            return ("out", base) if base in interface.handles or base in interface.structs else ("pointer", base)
        is_const = "const" in node.type.quals
        if base == "char" and is_const:
            return "text", ""
        if base in interface.structs:
            return ("options" if is_const else "record"), base
        return ("handle" if base in interface.handles else "pointer"), base
    if base in interface.callbacks:
        return "callback", base
    if base in interface.enums:
        return ("bits" if base in interface.bits else "enum"), base
    if base == "int32_t" and re.match(r"(?:\w+: )?1: ", comment):
        return "flag", ""
    kinds = {"size_t": "size" if comment == "struct_size" else "count", "double": "real"}
    return kinds.get(base, "number"), ""


def variable(interface, node, owner="", comment=""):
    kind, target = kind_of(interface, node.type, owner, comment)
    quals = getattr(node.type, "quals", [])
    return Variable(node.name or "", unnamed(node.type), kind, target, "volatile" in quals, comment)


def function(interface, name, node):
    nodes = [one for one in (node.args.params if node.args else []) if isinstance(one, c_ast.Decl)]
    result = variable(interface, c_ast.Typename(None, [], None, node.type))
    return Function(name, result, [variable(interface, one) for one in nodes])


def comments(include):
    """The comments on fields and numbers: {"sdd_limits.max_scans": "of a progressive JPEG; default 500"}."""
    sys.path.insert(0, os.path.join(ROOT, "docs", "site"))
    from header import read_header
    items = [item for chapter in read_header(Path(include, "sdd")) for item in chapter.items]
    return {(f"{item.name}.{member.name}" if item.kind == "struct" else member.name): " ".join(member.doc.text.split())
            for item in items for member in item.members}


def read(include=INCLUDE):
    """Reads the header of this folder."""
    interface = Interface()
    nodes = parse(include, MARKS)
    texts = comments(include)
    bodies = {}
    for node in nodes:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
            numbers = node.type.values.enumerators
            interface.enums[node.type.name] = [one.name for one in numbers]
            interface.zeros |= {node.type.name: one.name for one in numbers if getattr(one.value, "value", "") == "0"}
            for name in (one.name for one in numbers if one.name.startswith("SDD_OPTION_")):
                letters = re.match(r"((?:[DLPB] )*[DLPB]): ", texts[name])
                interface.options[name] = letters[1].replace(" ", "") if letters else ""
            if any(getattr(one.value, "op", "") == "<<" for one in numbers):
                interface.bits.add(node.type.name)
        elif isinstance(node, c_ast.Typedef):
            struct = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
            if isinstance(struct, c_ast.Struct):
                if struct.decls:
                    bodies[node.name] = struct.decls
                    interface.structs[node.name] = []
                else:
                    interface.handles.add(node.name)
            elif isinstance(node.type, c_ast.PtrDecl) and isinstance(node.type.type, c_ast.FuncDecl):
                interface.callbacks[node.name] = node.type.type
    interface.handles -= set(interface.structs)
    for name, node in list(interface.callbacks.items()):
        interface.callbacks[name] = function(interface, name, node)
    for name, decls in bodies.items():
        for decl in decls:
            owner = f"{name}_{decl.name}"
            text = "struct_size" if decl.name == "struct_size" else texts.get(f"{name}.{decl.name}", "")
            interface.structs[name].append(variable(interface, decl, owner, text))
            if isinstance(decl.type, c_ast.PtrDecl) and isinstance(decl.type.type, c_ast.FuncDecl):
                interface.callbacks[owner] = function(interface, owner, decl.type.type)
    for node in nodes:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            interface.calls.append(function(interface, node.name, node.type))
    for macro in macros(include)[2]:
        if (name := macro[:-len("_INIT")].lower()) not in interface.structs:
            fail(f"{macro} begins no struct")
        interface.inits[name] = macro
    return interface
