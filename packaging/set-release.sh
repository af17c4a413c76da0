#!/bin/bash
# Writes a version and the checksums of its archives into all recipes of this folder.
#
#     packaging/set-release.sh VERSION [ARCHIVE...]   ARCHIVE: libsdd-VERSION.tar.gz, the sources, or what
#                                                     packaging/make_archive.sh makes; the checksum of one that is not
#                                                     named becomes zeros
#     packaging/set-release.sh --check                fails unless all recipes have the version of the header
#
# The line before a checksum says what it is: "set-release.sh: KIND ARCHIVE", where KIND is sha256, sha512 or sri, and
# ARCHIVE is source, x86_64 or aarch64.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() { echo "set-release.sh: $*" >&2; exit 1; }

# The recipes, with the text before their version.
recipes=(
    'arch/PKGBUILD:^pkgver='
    'cmake/libsdd.cmake:^set\(libsdd_version '
    'conan/conanfile.py:^    version = "'
    'conda/recipe.yaml:^  version: "'
    'fedora/libsdd.spec:^Version: +'
    'homebrew/libsdd.rb:^  url ".*/libsdd-'
    'meson/libsdd.wrap:^directory = libsdd-'
    'meson/packagefiles/libsdd/meson.build:^    version: .'
    'nix/package.nix:^  version = "'
    'vcpkg/vcpkg.json:^  "version": "'
)
number='[0-9]+\.[0-9]+\.[0-9]+'

# version_of RECIPE
version_of() {
    local found
    found=$(sed -nE "s,${1#*:}($number).*,\1,p" "$here/${1%%:*}")
    [[ $found =~ ^$number$ ]] || fail "${1%%:*} has not one version, but: ${found:-none}"
    echo "$found"
}

if [ "${1:-}" = --check ]; then
    expected=$(sed -n 's/^#define SDD_VERSION_STRING "\(.*\)"/\1/p' "$here/../include/sdd/base.h")
    for recipe in "${recipes[@]}"; do
        version=$(version_of "$recipe")
        [ "$version" = "$expected" ] || fail "${recipe%%:*} is for $version, the header for $expected"
    done
    echo "ok recipes: ${#recipes[@]} files for $expected"
    exit
fi

version=${1:?needs a version}
[[ $version =~ ^$number$ ]] || fail "$version is no version"
shift
declare -A archives
for archive; do
    case ${archive##*/} in
        "libsdd-$version.tar.gz") archives[source]=$archive ;;
        "libsdd-$version-linux-x86_64.tar.gz") archives[x86_64]=$archive ;;
        "libsdd-$version-linux-aarch64.tar.gz") archives[aarch64]=$archive ;;
        *) fail "$archive is no archive of $version" ;;
    esac
done

# sum_of KIND ARCHIVE
sum_of() {
    local bytes
    case $1:${archives[$2]:-} in
        sri:*)
            bytes=$(sum_of sha256 "$2" | fold -w 2 | sed 's/^/\\x/' | tr -d '\n')
            echo "sha256-$(printf '%b' "$bytes" | base64)"
            ;;
        sha256:) printf '%064d\n' 0 ;;
        sha512:) printf '%0128d\n' 0 ;;
        *) "$1sum" "${archives[$2]}" | cut -d' ' -f1 ;;
    esac
}

declare -A sums
for archive in source x86_64 aarch64; do
    for kind in sha256 sha512 sri; do sums["$kind $archive"]=$(sum_of $kind $archive); done
done
for recipe in "${recipes[@]}"; do
    old=$(version_of "$recipe")
    sed -E -i "s/\b${old//./\\.}\b/$version/g" "$here/${recipe%%:*}"
done
for file in "$here"/*/*; do
    for mark in "${!sums[@]}"; do
        grep -qs "set-release\.sh: $mark\$" "$file" || continue
        sed -E -i "/set-release\.sh: $mark\$/{n;s|(sha256-)?[A-Za-z0-9+/=]{44,}|${sums[$mark]}|}" "$file"
        grep -A1 "set-release\.sh: $mark\$" "$file" | grep -qF "${sums[$mark]}" || fail "$file has no $mark"
    done
done
