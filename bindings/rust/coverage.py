#!/usr/bin/env python3
"""Checks that the crate `sdd` calls every function of the C header, except those listed below, and that it uses every
field of the structs that it fills or reads, each by a value of that struct. An exception that is not needed is an
error, too.

    bindings/rust/coverage.py
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

UNUSED_FUNCTIONS = {
    "sdd_decoder_main": "the main function of another program",
    "sdd_cache_shared": "Cache::shared() is NULL, which stands for it",
    "sdd_downloader_shared": "as sdd_cache_shared",
    "sdd_download": "Downloader::download() submits a request",
    "sdd_load": "Loader::load() submits a request",
    "sdd_get": "Request::wait() waits for a download",
    "sdd_downloader_submit_wait": "Request::wait() waits for a download",
    "sdd_loader_submit_wait": "Request::wait() waits for a load",
    "sdd_last_error_message": "sdd_last_error() has it, too",
    "sdd_downloader_drain": "events go to the closures and tasks of their requests: Downloader::dispatch()",
    "sdd_response_header_count": "Response::headers() ends by itself",
    "sdd_version": "version() has the same numbers as text",
}

UNUSED_STRUCTS = {"sdd_event": "as sdd_downloader_drain"}

# Fields of structs that the application fills, and why the crate has no form for them.
UNUSED_FIELDS = {
    "sdd_batch_config.urls": "the iterator of a BatchBuilder gives them, by `next`",
    "sdd_batch_config.ids": "as urls",
    "sdd_batch_config.count": "as urls",
    "sdd_callback_options.on_thread_start": "Rust needs no thread to be attached",
    "sdd_callback_options.on_thread_stop": "as on_thread_start",
    "sdd_callback_options.user_data": "as on_thread_start",
    "sdd_callback_options.user_data_free": "as on_thread_start",
    "sdd_coder.isolate": "for shared objects, which are loaded by their path",
    "sdd_decode_options.pixels_stride": "row_alignment says it",
    "sdd_prefetch_report.cancelled": "a list that is cancelled ends with an error",
    "sdd_result.is_terminal": "each callback has a function of its own",
}

# Structs that the application fills, and those that the library fills for the crate to read; no others.
FILLED = """sdd_animation_frame sdd_batch_config sdd_batch_source sdd_cache_config sdd_cache_item sdd_callback_options
sdd_coder sdd_coder_estimate sdd_coder_preview sdd_cookie sdd_credential sdd_decode_options sdd_download_request
sdd_downloader_config sdd_encode_options sdd_entry_store sdd_header sdd_limits sdd_load_request sdd_loader_config
sdd_memory_store sdd_modifiers sdd_network_options sdd_pixel_allocator sdd_prefetch_list sdd_cache_query_options
sdd_response_change sdd_retry_options sdd_tensor sdd_transfer_options sdd_transform sdd_transport""".split()
READ = """sdd_batch_host sdd_batch_item sdd_batch_statistics sdd_batch_status sdd_cache_entry sdd_coder_frame
sdd_coder_task sdd_failure sdd_gain_map_info sdd_image_colour sdd_image_info sdd_image_text sdd_metrics sdd_notice
sdd_outcome sdd_prefetch_report sdd_result sdd_cache_statistics sdd_process_statistics sdd_statistics sdd_token_info
sdd_transfer_request""".split()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def fields_of(body):
    body = re.sub(r"SDD_N(ON|ULLAB)\w*|SDD_NOEXCEPT", " ", body)
    for declaration in body.split(";"):
        function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declaration)
        name = function or re.search(r"(\w+)\s*(\[\w+\])?\s*$", declaration)
        if name and not re.fullmatch(r"struct_size|reserved\d*", name.group(1)):
            yield name.group(1)


def block_from(text, start):
    """The text up to the end of the block in which it begins, or which begins next in a list of parameters."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth < 0:
                return text[start:index]
    return text[start:]


def used_fields(struct, text):
    """The fields of a struct that a file uses by literals, by counts!, and by variables of its type."""
    fields = set()
    for literal in re.finditer(rf"\b(?:sys::|from ){struct} \{{", text):
        fields |= set(re.findall(r"(\w+)\s*[:,]", block_from(text, literal.end())))
    by_type = rf"\b(\w+): (?:&(?:'\w+ )?(?:mut )?|\*const |\*mut )?sys::{struct}\b"
    made = rf"let (?:mut )?(\w+) = [^;]*?(?:sized!\({struct}\)|cast::<sys::{struct}>\(\))"
    for pattern in (by_type, made):
        for variable in re.finditer(pattern, text):
            fields |= set(re.findall(rf"\b{variable.group(1)}\.(\w+)", block_from(text, variable.start())))
    # A struct with one member of the type: self.0, or `numbers` and the like.
    for member in re.findall(rf"struct \w+ \{{[^}}]*?\b(\w+): sys::{struct}\b", text):
        fields |= set(re.findall(rf"\bself\.{member}\.(\w+)", text))
    if re.search(rf"struct \w+\(sys::{struct}\)", text):
        fields |= set(re.findall(r"\bself\.0\.(\w+)", text))
    # A builder with plain settings: self.plain.c.
    if re.search(rf"\b{plain_type(struct)}\b", text):
        fields |= set(re.findall(r"\.plain\.c\.(\w+)", text))
    return fields


def plain_type(struct):
    """The name that tools/make_rust.py gives to what keeps the plain settings of a struct."""
    return "Plain" + "".join(part.capitalize() for part in struct.split("_")[1:])


def main():
    header = without_comments("\n".join(path.read_text() for path in sorted((ROOT / "include/sdd").glob("*.h"))))
    files = [without_comments(path.read_text()) for path in sorted((HERE / "sdd/src").glob("*.rs"))]
    plain = without_comments((HERE / "sdd/src/plain.rs").read_text())
    files.remove(plain)
    files += plain.split("#[derive")  # for each struct its own part
    called = set(re.findall(r"\bsys::(sdd_\w+)\(", "\n".join(files)))
    wrong = []

    functions = set(re.findall(r"SDD_API[^;(]*?\b(sdd_\w+)\(", header))
    for name in sorted(functions):
        if (name in called) == (name in UNUSED_FUNCTIONS):
            wrong.append(f"{name}: " + ("it is used" if name in called else "no function calls it"))

    structs = dict(re.findall(r"typedef struct (\w+) \{(.*?)\n\} \w+;", header, flags=re.S))
    count = 0
    wrong += [f"{name}: it is in no list" for name in sorted(structs.keys() - {*FILLED, *READ, *UNUSED_STRUCTS})]
    for struct in FILLED + READ:
        used = set().union(*(used_fields(struct, text) for text in files))
        for field in fields_of(structs[struct]):
            count += 1
            name = f"{struct}.{field}"
            if (field in used) == (name in UNUSED_FIELDS):
                wrong.append(f"{name}: " + ("it is used" if field in used else "it is not used"))
    known = {f"{struct}.{field}" for struct, body in structs.items() for field in fields_of(body)}
    unknown = (UNUSED_FUNCTIONS.keys() - functions) | (UNUSED_FIELDS.keys() - known) | (UNUSED_STRUCTS.keys() - structs)
    wrong += [f"{name}: there is none" for name in sorted(unknown)]
    for line in wrong:
        print(f"coverage.py: {line}", file=sys.stderr)
    if not wrong:
        print(f"ok coverage: {len(functions)} functions, {count} fields")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
