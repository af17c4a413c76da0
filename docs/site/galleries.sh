#!/bin/bash
# Makes the pictures of docs/guides/toolkits.md: the galleries of examples/gtk and examples/qt on the screen of an X
# server, with pictures of a local server, one of which never arrives and one of which is missing.
#
#     docs/site/galleries.sh       after `make`; FAULT_SERVER names the server, PYTHON one that has NumPy, Pillow, cffi;
#                                  needs Xvfb, ImageMagick, GTK 4, Qt 6 with QML and its controls
#
# Writes docs/pictures/gallery-gtk.jpg and gallery-qt.jpg. Run it again when the galleries change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${FAULT_SERVER:?names no server: make fault-server}"
work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-galleries.XXXXXX")
pids=()
clean_up() {
    kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap clean_up EXIT

# ---- pictures: parts of a landscape in several lights, and those of the examples' server

library=(-Iinclude -Itoolkits -Lbuild -lsdd -Wl,-rpath,"$PWD/build")
cc -O2 examples/server/make_pictures.c -o "$work/make_pictures" "${library[@]}" $(pkg-config --libs libjpeg libpng) -lm
mkdir -p "$work/files/drawn" "$work/reference"
"$work/make_pictures" "$work/files/drawn" "$work/reference"
"${PYTHON:-python3}" -c 'import sys; sys.path.insert(0, "docs/site"); import pictures; pictures.landscape().save(sys.argv[1])' \
    "$work/land.png"
names=()
drawn=("$work"/files/drawn/*)
for light in 100,90,100 70,80,112 118,60,95 85,105,90 100,25,100 90,90,106; do # brightness, saturation, hue in percent
    for place in 800x600+0+350 800x600+600+250 1400x1000+50+0; do
        name=$light-$place.jpg
        convert "$work/land.png" -crop "$place" +repage -modulate "$light" -quality 88 "$work/files/$name"
        names+=("$name")
    done
    names+=("drawn/${drawn[0]##*/}")
    drawn=("${drawn[@]:1}")
done

# ---- servers, for the pictures and for the screen

mkfifo "$work/alive" "$work/said" "$work/display"
exec {alive}<>"$work/alive"
"$FAULT_SERVER" --files "$work/files" <"$work/alive" >"$work/said" {alive}>&- &
pids+=($!)
exec {said}<"$work/said"
read -r _ port <&"$said"
Xvfb -displayfd 3 -screen 0 1000x640x24 -nolisten tcp 3>"$work/display" 2>/dev/null {alive}>&- &
pids+=($!)
exec {display}<"$work/display"
read -r number <&"$display"
export DISPLAY=:$number GDK_BACKEND=x11 GSK_RENDERER=cairo QT_QPA_PLATFORM=xcb QT_QUICK_BACKEND=software
export XDG_CACHE_HOME=$work/caches XDG_RUNTIME_DIR=$work NO_AT_BRIDGE=1
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
urls=()
for name in "${names[@]}"; do
    [ ${#urls[@]} -ne 6 ] || urls+=("http://127.0.0.1:$port/status/404" "http://127.0.0.1:$port/hold/never")
    urls+=("http://127.0.0.1:$port/file/$name")
done

# ---- the galleries

cc examples/gtk/gtk_gallery.c -o "$work/gtk" $(pkg-config --cflags --libs gtk4) "${library[@]}"
g++ -std=c++17 -fPIC examples/qt/qt_gallery.cc -o "$work/qt" $(pkg-config --cflags --libs Qt6Quick) "${library[@]}"
for toolkit in gtk qt; do
    "$work/$toolkit" "${urls[@]}" 2>/dev/null {alive}>&- &
    pids+=($!)
    sleep 6 # nothing tells when all of it is drawn
    import -window root "$work/screen.png"
    kill $!
    convert "$work/screen.png" -trim +repage -quality 82 "docs/pictures/gallery-$toolkit.jpg"
    identify -format '%d/%f: %w x %h, %B bytes\n' "docs/pictures/gallery-$toolkit.jpg"
done
