# Sourced by tests that run in a bare Debian, in a temporary folder: Tests/bare.sh and Tests/installed.sh. They use the
# mirror and apt's settings of this machine, and need root, debootstrap and a network.
#
#   fail SENTENCE                ends the script with that message
#   newest_suite                 prints the newest release of Debian that the mirror has
#   make_root SUITE              makes a bare Debian, and sets `bare` to its folder
#   inside COMMAND...            runs a command in it, in /src, with the variables of INSIDE (NAME=VALUE...)
#   remove_root                  removes it; call it in a trap, too
#
# `release` is this machine's.

fail() { echo "${BASH_SOURCE[-1]}: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "needs root, for chroot"
command -v debootstrap >/dev/null || fail "needs debootstrap: apt-get install debootstrap"
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" | sort -u | head -n 1)
mirror=${mirror%/}
bare=
INSIDE=()

newest_suite() {
    local suite file
    file=$(mktemp)
    for suite in unstable testing stable; do
        if /usr/lib/apt/apt-helper -qq download-file "$mirror/dists/$suite/InRelease" "$file" >/dev/null 2>&1; then
            sed -n 's/^Codename: //p' "$file"
            break
        fi
    done
    rm -f "$file"
}

make_root() {
    local suite=$1 script=() scripts=/usr/share/debootstrap/scripts
    [ -e "$scripts/$suite" ] || script=("$scripts/sid") # a release that is newer than debootstrap
    bare=$(mktemp -d "${TMPDIR:-/tmp}/sdd-root.XXXXXX")
    chmod 755 "$bare" # apt downloads as its own user
    echo "== a bare $suite in $bare"
    debootstrap --variant=minbase "$suite" "$bare" "$mirror" "${script[@]}" >"$bare.log" 2>&1 ||
        fail "debootstrap failed, see $bare.log"
    rm -f "$bare.log"
    cp /etc/apt/apt.conf.d/* "$bare/etc/apt/apt.conf.d/"
    cp /etc/resolv.conf /etc/hosts "$bare/etc/"
    mkdir "$bare/src"
    mount -t proc proc "$bare/proc"
    mount --bind /dev "$bare/dev"
}

inside() {
    chroot "$bare" env -i HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${INSIDE[@]}" \
        bash -c 'cd /src && "$@"' bash "$@"
}

remove_root() { # only if nothing of this machine is still mounted in it
    [ -n "$bare" ] || return 0
    umount "$bare"/proc "$bare"/dev "$bare"/opt/toolchain 2>/dev/null || true
    if ! grep -q " $bare/" /proc/mounts; then rm -rf "$bare"; fi
    bare=
}
