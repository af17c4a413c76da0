#!/bin/bash
# The demo: builds libsdd and an example in C, draws six pictures, serves them on 127.0.0.1, downloads
# them with a progress display, and prints a line on each.
#
#     examples/demo.sh           all of that
#     examples/demo.sh URL...    downloads these instead; starts no server
#
# The pixels are then in build/demo/. Needs the Swift toolchain; installs with apt-get what else is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "demo.sh: $*" >&2; exit 1; }

command -v swift >/dev/null ||
    fail "the Swift toolchain (6.3 or later) is not on the PATH: get it from https://www.swift.org/install/linux/"

# ---- what the build needs of the system

missing=()
need() { # need PACKAGE COMMAND...: the package, unless the command succeeds
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
has() { local name; for name in "$@"; do command -v "$name" >/dev/null || return 1; done; }
jpeg=libjpeg62-turbo-dev
grep -qs '^ID\(_LIKE\)\?=.*ubuntu' /etc/os-release && jpeg=libjpeg-turbo8-dev
need build-essential has gcc g++ make
need pkg-config has pkg-config
need libcurl4-openssl-dev pkg-config --exists libcurl
need "$jpeg" pkg-config --exists libjpeg
need libpng-dev pkg-config --exists libpng

if [ ${#missing[@]} -gt 0 ]; then
    has apt-get || fail "please install what Debian calls: ${missing[*]}"
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        has sudo || fail "please install, as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    echo "== installing ${missing[*]}"
    "${as_root[@]}" apt-get -qq update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null
fi

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

# The server takes a free port and says which. It also ends by itself when its input, this script, does.
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
