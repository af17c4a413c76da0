#!/bin/bash
# Runs a command with the variables of a build for arm64, on another machine: `make cross-arm64`, docs/packaging.md.
#
#     tools/cross-arm64.sh COMMAND...
#
# The compilers are those of this machine: Debian's swiftlang, which is new enough in sid, and aarch64-linux-gnu-gcc.
# What they compile against are Debian's packages for arm64, which apt downloads to build/arm64 with a state of its own
# and which are unpacked there, one a folder in build/arm64/packages, and all together in build/arm64/sysroot. Nothing
# of the machine is changed, and root is not needed. To get newer packages, remove build/arm64/sysroot.
#
#   BUILD, SCRATCH, SWIFTFLAGS    as the Makefile reads them
#   CC, CXX, STRIP                those of arm64
#   PKG_CONFIG_LIBDIR, PKG_CONFIG_SYSROOT_DIR   what pkg-config finds are the unpacked packages
#   SDD_SYSROOT, SDD_PACKAGES             the folders named above
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/packages.sh

triplet=aarch64-linux-gnu
base=$PWD/build/arm64
export SDD_SYSROOT=$base/sysroot SDD_PACKAGES=$base/packages

# ---- this machine

needed=()
for need in swift:swiftlang pkg-config:pkgconf $triplet-gcc:gcc-$triplet $triplet-g++:g++-$triplet; do
    command -v "${need%:*}" >/dev/null || needed+=("${need#*:}")
done
compiler=$(dpkg-query -S "$(realpath "$(command -v swift || echo /none)")" 2>/dev/null | sed -n '1s/:.*//p') || true
if ! has dpkg-deb apt-get || ! is_new_enough "$(packaged_swift)"; then
    fail "needs Debian sid, whose swiftlang is $oldest_swift or later: the package for arm64 is of the same build"
fi
[ ${#needed[@]} -eq 0 ] || fail "needs ${needed[*]}: apt-get install ${needed[*]}"
[ "$compiler" = swiftlang ] || fail "needs Debian's own swift on the PATH, not $(command -v swift)"
check_toolchain

# ---- packages of arm64

apt() {
    apt-get -qq -o Dir::State="$base/apt" -o Dir::State::status="$base/apt/status" -o Dir::Cache="$base/apt" \
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" "$@"
}

# Of the compiler only what it reads and links: its programs are those of this machine.
unpack() { # unpack FILE FOLDER
    local only=()
    [[ ${1##*/} != swiftlang_* ]] || only=(--wildcards './usr/libexec/swift/lib/swift/*' \
        './usr/libexec/swift/lib/swift_static/*' './usr/libexec/swift/lib/clang/*' --exclude=embedded --exclude=host)
    mkdir -p "$2/DEBIAN"
    dpkg-deb -e "$1" "$2/DEBIAN"
    dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" "${only[@]}"
}

make_sysroot() {
    local file name swift=usr/libexec/swift/lib
    rm -rf "$SDD_SYSROOT.new" "$SDD_PACKAGES" "$base/apt"
    mkdir -p "$base"/apt/{lists,archives}/partial "$SDD_SYSROOT.new/usr/lib" "$SDD_PACKAGES"
    : >"$base/apt/status"
    apt update
    apt -y --no-install-recommends --download-only install libc6-dev "libstdc++-$($triplet-g++ -dumpversion)-dev" \
        libcurl4-openssl-dev libjpeg62-turbo-dev libpng-dev libavif-dev liblcms2-dev libheif-dev \
        libheif-plugin-libde265 libjxl-dev libwebp-dev librsvg2-dev libfontconfig-dev libswiftlang
    (cd "$base/apt/archives" && apt download swiftlang) # without the libraries that its programs need
    # Packages ship what was in /lib in /usr/lib.
    ln -s usr/lib "$SDD_SYSROOT.new/lib"
    for file in "$base"/apt/archives/*.deb; do
        name=${file##*/}
        unpack "$file" "$SDD_PACKAGES/${name%%_*}"
        cp -al "$SDD_PACKAGES/${name%%_*}/." "$SDD_SYSROOT.new/"
    done
    rm -rf "$SDD_SYSROOT.new/DEBIAN" "$base/apt"
    # The compiler looks for the runtime here, too.
    ln -s ../../$swift/swift "$SDD_SYSROOT.new/usr/lib/swift"
    ln -s ../../$swift/swift_static "$SDD_SYSROOT.new/usr/lib/swift_static"
    # Beside the tests SwiftPM links libsdd.so, which asks for this list. None of them loads it.
    ln -s ../../swift_static/linux/static-stdlib-args.lnk "$SDD_SYSROOT.new/$swift/swift/linux/"
    mv "$SDD_SYSROOT.new" "$SDD_SYSROOT"
}

# The descriptions that SwiftPM reads: debian-arm64 links the runtime into what it builds, debian-arm64-shared does not.
# The compiler of an SDK looks for the static runtime in the folder of the shared one, so there each has one folder.
make_sdk() { # make_sdk NAME FOLDER
    local bundle=$base/sdks/$1.artifactbundle resources=$SDD_SYSROOT/usr/libexec/swift/lib/$2
    mkdir -p "$bundle/sdk"
    cat >"$bundle/info.json" <<END
{ "schemaVersion": "1.0", "artifacts": {
    "$1": { "type": "swiftSDK", "version": "1", "variants": [{ "path": "sdk" }] } } }
END
    cat >"$bundle/sdk/swift-sdk.json" <<END
{ "schemaVersion": "4.0", "targetTriples": { "aarch64-unknown-linux-gnu": {
    "sdkRootPath": "$SDD_SYSROOT",
    "swiftResourcesPath": "$resources",
    "swiftStaticResourcesPath": "$resources" } } }
END
}

# Scripts, since a name with options is no name of a compiler to those who call it.
make_compilers() {
    local name
    mkdir -p "$base/bin"
    for name in gcc g++; do
        printf '#!/bin/sh\nexec %s --sysroot="%s" "$@"\n' "$triplet-$name" "$SDD_SYSROOT" >"$base/bin/$name"
        chmod +x "$base/bin/$name"
    done
}

[ -d "$SDD_SYSROOT" ] || make_sysroot
[ "$(sed -n 's/^Version: \([^-]*\).*/\1/p' "$SDD_PACKAGES/swiftlang/DEBIAN/control")" = "$swift_version" ] ||
    fail "Swift $swift_version has other modules than those in build/arm64: remove $SDD_SYSROOT"
make_sdk debian-arm64 swift_static
make_sdk debian-arm64-shared swift
make_compilers

# ---- the command

export BUILD=build/arm64 SCRATCH=.build/arm64
export CC=$base/bin/gcc CXX=$base/bin/g++ STRIP=$triplet-strip
export PKG_CONFIG_SYSROOT_DIR=$SDD_SYSROOT
export PKG_CONFIG_LIBDIR=$SDD_SYSROOT/usr/lib/$triplet/pkgconfig:$SDD_SYSROOT/usr/share/pkgconfig
gcc=$(echo "$SDD_SYSROOT/usr/lib/gcc/$triplet"/*)
export SWIFTFLAGS="--swift-sdks-path $base/sdks --swift-sdk debian-arm64 --static-swift-stdlib"
SWIFTFLAGS+=" -Xcc -fPIC -Xlinker -L$gcc"
exec "$@"
