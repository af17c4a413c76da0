#!/bin/bash
# Runs everything as on a new machine: in bare releases of Debian with only the base system, and a Swift toolchain in a
# folder where Debian's own is too old. In each of them
#
#   demo        the first command of the README, examples/demo.sh
#   packages    `make deb`, after the commands that it asks for, and `make check-deb`
#   tests       the second command of the README, Tests/run.sh
#   installed   Tests/installed.sh in another bare root of that release, with these packages
#
#     Tests/roots.sh [PART...]      default: all; `make check-roots`
#
#   SUITES      releases; default: bookworm trixie sid
#   PACKAGES    a folder that keeps what `make deb` has made, in SUITE/
#
# Needs root, debootstrap and a network; tests the committed files. Takes an hour a release on two cores. The clone is
# below a folder that only root may enter. Writes only temporary folders, which are removed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Tests/root.sh
[ $# -gt 0 ] || set -- demo packages tests installed
toolchain=$(realpath "$(dirname "$(realpath "$(command -v swift)")")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"; remove_root' EXIT
: "${PACKAGES:=$work}"

in_clone() { inside bash -c "cd /root/libsdd && $1" || fail "$suite: $1"; }

part_demo() { in_clone examples/demo.sh; }
part_tests() { in_clone Tests/run.sh; }
part_packages() {
    local command
    inside apt-get install -y -qq --no-install-recommends dpkg-dev debhelper equivs lintian cmake meson >/dev/null
    # A bare root lacks build dependencies: the message says what to do.
    if inside make -C /root/libsdd deb >"$work/said" 2>&1; then fail "$suite: make deb does not miss its dependencies"; fi
    grep '^    ' "$work/said" >"$work/commands" || { cat "$work/said"; fail "$suite: make deb gives no advice"; }
    while read -r command; do in_clone "DEBIAN_FRONTEND=noninteractive $command </dev/null"; done <"$work/commands"
    in_clone "make deb check-deb"
    mkdir -p "$PACKAGES/$suite"
    find "$bare/root/libsdd/build/deb" -maxdepth 1 -type f -name '*_*' -exec cp -t "$PACKAGES/$suite" {} +
}

for suite in ${SUITES:=bookworm trixie sid}; do
    make_root "$suite"
    git clone -q . "$bare/root/libsdd"
    chmod 700 "$bare/root"
    INSIDE=()
    inside apt-get update -qq
    if inside bash -c '. /root/libsdd/tools/packages.sh; is_new_enough "$(packaged_swift)"'; then
        echo "== $suite: with its own compiler"
    else
        bind "$toolchain" /opt/toolchain
        INSIDE=(PATH=/opt/toolchain/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    fi
    for part; do
        echo "== $suite: $part"
        start=$SECONDS
        case $part in
        demo | tests | packages) "part_$part" ;;
        installed) continue ;;
        *) fail "no part $part" ;;
        esac
        echo "== $suite: $part passed, $((SECONDS - start)) s"
    done
    remove_root
done
if [[ " $* " == *" installed "* ]]; then
    for suite in ${SUITES:=bookworm trixie sid}; do
        echo "== $suite: installed"
        PACKAGES=$PACKAGES/$suite SUITES=$suite Tests/installed.sh || fail "$suite: installed"
    done
fi
echo "Tests/roots.sh: passed"
