#!/bin/bash
# Tries the recipes of this folder, each with its own tool, on archives as a release has them, and compiles programs
# against those that take the released library. Needs no network.
#
#     packaging/check.sh [NAME...]   after `make`; NAME: scripts arch conda fedora homebrew nix cmake conan meson vcpkg
#
#   SDD_COMPILE=1   the recipes that build from the sources compile all of them. Otherwise the archive of the sources
#                   has the library inside that `make` built, and they compile only what is C.
#   TOOLS           a folder of programs that comes first on the PATH, and whose Python has py-rattler-build, such as
#                   the bin of a venv
#   VCPKG_ROOT      a checkout of vcpkg, for the program vcpkg
#
# Prints "ok NAME" for each recipe, and "skip NAME" where a tool is missing; a failure's output is in build/recipes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=${TOOLS:+$TOOLS:}$PATH
root=$PWD
work=$root/build/recipes
version=$(sed -n 's/^#define SDD_VERSION_STRING "\(.*\)"/\1/p' include/sdd/base.h)
machine=$(uname -m)
releases=$work/releases
recipes=$work/packaging

skip() { echo "$*" >"$work/reason"; exit 77; }
need() { local name; for name in "$@"; do command -v "$name" >/dev/null || skip "no $name"; done; }
# try_version PROGRAM...: it prints both versions, which are the same.
try_version() {
    local said
    said=$("$@")
    echo "$said"
    [ "$said" = "header $version, library $version" ]
}

# ---- the release, and recipes for it

prepare() {
    rm -rf "$work"
    mkdir -p "$work"
    packaging/make_archive.sh "$releases"
    local sources=libsdd-$version
    git archive --prefix="$sources/" HEAD | tar -x -C "$work"
    if [ -z "${SDD_COMPILE:-}" ]; then
        install -D -m 755 -t "$work/$sources/build" "build/libsdd.so.$version" # newer than the sources of the commit
    fi
    tar -cz -C "$work" -f "$releases/$sources.tar.gz" "$sources"
    rm -rf "${work:?}/$sources"
    cp -r packaging "$recipes"
    "$recipes/set-release.sh" "$version" "$releases"/*.tar.gz
    grep -rl 'https://example.org/libsdd/releases' "$recipes" | grep -v check.sh |
        xargs sed -i "s|https://example.org/libsdd/releases|file://$releases|"
}

# ---- recipes that build from the sources

check_fedora() {
    need rpmbuild
    local top=$work/rpm
    mkdir -p "$top/SOURCES"
    cp "$releases/libsdd-$version.tar.gz" "$top/SOURCES"
    # --nodeps: what the spec requires are no packages of this system. The changelog comes from git, by Fedora's macro.
    rpmbuild -bb --nodeps --define "_topdir $top" --define "_libdir %{_prefix}/lib64" \
        --define "autochangelog %{nil}" "$recipes/fedora/libsdd.spec"
    local package
    for package in libsdd libsdd-devel sdd-tools; do
        [ "$(find "$top/RPMS" -name "$package-$version-*.rpm" | wc -l)" = 1 ] || { echo "no $package"; return 1; }
    done
    mkdir "$top/root"
    for package in "$top"/RPMS/*/*.rpm; do
        (cd "$top/root" && rpm2cpio "$package" | cpio -id --quiet)
    done
    LD_LIBRARY_PATH=$top/root/usr/lib64 "$top/root/usr/bin/sdd" --version
    sed '/^%changelog/,$d' "$recipes/fedora/libsdd.spec" >"$top/libsdd.spec"
    if command -v rpmlint; then rpmlint "$top/libsdd.spec"; fi
}

check_arch() {
    need makepkg bsdtar
    local folder=$work/arch as_user=()
    mkdir "$folder"
    cp "$recipes/arch/PKGBUILD" "$folder"
    cd "$folder"
    if [ "$(id -u)" = 0 ]; then # makepkg refuses root
        need runuser
        chown -R nobody "$folder"
        as_user=(runuser -u nobody -- env HOME="$folder" PATH="$PATH")
    fi
    # -d: what the recipe depends on are no packages of this system.
    PKGDEST=$folder SRCDEST=$folder BUILDDIR=$folder/build PKGEXT=.pkg.tar \
        "${as_user[@]}" makepkg -d --noconfirm
    bsdtar -tf "libsdd-$version-1-$machine.pkg.tar" >files
    local file
    for file in bin/sdd include/sdd/sdd.h "lib/libsdd.so.$version" lib/pkgconfig/sdd.pc lib/sdd/sdd-decoder; do
        grep -qx "usr/$file" files || { echo "no $file in the package"; return 1; }
    done
    if command -v namcap; then namcap PKGBUILD "libsdd-$version-1-$machine.pkg.tar"; fi
}

check_conda() {
    need python3
    python3 -c 'import rattler_build' || skip "no py-rattler-build"
    need patchelf
    python3 packaging/conda/build.py "$recipes/conda/recipe.yaml" "$work/conda"
}

check_nix() {
    need nix-instantiate
    nix-instantiate --parse "$recipes/nix/package.nix" >/dev/null
    nix-instantiate --store dummy:// --readonly-mode --eval --strict --json "$root/packaging/nix/check.nix" \
        --arg package "$recipes/nix/package.nix"
}

check_homebrew() {
    need ruby
    ruby -wc "$recipes/homebrew/libsdd.rb"
    command -v rubocop || return 0
    # Homebrew writes testpath/"name" without spaces.
    rubocop --cache false --only Lint,Layout --except Layout/SpaceAroundOperators "$recipes/homebrew/libsdd.rb"
}

# ---- recipes that take the released library

check_conan() {
    need conan cmake
    export CONAN_HOME=$work/conan
    conan profile detect
    conan create "$recipes/conan" 2>&1 | tee "$work/conan.said"
    grep -qx "header $version, library $version" "$work/conan.said"
}

check_cmake() {
    need cmake
    local program=$work/cmake
    mkdir "$program"
    cp "$recipes/conan/test_package/version.c" "$recipes/cmake/libsdd.cmake" "$program"
    cat >"$program/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.14)
project(version LANGUAGES C)
find_package(sdd 99 QUIET) # as a program that prefers the library of the system, which is not there
include(libsdd.cmake)
add_executable(version version.c)
target_link_libraries(version PRIVATE sdd::sdd)
END
    cmake -S "$program" -B "$program/build"
    cmake --build "$program/build"
    try_version "$program/build/version"
}

check_meson() {
    need meson
    [ "$machine" = x86_64 ] || skip "the wrap is for x86_64"
    local program=$work/meson
    mkdir -p "$program/subprojects"
    cp "$recipes/conan/test_package/version.c" "$program"
    cp -r "$recipes"/meson/* "$program/subprojects"
    cat >"$program/meson.build" <<'END'
project('version', 'c')
executable('version', 'version.c', dependencies: dependency('sdd', version: '>=0.4'))
END
    meson setup --wrap-mode=forcefallback "$program/build" "$program"
    meson compile -C "$program/build"
    try_version "$program/build/version"
}

check_vcpkg() {
    need vcpkg cmake patchelf
    [ -n "${VCPKG_ROOT:-}" ] || skip "VCPKG_ROOT names no checkout of vcpkg"
    local folder=$work/vcpkg
    mkdir -p "$folder/ports"
    cp -r "$recipes/vcpkg" "$folder/ports/libsdd"
    cp -r "$recipes/conan/test_package" "$folder/program"
    export VCPKG_FORCE_SYSTEM_BINARIES=1 VCPKG_DISABLE_METRICS=1 VCPKG_DOWNLOADS=$folder/downloads
    vcpkg format-manifest "$folder/ports/libsdd/vcpkg.json"
    cmp "$folder/ports/libsdd/vcpkg.json" "$recipes/vcpkg/vcpkg.json"
    vcpkg install libsdd --overlay-ports="$folder/ports" --x-install-root="$folder/installed" \
        --x-buildtrees-root="$folder/trees" --x-packages-root="$folder/packages" --binarysource=clear \
        2>&1 | tee "$folder/said"
    if grep 'post-build check problem' "$folder/said"; then return 1; fi
    cmake -S "$folder/program" -B "$folder/build" -DVCPKG_INSTALLED_DIR="$folder/installed" \
        -DCMAKE_TOOLCHAIN_FILE="$VCPKG_ROOT/scripts/buildsystems/vcpkg.cmake" -DVCPKG_MANIFEST_MODE=OFF
    cmake --build "$folder/build"
    try_version "$folder/build/version"
}

check_scripts() {
    packaging/set-release.sh --check
    need shellcheck
    shellcheck packaging/*.sh
    shellcheck -s bash -e SC2034,SC2154,SC2164 packaging/arch/PKGBUILD # makepkg sets and reads the variables, and stops
}

# ---- all of them

all=(scripts arch conda fedora homebrew nix cmake conan meson vcpkg)
[ $# -gt 0 ] || set -- "${all[@]}"
for name; do
    [[ " ${all[*]} " == *" $name "* ]] || { echo "check.sh: there is no $name" >&2; exit 1; }
done
prepare
failed=
for name; do
    status=0
    set +e
    (set -e; "check_$name") >"$work/$name.log" 2>&1
    status=$?
    set -e
    case $status in
        0) echo "ok $name" ;;
        77) echo "skip $name: $(<"$work/reason")" ;;
        *)
            echo "not ok $name: build/recipes/$name.log, whose end is"
            tail -20 "$work/$name.log"
            failed=1
            ;;
    esac
done
[ -z "$failed" ]
