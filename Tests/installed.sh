#!/bin/bash
# Installs the Debian packages in a bare Debian, and runs there what is built with them: the tests of debian/tests (an
# example in C, those in C++ with CMake, Meson and pkg-config, the Rust crates with their tests), the programs of
# Tests/Cxx, and the programs in C++ of README.md. Nothing of this tree's build is used, but the server of the tests.
# Uses the release, the mirror and apt's settings of this machine.
#
#     Tests/installed.sh [NAME...]      after `make deb fault-server`; default: download cxx rust programs readme
#
# Needs root, debootstrap and a network. Takes some ten minutes. Writes only a temporary folder, which is removed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "Tests/installed.sh: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "needs root, for chroot"
command -v debootstrap >/dev/null || fail "needs debootstrap: apt-get install debootstrap"
[ $# -gt 0 ] || set -- download cxx rust programs readme
packages=(build/deb/libsdd0_*.deb build/deb/libsdd-dev_*.deb)
for package in "${packages[@]}"; do [ -e "$package" ] || fail "no packages: make deb"; done
: "${FAULT_SERVER:=.build/debug/fault-server}"
[ -x "$FAULT_SERVER" ] || fail "no $FAULT_SERVER: make fault-server"
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" | sort -u | head -n 1)

bare=$(mktemp -d "${TMPDIR:-/tmp}/sdd-installed.XXXXXX")
server=
clean_up() { # only if nothing of this machine is still mounted in it
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    umount "$bare"/proc "$bare"/dev 2>/dev/null || true
    if ! grep -q " $bare/" /proc/mounts; then rm -rf "$bare"; fi
}
trap clean_up EXIT
chmod 755 "$bare" # apt downloads as its own user
echo "== a bare $release in $bare"
debootstrap --variant=minbase "$release" "$bare" "$mirror" >"$bare.log" 2>&1 || fail "debootstrap failed, see $bare.log"
rm -f "$bare.log"
cp /etc/apt/apt.conf.d/* "$bare/etc/apt/apt.conf.d/"
cp /etc/resolv.conf /etc/hosts "$bare/etc/"
mount -t proc proc "$bare/proc"
mount --bind /dev "$bare/dev"
inside() { # inside COMMAND...: runs it in the bare Debian, in the copy of this tree
    chroot "$bare" env -i HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SDD_TEST_PORT="${port:-}" \
        bash -c 'mkdir -p /src && cd /src && "$@"' bash "$@"
}

# The tests and examples alone: neither headers nor a library that could stand for the installed ones.
mkdir "$bare/src"
git ls-files -z bindings/rust debian/tests examples Tests/C Tests/Cxx Tests/failures.sh Tests/Fixtures README.md |
    tar -c --null -T - | tar -x -C "$bare/src"
ln -s /usr/include "$bare/src/include" # the crates are compared with the installed header
cp "${packages[@]}" "$bare/tmp/"

echo "== the packages, and what their tests need"
names=("${@/#programs/cxx}")
names=("${names[@]/#readme/cxx}")
mapfile -t needed < <(for name in "${names[@]}"; do
    awk -v RS= -v name="$name" '$0 ~ "Tests: " name "\n"' debian/tests/control | sed -n 's/^Depends: libsdd-dev, //p'
done | tr ',' '\n' | tr -d ' ' | sort -u)
inside apt-get update -qq
install=(apt-get install -y -qq --no-install-recommends)
inside "${install[@]}" "${needed[@]}" >"$bare/tmp/log" 2>&1 || { tail "$bare/tmp/log"; fail "apt"; }
inside "${install[@]}" "${packages[@]/#build\/deb/\/tmp}" >"$bare/tmp/log" 2>&1 || { tail "$bare/tmp/log"; fail "apt"; }

# ---- the fault server, outside

coproc serve { exec "$FAULT_SERVER" --files Tests/Fixtures; }
server=$serve_PID
read -r -t 60 _ port <&"${serve[0]}"

programs() { # the programs of Tests/Cxx
    printf '#!/bin/sh\necho "listening $SDD_TEST_PORT"\nexec cat >/dev/null\n' >"$bare/src/server"
    chmod +x "$bare/src/server"
    inside env SDD_INSTALLED=1 FAULT_SERVER=/src/server CXX=g++ Tests/Cxx/run.sh plain
}
readme() { # the programs in C++ of README.md, as they are
    inside bash -c '
        set -euo pipefail
        awk "/^\`\`\`cpp\$/ { inside = 1; next } /^\`\`\`\$/ { inside = 0 } inside" README.md >/tmp/readme.cc
        g++ -std=c++17 -Wall -Wextra -Werror /tmp/readme.cc $(pkg-config --cflags --libs sdd) -o /tmp/readme
        url=http://127.0.0.1:$SDD_TEST_PORT/file/jpeg/baseline-420.jpg
        [ "$(/tmp/readme "$url")" = "$url: 37 x 29" ]
        [ "$(/tmp/readme "$url")" = "$url: 37 x 29" ] # from the cache
        echo "ok README.md: C++"'
}
for name; do
    echo "== $name"
    start=$SECONDS
    case $name in
    programs | readme) "$name" ;;
    *) inside "debian/tests/$name" ;;
    esac || fail "$name"
    echo "== $name: $((SECONDS - start)) s"
done
echo "Tests/installed.sh: all is well"
