#!/bin/bash
# Fuzzes the coders with libFuzzer, each under the address and undefined behaviour sanitizers, from the fixtures and from
# small pictures of the formats' own tools.
#
#     Tests/Coders/fuzz.sh [NAME...]      default: all coders that were built
#
#   FUZZ_SECONDS   for each coder; default: 60
#   CLANG          a clang with libFuzzer; default: that of the Swift toolchain
#
# Corpora grow in build/fuzz/corpus/coder-NAME; inputs that fail are in build/fuzz/findings. Only the coder itself is
# instrumented: inside the format's library the sanitizer sees only calls of malloc, memcpy and the like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
names=("$@")
[ $# -gt 0 ] || for name in webp avif gif jxl heif bmp ico svg icc; do
    [ ! -f "build/coders/$name.so" ] || names+=("$name")
done
have() { command -v "$1" >/dev/null; }
python=python3
"$python" -c 'import numpy, PIL' 2>/dev/null || python=/usr/bin/python3
pictures=$(mktemp -d "${TMPDIR:-/tmp}/sdd-fuzz.XXXXXX")
trap 'rm -rf "$pictures"' EXIT
. Tests/Coders/make_pictures.sh
make_sources
flags() {
    case $1 in
    webp) pkg-config --cflags --libs libwebp libwebpdemux libwebpmux ;;
    gif | bmp) ;;
    ico) pkg-config --cflags --libs libpng ;;
    icc) pkg-config --cflags --libs lcms2 ;;
    svg) echo "$(pkg-config --cflags --libs librsvg-2.0 fontconfig) -ldl" ;;
    *) pkg-config --cflags --libs "lib$1" ;;
    esac
}
# librsvg 2.54 does not free the text of an entity.
echo leak:xmlParseEntityValue >"$pictures/leaks"
export LSAN_OPTIONS=suppressions=$pictures/leaks:print_suppressions=0
clang=${CLANG:-$(dirname "$(realpath "$(command -v swift)")")/clang}
status=0
for name in "${names[@]}"; do
    corpus=build/fuzz/corpus/coder-$name
    mkdir -p "$corpus" build/fuzz/findings
    [ "$name" = gif ] || "make_$name"
    for file in Tests/Fixtures/coders/*."$name" \
        "$pictures"/{small,dot,row,grey,deep,turned,moving,container,palette,profile}*."$name"; do
        [ ! -f "$file" ] || { printf '\1\1'; cat "$file"; } >"$corpus/$(basename "$file")"
    done
    # shellcheck disable=SC2046
    "$clang" -g -O1 -fuse-ld=lld -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iinclude \
        Tests/Coders/fuzz.c "coders/$name.c" -o "build/fuzz/coder-$name" $(flags "$name")
    dictionary=()
    [ "$name" != icc ] || dictionary=(-dict=Tests/Fuzz/icc.dict)
    log=build/fuzz/coder-$name.log
    if "build/fuzz/coder-$name" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=20000 -timeout=10 -rss_limit_mb=1024 \
        "${dictionary[@]}" -artifact_prefix="build/fuzz/findings/coder-$name-" "$corpus" >"$log" 2>&1; then
        echo "ok coder-$name: $(grep -oE 'Done [0-9]+ runs' "$log")"
    else
        echo "FAILED coder-$name: see $log"
        status=1
    fi
done
exit "$status"
