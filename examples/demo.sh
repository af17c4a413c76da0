#!/bin/bash
# The demo: builds libsdd and an example in C, draws six pictures, serves them on 127.0.0.1, downloads
# them with a progress display, and prints a line about each.
#
#     examples/demo.sh           all of that
#     examples/demo.sh URL...    downloads these instead; starts no server
#
# It writes the pixels to build/demo/. It needs the Swift toolchain on the PATH, if Debian's own is too old, and installs
# other missing packages with apt-get after printing their names, including those that the toolchain itself needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. tools/packages.sh

need_toolchain
need_libraries
install_missing
check_toolchain

# ---- the library, and the program that uses it

echo "== building libsdd"
make
echo "== building examples/c/get.c"
mkdir -p build/examples build/demo
cc -std=c99 -O2 -Iinclude examples/c/get.c -Lbuild -lsdd -Wl,-rpath,"$PWD/build" -o build/examples/get
rm -f build/demo/*.ppm build/demo/*.pam

if [ $# -gt 0 ]; then
    echo "== downloading"
    exec build/examples/get -o build/demo "$@"
fi

# ---- pictures, and a server for them

cc -std=c99 -O2 examples/server/make_pictures.c $(pkg-config --cflags --libs libjpeg libpng) -lm \
    -o build/examples/make_pictures
cc -std=c99 -O2 -pthread examples/server/static_server.c -o build/examples/static_server
mkdir -p build/demo/pictures
build/examples/make_pictures build/demo/pictures

# The server takes a free port and prints it. It also ends by itself when its input is closed, at the end of this
# script.
coproc server { exec build/examples/static_server --rate 300000 build/demo/pictures; }
server_id=$server_PID
trap 'kill "$server_id" 2>/dev/null || true' EXIT
read -r _ address <&"${server[0]}" || fail "the server did not start"

echo "== downloading from $address, slowly, so that there is something to see"
urls=()
for picture in build/demo/pictures/*; do
    urls+=("$address${picture##*/}")
done
build/examples/get -o build/demo -H "Referer: $address" "${urls[@]}"

echo "== the pixels are in build/demo/:"
ls build/demo/*.p?m
