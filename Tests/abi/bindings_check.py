"""What examples/python/sdd_ctypes.py has of the header, for check-bindings.sh.

Takes lines such as "field sdd_header.value" and "number SDD_OK", and prints them with what Python says of that.
"""

import ctypes
import sys

import sdd_ctypes


def named(name):
    """By a type's name in C: sdd_download_request is DownloadRequest."""
    return getattr(sdd_ctypes, "".join(part.capitalize() for part in name.split("_")[1:]))


def field(name):
    struct, _, member = name.partition(".")
    found = getattr(named(struct), member)
    return f" {found.offset} {found.size}"


def handle(name):
    assert issubclass(named(name), sdd_ctypes.Handle), name
    return f" {ctypes.sizeof(named(name))}"


def call(name):
    # argtypes of a call that is not declared is None; one that the library lacks raises AttributeError.
    assert getattr(sdd_ctypes.lib, name).argtypes is not None, f"{name} is not declared"
    return ""


KINDS = {
    "field": field,
    "handle": handle,
    "call": call,
    "type": lambda name: f" {ctypes.sizeof(named(name))}",
    "beginning": lambda name: " " + bytes(named(name)()).hex(),
    "number": lambda name: f" {getattr(sdd_ctypes, name[4:])}",
    "text": lambda name: " " + getattr(sdd_ctypes, name[4:]).decode(),
}

for line in sys.stdin:
    kind, name = line.split()
    print(kind, name + KINDS[kind](name))
