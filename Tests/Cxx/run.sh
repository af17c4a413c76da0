#!/bin/bash
# Compiles the programs of this folder against the built library, starts the fault server, and runs each. Prints
# "ok NAME.COMPILER.STANDARD" or "not ok ..." and the program's output; at the end it lists the failures with their
# reasons and exits with status 1 if there were any.
#
#     Tests/Cxx/run.sh plain|asan|tsan [NAME...]
#
#   plain      with g++ as C++17 and with clang++ as C++20; a few in the other standard, and with clang++ and libc++
#   asan       with the address, leak and undefined behaviour sanitizers of g++ and clang++, as C++20
#   tsan       with the thread sanitizers of both, as C++20, and the plain library, whose mutexes they see: tsan.supp
#
# A compiler, a sanitizer or a standard library that is not installed is skipped, with a line that says so.
#
#   SDD_TEST_SHARE K/N: every Nth of these, beginning with number K modulo N; default: all
#   SDD_LIBDIR     where libsdd.so is; default: build/
#   SDD_INSTALLED  1: header and library are the installed ones, as pkg-config finds them
#   FAULT_SERVER   the program Tests/FaultServer: make fault-server
#   CXX            compilers in place of those above, each with every program in both standards
#
# Programs named test_*_cxx20.cc need C++20. Writes only a temporary folder, which is removed when the script ends.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/failures.sh
. Tests/share.sh
: "${FAULT_SERVER:?names no server: make fault-server}"

mode=${1:-}
[ $# -gt 0 ] && shift
sanitize=()
case $mode in
plain) ;;
asan) sanitize=(-g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all) ;;
tsan) sanitize=(-g -O0 -fsanitize=thread) ;;
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
if [ -z "${SDD_INSTALLED:-}" ]; then
    cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
    ln -s libsdd.so.0 "$work/lib/libsdd.so"
    cc -std=c11 tools/decoder/sdd-decoder.c -o "$work/lib/sdd-decoder" -ldl # for isolated_decoding
    headers=(-Iinclude)
    libraries=(-L"$work/lib" -lsdd -Wl,-rpath,"$work/lib" -pthread)
else
    read -ra headers <<<"$(pkg-config --cflags sdd)"
    read -ra libraries <<<"$(pkg-config --libs sdd) -pthread"
fi

# ---- programs

warnings=(-Wall -Wextra -pedantic -Werror -Wconversion -Wshadow -Wundef)
# With sanitizers g++ 12 takes the unset values of std::optional and std::variant for uninitialized ones that are used.
[ "$mode" = plain ] || warnings+=(-Wno-unknown-warning-option -Wno-maybe-uninitialized) # clang has the first alone
flags_of() { # flags_of NAME PROGRAM: further flags of a program, and objects, which come first
    case $1 in
    test_no_exceptions) echo -fno-exceptions ;;
    test_mixed) echo "$work/bin/$2.part.o" ;;
    esac
}
works() { # works COMPILER...: whether it makes programs with these sanitizers
    command -v "$1" >/dev/null || { echo "skip: no $1"; return 1; }
    echo '#include <string>' >"$work/empty.cc"
    echo 'int main() { return std::string("x").size() != 1; }' >>"$work/empty.cc"
    "$@" "${sanitize[@]}" "$work/empty.cc" -o "$work/empty" 2>/dev/null || { echo "skip: $* ${sanitize[*]}"; return 1; }
}
variants_of() { # variants_of NAME: prints "STANDARD COMPILER..." for each program that is made of it
    if [ -n "${CXX:-}" ]; then
        for compiler in $CXX; do printf '%s\n' "17 $compiler" "20 $compiler"; done
    elif [ "$mode" != plain ]; then
        printf '%s\n' "20 g++" "20 clang++"
    else
        printf '%s\n' "17 g++" "20 clang++"
        case $1 in
        test_coroutines_cxx20) printf '%s\n' "20 g++" "20 clang++ -stdlib=libc++" ;;
        test_requests) printf '%s\n' "20 g++" "17 clang++" ;;
        test_pending | test_callbacks) printf '%s\n' "17 clang++ -stdlib=libc++" ;;
        esac
    fi
}
compile() { # compile PROGRAM NAME STANDARD COMPILER...
    local program=$1 name=$2 standard=$3
    shift 3
    if [ "$name" = test_mixed ]; then
        "$@" -std=c++20 -fno-exceptions "${sanitize[@]}" "${warnings[@]}" "${headers[@]}" \
            -c Tests/Cxx/mixed_part.cc -o "$work/bin/$program.part.o"
    fi
    # server.h is C, and a system header: it is not held to the warnings of these programs.
    "$@" "-std=c++$standard" $(flags_of "$name" "$program") "${sanitize[@]}" "${warnings[@]}" "${headers[@]}" \
        -isystem Tests/C "Tests/Cxx/$name.cc" -o "$work/bin/$program" "${libraries[@]}"
}
declare -A usable
jobs=() # "PROGRAM NAME STANDARD COMPILER..."
for name in "${names[@]}"; do
    if [ "$mode/$name" = tsan/test_process ]; then
        # TSan identifies a thread by its pthread_t, which a child of a fork may use again.
        echo "skip $name: ThreadSanitizer ends a child of a fork that makes threads"
        continue
    fi
    while read -r standard compiler; do
        [[ $name != *_cxx20 || $standard = 20 ]] || continue
        if [ -z "${usable[$compiler]:-}" ]; then
            usable[$compiler]=no
            if works $compiler; then usable[$compiler]=yes; fi
        fi
        [ "${usable[$compiler]}" = yes ] || continue
        compiler_name=${compiler%% *} library=${compiler##*=}
        program=$name.${compiler_name##*/}.$standard$([ "$library" = "$compiler" ] || echo ".$library")
        jobs+=("$program $name $standard $compiler")
    done < <(variants_of "$name")
done
if [ -n "${SDD_TEST_SHARE:-}" ]; then
    all=("${jobs[@]}")
    mapfile -t jobs < <(share_of "$SDD_TEST_SHARE" "${all[@]}")
    echo "share $SDD_TEST_SHARE: ${#jobs[@]} of ${#all[@]} programs"
fi
programs=("${jobs[@]%% *}")
# As many at a time as there are processors.
compiled() { wait -n || { echo "not ok: a program does not compile" >&2; wait; exit 1; }; }
running=0
for job in "${jobs[@]}"; do
    if [ "$running" -ge "$(nproc)" ]; then compiled; running=$((running - 1)); fi
    compile $job &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do compiled; running=$((running - 1)); done

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
export SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-600}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/Tests/C/lsan.supp:print_suppressions=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/Tests/Cxx/tsan.supp}
reset_server() { # resets counts and releases
    local connection
    exec {connection}<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET /reset-stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&"$connection"
    cat <&"$connection" >/dev/null
    exec {connection}>&-
}
for program in "${programs[@]}"; do
    reset_server
    status=0 begin=$SECONDS
    export SDD_TEST_FOLDER=$work/files/$program XDG_CACHE_HOME=$work/files/$program/caches
    mkdir "$SDD_TEST_FOLDER"
    "$work/bin/$program" >"$work/out" 2>&1 {alive}>&- || status=$?
    took "$program" $((SECONDS - begin))
    if [ "$status" -eq 0 ]; then
        echo "ok $program"
    else
        echo "not ok $program (status $status)"
        failed "$program" "$status"
    fi
    sed 's/^/    /' "$work/out"
done
end_with_failures
