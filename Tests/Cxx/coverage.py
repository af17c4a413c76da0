#!/usr/bin/env python3
"""Checks that include/sdd/cpp calls every function of the C header, except those listed below, and that it uses every
field of the structs that it translates, each by a variable of that struct. An exception that is not needed is an error,
too.

    Tests/Cxx/coverage.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

UNUSED_FUNCTIONS = {
    "sdd_decoder_main": "the main function of another program",
    "sdd_cache_shared": "cache::shared() is NULL, which stands for it",
    "sdd_loader_shared": "as sdd_cache_shared",
    "sdd_download": "downloader::download() submits a request",
    "sdd_get": "downloader::submit_wait() submits a request",
    "sdd_last_error_message": "sdd_last_error() gives it",
    "sdd_load": "loader::load() submits a request",
    "sdd_version": "called as it is",
    "sdd_version_string": "called as it is",
}

# Fields of those structs, and why C++ has no form for them.
UNUSED_FIELDS = {
    "sdd_coder.isolate": "for shared objects, which give the C struct",
}

# Structs that the application fills, and that C++ has a struct of its own for. Others are used as they are.
FILLED = """sdd_batch_config sdd_batch_source sdd_cache_config sdd_cache_item sdd_callback_options sdd_coder sdd_cookie
sdd_credential sdd_download_request sdd_downloader_config sdd_entry_store sdd_load_request sdd_loader_config
sdd_memory_store sdd_modifiers sdd_network_options sdd_pixel_allocator sdd_prefetch_list sdd_cache_query_options
sdd_response_change sdd_transfer_options sdd_transform sdd_transport""".split()

# Structs that the library fills, and whose fields C++ copies.
COPIED = "sdd_batch_item sdd_outcome sdd_prefetch_report sdd_transfer_request".split()

# Structs that C++ copies as they are, and every pointer of which it must keep alive.
KEPT = "sdd_failure sdd_metrics sdd_outcome sdd_result".split()

# Parameters of templates, and the structs that they stand for.
TEMPLATES = {
    "fill(Request &c,": ("sdd_download_request", "sdd_load_request"),
    "Struct c,": ("sdd_cache_item", "sdd_cache_query_options"),
}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def fields_of(body, only_pointers=False):
    body = re.sub(r"SDD_N(ON|ULLAB)\w*|SDD_NOEXCEPT", " ", body)
    for declaration in body.split(";"):
        if only_pointers and "*" not in declaration:
            continue
        function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declaration)
        name = function or re.search(r"(\w+)\s*(\[\w+\])?\s*$", declaration)
        if name and not re.fullmatch(r"struct_size|reserved\d*", name.group(1)):
            yield name.group(1)


def block_around(text, start):
    """The block in which a declaration stands, from its brace; with the body of the function for a parameter."""
    first, depth = start, 0
    while first > 0 and depth <= 0:
        first -= 1
        depth += {"{": 1, "}": -1}.get(text[first], 0)
    depth = 0
    for last in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[last], 0)
        if depth < 0:
            break
    return text[first:last]


def used_fields(struct, text):
    """The fields that a file uses by variables, parameters and members of a struct."""
    fields = set()
    for parameter, structs in TEMPLATES.items():
        if struct in structs:
            text = text.replace(parameter, re.sub(r"\b(Request|Struct)\b", struct, parameter))
    for variable in re.finditer(rf"\b{struct}\s*[&*]?\s*(\w+)\s*(=|;|,|\)|\{{|:)", text):
        block = block_around(text, variable.start())
        fields |= set(re.findall(rf"\b{variable.group(1)}(?:\.|->)(\w+)", block))
    return fields


def main():
    header = without_comments("\n".join(path.read_text() for path in sorted((ROOT / "include/sdd").glob("*.h"))))
    used = without_comments("\n".join(path.read_text() for path in sorted((ROOT / "include/sdd/cpp").glob("*.hpp"))))
    words = set(re.findall(r"\bsdd_\w+", used))
    wrong = []

    functions = set(re.findall(r"SDD_API[^;(]*?\b(sdd_\w+)\(", header))
    for name in sorted(functions):
        if (name in words) == (name in UNUSED_FUNCTIONS):
            wrong.append(f"{name}: " + ("it is used" if name in words else "no function calls it"))

    structs = dict(re.findall(r"typedef struct (\w+) \{(.*?)\n\} \w+;", header, flags=re.S))
    headers = [without_comments(path.read_text()) for path in sorted((ROOT / "include/sdd/cpp").glob("*.hpp"))]
    count = 0
    for struct in FILLED + COPIED + KEPT:
        found = set().union(*(used_fields(struct, text) for text in headers))
        for field in fields_of(structs[struct], only_pointers=struct in KEPT):
            count += 1
            name = f"{struct}.{field}"
            if (field in found) == (name in UNUSED_FIELDS):
                wrong.append(f"{name}: " + ("it is used" if field in found else "it is not used"))
    known = {f"{struct}.{field}" for struct in FILLED + COPIED for field in fields_of(structs[struct])}
    unknown = (UNUSED_FUNCTIONS.keys() - functions) | (UNUSED_FIELDS.keys() - known)
    wrong += [f"{name}: there is none" for name in sorted(unknown)]
    for line in wrong:
        print(f"coverage.py: {line}", file=sys.stderr)
    if not wrong:
        print(f"ok coverage: {len(functions)} functions, {count} fields")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
