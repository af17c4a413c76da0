#!/usr/bin/env python3
"""Writes what the header declares as tables in C, for the tests over the whole interface.

    make_tables.py FILE [INCLUDE]       Tests/C/run.sh calls it; INCLUDE: the folder of the header, default include

Tests/C/interface.h includes FILE and has the types of its rows: `header_structs` with their fields, `header_calls` with
their parameters, which are called through one function type, the numbers of each enumeration, and `header_options`. For
each callback type there is a function that ends the test when it is called: never_sdd_result_fn, never_sdd_coder_open.
"""

import os
import sys

sys.dont_write_bytecode = True
from interface import INCLUDE, read  # noqa: E402

MEMBER = {"text": "pointer", "options": "pointer", "record": "pointer", "handle": "pointer", "out": "pointer",
          "pointer": "pointer", "callback": "function"}


def never(callback):
    """A function of a callback type that must not be called."""
    names = [f"a{number}" for number in range(len(callback.parameters))]
    given = ", ".join(f"{one.type} {name}" for one, name in zip(callback.parameters, names)) or "void"
    result = callback.result.type
    lines = [f"static inline {result} never_{callback.name}({given}) SDD_NOEXCEPT", "{"]
    lines += [f"    (void){name};" for name in names]
    lines += [f'    never("{callback.name}");']
    lines += [] if result == "void" else ["    return 0;"]
    return [*lines, "}"]


def caller(call):
    """A function that calls another with an array of arguments."""
    given = ", ".join(f"({one.type})a[{number}].{MEMBER.get(one.kind, 'number')}"
                      for number, one in enumerate(call.parameters))
    lines = [f"static int64_t call_{call.name}(const argument *a)", "{", "    (void)a;"]
    if call.result.type == "void":
        return [*lines, f"    {call.name}({given});", "    return 0;", "}"]
    cast = "(int64_t)(intptr_t)" if call.result.type.endswith("*") else "(int64_t)"
    return [*lines, f"    return {cast}{call.name}({given});", "}"]


def row(one, owner, interface):
    """The row of a field or, without an owner, of a parameter."""
    place = f"offsetof({owner}, {one.name}), sizeof((({owner} *)0)->{one.name})" if owner else "0, 0"
    numbers = f"&numbers_of_{one.target}" if one.target in interface.enums else "NULL"
    function = f"(any_fn)never_{one.target}" if one.kind == "callback" else "NULL"
    is_limit = int("SDD_NO_LIMIT" in one.comment)
    return (f'    {{ "{one.name}", "{one.type}", KIND_{one.kind.upper()}, {place}, "{one.target}", {numbers}, '
            f"{function}, {int(one.is_nonnull)}, {is_limit} }},")


def tables(interface):
    lines = ["/* Made from the header by tools/make_tables.py. */", ""]
    for name, numbers in interface.enums.items():
        values = ", ".join(f"(int64_t){one}" for one in numbers)
        prefix = os.path.commonprefix(numbers).rpartition("_")[0] + "_"
        lines += [f"static const int64_t values_of_{name}[] = {{ {values} }};",
                  f'static const numbers_row numbers_of_{name} = {{ "{name}", "{prefix}", values_of_{name}, '
                  f"{len(numbers)} }};"]
    lines += ["static const option_row header_options[] = {"]
    lines += [*[f'    {{ {name}, "{name}", "{letters}" }},' for name, letters in interface.options.items()], "};"]
    for callback in interface.callbacks.values():
        lines += never(callback)
    for name, fields in interface.structs.items():
        init = "NULL"
        if name in interface.inits:
            init = f"&init_of_{name}"
            lines += [f"static const {name} init_of_{name} = {interface.inits[name]};"]
        lines += [f"static const field_row fields_of_{name}[] = {{"]
        lines += [*[row(one, name, interface) for one in fields], "};",
                  f"static const struct_row row_of_{name} = "
                  f'{{ "{name}", sizeof({name}), {init}, fields_of_{name}, {len(fields)} }};']
    lines += ["static const struct_row *const header_structs[] = {"]
    lines += [*[f"    &row_of_{name}," for name in interface.structs], "};"]
    for call in interface.calls:
        rows = [row(one, "", interface) for one in call.parameters]
        rows = rows or ["    { NULL, NULL, KIND_POINTER, 0, 0, NULL, NULL, NULL, 0, 0 },"]
        lines += [*caller(call), f"static const field_row parameters_of_{call.name}[] = {{", *rows, "};"]
    lines += ["enum {", *[f"    number_of_{call.name}," for call in interface.calls], "    CALL_COUNT", "};",
              "static const call_row header_calls[] = {"]
    lines += [f'    {{ "{call.name}", "{call.result.type}", call_{call.name}, parameters_of_{call.name}, '
              f"{len(call.parameters)} }}," for call in interface.calls]
    return "\n".join([*lines, "};"]) + "\n"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    interface = read(*sys.argv[2:] or [INCLUDE])
    with open(sys.argv[1], "w") as file:
        file.write(tables(interface))


main()
