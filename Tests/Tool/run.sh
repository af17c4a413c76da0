#!/bin/bash
# Runs the suite of the program sdd against the built library, the fault server and nginx.
#
#     Tests/Tool/run.sh plain|asan|valgrind [NAME...]     only tests whose names contain one of NAME
#
#   plain      build/sdd as it is
#   asan       built here with gcc's address, leak and undefined behaviour sanitizers
#   valgrind   a few runs under memcheck
#   SDD_LIBDIR     where libsdd.so and sdd are; default: build/
#   SDD_TEST_PROCESSES    tests that run side by side; default: 3, since most only wait
#   FAULT_SERVER   the program Tests/FaultServer; default: built here
#   CC             the compiler; default: cc
#
# Tests that fill a file system need root or user namespaces, and are skipped otherwise. Writes only a temporary folder,
# which is removed when the script ends.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() { echo "usage: Tests/Tool/run.sh plain|asan|valgrind [NAME...]" >&2; exit 2; }
[ $# -gt 0 ] || usage
mode=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-tool.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/bin/libsdd.so.0"
ln -s libsdd.so.0 "$work/bin/libsdd.so"
case $mode in
plain) cp "${SDD_LIBDIR:-build}/sdd" "$work/bin/sdd" ;; # it finds the library beside it
asan)
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra \
        -Wpedantic -Werror -Iinclude tools/sdd/*.c -o "$work/bin/sdd" -L"$work/bin" -lsdd -lm -Wl,-rpath,"$work/bin"
    export ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$PWD/Tests/C/lsan.supp:print_suppressions=0
    ;;
valgrind)
    strip --strip-debug "$work/bin/libsdd.so.0" # valgrind 3.19 cannot read the debug information of the Swift compiler
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -O1 -Iinclude tools/sdd/*.c -o "$work/bin/sdd" -L"$work/bin" -lsdd -lm \
        -Wl,-rpath,"$work/bin"
    export JSIMD_FORCENONE=1
    export SDD_TEST_RUNNER="valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite
        --error-exitcode=99 --fair-sched=yes --expensive-definedness-checks=yes
        --suppressions=$PWD/Tests/C/valgrind.supp"
    [ $# -gt 0 ] || set -- Valgrind
    ;;
*) usage ;;
esac
if [ -z "${FAULT_SERVER:-}" ]; then
    swift build --product fault-server >"$work/swift.log" 2>&1 || { cat "$work/swift.log" >&2; exit 1; }
    FAULT_SERVER=$(swift build --show-bin-path)/fault-server
fi
FAULT_SERVER=$(realpath "$FAULT_SERVER")
export FAULT_SERVER SDD_TEST_MODE=$mode SDD_TEST_TOOL=$work/bin/sdd TMPDIR=$work
export PATH=$PATH:/usr/sbin PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY NO_COLOR SDD_LOG TMUX STY KITTY_WINDOW_ID TERM_PROGRAM
python=python3
"$python" -c 'import pexpect, PIL, pyte' 2>/dev/null || python=/usr/bin/python3 # Debian's package is for Debian's Python
"$python" Tests/Tool/side_by_side.py -n "${SDD_TEST_PROCESSES:-3}" "$@"
