#!/bin/bash
# Builds the Debian packages twice, and compares them byte by byte: in folders of other names and lengths, with another
# umask, time zone, locale, home, user name, number of processors, and environment. On a difference it writes what
# differs to build/reproducible/difference.txt, with diffoscope where that is installed, and fails.
#
#     Tests/reproducible.sh            `make check-reproducible`
#     Tests/reproducible.sh library    compares only libsdd.so, of two builds by SwiftPM alone
#
#   ROUNDS    builds to compare with the first, default 1
#
# Takes twice the time of `make deb`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() { echo "Tests/reproducible.sh: $*" >&2; exit 1; }
what=${1:-packages}
out=$PWD/build/reproducible
rm -rf "$out"
mkdir -p "$out/a" "$out/another-folder/whose.name/is+longer/by_far"
first=$out/a
second=$out/another-folder/whose.name/is+longer/by_far
tests=nocheck # of the interface; they do not change the packages

build() { # build FOLDER NAME: in a copy of the tree, in FOLDER/NAME
    if [ "$what" = packages ]; then
        debian/scripts/build "$1/deb" "$2"
        return
    fi
    mkdir -p "$1/$2"
    tar -c Makefile Package.swift Sources tools/packages.sh Tests/TestSupport Tests/FaultServer Tests/SDD*Tests include |
        tar -x -C "$1/$2"
    make -C "$1/$2" build/libsdd.so
    mkdir -p "$1/deb"
    cp "$1/$2"/build/libsdd.so.0.* "$1/deb/"
    rm -rf "${1:?}/$2"
}
first_build() { DEB_BUILD_OPTIONS=$tests build "$first" libsdd; }
other_build() (
    umask 0077
    export TZ=Asia/Kathmandu LC_ALL=C.UTF-8 LANGUAGE=de HOME=$out/home USER=somebody LOGNAME=somebody
    export DEB_BUILD_OPTIONS="$tests parallel=7" SDD_NOT_USED=1 CFLAGS=-O0
    # One processor, in place of all.
    taskset -c "$(taskset -pc $BASHPID | sed 's/.*[:,-] *//')" bash -c "$(declare -f build); what=$what; build '$second' some-other-name"
)

set -- "$second"
echo "== first build"
first_build >"$out/first.log" 2>&1 || { tail -n 30 "$out/first.log" >&2; fail "the first build has failed"; }
for ((round = 1; round <= ${ROUNDS:-1}; round++)); do
    echo "== build $((round + 1))"
    other_build >"$out/other.log" 2>&1 || { tail -n 30 "$out/other.log" >&2; fail "the other build has failed"; }
    different=()
    names=$(cd "$first/deb" && ls | grep -vE '\.(buildinfo|changes)$') # which record the environment
    [ "$names" = "$(cd "$second/deb" && ls | grep -vE '\.(buildinfo|changes)$')" ] || fail "the builds have other files"
    for name in $names; do
        if cmp -s "$first/deb/$name" "$second/deb/$name"; then
            echo "ok $name $(stat -c %s "$first/deb/$name") bytes"
        else
            echo "not ok $name"
            different+=("$name")
        fi
    done
    if [ ${#different[@]} -gt 0 ]; then
        for name in "${different[@]}"; do
            if command -v diffoscope >/dev/null; then
                timeout 900 diffoscope --max-text-report-size 200000 "$first/deb/$name" "$second/deb/$name" || true
            else
                cmp "$first/deb/$name" "$second/deb/$name" || true
            fi
        done >"$out/difference.txt"
        fail "different: ${different[*]}; see $out/difference.txt"
    fi
done
echo "Tests/reproducible.sh: the same bytes"
