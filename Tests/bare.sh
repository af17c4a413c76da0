#!/bin/bash
# Runs the README's commands as on a new machine: in a bare Debian with only the base system and a Swift toolchain in a
# folder. Uses the release, the mirror and apt's settings of this machine.
#
#     Tests/bare.sh [COMMAND...]      default: examples/demo.sh
#
# Needs root, debootstrap and a network; tests the committed files. Part of `make torture`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Tests/root.sh
[ $# -gt 0 ] || set -- examples/demo.sh
toolchain=$(realpath "$(dirname "$(realpath "$(command -v swift)")")/../..")

trap remove_root EXIT
make_root "$release"
mkdir -p "$bare/opt/toolchain"
mount --bind "$toolchain" "$bare/opt/toolchain"
git clone -q . "$bare/src/libsdd"
INSIDE=(PATH=/opt/toolchain/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for command; do
    echo "== $command"
    inside bash -c "cd /src/libsdd && $command" || fail "$command: status $?"
done
echo "Tests/bare.sh: passed"
