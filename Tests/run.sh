#!/bin/bash
# Builds libsdd and runs all its tests: installs with apt-get what they need and is missing, then `make check`.
#
#     Tests/run.sh
#
# Needs the Swift toolchain (6.3 or later) on the PATH. The exit status is that of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "Tests/run.sh: $*" >&2; exit 1; }
has() { local name; for name in "$@"; do command -v "$name" >/dev/null || return 1; done; }
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# ---- the Swift toolchain, which no package of the system brings

get_swift="get it from https://www.swift.org/install/linux/ and put its usr/bin on the PATH"
has swift || fail "the Swift toolchain (6.3 or later) is not on the PATH: $get_swift"
swift_version=$(swift --version 2>/dev/null | grep -oEm1 'Swift version [0-9]+(\.[0-9]+)*') ||
    fail "swift --version tells no version: is $(command -v swift) Apple's Swift?"
swift_version=${swift_version##* }
[ "$(printf '%s\n' 6.3 "$swift_version" | sort -V | head -n 1)" = 6.3 ] ||
    fail "Swift $swift_version is too old, libsdd needs 6.3 or later: $get_swift"

# ---- packages of the system

missing=()
need() { # need PACKAGE COMMAND...: the package, unless the command succeeds
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
python3_with_numpy() { python3 -c 'import numpy, PIL' || /usr/bin/python3 -c 'import numpy, PIL'; }
need build-essential has gcc g++ make
need pkg-config has pkg-config
need libcurl4-openssl-dev pkg-config --exists libcurl
need libjpeg-dev pkg-config --exists libjpeg
need libpng-dev pkg-config --exists libpng
need nginx-light env PATH="$PATH:/usr/sbin" nginx -v # a server to test against
need openssl has openssl                             # certificates for it
need valgrind has valgrind
need python3 has python3                             # for the examples in Python
need python3-numpy python3_with_numpy
need python3-pil python3_with_numpy
need cargo has cargo                                 # and in Rust
need libglib2.0-dev pkg-config --exists glib-2.0      # and with GLib and libuv
need libuv1-dev pkg-config --exists libuv
need libsdl2-dev pkg-config --exists sdl2             # and with SDL, in a display without a screen
need xvfb has Xvfb
need libwebp-dev pkg-config --exists libwebp libwebpdemux # and the example coders
need libgif-dev cc -include gif_lib.h -x c -fsyntax-only /dev/null
need libavif-dev pkg-config --exists libavif
need debhelper has dh                                # make deb
need lintian has lintian                             # make check-deb

if [ ${#missing[@]} -gt 0 ]; then
    has apt-get || fail "please install what Debian calls: ${missing[*]}"
    [ "$(id -u)" -eq 0 ] || has sudo || fail "please install, as root: apt-get install ${missing[*]}"
    echo "== missing: ${missing[*]}; asking apt-get for them"
    as_root apt-get -qq update
    for index in "${!missing[@]}"; do # the cargo of Debian 12 is too old for the example, its cargo-web is not
        if [ "${missing[index]}" = cargo ] && apt-cache show cargo-web >/dev/null 2>&1; then
            missing[index]=cargo-web
        fi
    done
    echo "== installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null
fi

# ---- the tests

echo "== make check, with Swift $swift_version"
status=0
make check || status=$?
if [ "$status" -eq 0 ]; then
    echo "Tests/run.sh: ALL TESTS PASSED"
else
    echo "Tests/run.sh: TESTS FAILED (status $status); what failed stands above" >&2
fi
exit "$status"
