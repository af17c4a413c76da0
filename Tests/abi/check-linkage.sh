#!/bin/bash
# Checks how the library is linked: its dependencies, its loader flags, its size.
#
#     Tests/abi/check-linkage.sh build/libsdd.so.0.1.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly library=$1 largest=$((10 << 20)) # bytes, stripped: speed matters more than size
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

fail() { echo "check-linkage.sh: $library: $*" >&2; exit 1; }

readelf -dW "$library" >"$work/dynamic"
readelf -lW "$library" >"$work/segments"
dynamic() { grep -Eq -- "$1" "$work/dynamic"; }

# ---- its name and its dependencies: the three libraries of README.md and the C and C++ runtimes

dynamic '\(SONAME\).*\[libsdd\.so\.0\]$' || fail "its SONAME is not libsdd.so.0"
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' "$work/dynamic")
for name in $needed; do
    case $name in
        libcurl.so.4 | libjpeg.so.62 | libjpeg.so.8 | libpng16.so.16) ;;
        libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | ld-linux*.so.*) ;;
        *) fail "it needs $name" ;; # for example libswiftCore.so, which no user has
    esac
done
for name in libcurl libjpeg libpng16 libc; do
    grep -q "^$name\.so" <<<"$needed" || fail "it does not need $name"
done
! dynamic '\((RPATH|RUNPATH)\)' || fail "it has an RPATH: $(grep PATH "$work/dynamic")"
! dynamic '\(TEXTREL\)' || fail "its code is relocated"

# ---- the loader's flags

dynamic '\(FLAGS_1\).*\bNODELETE\b' || fail "dlclose() would unload it under its threads: no -z nodelete"
dynamic '\(FLAGS_1\).*\bNOW\b' || fail "it binds lazily: no -z now"
grep -q 'GNU_RELRO' "$work/segments" || fail "its tables stay writable: no -z relro"
grep -E 'GNU_STACK' "$work/segments" | grep -q ' RW ' || fail "its stack is executable"

# ---- the installed file

cp "$library" "$work/stripped.so"
"${STRIP:-strip}" --strip-unneeded "$work/stripped.so"
size=$(stat -c %s "$work/stripped.so")
[ "$size" -le $largest ] || fail "stripped it has $size bytes, more than $largest"
! grep -aqF "$PWD/" "$work/stripped.so" || fail "it contains the path of its build folder"

echo "ok linkage: needs $(xargs <<<"$needed"); $size bytes stripped"
