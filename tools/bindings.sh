#!/bin/bash
# Generates the Rust crate sdd-sys and the low layer of the Python package: every call, struct, callback type and
# constant of the header.
#
#     tools/bindings.sh                         generates both: `make bindings`
#     tools/bindings.sh rust [FILE]             generates bindings/rust/sdd-sys/src/bindings.rs, or another file
#     tools/bindings.sh cffi [FOLDER]           generates the low layer of bindings/python, or to another folder
#
# tools/make_cffi.py, which needs pycparser and cffi, generates the layer for Python, and tools/make_python_docs.py the
# descriptions of its options; bindgen generates that for Rust, and writes its version into the first line. Debian:
# python3-pycparser, python3-cffi, bindgen. The file in the repository is generated with bindgen 0.60.1 of Debian 12;
# another version writes the same declarations in another form.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "bindings.sh: $*" >&2; exit 1; }

python_with() { # python_with MODULE: prints the first Python that has it
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import $1" 2>/dev/null; then echo "$python"; return; fi
    done
    fail "no Python with $1 (Debian: python3-$1)"
}

cffi() { # cffi FOLDER
    local python
    python=$(python_with cffi)
    "$python" tools/make_cffi.py "$1"
    "$python" tools/make_python_docs.py "$1"
}

rust() { # rust FILE
    local options
    command -v bindgen >/dev/null || fail "no bindgen (Debian: bindgen)"
    options=(--no-layout-tests --no-doc-comments --with-derive-default --rust-target 1.47
        --allowlist-function 'sdd_.*' --allowlist-type 'sdd_.*' --allowlist-var 'SDD_.*')
    # Later versions always use usize, and have another name for the second option.
    bindgen --help >"$work/help"
    ! grep -q -- ' --size_t-is-usize' "$work/help" || options+=(--size_t-is-usize)
    if grep -q -- ' --no-rustfmt-bindings' "$work/help"; then
        options+=(--no-rustfmt-bindings)
    else
        options+=(--formatter=none)
    fi
    {
        echo '#include <sdd/sdd.h>'
        # bindgen cannot evaluate a macro with a cast, so a constant of that name replaces it.
        gcc -dM -E -Iinclude include/sdd/sdd.h | LC_ALL=C sort |
            sed -nE 's/^#define (SDD_[A-Z0-9_]+) \(\((u?int[0-9]+_t)\).*/\1 \2/p' | while read -r name type; do
                echo "enum : $type { value_of_$name = $name };"
                echo "#undef $name"
                echo "static const $type $name = value_of_$name;"
            done
    } >"$work/header.h"
    bindgen "$work/header.h" -o "$work/bindings.rs" "${options[@]}" \
        --raw-line '// Made from include/sdd/*.h by tools/bindings.sh: `make bindings` makes it anew. Nothing is changed by hand.' \
        --raw-line '// What the calls and fields do stands in the header.' \
        --raw-line '#![allow(dead_code, non_camel_case_types, non_upper_case_globals, clippy::all)]' \
        -- -Iinclude -isystem "$(gcc -print-file-name=include)" # stddef.h, if the system has no clang
    if command -v rustfmt >/dev/null; then
        rustfmt --edition 2021 --config-path .rustfmt.toml "$work/bindings.rs"
    else
        echo "bindings.sh: no rustfmt, so bindings.rs has no line breaks" >&2
    fi
    install -m 644 "$work/bindings.rs" "$1"
}

readonly rust_file=bindings/rust/sdd-sys/src/bindings.rs python_folder=bindings/python/src/sdd
case ${1:-} in
    rust) rust "${2:-$rust_file}" ;;
    cffi) cffi "${2:-$python_folder}" ;;
    '')
        rust $rust_file
        cffi $python_folder
        ;;
    *) fail "what is $1?" ;;
esac
