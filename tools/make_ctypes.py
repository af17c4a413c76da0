#!/usr/bin/env python3
"""Writes the interface of the header for Python's ctypes: every call, struct, callback type, handle and constant.

    make_ctypes.py FILE        `make bindings` calls it with examples/python/sdd_ctypes.py

pycparser (Debian: python3-pycparser) reads what gcc's preprocessor makes of the header; a program in C, compiled with
the header, tells the values of the constants. What the script does not understand ends it with a sentence: nothing of
the header is ever left out.
"""

import ctypes
import keyword
import os
import re
import subprocess
import sys
import tempfile

from pycparser import c_ast, c_generator, c_parser

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = os.path.join(ROOT, "include")
HEADER = "#include <sdd/sdd.h>\n"
WIDTH = 120

# The system types that the header uses. They are defined here because pycparser cannot read glibc's headers (GNU C).
SYSTEM = {
    "stddef.h": {"size_t": "unsigned long"},
    "stdint.h": {"uint8_t": "unsigned char", "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long",
                 "uint64_t": "unsigned long"},
}
NUMBERS = {"size_t": "c_size_t", "uint8_t": "c_uint8", "int32_t": "c_int32", "uint32_t": "c_uint32",
           "int64_t": "c_int64", "uint64_t": "c_uint64", "int": "c_int", "float": "c_float", "double": "c_double",
           "char": "c_char"}

BEGINNING = '''\
# Made from include/sdd/*.h by tools/make_ctypes.py: `make bindings` makes it anew. Nothing is changed by hand.
"""The C interface of libsdd (sdd/sdd.h) for ctypes. What the calls and fields do stands in the header.

`lib` is the library with its calls, under their names in C. SDD_LIBRARY in the environment names the file to load;
without it the dynamic loader looks for libsdd.so.0 in its usual places. Other names lack the "sdd_" and "SDD_" of C:

    sdd_download_request    DownloadRequest     A struct that begins with struct_size has all defaults when it is made,
                                                but for the fields given by name. Elements of an array are all zero.
    sdd_image               Image               A handle: a class of its own, so that no call takes another kind. None
                                                is NULL; so is Image(), which is false. A call that gives a handle by an
                                                argument takes such an object. A callback returns its `value`.
    sdd_completed_fn        CompletedFn         A function type: CompletedFn(f) is f for C, and CompletedFn() is NULL.
    start, of sdd_transport TransportStartFn    A field whose type has no name in C has one here, too.
    SDD_ERROR_TLS           ERROR_TLS           A number.

Text is bytes. A pointer to void or to bytes (uint8_t) is an address, a number or None.

ctypes takes the GIL for a callback, on whichever thread it comes. Keep a reference to the callback object for as long
as the library may call it.
"""
'''

CLASSES = '''\
class Handle(c_void_p):
    """An object of the library's. It neither retains nor releases anything."""

    @classmethod
    def from_param(cls, value):
        if value is None or isinstance(value, cls):
            return value
        raise TypeError(f"{cls.__name__} or None is expected, not {type(value).__name__}")

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


class Struct(Structure):
    """A struct of the header."""

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        # ctypes gives a view of the struct's memory, which the library may use for something else later.
        return type(value)(value.value) if isinstance(value, Handle) else value


class Sized(Struct):
    """A struct that begins with struct_size: all defaults, but for the fields given by name.

    ctypes keeps the bytes objects of its c_char_p fields alive as long as the struct.
    """

    def __init__(self, **fields):
        super().__init__(sizeof(self), **fields)
'''

LIBRARY = '''\
# CDLL, not PyDLL: the GIL is released during every call, so that a call that waits lets callbacks run.
lib = CDLL(os.environ.get("SDD_LIBRARY", "libsdd.so.0"))


def _declare(name, result, /, **parameters):
    try:
        function = getattr(lib, name)
    except AttributeError:  # an older library: only who makes the call needs it
        return
    function.restype = result
    function.argtypes = tuple(parameters.values())
'''


def fail(sentence):
    sys.exit(f"make_ctypes.py: {sentence}")


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        fail(f"status {done.returncode}: {' '.join(command)}")
    return done.stdout


# ---- reading the header


def parse():
    """The header's declarations, those of the system left out."""
    with tempfile.TemporaryDirectory() as folder:
        for name, types in SYSTEM.items():
            with open(os.path.join(folder, name), "w") as file:
                file.writelines(f"typedef {meaning} {new};\n" for new, meaning in types.items())
        text = run("gcc", "-E", "-P", "-nostdinc", f"-I{folder}", f"-I{INCLUDE}", "-DSDD_API=", "-x", "c", "-",
                   input=HEADER)
    system = {name for types in SYSTEM.values() for name in types}
    return [node for node in c_parser.CParser().parse(text).ext if node.name not in system]


def macros():
    """Three lists of names: the macros that are numbers, those that are texts, those that begin a struct (_INIT)."""
    options = "-E", "-P", f"-I{INCLUDE}", "-DSDD_API=", "-x", "c", "-"
    given = sorted(re.findall(r"^#define (SDD_\w+) ", run("gcc", "-dM", *options, input=HEADER), re.MULTILINE))
    # In the second run each name is text before the sign, and the preprocessor replaces it after the sign.
    asked = "".join(f'"{name}" => {name}\n' for name in given)
    numbers, texts, beginnings = [], [], []
    for name, meaning in re.findall(r'^"(\w+)" => *(\S.*)$', run("gcc", *options, input=HEADER + asked), re.MULTILINE):
        {'"': texts, "{": beginnings}.get(meaning[0], numbers).append(name)
    return numbers, texts, beginnings


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


# ---- names in Python


def camel(name):
    """sdd_download_request -> DownloadRequest."""
    return "".join(part.capitalize() for part in name.split("_")[1:])


def checked(name):
    if not name.isidentifier() or keyword.iskeyword(name):
        fail(f"{name} cannot be a name in Python")
    return name


# ---- types in Python


class Types:
    """Takes declarations of C, and has the lines that define each type in Python, in an order that Python can read."""

    def __init__(self, nodes):
        self.texts = {}  # definitions by Python name, in the order of the file
        self.handles, self.aliases, self.structs, self.functions = [], [], {}, {}
        for node in nodes:
            if isinstance(node, c_ast.Typedef):
                self._take(node)
        self.made = set()
        for name in self.structs:
            self._make_struct(name)
        for name in self.functions:
            self._make_function(name)

    def _take(self, node):
        kind = node.type
        if isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.Struct):
            if kind.type.name != node.name:
                fail(f"{node.name} is a struct of another name")
            if kind.type.decls:
                self.structs[node.name] = kind.type
            else:
                self.handles.append(node.name)
        elif isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType):
            self.aliases.append((node.name, self._number(kind.type)))
        elif isinstance(kind, c_ast.PtrDecl) and isinstance(kind.type, c_ast.FuncDecl):
            self.functions[node.name] = kind.type
        else:
            fail(f"{node.name} is of a kind that this script does not know")

    @staticmethod
    def _number(kind):
        name = " ".join(kind.names)
        return NUMBERS[name] if name in NUMBERS else fail(f"the type {name} is not known")

    def _define(self, name, text):
        if checked(name) in self.texts:
            fail(f"{name} would be the name of two types")
        self.texts[name] = text

    def _make_struct(self, name):
        if name in self.made:
            return
        self.made.add(name)
        fields = []
        for field in self.structs[name].decls:
            kind = self.of(field.type, camel(name) + camel("_" + field.name) + "Fn")
            if field.bitsize:
                fail(f"{name}.{field.name} is a bit field")
            fields.append(f'("{checked(field.name)}", {kind})')
        base = "Sized" if fields[0] == '("struct_size", c_size_t)' else "Struct"
        self._define(camel(name), wrapped(f"class {camel(name)}({base}):\n    _fields_ = [", fields, "]"))

    def _make_function(self, name):
        if name not in self.made:
            self.made.add(name)
            self._define(camel(name), self._function(camel(name), self.functions[name]))

    def _function(self, name, function):
        parts = [self.of(function.type)] + [kind for _, kind in self.parameters(function)]
        return wrapped(f"{name} = CFUNCTYPE(", parts, ")")

    def parameters(self, function):
        """(name, type) of each."""
        given = function.args.params if function.args else []
        if len(given) == 1 and isinstance(given[0], c_ast.Typename):  # (void)
            return []
        return [(checked(parameter.name), self.of(parameter.type)) for parameter in given]

    def of(self, kind, name=None):
        """The type in Python of a type in C. `name` is for one that has no name in C, a pointer to a function."""
        if isinstance(kind, c_ast.TypeDecl):
            return self._named(kind.type)
        if isinstance(kind, c_ast.ArrayDecl) and isinstance(kind.dim, c_ast.Constant):
            return f"{self.of(kind.type)} * {int(kind.dim.value, 0)}"
        if not isinstance(kind, c_ast.PtrDecl):
            fail(f"a type that this script does not know: {kind}")
        if isinstance(kind.type, c_ast.FuncDecl):
            if name is None:
                fail("a function that is an argument has no type with a name")
            self._define(name, self._function(name, kind.type))
            return name
        to = self.of(kind.type)
        if to in ("None", "c_uint8"):
            return "c_void_p"
        if to == "c_char" and "const" in kind.type.quals:
            return "c_char_p"
        if isinstance(kind.type, c_ast.TypeDecl) and self._c_name(kind.type.type) in self.handles:
            return to
        return f"POINTER({to})"

    @staticmethod
    def _c_name(kind):
        return kind.name if isinstance(kind, c_ast.Struct) else " ".join(kind.names)

    def _named(self, kind):
        name = self._c_name(kind)
        if name == "void":
            return "None"
        if name in self.structs:
            self._make_struct(name)
        elif name in self.functions:
            self._make_function(name)
        elif name not in self.handles and name not in dict(self.aliases):
            return self._number(kind)
        return camel(name)


# ---- the file


def wrapped(beginning, parts, end):
    """beginning, the parts with commas, end; lines that are full go on below the bracket that is open."""
    *before, line = beginning.split("\n")
    indentation = " " * len(line)
    for number, part in enumerate(parts):
        part += end if number == len(parts) - 1 else ","
        if number > 0:
            if len(line) + 1 + len(part) > WIDTH:
                before.append(line)
                line = indentation + part
                continue
            line += " "
        line += part
    return "\n".join(before + [line if parts else line + end])


def text_of(nodes):
    numbers, texts, beginnings = macros()
    generator = c_generator.CGenerator()
    groups = [[(name, "") for name in texts + numbers]]
    for node in nodes:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
            groups.append([(entry.name, generator.visit(entry.value) if entry.value else "")
                           for entry in node.type.values.enumerators])
    values = values_of([name for group in groups for name, _ in group if name not in texts], texts, beginnings)
    lines = []
    for group in groups:
        for name, expression in group:
            value = values[name]
            if "<<" in expression and value & (value - 1) == 0:
                value = f"1 << {value.bit_length() - 1}"
            else:
                value = repr(value).replace("'", '"')
            lines.append(f"{checked(name[4:])} = {value}")
        lines.append("")

    types = Types(nodes)
    lines += ["", CLASSES, ""]
    lines += [f"class {camel(name)}(Handle):\n    pass\n\n" for name in types.handles]
    lines += [f"{camel(name)} = {kind}" for name, kind in types.aliases]
    after_class = False
    for text in types.texts.values():
        is_class = text.startswith("class ")
        lines += ["", ""] if is_class or after_class else []
        lines.append(text)
        after_class = is_class

    lines += ["", "", LIBRARY, ""]
    for node in nodes:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            parts = [f'"{node.name}"', types.of(node.type.type)]
            parts += [f"{name}={kind}" for name, kind in types.parameters(node.type)]
            lines.append(wrapped("_declare(", parts, ")"))
        elif not isinstance(node, c_ast.Typedef) and not isinstance(node.type, c_ast.Enum):
            fail(f"a declaration that this script does not know: {node.name}")
    body = "\n".join(lines) + "\n"
    used = sorted(set(re.findall(r"\b(?:c_[a-z0-9_]+|POINTER|CFUNCTYPE|CDLL|Structure|sizeof)\b", body)) &
                  set(dir(ctypes)))
    return "\n".join([BEGINNING, "import os", wrapped("from ctypes import (", used, ")"), "", body])


def main():
    if len(sys.argv) != 2:
        fail("make_ctypes.py FILE")
    text = text_of(parse())
    names = set()
    for name in re.findall(r"^(?:class |def )?(\w+)(?=\(| = )", text, re.MULTILINE):
        if name in names and name != "_declare":
            fail(f"two things would have the name {name}")
        names.add(name)
    with open(sys.argv[1], "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
