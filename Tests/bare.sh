#!/bin/bash
# Runs the README's commands as on a new machine: in a bare Debian with only the base system and a Swift toolchain in a
# folder. Uses the release, the mirror and apt's settings of this machine.
#
#     Tests/bare.sh [COMMAND...]      default: examples/demo.sh
#
# Needs root, debootstrap and a network; tests the committed files. Part of `make torture`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "Tests/bare.sh: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "needs root, for chroot"
command -v debootstrap >/dev/null || fail "needs debootstrap: apt-get install debootstrap"
[ $# -gt 0 ] || set -- examples/demo.sh
toolchain=$(realpath "$(dirname "$(realpath "$(command -v swift)")")/../..")
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" | sort -u | head -n 1)

bare=$(mktemp -d "${TMPDIR:-/tmp}/sdd-bare.XXXXXX")
clean_up() { # only if nothing of this machine is still mounted in it
    umount "$bare"/proc "$bare"/dev "$bare/opt/toolchain" 2>/dev/null || true
    if ! grep -q " $bare/" /proc/mounts; then rm -rf "$bare"; fi
}
trap clean_up EXIT
chmod 755 "$bare" # apt downloads as its own user
echo "== a bare $release in $bare"
debootstrap --variant=minbase "$release" "$bare" "$mirror" >"$bare.log" 2>&1 || fail "debootstrap failed, see $bare.log"
rm -f "$bare.log"
cp /etc/apt/apt.conf.d/* "$bare/etc/apt/apt.conf.d/"
cp /etc/resolv.conf /etc/hosts "$bare/etc/"
mkdir -p "$bare/opt/toolchain" "$bare/src"
mount --bind "$toolchain" "$bare/opt/toolchain"
mount -t proc proc "$bare/proc"
mount --bind /dev "$bare/dev"
git clone -q . "$bare/src/libsdd"
path=/opt/toolchain/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
for command; do
    echo "== $command"
    chroot "$bare" env -i HOME=/root LANG=C.UTF-8 TERM=dumb PATH="$path" \
        bash -c "cd /src/libsdd && $command" || fail "$command: status $?"
done
echo "Tests/bare.sh: passed"
