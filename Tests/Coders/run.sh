#!/bin/bash
# Tests the coders of coders/, and how the library finds and loads them:
#
#   pixels     files that each format's own tools make are decoded through the library, and compared with what the tools
#              and Pillow decode
#   sizes      pictures that are enlarged, and smaller ones of what is transparent
#   coders     each coder alone, under the address and undefined behaviour sanitizers: pieces, limits, every truncation,
#              changed bytes
#   damage     files that are cut, and GIFs that break the rules: what there is of them
#   animations what the library encodes, read by Pillow and libwebp's tools
#   discovery  SDD_CODER_PATH, permissions, broken objects, threads, forks; also under valgrind
#   previews   pictures that arrive slowly
#   svg        sizes, pixels, isolation, what an SVG may not reach
#   isolated   the same pictures, decoded by processes of their own
#   profiles   pictures whose profiles have tables, or are of four inks
#   colours    what the headers of BMPs say of colours, and profiles of greys
#   gainmaps   gain maps of AVIF and HEIF
#   limits     hostile pictures, in this process and others: memory and time, held to sdd_limits
#
#     Tests/Coders/run.sh [pixels|sizes|coders|damage|animations|discovery|previews|svg|isolated|profiles|colours|gainmaps|limits...]
#
#   SDD_LIBDIR     where libsdd.so is; default: build/
#   SDD_CODERS     where the coders are; default: build/coders
#   FAULT_SERVER   the program Tests/FaultServer; default: built here
#   SDD_TEST_RUNNER     the command that runs the program of pixels, if it is for another machine
#   SDD_TEST_DECODER_FLAGS   as in Tests/C/run.sh
#   SDD_TEST_LONG       1: larger hostile pictures, more of them at once, and more damaged profiles
#   SDD_CODER_CHANGES   how many changes of bytes are tried with each file; default: 400
#   SDD_TEST_SHARE      K/N: an Nth of the hostile pictures in this process, and another Nth in others
#
# A coder that was not built is skipped, and the tests say so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/share.sh

parts=("$@")
[ $# -gt 0 ] || parts=(pixels sizes coders damage animations discovery previews svg isolated profiles colours gainmaps limits)
libdir=$(realpath "${SDD_LIBDIR:-build}") coders=$(realpath "${SDD_CODERS:-build/coders}")
python=python3
"$python" -c 'import numpy, PIL' 2>/dev/null || python=/usr/bin/python3

# The library and the coders in folders of our own, which others cannot write to.
work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-coders.XXXXXX")
chmod 755 "$work"
umask 022
server_pid=
clean_up() {
    [ -z "$server_pid" ] || { kill "$server_pid" 2>/dev/null; wait "$server_pid" 2>/dev/null || true; }
    rm -rf "$work"
}
trap clean_up EXIT
mkdir "$work/lib" "$work/bin" "$work/coders" "$work/pictures" "$work/checked"
pictures=$work/pictures fixtures=$PWD/Tests/Fixtures/coders
cp "$libdir/libsdd.so" "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"
names=()
for name in webp avif gif jxl heif bmp ico svg; do
    if [ -f "$coders/$name.so" ]; then
        cp "$coders/$name.so" "$work/coders/"
        names+=("$name")
    else
        echo "skip $name: coders/$name.c was not built"
    fi
done
[ "${#names[@]}" -gt 0 ] || { echo "there are no coders: make coders" >&2; exit 1; }

fail() { echo "FAILED: $*" >&2; [ ! -s "$work/err" ] || sed 's/^/    /' "$work/err" >&2; exit 1; }
ok() { echo "ok $*"; }
has_coder() { [[ " ${names[*]} " = *" $1 "* ]]; }
wants() { [[ " ${parts[*]} " = *" $1 "* ]]; }
build() { # build NAME SOURCE FLAGS...
    local name=$1 source=$2
    shift 2
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -Wall -Wextra -Werror -Iinclude "$@" "$source" -o "$work/bin/$name" \
        -L"$work/lib" -lsdd -Wl,-rpath,"$work/lib" -pthread -ldl
    [ "${SDD_TEST_RUNNER:-}" ] || return 0
    mv "$work/bin/$name" "$work/bin/$name.program"
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$SDD_TEST_RUNNER" "$work/bin/$name.program" >"$work/bin/$name"
    chmod +x "$work/bin/$name"
}
unset SDD_LOG SDD_CODER_PATH http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY

. Tests/Coders/make_pictures.sh
. Tests/Coders/check_coders.sh
. Tests/Coders/check_discovery.sh

make_sources
for name in "${names[@]}"; do [ "$name" = gif ] || "make_$name"; done
has_coder gif || rm -f "$pictures"/*.gif
ok "${#names[@]} formats, $(find "$pictures" -type f ! -name '*.png' | wc -l) files made by their own tools"
cp Tests/Fixtures/jpeg/*.jpg "$pictures/" 2>/dev/null || true

start_server() {
    local said word
    if [ -z "${FAULT_SERVER:-}" ]; then
        swift build --product fault-server >"$work/err" 2>&1 || fail "the fault server does not build"
        FAULT_SERVER=$(swift build --show-bin-path)/fault-server
    fi
    mkfifo "$work/alive" "$work/said"
    exec {alive}<>"$work/alive"
    "$FAULT_SERVER" --files "$pictures" <"$work/alive" >"$work/said" {alive}>&- &
    server_pid=$!
    exec {said}<"$work/said"
    read -r -t 60 word port <&"$said" && [ "$word" = listening ] || fail "the fault server does not start"
    export SDD_TEST_SERVER=http://127.0.0.1:$port
}
if wants discovery || wants previews; then start_server; fi
export SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-300} SDD_TEST_FIXTURES=$PWD/Tests/Fixtures/

# The program that decodes in processes of its own: some pictures do so always.
read -ra decoder_flags <<<"${SDD_TEST_DECODER_FLAGS:-}"
"${CC:-cc}" -std=c11 tools/decoder/sdd-decoder.c "${decoder_flags[@]}" -o "$work/lib/sdd-decoder" -ldl

if wants pixels; then
    build to_pam examples/coders/to_pam.c
    SDD_CODER_PATH=$work/coders "$python" Tests/Coders/compare.py "$work/bin/to_pam" "$pictures" >"$work/err" ||
        fail "other pixels than the format's own tool or Pillow"
    ok "pixels: $(tail -n 1 "$work/err")"
fi
if wants sizes; then
    build show Tests/Coders/show.c
    mkdir "$work/sizes"
    SDD_CODER_PATH=$work/coders "$python" Tests/Coders/sizes.py "$work/bin/show" "$work/sizes" "$pictures" "${names[@]}" \
        >"$work/out" 2>"$work/err" || fail "pictures in other sizes"
    ok "sizes: $(cat "$work/out")"
fi
if wants coders; then check_coders; fi
if wants damage; then
    build cuts Tests/Coders/cuts.c
    build gif_rules Tests/Coders/gif_rules.c
    files=()
    for file in large.webp large-lossless.webp large-alpha.webp moving.webp moving.gif palette.gif large.jxl \
        progressive.jxl moving.jxl grid.avif grid-420.avif; do
        [ ! -f "$pictures/$file" ] || files+=("$pictures/$file")
    done
    has_coder avif && files+=("$fixtures/moving.avif")
    SDD_CODER_PATH=$work/coders "$work/bin/cuts" "${files[@]}" >"$work/out" 2>"$work/err" ||
        fail "not what there is of a cut file"
    has_coder gif && { SDD_CODER_PATH=$work/coders "$work/bin/gif_rules" 2>"$work/err" || fail "GIFs by the rules"; }
    ok "damage: ${#files[@]} files cut; hundredths of what is left of them:"
    sed 's/^/   /' "$work/out"
fi
if wants animations; then
    build animate Tests/Coders/animate.c
    formats=(png)
    for name in gif webp; do has_coder "$name" && formats+=("$name"); done
    mkdir "$work/made"
    SDD_CODER_PATH=$work/coders "$python" Tests/Coders/animations.py "$work/bin/animate" "$work/made" \
        "$PWD/Tests/Fixtures" "${formats[@]}" >"$work/out" 2>"$work/err" || fail "animations that are encoded"
    ok "animations, as ${formats[*]}: $(cat "$work/out")"
fi
if wants discovery; then check_discovery; fi
if wants previews; then
    build previews Tests/Coders/previews.c
    check_previews
fi
if wants svg && has_coder svg; then
    build show Tests/Coders/show.c
    mkdir "$work/svg"
    SDD_CODER_PATH=$work/coders "$python" Tests/Coders/svg.py "$work/bin/show" "$work/svg" >"$work/err" ||
        fail "an SVG is drawn in another way, or reaches more than it may"
    ok "svg: $(grep -c '^ok' "$work/err") tests"
fi
if wants isolated; then
    build isolated Tests/Coders/isolated.c
    find "$pictures" "$fixtures" -type f ! -name '*.pam*' -print0 | sort -z |
        SDD_CODER_PATH=$work/coders xargs -0 "$work/bin/isolated" >"$work/err" 2>&1 ||
        fail "isolated decoding gives other pictures"
    ok "isolated: $(cat "$work/err")"
fi
if wants profiles; then
    build profiles Tests/Coders/profiles.c
    colours=$PWD/Tests/Fixtures/colour
    SDD_CODER_PATH='' "$work/bin/profiles" missing "$colours" >"$work/err" 2>&1 || fail "profiles without their coder"
    if [ -f "$coders/icc.so" ]; then
        mkdir "$work/profiles"
        cp "$coders/icc.so" "$work/profiles/"
        SDD_CODER_PATH=$work/profiles "$work/bin/profiles" installed "$colours" >"$work/err" 2>&1 ||
            fail "profiles with tables, or of inks"
        ok "profiles: tables and inks, isolated and not"
    else
        echo "skip icc: coders/icc.c was not built"
    fi
fi
if wants colours; then
    build kind Tests/Coders/kind.c
    mkdir "$work/colours"
    SDD_CODER_PATH=$work/coders "$python" Tests/Coders/colours.py "$work/bin/kind" "$work/colours" "${names[@]}" \
        >"$work/out" 2>"$work/err" || fail "other colours than those of browsers"
    ok "colours: $(cat "$work/out")"
fi
if wants gainmaps; then
    build gain_maps Tests/Coders/gain_maps.c
    files=()
    has_coder avif && files+=("$fixtures/../metadata/gain-map.avif")
    has_coder heif && files+=("$fixtures/../metadata/gain-map.heic")
    SDD_CODER_PATH=$work/coders "$work/bin/gain_maps" "${files[@]}" 2>"$work/err" || fail "gain maps"
    ok "gainmaps: ${#files[@]} files"
fi
if wants limits; then
    build limits Tests/Coders/limits.c
    mkdir "$work/tricks"
    length=short loads=4
    [ -z "${SDD_TEST_LONG:-}" ] || length=long loads=12
    "$python" Tests/Coders/make_tricks.py "$work/tricks" "$length" "${names[@]}" >"$work/err" 2>&1 ||
        fail "the hostile pictures cannot be made"
    mapfile -t files < <(find "$work/tricks" -name '*-*.*' ! -name '*-small.*' ! -name '*.png' | sort)
    share=${SDD_TEST_SHARE:-0/1}
    for way in here isolated; do
        share_of "$share" "${files[@]}" >"$work/files"
        share=$((${share%/*} + 1))/${share#*/}
        SDD_CODER_PATH=$work/coders xargs -d '\n' -a "$work/files" "$work/bin/limits" "$way" "$loads" >"$work/err" ||
            fail "hostile pictures take more memory or time than they may ($way)"
        ok "limits, $way: $(wc -l <"$work/err") files, at most $(awk '{ for (i = 2; i <= NF; i++) if ($i == "MiB" &&
            $(i - 1) > most) most = $(i - 1) } END { print most + 0 }' "$work/err") MiB"
    done
fi
echo "Tests/Coders: everything passed"
