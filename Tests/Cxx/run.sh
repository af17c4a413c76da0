#!/bin/bash
# Compiles the programs of this folder against the built library, starts the fault server, and runs each. Prints
# "ok NAME.COMPILER.STANDARD" or "not ok ..." and the program's output; at the end it lists the failures with their
# reasons and exits with status 1 if there were any.
#
#     Tests/Cxx/run.sh plain|asan|tsan [NAME...]
#
#   plain      with g++ and clang++, if they are there, as C++17 and as C++20
#   asan       with the address, leak and undefined behaviour sanitizers of g++, as C++20
#   tsan       with the thread sanitizer of g++, as C++20, and the plain library, whose mutexes it sees: tsan.supp
#
#   SDD_LIBDIR     where libsdd.so is; default: build/
#   FAULT_SERVER   the program Tests/FaultServer: make fault-server
#   CXX            compilers in place of those above
#
# Programs named test_*_cxx20.cc need C++20. Writes only a temporary folder, which is removed when the script ends.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/failures.sh
: "${FAULT_SERVER:?names no server: make fault-server}"

mode=${1:-}
[ $# -gt 0 ] && shift
sanitize=() standards=(17 20)
case $mode in
plain) ;;
asan)
    sanitize=(-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
    CXX=${CXX:-g++} standards=(20)
    ;;
tsan)
    sanitize=(-g -O1 -fsanitize=thread)
    CXX=${CXX:-g++} standards=(20)
    ;;
*) echo "usage: Tests/Cxx/run.sh plain|asan|tsan [NAME...]" >&2; exit 2 ;;
esac

names=("$@")
if [ $# -eq 0 ]; then
    for source in Tests/Cxx/test_*.cc; do
        source=${source##*/}
        names+=("${source%.cc}")
    done
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-cxx.XXXXXX")
server=
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- the library: a copy, so that a build meanwhile does not replace it under a running program

mkdir "$work/lib" "$work/bin" "$work/files"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"

# ---- programs

warnings=(-Wall -Wextra -pedantic -Werror -Wconversion -Wshadow -Wundef)
# With sanitizers g++ 12 takes the unset values of std::optional and std::variant for uninitialized ones that are used.
[ "$mode" = plain ] || warnings+=(-Wno-maybe-uninitialized)
libraries=(-L"$work/lib" -lsdd -Wl,-rpath,"$work/lib" -pthread)
flags_of() { # flags_of NAME: further flags of a program, and objects, which come first
    case $1 in
    test_no_exceptions) echo -fno-exceptions ;;
    test_mixed) echo "$work/mixed_part.o" ;;
    esac
}
programs=()
for name in "${names[@]}"; do
    for compiler in ${CXX:-g++ clang++}; do
        command -v "$compiler" >/dev/null || { echo "skip $name: no $compiler"; continue; }
        for standard in "${standards[@]}"; do
            [[ $name != *_cxx20 || $standard = 20 ]] || continue
            program=$name.${compiler##*/}.$standard
            if [ "$name" = test_mixed ]; then
                "$compiler" -std=c++20 -fno-exceptions "${sanitize[@]}" "${warnings[@]}" -Iinclude \
                    -c Tests/Cxx/mixed_part.cc -o "$work/mixed_part.o"
            fi
            # server.h is C, and a system header: it is not held to the warnings of these programs.
            "$compiler" "-std=c++$standard" $(flags_of "$name") "${sanitize[@]}" "${warnings[@]}" -Iinclude \
                -isystem Tests/C "Tests/Cxx/$name.cc" -o "$work/bin/$program" "${libraries[@]}"
            programs+=("$program")
        done
    done
done

# ---- the fault server: it ends with its input, which this script holds open

mkfifo "$work/alive" "$work/said"
exec {alive}<>"$work/alive"
"$FAULT_SERVER" --files Tests/Fixtures <"$work/alive" >"$work/said" {alive}>&- &
server=$!
exec {said}<"$work/said"
read -r -t 30 word port <&"$said"
[ "$word" = listening ]
export SDD_TEST_SERVER=http://127.0.0.1:$port SDD_TEST_FIXTURES=$PWD/Tests/Fixtures/

# ---- the run

unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
export SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-300}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/Tests/C/lsan.supp:print_suppressions=0}
# The library takes more locks at once, before a fork, than the detector of deadlocks can count.
export TSAN_OPTIONS=${TSAN_OPTIONS:-detect_deadlocks=0:suppressions=$PWD/Tests/Cxx/tsan.supp}
reset_server() { # resets counts and releases
    local connection
    exec {connection}<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET /reset-stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&"$connection"
    cat <&"$connection" >/dev/null
    exec {connection}>&-
}
for program in "${programs[@]}"; do
    reset_server
    status=0
    export SDD_TEST_FOLDER=$work/files/$program XDG_CACHE_HOME=$work/files/$program/caches
    mkdir "$SDD_TEST_FOLDER"
    "$work/bin/$program" >"$work/out" 2>&1 {alive}>&- || status=$?
    if [ "$status" -eq 0 ]; then
        echo "ok $program"
    else
        echo "not ok $program (status $status)"
        failed "$program" "$status"
    fi
    sed 's/^/    /' "$work/out"
done
end_with_failures
