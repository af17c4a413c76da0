#!/bin/bash
# Runs what was built for arm64 on this machine, under qemu: `make check-arm64`. The servers are this machine's.
#
#     Tests/arm64.sh [linkage|c|coders|swift...]
#
#   linkage   the library and the coders are of the right machine, and can be loaded where pages have 64 KiB
#   c         programs in C, Tests/C/run.sh, but for those below; some of them once more with pages of 16 and 64 KiB
#   coders    pictures of the further formats, Tests/Coders/run.sh
#   swift     the tests of the Swift targets
#
# qemu runs arm64 with the memory order of this machine, so that it finds no order that is too weak:
# docs/memory-order.md.
#
#   QEMU          default: qemu-aarch64-static or qemu-aarch64
#   QEMU_PAGES    a qemu whose option -p sets the size of a page, such as 7.2 of Debian 12; default: QEMU, if it has it
#   FAULT_SERVER  the program Tests/FaultServer of this machine
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/packages.sh
built=build/arm64
[ -e "$built/libsdd.so" ] || fail "$built/libsdd.so is missing: make cross-arm64"
qemu=${QEMU:-$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)}
[ "$qemu" ] || fail "needs qemu-aarch64: apt-get install qemu-user"
pages=${QEMU_PAGES:-$qemu}
parts=("$@")
[ $# -gt 0 ] || parts=(linkage c coders swift)
wants() { [[ " ${parts[*]} " = *" $1 "* ]]; }

# The loader of arm64 is told where its libraries are. With the option -L of qemu, a program that opens / would get the
# folder of the packages.
sysroot=$PWD/$built/sysroot
libraries=$sysroot/usr/lib/aarch64-linux-gnu
loader="$sysroot/lib/ld-linux-aarch64.so.1 --library-path $libraries"
export CC=$PWD/$built/bin/gcc CXX=$PWD/$built/bin/g++

# ---- linkage

# A system whose pages have 64 KiB maps the parts of a file at multiples of that.
check_linkage() {
    local file machine alignment
    for file in "$built"/libsdd.so "$built"/sdd "$built"/sdd-decoder "$built"/coders/*.so; do
        machine=$(readelf -hW "$file" | sed -n 's/^ *Machine: *//p')
        [ "$machine" = AArch64 ] || fail "$file is for $machine"
        for alignment in $(readelf -lW "$file" | awk '$1 == "LOAD" { print $NF }'); do
            [ $((alignment)) -ge 65536 ] || fail "$file has a part that is aligned to $alignment bytes"
        done
    done
    tools/cross-arm64.sh Tests/abi/check-linkage.sh "$built/libsdd.so"
}

# ---- programs in C

# Why a program cannot run under qemu; fails for those that can.
left_out() {
    case $1 in
    test_isolated* | test_fork_isolated) echo "qemu installs no filter of seccomp(2), and starts no helper" ;;
    test_exit | test_log) echo "it starts itself, a program of another machine, once more" ;;
    test_lifecycle) echo "qemu keeps signals for itself, which /proc shows" ;;
    test_no_memory) echo "qemu does not keep to RLIMIT_AS" ;;
    *) return 1 ;;
    esac
}

# Those that map, measure or bound memory, or write files.
on_pages=(test_basic test_cache test_cache_list test_coders test_encode test_frames test_get test_growth
    test_memory_told test_metadata test_old_structs test_pixels test_previews test_room test_sink)

# What fails runs once more. qemu is slow and says nothing of a connection's bytes (TCP_INFO), so that on a busy machine
# the library may take a slow handshake for a flood.
run_programs() { # run_programs RUNNER NAME...
    local log again status=0
    log=$(mktemp)
    export SDD_TEST_RUNNER=$1
    shift
    Tests/C/run.sh plain "$@" 2>&1 | tee "$log" || status=$?
    mapfile -t again < <(sed -n 's/^not ok \([a-z_0-9]*\).*/\1/p' "$log" | sort -u)
    rm -f "$log"
    [ "$status" -ne 0 ] || return 0
    [ ${#again[@]} -gt 0 ] || return "$status"
    echo "== once more: ${again[*]}"
    Tests/C/run.sh plain "${again[@]}"
}

run_c() {
    local file name why size names=()
    for file in Tests/C/test_*.c Tests/C/test_*.cc; do
        name=$(basename "${file%.*}")
        if why=$(left_out "$name"); then echo "skip $name: $why"; else names+=("$name"); fi
    done
    # The second runs of programs, with isolated decoding, are left out, too: there is no such program.
    export SDD_LIBDIR=$built SDD_TEST_SCALE=${SDD_TEST_SCALE:-0.1} SDD_TEST_ISOLATED_SHARE=999/1000
    run_programs "$qemu $loader" "${names[@]}"
    if ! "$pages" -p 65536 $loader "$built/sdd" --version >/dev/null 2>&1; then
        echo "skip pages of 16 and 64 KiB: $pages has no option -p"
        return
    fi
    for size in 16384 65536; do
        echo "== pages of $size bytes"
        run_programs "$pages -p $size $loader" "${on_pages[@]}"
    done
}

# ---- tests of the Swift targets

run_swift() {
    # The tests need libraries of Swift that there are no static ones of.
    tools/cross-arm64.sh bash -euc 'flags=${SWIFTFLAGS/debian-arm64 --static-swift-stdlib/debian-arm64-shared}
        env -u CC swift build --build-tests --scratch-path "$SCRATCH/tests" $flags'
    "$qemu" $loader:$sysroot/usr/libexec/swift/lib/swift/linux \
        .build/arm64/tests/debug/libsddPackageTests.xctest --testing-library swift-testing
}

if wants linkage; then check_linkage; fi
if wants c; then run_c; fi
if wants coders; then
    # For these programs alone: libheif of this machine has other plugins.
    plugins=$libraries/libheif/plugins
    SDD_LIBDIR=$built SDD_CODERS=$built/coders SDD_TEST_RUNNER="env LIBHEIF_PLUGIN_PATH=$plugins $qemu $loader" \
        Tests/Coders/run.sh pixels
fi
if wants swift; then run_swift; fi
