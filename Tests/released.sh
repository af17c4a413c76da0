#!/bin/bash
# Follows the chapter "From a release" of docs/guides/install.md, command by command, in a bare Debian: as somebody who has
# only the folder that packaging/release.sh has made, and no Swift toolchain.
#
#     Tests/released.sh FOLDER
#
#   SUITES    releases of Debian; default: those that the folder has packages for
#
# A folder whose checksums are not signed is taken as it is. Needs root, debootstrap and a network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. Tests/root.sh
folder=$(realpath "${1:-build/release}")
[ -e "$folder/SHA256SUMS" ] || fail "$folder is not the folder of a release: make release"
work=$(mktemp -d)
trap 'rm -rf "$work"; remove_root' EXIT

# The commands of the chapter, as they are.
awk '/^## / { inside = $0 == "## From a release" } inside' docs/guides/install.md |
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' >"$work/commands"
[ "$(grep -c . "$work/commands")" -gt 10 ] || fail "the chapter has no commands"

for suite in ${SUITES:-$(ls "$folder/debian")}; do
    make_root "$suite"
    inside apt-get update -qq
    # What the chapter takes for granted.
    inside apt-get install -y -qq --no-install-recommends sudo gnupg python3-venv gcc libc6-dev cargo >/dev/null
    cp -r "$folder/." "$bare/src/"
    sed "s/bookworm/$suite/" "$work/commands" >"$bare/src/commands"
    if [ -e "$folder/SHA256SUMS.asc" ]; then
        gpg --batch --export | inside gpg --batch --quiet --import
    else
        sed -i '/^gpg /d' "$bare/src/commands"
    fi
    echo "== $suite: as the chapter says"
    inside bash -euxo pipefail /src/commands || fail "$suite: a command of the chapter fails"
    # The picture of a first program, which the release knows nothing of.
    cp Tests/Fixtures/jpeg/baseline-420.jpg "$bare/src/picture.jpg"
    inside sdd thumbnail --size 16 -o small.png picture.jpg
    inside environment/bin/python -c 'import sdd; assert sdd.Image.decode(open("small.png", "rb").read()).width <= 16'
    remove_root
done
echo "Tests/released.sh: passed"
