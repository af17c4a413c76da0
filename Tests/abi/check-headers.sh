#!/bin/bash
# Checks that the public header compiles alone and without a warning, as C and as C++, with gcc and clang, and so does
# each of its chapters, none of which is too long; the same for sdd.hpp as C++17 and later; and that the library agrees
# with its macros and structs: Tests/C/header_*.c.
#
#     Tests/abi/check-headers.sh       after `make`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly output=build/tests
readonly warnings=(-Wall -Wextra -pedantic -Werror -Wundef -Wshadow)
readonly own=(-Iinclude -I"$output" -Lbuild -Wl,-rpath,"$PWD/build")
mkdir -p "$output"
Tests/C/tables.sh "$output"

# Clang comes with the Swift toolchain, next to `swift` on the PATH or to the file it links to.
compilers=(gcc)
if command -v clang >/dev/null; then
    compilers+=(clang)
elif clang=$(dirname "$(realpath "$(command -v swift)")")/clang && [ -x "$clang" ]; then
    compilers+=("$clang")
else
    echo "skip clang: not found"
fi

for chapter in include/sdd/*.h include/sdd/*.hpp include/sdd/cpp/*.hpp; do
    [ "$(wc -l <"$chapter")" -le 500 ] || { echo "check-headers.sh: $chapter has over 500 lines" >&2; exit 1; }
    if grep -nE '^.{101}' "$chapter"; then echo "check-headers.sh: $chapter has lines of over 100 columns" >&2; exit 1; fi
done
# Constants have the type of their fields, for tools that read the header.
if grep -nE '^ *(typedef )?enum( |$)' include/sdd/*.h; then
    echo "check-headers.sh: an enum that is not an SDD_ENUM" >&2
    exit 1
fi

count=0
compile() { # compile COMPILER STANDARD LANGUAGE FILE
    "$1" -std="$2" -x "$3" "${warnings[@]}" -Iinclude -I"$output" -fsyntax-only "$4"
    count=$((count + 1))
}
mkdir -p "$output/chapters"
for chapter in include/sdd/*.h; do
    echo "#include <sdd/${chapter##*/}>" >"$output/chapters/${chapter##*/}.c"
done
for compiler in "${compilers[@]}"; do
    for file in Tests/C/header_alone.c Tests/C/header_init.c; do
        for standard in c99 c11 c17 c2x; do # c2x is C23 and c++2b is C++23, for compilers without the final names
            compile "$compiler" $standard c "$file"
        done
        for standard in c++11 c++14 c++17 c++20 c++2b; do
            compile "$compiler" $standard c++ "$file"
        done
    done
    for file in "$output"/chapters/*.c; do # the oldest and the newest
        for standard in c99 c2x; do compile "$compiler" $standard c "$file"; done
        for standard in c++11 c++2b; do compile "$compiler" $standard c++ "$file"; done
    done
done
for standard in c++11 c++14 c++17 c++20 c++2b; do
    for compiler in "${compilers[@]}"; do
        compile "$compiler" $standard c++ Tests/C/header_cxx.cc
    done
done
for chapter in include/sdd/cpp/*.hpp; do
    echo "#include <sdd/cpp/${chapter##*/}>" >"$output/chapters/${chapter##*/}.cc"
    for compiler in "${compilers[@]}"; do # the other standards: Tests/Cxx
        compile "$compiler" c++17 c++ "$output/chapters/${chapter##*/}.cc"
    done
done
echo "#include <sdd/sdd.hpp>" >"$output/chapters/sdd.hpp.cc"
for compiler in "${compilers[@]}"; do
    compile "$compiler" c++2b c++ "$output/chapters/sdd.hpp.cc"
done
echo "ok header: $count compilations by ${compilers[*]##*/}, no warning"

run() { # run NAME COMPILER...: builds the program of that source with the library and runs it
    local source=$1
    shift
    "$@" "${warnings[@]}" "${own[@]}" -lsdd -o "$output/${source%.*}"
    timeout 60 "$output/${source%.*}"
}
run header_init.c gcc -std=c99 Tests/C/header_init.c
# The tables of the tests have all fields that check-abi.sh reads in its own way.
diff <("$output/header_init" --fields | LC_ALL=C sort) <(Tests/abi/check-abi.sh --fields | grep -F .) >&2 ||
    { echo "check-headers.sh: the tables of the tests (<) lack fields, or have others (>)" >&2; exit 1; }
run header_init.c g++ -std=c++11 -x c++ Tests/C/header_init.c -x none
run header_cxx.cc g++ -std=c++20 Tests/C/header_cxx.cc
