#!/usr/bin/env python3
"""Checks the sizes of files, functions and folders. Fails if

- a Swift or C file has more than 500 lines, or a chapter of the header lines of more than 100 columns,
- a Swift function, from its first line to its closing brace, has more than 50 lines; computed properties count too,
- a C function, with braces in column 0, has more than 50 lines,
- a folder of Sources has more than 16 Swift files,
- one of the exceptions below is not needed.

    Tests/house/limits.py
"""
import collections
import sys

sys.dont_write_bytecode = True
from sources import ROOT, functions  # noqa: E402

FOLDERS = ("Sources", "include", "Tests", "bench", "examples", "toolkits", "tools")
FILE_LINES, FUNCTION_LINES, HEADER_COLUMNS, FOLDER_FILES = 500, 50, 100, 16

TABLES = "a table of test cases"
PROGRAM = "one program; its tests share helpers"

# Longer files: number of lines allowed, and the reason.
LONG_FILES = {
    "Tests/C/test_answers.c": (600, PROGRAM),
    "Tests/C/test_batch.c": (700, PROGRAM),
    "Tests/C/test_cache.c": (700, PROGRAM),
    "Tests/C/test_callers.c": (800, TABLES),
    "Tests/C/test_growth.c": (700, TABLES),
    "Tests/C/test_modifiers.c": (700, PROGRAM),
    "Tests/C/test_request_fields.c": (700, TABLES),
    "Tests/C/test_stress.c": (600, PROGRAM),
    "Tests/C/test_transport.c": (800, PROGRAM),
    "Tests/SDDCachesTests/DiskCacheTests.swift": (600, "to be split"),
}

# Longer functions, with the reason.
LONG_FUNCTIONS = {
    "Sources/SDD/Boundary/StatusNames.swift init": "the texts of all statuses",
    "Tests/C/test_answers.c a_body_as_it_was_sent": TABLES,
    "Tests/C/test_batch.c fill_and_compare": "one comparison of all forms of pixels",
    "Tests/C/test_coders.c b18_a_coder_of_the_process_encodes": "one scenario, step by step",
    "Tests/C/test_fork.c a_fork_in_the_middle_of_transfers": "one scenario, step by step",
    "Tests/C/test_modifiers.c z1_data_of_a_downloader_is_freed_once": "one scenario, step by step",
    "Tests/C/test_error_facts.c e10_z16_every_error_has_class_stage_and_retryable": TABLES,
    "Tests/C/test_request_fields.c k4_a_response_has_url_status_type_and_fields": "a check for each field",
    "Tests/C/test_request_fields.c k5_z21_metrics_and_timings": "a check for each field",
    "Tests/C/test_rules.c d2_d15_a_config_comes_back": "a check for each field",
    "Tests/C/test_under_way.c k1_k4_x1_a_request_has_info_in_every_state": "one scenario, step by step",
}


def main():
    wrong, unused = [], set(LONG_FILES) | set(LONG_FUNCTIONS)
    count = 0
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*")):
        if path.suffix not in (".swift", ".c", ".h") or "target" in path.parts:
            continue
        count += 1
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > FILE_LINES:
            unused.discard(name)
            if lines > (limit := LONG_FILES.get(name, (FILE_LINES,))[0]):
                wrong.append(f"{name}: {lines} lines, {limit} are allowed")
        if name.startswith(("include/", "toolkits/")):
            for number, line in enumerate(text.splitlines(), 1):
                if len(line) > HEADER_COLUMNS:
                    wrong.append(f"{name}:{number}: {len(line)} columns, {HEADER_COLUMNS} are allowed")
        for function, start, end in functions(path, text):
            if (lines := text.count("\n", start, end) + 1) > FUNCTION_LINES:
                key = f"{name} {function}"
                unused.discard(key)
                if key not in LONG_FUNCTIONS:
                    number = text.count("\n", 0, start) + 1
                    wrong.append(f"{name}:{number}: {function} has {lines} lines, {FUNCTION_LINES} are allowed")
    files = collections.Counter(path.parent.relative_to(ROOT) for path in (ROOT / "Sources").rglob("*.swift"))
    wrong += [f"{folder}: {number} files, {FOLDER_FILES} are allowed"
              for folder, number in sorted(files.items()) if number > FOLDER_FILES]
    wrong += [f"Tests/house/limits.py: {key} needs no exception" for key in sorted(unused)]
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"ok limits: {count} files, {len(LONG_FILES)} of them too long, {len(LONG_FUNCTIONS)} functions too long")


main()
