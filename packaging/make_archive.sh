#!/bin/bash
# Makes the archive of an installed tree for this machine's architecture, with which programs are built without a Swift
# toolchain: the recipes for CMake, Conan, Meson and vcpkg beside this file take it.
#
#     packaging/make_archive.sh FOLDER      after `make`; writes FOLDER/libsdd-VERSION-linux-MACHINE.tar.gz
#
# The same library gives the same bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath -m "${1:?needs a folder}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$(sed -n 's/^#define SDD_VERSION_STRING "\(.*\)"/\1/p' include/sdd/base.h)
name=libsdd-$version-linux-$(uname -m)
# The prefix is the folder's own name: then the program sdd finds the library from its own place, as sdd.pc does.
make --no-print-directory install DESTDIR="$work" PREFIX="/$name" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
install -D -m 644 -t "$work/$name/share/doc/libsdd" LICENSE debian/copyright
mkdir -p "$folder"
tar -c --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX --format=gnu -C "$work" "$name" |
    gzip -n9 >"$folder/$name.tar.gz"
