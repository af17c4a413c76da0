#!/bin/bash
# Generates what C++, Python and Rust have of the header.
#
#     tools/bindings.sh                generates all of it: `make bindings`
#     tools/bindings.sh --check        fails if a file is not what the header makes of it: `make lint`
#
#   include/sdd/cpp/options.hpp              the structs of options                          make_cxx.py
#   bindings/python/src/sdd/_ffi.py ...      the low layer, and all numbers                  make_cffi.py
#   bindings/python/src/sdd/_options.py ...  the options, with their types and descriptions  make_python_options.py
#   bindings/rust/sdd-sys/src/bindings.rs    the low layer                                   bindgen
#   bindings/rust/sdd/src/plain.rs           setters that only hand a value on               make_rust.py
#
# tools/interface.py reads the header for all of them but bindgen. Debian: python3-pycparser, python3-cffi, bindgen. The
# file bindings.rs in the repository is generated with bindgen 0.60.1 of Debian 12, which writes its version into the
# first line; another version writes the same declarations in another form. --check skips what is not installed.
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

make_all() { # make_all FOLDER: writes all files to their places below a folder
    local python
    mkdir -p "$1"/{$cxx,$python_package,$rust_raw,$rust_crate}
    python=$(python_with cffi)
    "$python" tools/make_cxx.py "$1/$cxx/options.hpp"
    "$python" tools/make_cffi.py "$1/$python_package" >"$work/said"
    "$python" tools/make_python_options.py "$1/$python_package"
    "$python" tools/make_rust.py "$1/$rust_crate/plain.rs"
    [ "${2:-}" = without-bindgen ] || rust "$1/$rust_raw/bindings.rs"
}

same() { # same FILE OTHER: line breaks of bindings.rs, and the commas before them, are rustfmt's, which may be absent
    case $1 in
        */bindings.rs) cmp -s <(tr -d ' \n,' <"$1") <(tr -d ' \n,' <"$2") ;;
        *) cmp -s "$1" "$2" ;;
    esac
}

check() {
    local made_by here bindgen=with-bindgen file
    made_by=$(sed -n '1s/.* rust-\(bindgen [0-9.]*\) .*/\1/p' $rust_raw/bindings.rs)
    here=$(bindgen --version 2>/dev/null) || here="no bindgen"
    if ! (python_with cffi) >/dev/null 2>&1; then
        echo "skip bindings: no cffi"
        return
    elif [ "$here" != "$made_by" ]; then
        echo "skip bindings.rs: it was made by $made_by, and here is $here"
        bindgen=without-bindgen
    fi
    make_all "$work/made" $bindgen
    while read -r file; do
        if ! same "$file" "$work/made/$file"; then
            diff "$file" "$work/made/$file" | cut -c 1-200 >&2 || true
            fail "${file#./} is not what the header makes of it: run make bindings"
        fi
    done < <(cd "$work/made" && find . -type f)
    echo "ok bindings: $(find "$work/made" -type f | wc -l) files are as made from the header"
}

readonly cxx=include/sdd/cpp python_package=bindings/python/src/sdd rust_raw=bindings/rust/sdd-sys/src \
    rust_crate=bindings/rust/sdd/src
case ${1:-} in
    '') make_all . ;;
    --check) check ;;
    *) fail "what is $1?" ;;
esac
