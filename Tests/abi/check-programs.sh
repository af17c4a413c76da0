#!/bin/bash
# Checks the program at the top of each chapter of the header, of sdd.h and of sdd.hpp: it must compile unchanged as C99,
# C++17 and C++20 (that of sdd.hpp as the latter two), run, and print the line after "It prints:".
#
#     Tests/abi/check-programs.sh       after `make`; FAULT_SERVER names the server that replaces https://example.org/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${FAULT_SERVER:?names no server: make fault-server}"
readonly warnings=(-Wall -Wextra -pedantic -Werror)
work=$(mktemp -d)
server=
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

fail() { echo "check-programs.sh: $*" >&2; exit 1; }

# The server ends with its input, which this script holds open.
mkdir "$work/files"
cp Tests/Fixtures/jpeg/baseline-420.jpg "$work/files/a.jpg"
cp Tests/Fixtures/png/grey-alpha8.png "$work/files/b.png"
mkfifo "$work/alive" "$work/said"
exec {alive}<>"$work/alive"
"$FAULT_SERVER" --files "$work/files" <"$work/alive" >"$work/said" {alive}>&- &
server=$!
read -r -t 30 _ port <"$work/said" || fail "the server does not listen"

# Prints the lines after " *     " in the first comment, and the expected output.
program() { awk '/^ \*\// { exit } /^ \*     / || (on && /^ \*$/) { on = 1; print substr($0, 8) } on && !/^ \*(     .*)?$/ { exit }' "$1"; }
prints() { sed -n 's/^ \* It prints: //p' "$1"; }

export XDG_CACHE_HOME=$work/caches
count=0
for header in include/sdd/*.h include/sdd/sdd.hpp; do
    name=${header##*/}
    program "$header" >"$work/$name.c"
    standards=(c99 c++17 c++20)
    [[ $header == *.h ]] || standards=(c++17 c++20)
    grep -qE 'int main\((void)?\)' "$work/$name.c" || fail "$header does not begin with a program"
    prints "$header" >"$work/$name.expected"
    for standard in "${standards[@]}"; do
        compiler=(gcc -x c)
        [[ $standard == c++* ]] && compiler=(g++ -x c++)
        "${compiler[@]}" -std=$standard "${warnings[@]}" -Iinclude -fsyntax-only "$work/$name.c"
    done
    sed -i "s#https://example.org/#http://127.0.0.1:$port/file/#" "$work/$name.c"
    compiler=(gcc -x c)
    [[ ${standards[0]} != c++* ]] || compiler=(g++ -x c++)
    "${compiler[@]}" -std="${standards[0]}" -Iinclude "$work/$name.c" -x none -Lbuild -lsdd -Wl,-rpath,"$PWD/build" \
        -o "$work/$name"
    timeout 60 "$work/$name" >"$work/$name.out" || fail "the program of $header ends with status $?"
    if [ -s "$work/$name.expected" ]; then
        diff "$work/$name.expected" "$work/$name.out" >&2 || fail "the program of $header prints something else"
    fi
    count=$((count + 1))
done
echo "ok header: $count programs, as C99, C++17 and C++20"
