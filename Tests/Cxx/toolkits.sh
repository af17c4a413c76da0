#!/bin/bash
# Builds the programs toolkit_gtk.c and toolkit_qt.cc over sdd/gtk.h and sdd/qt.hpp with the address and leak sanitizers,
# and runs them with a local server: with both ways of delivery, and with two device pixels a unit. Then it shows the
# galleries of examples/qt and examples/gtk in an X server of its own, and looks for the pictures on the screen.
#
#     Tests/Cxx/toolkits.sh [qt|qt5|gtk...]   after `make`; FAULT_SERVER names the server, SDD_LIBDIR another folder
#                                            than build/ that has libsdd.so
#
# Prints "ok NAME" for each check, and "skip NAME" where a toolkit or tool is missing. Writes only a temporary folder.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${FAULT_SERVER:?names no server: make fault-server}"
toolkits=("$@")
[ $# -gt 0 ] || toolkits=(qt qt5 gtk)
for tool in Xvfb convert import; do
    command -v "$tool" >/dev/null || { echo "skip toolkits: no $tool"; exit 0; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-toolkits.XXXXXX")
pids=()
clean_up() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'echo "not ok: Tests/Cxx/toolkits.sh, line $LINENO: $BASH_COMMAND" >&2' ERR
fail() { echo "not ok $*" >&2; exit 1; }

# ---- pictures of four colours each: top left, top right, bottom left, bottom right

# What ImageMagick would say of their colours, a gamma of 2.2, is left out: they stay as they are in sRGB.
readonly bare=(-define png:exclude-chunk=gAMA,cHRM)
declare -A colours=([plain]="255,0,0 0,200,0 0,0,255 255,255,255" [late]="90,200,160 230,60,120 60,60,90 220,220,60")
for name in plain late; do
    read -r -a four <<<"${colours[$name]}"
    convert -size 320x240 \( "xc:rgb(${four[0]})" "xc:rgb(${four[1]})" +append \) \
        \( "xc:rgb(${four[2]})" "xc:rgb(${four[3]})" +append \) -append -quality 90 "${bare[@]}" "$work/$name.png"
done
convert "$work/plain.png" -scale 800x600 "${bare[@]}" "$work/large.png"
# Noise makes the file large enough to arrive in parts.
convert "$work/late.png" -seed 1 -attenuate 0.4 +noise Gaussian -interlace JPEG -quality 90 "$work/late.jpg"
[ "$(stat -c %s "$work/late.jpg")" -gt 70000 ] || fail "late.jpg does not arrive in parts"

# ---- servers: for the pictures, and for the screen

mkfifo "$work/alive" "$work/said"
exec {alive}<>"$work/alive"
"$FAULT_SERVER" --files "$work" <"$work/alive" >"$work/said" {alive}>&- &
pids+=($!)
exec {said}<"$work/said"
read -r -t 30 _ port <&"$said"
readonly base=http://127.0.0.1:$port
mkfifo "$work/display"
Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>"$work/display" 2>"$work/xvfb.log" {alive}>&- &
pids+=($!)
exec {display}<"$work/display"
read -r -t 60 number <&"$display"
export DISPLAY=:$number GDK_BACKEND=x11 GSK_RENDERER=cairo QT_QUICK_BACKEND=software LIBGL_ALWAYS_SOFTWARE=1
export XDG_CACHE_HOME=$work/caches XDG_RUNTIME_DIR=$work NO_AT_BRIDGE=1
export G_SLICE=always-malloc # so that the address sanitizer sees objects of GLib
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY

# ---- programs

mkdir "$work/lib"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"
warnings=(-Wall -Wextra -pedantic -Wshadow -Werror)
library=(-Iinclude -Itoolkits -L"$work/lib" -lsdd -Wl,-rpath,"$work/lib" -pthread)
sanitize=(-g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all)
export SDD_TEST_FIXTURES=$PWD/Tests/Fixtures/ SDD_TEST_SERVER=$base
# Leaks of the libraries below the toolkits, which they make once; and responses that Qt Quick loses when an engine goes
# while they are cancelled: the event that would delete them comes after the loop of its thread has ended.
printf 'leak:%s\n' libfontconfig libEGL_mesa libGLX_mesa swrast_dri libQt6Quick libQt5Quick libQt5DBus >"$work/suppressions"
export LSAN_OPTIONS=suppressions=$work/suppressions:print_suppressions=0:fast_unwind_on_malloc=0

# build_TOOLKIT PROGRAM SOURCE OPTION...: false if the toolkit is not installed
build_qt() { build_with 6 "$@"; }
build_qt5() { build_with 5 "$@"; }
build_with() { # build_with VERSION PROGRAM SOURCE OPTION...
    local modules=("Qt$1Quick" "Qt$1Widgets") flags program=$2
    pkg-config --exists "${modules[@]}" || return 1
    flags="-fPIC -DQT_NO_KEYWORDS $(pkg-config --cflags "${modules[@]}" | sed 's/-I/-isystem /g')"
    shift 2
    g++ -std=c++17 "${warnings[@]}" $flags -ITests/Cxx -isystem Tests/C "$@" "${library[@]}" \
        $(pkg-config --libs "${modules[@]}") -o "$program" || fail "$1"
}
build_gtk() {
    pkg-config --exists gtk4 || return 1
    local flags program=$1
    flags=$(pkg-config --cflags gtk4 | sed 's/-I/-isystem /g')
    shift
    cc -std=c11 "${warnings[@]}" $flags -isystem Tests/C "$@" "${library[@]}" $(pkg-config --libs gtk4) \
        -o "$program" || fail "$1"
}

# alone_TOOLKIT: the headers by themselves, in another language, and with less of the toolkit
alone() { g++ "${warnings[@]}" -Iinclude -Itoolkits -fsyntax-only -x c++ "$@" /dev/null || fail "the header alone"; }
alone_qt() {
    alone -std=c++20 -fPIC $(pkg-config --cflags Qt6Gui | sed 's/-I/-isystem /g') -include sdd/qt.hpp
    alone -std=c++17 -fPIC $(pkg-config --cflags Qt6Quick | sed 's/-I/-isystem /g') -include sdd/qt.hpp
}
alone_qt5() { alone -std=c++17 -fPIC $(pkg-config --cflags Qt5Gui | sed 's/-I/-isystem /g') -include sdd/qt.hpp; }
alone_gtk() {
    alone $(pkg-config --cflags gtk4 | sed 's/-I/-isystem /g') -DSDD_GTK_IMPLEMENTATION -include sdd/gtk.h
    alone $(pkg-config --cflags gtk4 | sed 's/-I/-isystem /g') -include sdd/gtk.h
    alone $(pkg-config --cflags glib-2.0 | sed 's/-I/-isystem /g') -include sdd/glib.h
    alone $(pkg-config --cflags gdk-pixbuf-2.0 | sed 's/-I/-isystem /g') -include gdk-pixbuf/gdk-pixbuf.h -include sdd/glib.h
}

# run NAME PROGRAM DELIVERY: the program of the toolkit's tests
run() {
    local status=0 platform=offscreen
    [[ $1 != toolkit_qt5* ]] || platform=xcb # the one without a screen shows no QML there
    QT_QPA_PLATFORM=$platform timeout 300 "$2" "$3" >"$work/out" 2>&1 || status=$?
    [ $status -eq 0 ] || { cat "$work/out" >&2; fail "$1: status $status"; }
    echo "ok $1"
}

# ---- the screen

# pixels_of COLOUR: how many pixels of the screen nearly have it.
pixels_of() {
    convert "$work/screen.png" -fuzz 2% -fill black +opaque "rgb($1)" -fill white -opaque "rgb($1)" \
        -format '%[fx:round(mean*w*h)]' info:
}
# shows NAME: waits up to a minute until the screen has a thousand pixels of each colour of a picture.
shows() {
    local end=$((SECONDS + 60)) colour
    for colour in ${colours[$1]}; do
        until import -window root "$work/screen.png" && [ "$(pixels_of "$colour")" -ge 1000 ]; do
            [ $SECONDS -lt $end ] || fail "the screen does not show $colour: $(cat "$work/gallery.err")"
        done
    done
}

check_gallery() { # check_gallery TOOLKIT
    local status=0
    rm -rf "$XDG_CACHE_HOME"
    QT_QPA_PLATFORM=xcb "$work/$1_gallery" "$base/status/404" "$base/file/plain.png" "$base/file/late.png" \
        "$base/hold/$1?file=plain.png" >"$work/gallery.err" 2>&1 {alive}>&- &
    pids+=($!)
    shows plain
    shows late
    kill -0 $! || fail "$1_gallery has ended: $(cat "$work/gallery.err")"
    kill $!
    wait $! 2>/dev/null || true
    "$work/$1_gallery" >"$work/out" 2>&1 || status=$?
    [ "$status" -eq 2 ] || fail "$1_gallery: status $status without a URL"
    echo "ok $1_gallery: its pictures are on the screen"
}

declare -A source=([qt]=Tests/Cxx/toolkit_qt.cc [qt5]=Tests/Cxx/toolkit_qt.cc [gtk]="Tests/Cxx/toolkit_gtk.c Tests/Cxx/toolkit_gtk_signals.c")
declare -A gallery=([qt]=examples/qt/qt_gallery.cc [gtk]=examples/gtk/gtk_gallery.c)
for toolkit in "${toolkits[@]}"; do
    program=$work/toolkit_$toolkit
    if ! "build_$toolkit" "$program" ${source[$toolkit]} "${sanitize[@]}"; then
        echo "skip $toolkit: it is not installed"
        continue
    fi
    "alone_$toolkit"
    run "toolkit_$toolkit, delivery by a thread" "$program" thread
    run "toolkit_$toolkit, delivery by the application" "$program" application
    QT_SCALE_FACTOR=2 GDK_SCALE=2 run "toolkit_$toolkit, two device pixels a unit" "$program" thread
    [ -n "${gallery[$toolkit]:-}" ] || continue
    "build_$toolkit" "$work/${toolkit}_gallery" "${gallery[$toolkit]}"
    check_gallery "$toolkit"
done
