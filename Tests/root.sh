# Sourced by tests that run in a bare Debian, in a temporary folder: Tests/roots.sh and Tests/installed.sh. They use the
# mirror, and apt's and pip's settings, of this machine, and need root, debootstrap and a network. The script begins
# again with mounts of its own, so that none of them is left, however it ends.
#
#   fail SENTENCE                ends the script with that message
#   newest_suite                 prints the newest release of Debian that the mirror has
#   make_root SUITE              makes a bare Debian, and sets `bare` to its folder
#   bind FROM TO                 makes a folder of this machine its folder TO
#   inside COMMAND...            runs a command in it, in /src, with the variables of INSIDE (NAME=VALUE...)
#   remove_root                  removes it; call it in a trap, too
#
# `release` is this machine's.

fail() { echo "${BASH_SOURCE[-1]}: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "needs root, for chroot"
[ -n "${SDD_OWN_MOUNTS:-}" ] || SDD_OWN_MOUNTS=1 exec unshare -m --propagation private "Tests/${0##*/}" "$@"
command -v debootstrap >/dev/null || fail "needs debootstrap: apt-get install debootstrap"
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" | sort -u | head -n 1)
mirror=${mirror%/}
bare=
settings=()
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
    local name value
    for value in /etc/apt/apt.conf.d/*; do # without those of packages, which would be asked about when they are installed
        dpkg -S "$value" >/dev/null 2>&1 || cp "$value" "$bare/etc/apt/apt.conf.d/"
    done
    cp /etc/resolv.conf /etc/hosts "$bare/etc/"
    mkdir "$bare/src"
    mount --bind "$bare" "$bare" # unshare(1) changes the root's propagation, which must be that of a mount
    mount -t proc proc "$bare/proc"
    mount -t sysfs sysfs "$bare/sys"
    mount --rbind /dev "$bare/dev" # with terminals and shared memory
    settings=()
    for name in "${!PIP_@}" SSL_CERT_FILE; do
        value=${!name:-}
        [ "$value" ] || continue
        case $value in
        /etc/ssl/*) ;; # the package ca-certificates makes it
        /*) if [ -d "$value" ]; then bind "$value" "$value"; elif [ -e "$value" ]; then cp --parents "$value" "$bare/"; fi ;;
        esac
        settings+=("$name=$value")
    done
    for value in /etc/pip.conf /root/.config/pip/pip.conf /usr/local/share/ca-certificates; do
        [ ! -e "$value" ] || cp -r --parents "$value" "$bare/"
    done
}

bind() {
    mkdir -p "$bare$2"
    mount --bind "$1" "$bare$2"
}

inside() {
    chroot "$bare" env -i HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${settings[@]}" "${INSIDE[@]}" \
        bash -c 'cd /src && "$@"' bash "$@"
}

remove_root() { # only if nothing of this machine is still mounted in it
    [ -n "$bare" ] || return 0
    grep -oE " $bare(/[^ ]*)? " /proc/mounts | sort -r | while read -r mounted; do umount -l "$mounted"; done || true
    if ! grep -qE " $bare[/ ]" /proc/mounts; then rm -rf "$bare"; fi
    bare=
}
