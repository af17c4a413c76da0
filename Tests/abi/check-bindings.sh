#!/bin/bash
# What the package for Python and the crate for Rust have of the header (the low layer in bindings/python/src/sdd, and
# bindings/rust/sdd-sys/src/bindings.rs) is the header's: all calls are there, and in the library; all types have C's
# sizes, all fields C's places, all structs C's defaults, all numbers C's values. What pycparser and bindgen have read is
# not believed: the names come from the text of the header, and a program in C says the rest. That the files are those
# that `make bindings` makes is a part of `make lint`.
#
#     Tests/abi/check-bindings.sh build/libsdd.so.0.4.0
#
# What is not installed is skipped; Tests/run.sh installs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
library=$(realpath "$1")
readonly python_folder=bindings/python/src/sdd rust_file=bindings/rust/sdd-sys/src/bindings.rs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${python_folder%/*} SDD_LIBRARY=$library

fail() { echo "check-bindings.sh: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null; }

# ---- what is asked: lines of a kind and a name

gcc -std=c11 -E -P -Iinclude include/sdd/sdd.h >"$work/header"
Tests/abi/check-abi.sh --fields | grep -F . | cut -d' ' -f1 >"$work/fields"
cut -d. -f1 "$work/fields" | sort -u >"$work/structs"
gcc -dM -E -Iinclude include/sdd/sdd.h >"$work/macros"
{
    sed 's/^/field /' "$work/fields"
    sed 's/^/type /' "$work/structs"
    grep -oP '^typedef u?int[0-9]+_t \Ksdd_[a-z0-9_]+(?=;)' "$work/header" | sed 's/^/type /'
    grep -oP '^typedef [^;(]*\(\*\Ksdd_[a-z0-9_]+_fn(?=\))' "$work/header" | sed 's/^/type /'
    grep -oP '^typedef struct (sdd_[a-z0-9_]+) \K\1(?=;)' "$work/header" | grep -vxFf "$work/structs" | sed 's/^/handle /'
    sed -nE 's/^#define SDD_([A-Z0-9_]+)_INIT .*/beginning sdd_\L\1/p' "$work/macros"
    Tests/abi/check-abi.sh --numbers | sed 's/^\([^ ]*\) .*/number \1/'
    sed -nE 's/^#define (SDD_[A-Z0-9_]+) \(*((u?int[0-9]+_t)\))?-?[0-9]+\)?$/number \1/p' "$work/macros"
    sed -nE 's/^#define (SDD_[A-Z0-9_]+) ".*/text \1/p' "$work/macros"
    {
        sed -n 's/^\(sdd_[a-z0-9_]*\) .*/\1/p' Tests/abi/symbols.expected
        # A name, then a parenthesis; of pointers to functions the name stands inside one.
        grep -oP '\bsdd_[a-z0-9_]+(?= *\((?![ *]))' "$work/header"
    } | sort -u | sed 's/^/call /'
} | sort >"$work/asked"
for kind in field type handle beginning number text call; do
    grep -q "^$kind " "$work/asked" || fail "the header has no $kind"
done
[ "$(sort -u "$work/asked" | wc -l)" -eq "$(wc -l <"$work/asked")" ] || fail "the header has something twice"

# ---- what C says

{
    echo '#include <sdd/sdd.h>'
    echo '#include <stdio.h>'
    echo 'static void dump(const char *name, const void *bytes, size_t size)'
    echo '{'
    echo '    printf("beginning %s ", name);'
    echo '    for (size_t i = 0; i < size; i++) printf("%02x", ((const unsigned char *)bytes)[i]);'
    echo '    printf("\n");'
    echo '}'
    echo 'int main(void) {'
    while read -r kind name; do
        case $kind in
            field)
                struct=${name%.*} field=${name#*.}
                echo "printf(\"$kind $name %zu %zu\\n\", offsetof($struct, $field), sizeof((($struct *)0)->$field));"
                ;;
            type) echo "printf(\"$kind $name %zu\\n\", sizeof($name));" ;;
            handle) echo "printf(\"$kind $name %zu\\n\", sizeof($name *));" ;;
            beginning) echo "{ static const $name it = ${name^^}_INIT; dump(\"$name\", &it, sizeof it); }" ;;
            number) echo "printf(\"$kind $name %lld\\n\", (long long)$name);" ;;
            text) echo "printf(\"$kind $name %s\\n\", $name);" ;;
            call) echo "printf(\"$kind $name\\n\"); (void)$name;" ;;
        esac
    done <"$work/asked"
    echo 'return 0; }'
} >"$work/asked.c"
gcc -std=c99 -w -Iinclude "$work/asked.c" -o "$work/asked_c" "$library" -Wl,-rpath,"${library%/*}" ||
    fail "the program in C does not compile"
"$work/asked_c" >"$work/c"
[ "$(wc -l <"$work/c")" -eq "$(wc -l <"$work/asked")" ] || fail "the program in C says something else than it was asked"

# compare FILE OUTPUT
compare() {
    diff "$work/c" "$2" >"$work/different" || { cat "$work/different" >&2; fail "$1 (>) is not what the header has (<)"; }
    echo "ok ${1##*/}: $(cut -d' ' -f1 "$2" | uniq -c | awk '{ printf "%s%d %ss", (NR > 1 ? ", " : ""), $1, $2 }')"
}

# ---- Python

python=
for candidate in python3 /usr/bin/python3; do
    if has $candidate && $candidate -c 'import cffi' 2>/dev/null; then python=$candidate && break; fi
done
if [ -n "$python" ]; then
    "$python" Tests/abi/bindings_check.py <"$work/asked" >"$work/python" ||
        fail "sdd.lowlevel lacks something of the header"
    compare sdd.lowlevel "$work/python"
else
    echo "skip Python: no cffi"
fi

# ---- Rust

grep -v -e '^beginning ' -e '^text ' "$work/c" >"$work/c.rust"
mv "$work/c.rust" "$work/c"
if has rustc; then
    {
        echo "#[path = \"$PWD/$rust_file\"]"
        echo 'mod ffi;'
        echo 'use std::mem::{size_of, MaybeUninit};'
        echo 'fn size<T>(_: *const T) -> usize { size_of::<T>() }'
        echo 'fn main() {'
        echo 'let called = |name: &str, call: *const ()| if !call.is_null() { println!("call {}", name) };'
        sed -n 's/^call \(.*\)/    called("\1", ffi::\1 as *const ());/p' "$work/asked"
        while read -r struct; do
            echo "    { let it = MaybeUninit::<ffi::$struct>::uninit(); let it = it.as_ptr();"
            grep "^$struct\." "$work/fields" | while IFS=. read -r _ field; do
                echo "    let at = unsafe { std::ptr::addr_of!((*it).$field) };"
                echo "    println!(\"field $struct.$field {} {}\", at as usize - it as usize, size(at));"
            done
            echo "    }"
        done <"$work/structs"
        sed -n 's/^handle \(.*\)/    println!("handle \1 {}", size_of::<*mut ffi::\1>());/p' "$work/asked"
        sed -n 's/^number \(.*\)/    println!("number \1 {}", ffi::\1 as i64);/p' "$work/asked"
        sed -n 's/^type \(.*\)/    println!("type \1 {}", size_of::<ffi::\1>());/p' "$work/asked"
        echo '}'
    } >"$work/asked.rs"
    ln -s "$library" "$work/libsdd.so"
    rustc --edition 2021 -A warnings -L "$work" -l sdd -o "$work/asked_rust" "$work/asked.rs" 2>"$work/said" ||
        { head -n 20 "$work/said" >&2; fail "$rust_file lacks something of the header"; }
    LD_LIBRARY_PATH=${library%/*} "$work/asked_rust" | sort >"$work/rust"
    compare $rust_file "$work/rust"
else
    echo "skip the sizes of bindings.rs: no rustc"
fi
