#!/bin/bash
# Makes all files of a release in a folder: `make release`. From the tag of this version, in a clean tree.
#
#     packaging/release.sh [--trial] [--key KEY] [--suites "SUITE..."] FOLDER
#
#   --trial     of any commit, also one without a tag and a date in CHANGELOG.md
#   --key       signs the checksums with this key of GnuPG
#   --suites    releases of Debian to build packages for, in bare roots, which needs root; "" for none; default: those of
#               Tests/roots.sh
#
#   libsdd-VERSION.tar.gz            the sources
#   libsdd-VERSION-linux-MACHINE.tar.gz    an installed tree, for the recipes that build nothing
#   recipes/                         the recipes of this folder, with the checksums of both
#   debian/SUITE/                    packages, their sources, and .buildinfo files, which say what built them
#   python/                          wheel and sdist
#   rust/libsdd-crates-VERSION.tar.gz    the crates, as cargo reads a folder of sources
#   libsdd-VERSION.spdx.json         what is in each file, and what it needs (SPDX 2.3)
#   libsdd-VERSION.provenance.json   what was built of which commit, with what (SLSA 1.0)
#   SHA256SUMS, SHA256SUMS.asc       of all of these
#
# RELEASE_HOME is the URL that names the project in the last two; default: that of debian/control. docs/guides/install.md
# says how somebody installs what is in the folder. Takes half an hour, and as much for each suite, on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() { echo "packaging/release.sh: $*" >&2; exit 1; }
trial='' key='' suites=()
while [ $# -gt 1 ]; do
    case $1 in
    --trial) trial=1 ;;
    --key) key=$2; shift ;;
    --suites) suites=("SUITES=$2"); shift ;;
    *) fail "no option $1" ;;
    esac
    shift
done
[ $# -eq 1 ] || fail "names no folder"
folder=$(realpath -m "$1")
[ ! -e "$folder" ] || [ -z "$(ls -A "$folder")" ] || fail "$folder is not empty"
version=$(sed -n 's/^#define SDD_VERSION_STRING "\(.*\)"/\1/p' include/sdd/base.h)
home=${RELEASE_HOME:-$(sed -n 's/^Homepage: //p' debian/control)}

[ -z "$(git status --porcelain)" ] || fail "the tree differs from its commit"
if [ -z "$trial" ]; then
    [ "$(git rev-parse -q --verify "v$version^{commit}")" = "$(git rev-parse HEAD)" ] || fail "v$version is not this commit"
    grep -qE "^## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || fail "CHANGELOG.md has no date of $version"
    bindings/python/check_name.sh || fail "the name of the Python distribution is taken"
fi
[ -z "$key" ] || gpg --batch --list-secret-keys "$key" >/dev/null || fail "there is no secret key $key"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder/python" "$folder/rust"
git archive --prefix="libsdd-$version/" HEAD | gzip -n9 >"$folder/libsdd-$version.tar.gz"
tar -xzf "$folder/libsdd-$version.tar.gz" -C "$work"
tree=$work/libsdd-$version

echo "== Python"
make -s -C "$tree" all tool coders
"$tree/packaging/make_archive.sh" "$folder"
bindings=$tree/bindings/python
"$bindings/make_wheel.sh" "$folder/python"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q setuptools wheel spdx-tools
(cd "$bindings" && SDD_LIBRARY='' "$work/venv/bin/python" setup.py -q sdist --dist-dir "$folder/python")

echo "== recipes"
"$tree/packaging/set-release.sh" "$version" "$folder/libsdd-$version"*.tar.gz
mkdir "$folder/recipes"
for recipe in "$tree"/packaging/*/; do cp -r "$recipe" "$folder/recipes/"; done

echo "== Rust"
"$tree/debian/scripts/crates" "$work/crates"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work/crates" -c . |
    gzip -n9 >"$folder/rust/libsdd-crates-$version.tar.gz"

if [ "${suites[*]-}" != "SUITES=" ]; then
    echo "== Debian"
    env PACKAGES="$folder/debian" "${suites[@]}" Tests/roots.sh packages
fi

echo "== what it is made of"
"$work/venv/bin/python" packaging/make_sbom.py "$folder" "$version" "$home"
packaging/make_provenance.py "$folder" "$version" "$(git rev-parse HEAD)" "$home"
(cd "$folder" && find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS)
[ -z "$key" ] || gpg --batch --yes --local-user "$key" --armor --detach-sign "$folder/SHA256SUMS"
echo "== $folder"
(cd "$folder" && cat SHA256SUMS)
