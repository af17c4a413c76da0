#!/usr/bin/env python3
"""Writes the C++ structs of options, and what copies their plain fields to C: include/sdd/cpp/options.hpp.

    make_cxx.py FILE        `tools/bindings.sh` calls it

A struct has the fields of its C struct, in their order. A field is plain if the C struct gets it as it is: numbers,
texts, objects, and structs that derive from C's. `detail::set_plain()` copies those; all others are set by hand where
the struct is used, and Tests/Cxx/coverage.py says which are forgotten.
"""

import sys
import textwrap

sys.dont_write_bytecode = True
from interface import fail, read  # noqa: E402

WIDTH = 100
NOTE = """\
/* Made from the C header by tools/make_cxx.py: `make bindings` makes it anew. */
/*
 * sdd/cpp/options.hpp - The settings of requests, downloaders, caches and batches. The comments of
 * the C structs describe the fields. Texts that are empty, numbers that are 0, and values that are
 * not set have their defaults.
 */
#ifndef SDD_CPP_OPTIONS_HPP
#define SDD_CPP_OPTIONS_HPP

#include "settings.hpp"

SDD_CPP_BEGIN
"""
END = """
SDD_CPP_END

#endif /* SDD_CPP_OPTIONS_HPP */
"""

# The structs, and their comments.
STRUCTS = {
    "credential": "Credentials for one server: sdd_credential. An empty text is a part that is not set.",
    "transfer_options": "How to transfer, for downloads, loads, prefetch lists and batches: sdd_transfer_options. What "
    "is not set is as the downloader's configuration says.",
    "download_request": "A download with all its settings: sdd_download_request.\nLifetime: copied by the submitting "
    "call, except for the memory at decode->pixels and the allocator.",
    "load_request": "A load with all its settings: sdd_load_request. Otherwise as download_request.",
    "callback_options": "Settings of callbacks: sdd_callback_options. An exception in a function is handed on.",
    "network_options": "Network settings: sdd_network_options.",
    "downloader_config": "The configuration of a downloader: sdd_downloader_config.\nLifetime: copied by the "
    "constructor of downloader; the functions live until nothing uses them. The cache may be destroyed at any time.",
    "cache_config": "The configuration of a cache: sdd_cache_config. An exception in a function is handed on "
    "(set_exception_handler()).\nLifetime: copied by the constructor of cache; the functions live until nothing uses "
    "them.",
    "batch_config": "The configuration of a batch: sdd_batch_config.\nLifetime: copied by the constructor of batch.",
}

# What fields are called and are, where their kind does not say it.
MEMBERS = {
    "completed": "completed_function on_completed",
    "progress": "progress_function on_progress",
    "preview": "loaded_function on_preview",
    "facts": "facts_function on_facts",
    "cached": "loaded_function on_cached",
    "on_thread_start": "std::function<void()> on_thread_start",
    "on_thread_stop": "std::function<void()> on_thread_stop",
    "address_filter": "sdd::address_filter address_filter",
    "key_filter": "key_function key_filter",
    "serializer": "serializer_function serializer",
    "next": "next_function next",
    "body": "std::string body",
    "ids": "std::vector<uint64_t> ids",
    "headers": "std::vector<header> headers",
    "transforms": "std::vector<transform> transforms",
    "transfer": "transfer_options transfer",
    "memory_store": "std::shared_ptr<sdd::memory_store> memory_store",
    "entry_store": "std::shared_ptr<sdd::entry_store> entry_store",
}

# What differs from C.
COMMENTS = {
    "credential.schemes": "SDD_AUTH_ bits; 0: all",
    "download_request.sink_fd": "duplicated by the submitting call",
    "download_request.method": '"": GET',
    "load_request.alternatives": "other URLs of the same picture",
    "load_request.cached": "with SDD_OPTION_REFRESH_CACHED",
    "callback_options.on_thread_start": "first on the thread of SDD_DELIVERY_THREAD",
    "callback_options.on_thread_stop": "last there",
    "downloader_config.cache": "cache::get(); NULL: the shared one",
    "batch_config.downloader": "downloader::get(); NULL: the shared one",
    "batch_config.loader": "loader::get(); not together with `downloader`",
    "batch_config.ids": "one for each URL, or none: the index",
    "batch_config.next": "in place of urls",
}

REQUIRED = ("url",)  # texts that are given although they are empty
DERIVED = ("sdd_decode_options", "sdd_tensor", "sdd_limits", "sdd_retry_options")  # C++ structs that derive from C's
HIDDEN = ("user_data", "user_data_free")


def member(field, zeros):
    """The declaration of a field, with its default."""
    if field.name in MEMBERS:
        return MEMBERS[field.name] + "{}"
    if field.kind == "text":
        return f"std::string {field.name}{{}}"
    if field.kind == "flag":
        return f"bool {field.name} = false"
    if field.kind in ("number", "real", "bits", "enum"):
        return f"{field.type} {field.name} = {zeros.get(field.target, '0')}"
    if field.kind == "handle":
        return f"{field.target} *{field.name} = nullptr"
    if field.kind == "options":
        return f"std::optional<sdd::{field.target.removeprefix('sdd_')}> {field.name}{{}}"
    if field.type == "const char * const *":
        return f"std::vector<std::string> {field.name}{{}}"
    fail(f"MEMBERS must say what {field.name} ({field.type}) is in C++")


def plain(field):
    """What a C struct gets for a plain field; None for others."""
    if field.name in MEMBERS or field.kind == "pointer":
        return None
    if field.kind == "text":
        return f"from.{field.name}.c_str()" if field.name in REQUIRED else f"or_null(from.{field.name})"
    if field.kind == "options":
        return f"from.{field.name} ? &*from.{field.name} : nullptr" if field.target in DERIVED else None
    return f"from.{field.name}"


def comment(text):
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, WIDTH - 3)]
    one = f"/** {lines[0]} */"
    return [one] if len(lines) == 1 and len(one) <= WIDTH else ["/**", *[f" * {line}" for line in lines], " */"]


def struct(name, interface):
    fields = [field for field in interface.structs[f"sdd_{name}"]
              if field.kind not in ("size", "count") and field.name not in HIDDEN]
    lines = ["", *comment(STRUCTS[name]), f"struct {name} {{"]
    for field in fields:
        text = COMMENTS.get(f"{name}.{field.name}")
        lines.append(f"    {member(field, interface.zeros)};" + (f" /* {text} */" if text else ""))
    lines += ["};", "", "namespace detail {", "",
              f"inline void set_plain(sdd_{name} &c, const {name} &from) noexcept {{"]
    lines += [f"    c.{field.name} = {value};" for field in fields if (value := plain(field))]
    return [*lines, "}", "", "} // namespace detail"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    interface = read()
    lines = [line for name in STRUCTS for line in struct(name, interface)]
    if long := [line for line in lines if len(line) > WIDTH]:
        fail(f"these lines are too long: {long}")
    with open(sys.argv[1], "w") as file:
        file.write(NOTE + "\n".join(lines) + "\n" + END)


main()
