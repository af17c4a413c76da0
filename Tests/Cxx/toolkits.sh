#!/bin/bash
# Builds the galleries of examples/qt and examples/gtk, runs them in an X server of its own with a local server, and
# compares what the screen shows with the pictures: previews, then whole ones. Checks that the toolkits use libsdd's
# pixels without a copy.
#
#     Tests/Cxx/toolkits.sh [qt|gtk...]       after `make`; FAULT_SERVER names the server, SDD_LIBDIR another folder
#                                            than build/ that has libsdd.so
#
# Prints "ok NAME" for each check, and "skip NAME" where a toolkit or tool is missing. Writes only a temporary folder.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${FAULT_SERVER:?names no server: make fault-server}"
toolkits=("$@")
[ $# -gt 0 ] || toolkits=(qt gtk)
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

declare -A colours=([plain]="255,0,0 0,200,0 0,0,255 255,255,255" [photo]="200,100,50 20,120,220 240,200,20 120,20,160"
    [late]="90,200,160 230,60,120 60,60,90 220,220,60")
for name in plain photo late; do
    read -r -a four <<<"${colours[$name]}"
    convert -size 320x240 \( "xc:rgb(${four[0]})" "xc:rgb(${four[1]})" +append \) \
        \( "xc:rgb(${four[2]})" "xc:rgb(${four[3]})" +append \) -append -quality 90 "$work/$name.png"
done
# Noise makes the file large enough to arrive in parts, and hardly changes the mean of an area.
for name in photo late; do
    convert "$work/$name.png" -seed 1 -attenuate 0.4 +noise Gaussian -interlace JPEG -quality 90 "$work/$name.jpg"
done

# ---- servers: for the pictures, and for the screen

mkfifo "$work/alive" "$work/said"
exec {alive}<>"$work/alive"
"$FAULT_SERVER" --files "$work" <"$work/alive" >"$work/said" {alive}>&- &
pids+=($!)
exec {said}<"$work/said"
read -r -t 30 _ port <&"$said"
readonly base=http://127.0.0.1:$port
order() { # order PATH: a request to the server, without the library
    local connection
    exec {connection}<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&"$connection"
    cat <&"$connection" >/dev/null
    exec {connection}>&-
}
mkfifo "$work/display"
Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>"$work/display" 2>"$work/xvfb.log" {alive}>&- &
pids+=($!)
exec {display}<"$work/display"
read -r -t 60 number <&"$display"
export DISPLAY=:$number QT_QPA_PLATFORM=xcb GDK_BACKEND=x11 GSK_RENDERER=cairo LIBGL_ALWAYS_SOFTWARE=1
export XDG_CACHE_HOME=$work/caches XDG_RUNTIME_DIR=$work NO_AT_BRIDGE=1
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY

# ---- the screen

# colour_at X Y: the mean of 20 x 20 pixels around a place on the screen, as "R,G,B".
colour_at() {
    convert "$work/screen.png" -crop "20x20+$(($1 - 10))+$(($2 - 10))" +repage -scale '1x1!' -depth 8 -format \
        '%[fx:round(255*p.r)],%[fx:round(255*p.g)],%[fx:round(255*p.b)]' info:
}
# looks_like NAME X Y WIDTH HEIGHT TOLERANCE: whether the screen shows that picture there; prints what differs.
looks_like() {
    local name=$1 index=0 wanted shown i
    for wanted in ${colours[$name]}; do
        shown=$(colour_at $(($2 + $4 / 4 + index % 2 * $4 / 2)) $(($3 + $5 / 4 + index / 2 * $5 / 2)))
        for i in 1 2 3; do
            local a b
            a=$(cut -d, -f$i <<<"$wanted") b=$(cut -d, -f$i <<<"$shown")
            if [ $((a > b ? a - b : b - a)) -gt "$6" ]; then
                echo "$name, quarter $index: $shown in place of $wanted"
                return 1
            fi
        done
        index=$((index + 1))
    done
}
# shows NAME X Y WIDTH HEIGHT TOLERANCE: waits up to a minute until the screen does; nothing tells when it is drawn.
shows() {
    local end=$((SECONDS + 60))
    until import -window root "$work/screen.png" && looks_like "$@" >"$work/differs"; do
        [ $SECONDS -lt $end ] || fail "the screen: $(cat "$work/differs")"
    done
}

# ---- programs

mkdir "$work/lib"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"
warnings=(-Wall -Wextra -pedantic -Werror)
library=(-L"$work/lib" -lsdd -Wl,-rpath,"$work/lib" -pthread)
export SDD_TEST_FIXTURES=$PWD/Tests/Fixtures/ SDD_TEST_SERVER=$base
build_qt() {
    pkg-config --exists Qt6Widgets || return 1
    local flags
    flags="-fPIC $(pkg-config --cflags Qt6Widgets | sed 's/-I/-isystem /g') $(pkg-config --libs Qt6Widgets)"
    g++ -std=c++17 "${warnings[@]}" -Iinclude examples/qt/qt_gallery.cc $flags "${library[@]}" -o "$work/qt_gallery" ||
        fail qt_gallery.cc
    g++ -std=c++17 "${warnings[@]}" -Iinclude -isystem Tests/C Tests/Cxx/toolkit_qt.cc $flags "${library[@]}" \
        -o "$work/toolkit_qt" || fail toolkit_qt.cc
}
build_gtk() {
    pkg-config --exists gtk4 || return 1
    local flags
    flags=$(pkg-config --cflags --libs gtk4)
    cc -std=c11 "${warnings[@]}" -Iinclude examples/gtk/gtk_gallery.c $flags "${library[@]}" -o "$work/gtk_gallery" ||
        fail gtk_gallery.c
    cc -std=c11 "${warnings[@]}" -Iinclude -isystem Tests/C Tests/Cxx/toolkit_gtk.c $flags "${library[@]}" \
        -o "$work/toolkit_gtk" || fail toolkit_gtk.c
}

# says LINE: waits until the gallery prints that; notes the places that it prints before.
declare -A places
says() {
    local line word url place
    while read -r -t 60 line <&"$gallery_says"; do
        read -r word url place <<<"$line"
        [ "$word" != picture ] || places[$url]=$place
        [ "$line" != "$1" ] || return 0
    done
    fail "no line \"$1\" from the gallery: $(cat "$work/gallery.err")"
}

check_gallery() { # check_gallery TOOLKIT
    local program=$work/$1_gallery gallery status=0
    local plain=$base/file/plain.png photo=$base/file/photo.jpg late="$base/hold/$1?file=late.jpg&after=60000"
    [ "$(stat -c %s "$work/late.jpg")" -gt 70000 ] || fail "late.jpg does not arrive in parts"
    rm -rf "$XDG_CACHE_HOME"
    places=()

    mkfifo "$work/$1"
    "$program" "$plain" "$photo" "$late" "$base/status/404" >"$work/$1" 2>"$work/gallery.err" {alive}>&- &
    gallery=$!
    pids+=("$gallery")
    exec {gallery_says}<"$work/$1"
    says "preview $late"
    # The third cell begins at 8 + 2 * (240 + 8) pixels; a preview of a progressive JPEG is blurred.
    shows late 504 8 240 180 40
    order "/release/$1"
    says complete
    shows plain ${places[$plain]} 3
    shows photo ${places[$photo]} 12
    shows late ${places[$late]} 12
    [ "${places[$plain]#* * }" = "240 180" ] || fail "$1: not scaled to 240 x 180: ${places[$plain]}"
    kill "$gallery"
    wait "$gallery" 2>/dev/null || true
    exec {gallery_says}<&-
    echo "ok $1_gallery: previews and pictures on the screen"

    timeout 120 "$program" -q "$plain" "$photo" >"$work/out" 2>&1 || fail "$1_gallery -q: $(cat "$work/out")"
    timeout 120 "$program" -q "$plain" "$base/status/404" >"$work/out" 2>&1 || status=$?
    [ "$status" -eq 1 ] || fail "$1_gallery: status $status with a missing picture: $(cat "$work/out")"
    grep -q '^failed .*: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .' "$work/out" || fail "$1: $(cat "$work/out")"
    echo "ok $1_gallery: exit status"
}

for toolkit in "${toolkits[@]}"; do
    if ! "build_$toolkit"; then
        echo "skip $toolkit: it is not installed"
        continue
    fi
    QT_QPA_PLATFORM=offscreen timeout 120 "$work/toolkit_$toolkit"
    echo "ok toolkit_$toolkit: pixels without a copy"
    check_gallery "$toolkit"
done
