#!/bin/bash
# Tries the wheel where nothing else is: installs it in a minimal Debian, which has Python but no compiler, no -dev
# package, no libcurl, libjpeg or libpng, and runs the tests there. Needs root, debootstrap, a network and some minutes.
#
#     bindings/python/check_wheel.sh [WHEEL] [ARGUMENT OF PYTEST...]
#
# Without WHEEL it makes one, of SDD_LIBRARY or build/libsdd.so. SUITE is the release of Debian (default: bookworm),
# whose Python must be that of PYTHON (default: python3), which downloads the packages for the tests. The root is in a
# temporary folder, which is removed at the end; nothing of the system is changed. The mirror is this machine's.
# DEBOOTSTRAP_CACHE=folder keeps the packages of Debian for the next time.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
python=${PYTHON:-python3}
wheel=${1:-}
shift || true

fail() { echo "check_wheel.sh: $*" >&2; exit 1; }
step() { echo "== $*"; }

[ "$(id -u)" = 0 ] || fail "needs root, for debootstrap and chroot"
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"
if [ -z "$wheel" ]; then
    step "make_wheel.sh"
    "$folder/make_wheel.sh" "$work/wheels"
    wheel=$(echo "$work"/wheels/*.whl)
fi

step "a minimal Debian"
system=$work/root
cache=${DEBOOTSTRAP_CACHE:+--cache-dir=$(realpath "$DEBOOTSTRAP_CACHE")}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" | sort -u | head -n 1)
debootstrap --variant=minbase --include=python3,python3-venv $cache "${SUITE:-bookworm}" "$system" "$mirror" \
    >"$work/log" 2>&1 ||
    { tail -20 "$work/log" >&2; fail "debootstrap has failed"; }
[ -z "$(find "$system/usr/lib" -name 'libcurl*' -o -name 'libjpeg*' -o -name 'libpng*')" ] || fail "it has libraries"
[ -z "$(chroot "$system" dpkg-query -W -f '${Package}\n' | grep -- '-dev$')" ] || fail "it has -dev packages"

step "the packages for the tests"
mkdir -p "$system/packages" "$system/sdd/bindings/python" "$system/sdd/Tests"
cp "$wheel" "$system/packages"
"$python" -m venv "$work/venv"
grep -v '^#\|^mypy\|^pyright\|^types-' "$folder/requirements-test.txt" >"$system/packages/requirements.txt"
"$work/venv/bin/pip" download --quiet --disable-pip-version-check --only-binary :all: --dest "$system/packages" \
    --requirement "$system/packages/requirements.txt"
# The tests without the package: they can only use the wheel.
cp -r "$folder/tests" "$folder/examples" "$folder/README.md" "$folder/DISTRIBUTED.md" "$folder/pyproject.toml" "$system/sdd/bindings/python"
cp -r "$root/include" "$root/tools" "$system/sdd"
cp -r "$root/Tests/Fixtures" "$system/sdd/Tests"

step "pip install, and pytest"
cat >"$system/sdd/run" <<'END'
set -eu
python3 -m venv /venv
/venv/bin/pip install --quiet --disable-pip-version-check --no-index --find-links /packages /packages/libsdd-*.whl \
    --requirement /packages/requirements.txt
cd /sdd/bindings/python
/venv/bin/python -c 'import sys, sdd; print(sys.version, sdd.library_version(), sdd.library_file)'
exec /venv/bin/python -X faulthandler -m pytest -p no:cacheprovider "$@"
END
# In namespaces of its own: the mounts end with it, and so do all processes.
unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" && mount -t tmpfs tmpfs "$1/tmp" || exit 1
    system=$1
    shift
    exec chroot "$system" env -i PATH=/usr/bin:/bin LANG=C.UTF-8 HOME=/root sh /sdd/run "$@"' bash "$system" "$@"
step "passed"
