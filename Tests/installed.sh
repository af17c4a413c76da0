#!/bin/bash
# Installs the Debian packages in a bare Debian, and runs there what is built with them: the tests of debian/tests, the
# programs of Tests/Cxx, and the first program in C++ of the documents; then the upgrade from older packages, packages beside
# others, and their removal. Nothing of this tree's build is used, but the server of the tests. Uses the mirror and
# apt's settings of this machine.
#
#     Tests/installed.sh [NAME...]      after `make deb fault-server`
#
#   NAME          a test of debian/tests/control, or one of: programs readme debug together upgrade purge; default: all
#   SUITES        releases of Debian; "newest" is the newest that the mirror has; default: this machine's, and newest
#   PACKAGES      the folder with the packages; default: build/deb
#   OLD_PACKAGES  a folder with libsdd0 and libsdd-dev of an older version, for the upgrade; default: they are made of
#                 the packages themselves by debian/scripts/older
#
# Needs root, debootstrap and a network. Takes some ten minutes a release. Writes only temporary folders, which are
# removed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Tests/root.sh
. Tests/installed-parts.sh

declared=$(sed -n 's/^Tests: //p' debian/tests/control)
[ $# -gt 0 ] || set -- $declared programs readme debug together upgrade purge
packages=("${PACKAGES:=build/deb}"/*.deb)
[ -e "${packages[0]}" ] || fail "no packages: make deb"
: "${FAULT_SERVER:=.build/debug/fault-server}"
[ -x "$FAULT_SERVER" ] || fail "no $FAULT_SERVER: make fault-server"

server=
work=$(mktemp -d)
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
    remove_root
}
trap clean_up EXIT

older=${OLD_PACKAGES:-}
if [ -z "$older" ]; then
    older=$work/older
    debian/scripts/older "$PACKAGES" "$older"
fi

# The fault server runs outside.
coproc serve { exec "$FAULT_SERVER" --files Tests/Fixtures; }
server=$serve_PID
read -r -t 60 _ port <&"${serve[0]}"
INSIDE=(SDD_TEST_PORT="$port")

for suite in ${SUITES:-$release newest}; do
    if [ "$suite" = newest ]; then suite=$(newest_suite); fi
    make_root "$suite"
    # The tests and examples alone: neither headers nor a library that could stand for the installed ones.
    git ls-files -z bindings/rust bindings/python/{tests,examples,README.md,DISTRIBUTED.md,pyproject.toml} debian/tests \
        examples tools Tests/C Tests/Cxx Tests/failures.sh Tests/share.sh Tests/Fixtures README.md docs/guides |
        tar -c --null -T - | tar -x -C "$bare/src"
    ln -s /usr/include "$bare/src/include" # the crates are compared with the installed header
    mkdir "$bare/src/packages" "$bare/src/older"
    cp "${packages[@]}" "$bare/src/packages/"
    cp "$older"/*.deb "$bare/src/older/"
    inside apt-get update -qq
    for name; do
        echo "== $suite: $name"
        start=$SECONDS
        case $name in
        programs | readme | debug | together | upgrade | purge) "part_$name" ;;
        *) part_declared "$name" ;;
        esac || fail "$suite: $name"
        echo "== $suite: $name: $((SECONDS - start)) s"
    done
    remove_root
done
echo "Tests/installed.sh: all is well"
