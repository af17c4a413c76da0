#!/usr/bin/env python3
"""Writes the setters of the crate `sdd` that only hand a value on, and what keeps the values for the C struct.

    make_rust.py FILE        `tools/bindings.sh` calls it with bindings/rust/sdd/src/plain.rs

A builder of rust_names.py has a member `plain`, with the C struct `c` for its numbers, and its texts. A setter has the
name of its field, without "_ms", and a parameter by the field's kind. Setters that do more are written by hand, in the
file of the builder: BY_HAND names their fields. bindings/rust/coverage.py says which fields nothing sets.
"""

import re
import sys
import textwrap

sys.dont_write_bytecode = True
from interface import fail, read  # noqa: E402
from rust_names import BUILDERS, BY_HAND, DOCS, ENUMS, MACRO, NAMES  # noqa: E402

NOTE = """\
// Made from include/sdd/*.h by tools/make_rust.py: `make bindings` makes it anew. Nothing is changed by hand.
//! Settings that builders hand on as they are: what keeps them, and their setters.

use crate::text::Texts;
use crate::{sys, Error};
use std::path::PathBuf;
"""
WIDTH = 120
PLAIN = ("text", "flag", "enum", "real", "number")


def rust_type(struct):
    return "Plain" + "".join(part.capitalize() for part in struct.split("_")[1:])


def is_path(field):
    return field.kind == "text" and (field.name.endswith(("_file", "_path")) or field.name == "directory")


def parameter(struct, field):
    """The parameter of a setter, and the value that C gets."""
    if field.kind == "flag":
        return "", "1"
    if field.kind == "enum":
        name = ENUMS.get(field.target) or fail(f"ENUMS must say what {field.target} is in Rust")
        return f"value: crate::{name}", "value as i32"
    if field.kind == "real":
        return "number: f64", "number"
    has_none = "SDD_NO_LIMIT" in field.comment
    if field.name.endswith("_ms"):
        if struct == MACRO:
            return "time: impl Into<Option<std::time::Duration>>", "crate::numbers::milliseconds_or_none(time.into())"
        if has_none:
            return "time: Option<std::time::Duration>", "crate::numbers::milliseconds_or_none(time)"
        return "time: std::time::Duration", "crate::numbers::milliseconds(time)"
    name = "bytes" if "bytes" in field.name else "count"
    signed = {"int32_t": ("u32", "crate::numbers::clamped_i32"), "int64_t": ("u64", "crate::numbers::clamped")}
    if field.type not in signed:
        kind = {"unsigned int": "u32", "uint32_t": "u32", "uint64_t": "u64"}.get(field.type)
        return f"{name}: {kind or fail(f'{field.name} is a {field.type}')}", name
    kind, clamped = signed[field.type]
    if has_none:
        return f"{name}: Option<{kind}>", f"{name}.map_or(-1, {clamped})"
    return f"{name}: {kind}", f"{clamped}({name})"


def doc(struct, field, name):
    """What a setter does: a line of DOCS, or the header's comment."""
    text = DOCS.get(struct, {}).get(field.name)
    if not text:
        said = re.sub(r"^1: ", "", field.comment).replace("SDD_NO_LIMIT", "`None`")
        if not said or re.search(r"sdd_|SDD_|NULL", said):
            fail(f"DOCS must say what the setter of {struct}.{field.name} does: {said or 'no comment'}")
        text = f"Sets `{name}`: {said.rstrip('.')}."
    return textwrap.wrap(text, WIDTH - 8, break_long_words=False, break_on_hyphens=False)


def setter(struct, field):
    name = NAMES.get(f"{struct}.{field.name}") or re.sub("_ms$", "", field.name)
    place = "self.plain."
    if field.kind == "text":
        given, place = ("path: impl Into<std::path::PathBuf>" if is_path(field) else "text: &str"), place + field.name
        value = f"Some({given.partition(':')[0]}.into())"
    else:
        (given, value), place = parameter(struct, field), place + f"c.{field.name}"
    lines = ["", *[f"/// {line}" for line in doc(struct, field, name)],
             f"pub fn {name}(mut self{given and ', '}{given}) -> Self {{", f"    {place} = {value};", "    self", "}"]
    return lines


def indented(lines, depth):
    return [" " * depth + line if line else "" for line in lines]


def builder(struct, fields):
    """What keeps the settings of a builder, and their setters."""
    texts = [field for field in fields if field.kind == "text"]
    name = rust_type(struct)
    link = f"[`{BUILDERS[struct]}`](crate::{BUILDERS[struct]})"
    lines = ["", f"/// Settings of {link}.", "#[derive(Clone, Debug, Default)]", f"pub(crate) struct {name} {{",
             "    /// Its pointers stay NULL.", f"    pub(crate) c: sys::{struct},"]
    lines += [f"    pub(crate) {field.name}: Option<{'PathBuf' if is_path(field) else 'String'}>," for field in texts]
    lines += ["}", "", "// SAFETY: the pointers in `c` stay NULL.", f"unsafe impl Send for {name} {{}}",
              f"unsafe impl Sync for {name} {{}}", "", f"impl {name} {{"]
    sized = f"struct_size: std::mem::size_of::<sys::{struct}>(),"
    if texts:
        lines += ["    /// Returns the C struct, with texts that live as long as `texts`.",
                  f"    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::{struct}, Error> {{",
                  f"        Ok(sys::{struct} {{", f"            {sized}"]
        for field in texts:
            value = f"path(self.{field.name}.as_deref())" if is_path(field) else f"optional(&self.{field.name})"
            lines.append(f"            {field.name}: texts.add_{value}?,")
        lines += ["            ..self.c", "        })", "    }", "}", ""]
    else:
        lines += [f"    pub(crate) fn lend(&self) -> sys::{struct} {{", f"        sys::{struct} {{ {sized} ..self.c }}",
                  "    }", "}", ""]
    setters = [line for field in fields for line in setter(struct, field)][1:]
    if struct != MACRO:
        return [*lines, f"impl crate::{BUILDERS[struct]} {{", *indented(setters, 4), "}"]
    setters = [line.replace("self.", "self$(.$transfer)?.").replace("crate::", "$crate::") for line in setters]
    return [*lines, f"/// Declares the plain setters of {link}: see `transfer_setters`.",
            "macro_rules! plain_transfer_setters {", "    ($($transfer:ident)?) => {", *indented(setters, 8),
            "    };", "}", "pub(crate) use plain_transfer_setters;"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    interface = read()
    lines = []
    for struct in BUILDERS:
        by_hand = BY_HAND[struct].split()
        fields = [field for field in interface.structs[struct] if field.kind in PLAIN]
        if unknown := set(by_hand) - {field.name for field in fields}:
            fail(f"BY_HAND has {unknown}, which are no plain fields of {struct}")
        lines += builder(struct, [field for field in fields if field.name not in by_hand])
    with open(sys.argv[1], "w") as file:
        file.write(NOTE + "\n".join(lines) + "\n")


main()
