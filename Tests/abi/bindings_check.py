"""What the low layer of the Python package, sdd.lowlevel, has of the header, for check-bindings.sh.

Takes lines such as "field sdd_header.value" and "number SDD_OK", and prints them with what Python says of that.
"""

import sys

from sdd import _constants
from sdd._structs import Struct
from sdd.lowlevel import ffi, lib


def field(name):
    struct, _, member = name.partition(".")
    found = dict(ffi.typeof(struct).fields)[member]
    return f" {found.offset} {ffi.sizeof(found.type)}"


def call(name):
    # Only a call that is declared, and that the library has, is a function.
    assert ffi.typeof(getattr(lib, name)).kind == "function", name
    return ""


def number(name):
    value = getattr(_constants, name[4:])
    assert value == getattr(lib, name), name
    return f" {value}"


KINDS = {
    "field": field,
    "handle": lambda name: f" {ffi.sizeof(name + ' *')}",
    "call": call,
    "type": lambda name: f" {ffi.sizeof(name)}",
    "beginning": lambda name: " " + bytes(ffi.buffer(Struct(name).c)).hex(),
    "number": number,
    "text": lambda name: " " + getattr(_constants, name[4:]),
}

for line in sys.stdin:
    kind, name = line.split()
    print(kind, name + KINDS[kind](name))
