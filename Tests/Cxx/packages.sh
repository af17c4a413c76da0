#!/bin/bash
# Installs the library to a temporary folder, moves that, and builds a program against it with CMake, one with Meson,
# and one with pkg-config alone; runs them with a server; and checks that `make uninstall` leaves nothing. Programs with
# Qt and GTK are built with CMake in one layout and with pkg-config in the other.
#
#     Tests/Cxx/packages.sh       after `make`; FAULT_SERVER names the server
#
# Prints "ok NAME" for each check, and "skip NAME" where a tool is missing. Writes nothing outside a temporary folder.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${FAULT_SERVER:?names no server: make fault-server}"

work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-packages.XXXXXX")
server=
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'echo "not ok: Tests/Cxx/packages.sh, line $LINENO: $BASH_COMMAND" >&2' ERR
fail() { echo "not ok $*" >&2; exit 1; }
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

mkfifo "$work/alive" "$work/said"
exec {alive}<>"$work/alive"
"$FAULT_SERVER" --files Tests/Fixtures <"$work/alive" >"$work/said" {alive}>&- &
server=$!
exec {said}<"$work/said"
read -r -t 30 _ port <&"$said"
readonly base=http://127.0.0.1:$port
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
export XDG_CACHE_HOME=$work/caches

# check_sizes PROGRAM: it prints the sizes of two pictures, and an error.
check_sizes() {
    local urls=("$base/file/jpeg/baseline-420.jpg" "$base/file/png/rgb8.png") status=0
    "$1" "${urls[@]}" | sort >"$work/out"
    printf '%s\n' "${urls[0]}: 37 x 29" "${urls[1]}: 19 x 13" | cmp - "$work/out"
    "$1" "$base/status/404" >"$work/out" || status=$?
    [ "$status" -eq 1 ] || fail "$1: status $status for a missing picture"
    grep -q ': SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .' "$work/out" || fail "$1: $(cat "$work/out")"
}

# ---- the installed tree, which is moved afterwards: nothing in it may name the place where it was

for layout in "/usr /usr/lib/x86_64-linux-gnu" "/opt/sdd /opt/sdd/lib"; do
    read -r prefix libdir <<<"$layout"
    rm -rf "$work/stage" "$work/moved"
    quiet make install DESTDIR="$work/stage" PREFIX="$prefix" LIBDIR="$libdir"
    mv "$work/stage" "$work/moved"
    moved_libdir=$work/moved$libdir
    export LD_LIBRARY_PATH=$moved_libdir
    if grep -rl "$work/stage" "$work/moved"; then fail "a file names the folder of the installation"; fi

    if command -v cmake >/dev/null; then
        rm -rf "$work/cmake"
        quiet cmake -S examples/cpp-cmake -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved$prefix" \
            -DCMAKE_CXX_FLAGS="-Wall -Wextra -pedantic -Werror" -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu
        quiet cmake --build "$work/cmake"
        check_sizes "$work/cmake/sizes"
        echo "ok CMake, $prefix"
        if [ "$prefix" = /usr ]; then # as on Debian, where /lib is a link to /usr/lib
            ln -s usr/lib "$work/moved/lib"
            rm -rf "$work/cmake"
            quiet cmake -S examples/cpp-cmake -B "$work/cmake" -Dsdd_DIR="$work/moved${libdir#/usr}/cmake/sdd"
            quiet cmake --build "$work/cmake"
            check_sizes "$work/cmake/sizes"
            echo "ok CMake, /lib"
        fi
        if [ "$prefix" = /usr ] && pkg-config --exists Qt6Quick; then
            quiet cmake -S examples/qt -B "$work/qt" -DCMAKE_PREFIX_PATH="$work/moved$prefix" \
                -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu
            quiet cmake --build "$work/qt" # Tests/Cxx/toolkits.sh runs it
            echo "ok CMake with Qt, $prefix"
        fi
        if [ "$prefix" = /usr ] && pkg-config --exists gtk4; then
            mkdir "$work/gtk"
            printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(gtk_gallery LANGUAGES C)' \
                'find_package(sdd 0.4 REQUIRED COMPONENTS gtk4)' "add_executable(gtk_gallery $PWD/examples/gtk/gtk_gallery.c)" \
                'target_link_libraries(gtk_gallery PRIVATE sdd::gtk4)' >"$work/gtk/CMakeLists.txt"
            quiet cmake -S "$work/gtk" -B "$work/gtk/build" -DCMAKE_PREFIX_PATH="$work/moved$prefix" \
                -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu
            quiet cmake --build "$work/gtk/build"
            echo "ok CMake with GTK, $prefix"
        fi
    else
        echo "skip CMake: no cmake"
    fi

    if command -v meson >/dev/null; then
        rm -rf "$work/meson"
        quiet meson setup "$work/meson" examples/cpp-meson --pkg-config-path="$moved_libdir/pkgconfig"
        quiet meson compile -C "$work/meson"
        check_sizes "$work/meson/coroutine"
        echo "ok Meson, $prefix"
    else
        echo "skip Meson: no meson"
    fi

    flags=$(PKG_CONFIG_PATH=$moved_libdir/pkgconfig pkg-config --cflags --libs sdd)
    g++ -std=c++17 examples/cpp-cmake/sizes.cc $flags -o "$work/sizes"
    check_sizes "$work/sizes"
    echo "ok pkg-config, $prefix"
    [ "$prefix" != /usr ] || continue
    if pkg-config --exists gtk4; then # by the command in its first line
        line=$(sed -nE '1s#^/\* (.*) -o .*#\1#p' examples/gtk/gtk_gallery.c)
        (cd examples/gtk && PKG_CONFIG_PATH=$moved_libdir/pkgconfig eval "quiet $line -o $work/gtk_gallery")
        echo "ok pkg-config with GTK, $prefix"
    fi
    if pkg-config --exists Qt6Quick; then
        flags=$(PKG_CONFIG_PATH=$moved_libdir/pkgconfig pkg-config --cflags --libs sdd-qt6 Qt6Quick)
        quiet g++ -std=c++17 -fPIC examples/qt/qt_gallery.cc $flags -o "$work/qt_gallery"
        echo "ok pkg-config with Qt, $prefix"
    fi
done

# ---- versions that CMake must not take

if command -v cmake >/dev/null; then
    for version in 0.99 1.0 '0.4 COMPONENTS qt9'; do
        mkdir -p "$work/version"
        printf '%s\n' 'cmake_minimum_required(VERSION 3.14)' 'project(p NONE)' "find_package(sdd $version)" \
            'if(sdd_FOUND)' 'message(FATAL_ERROR "taken")' 'endif()' >"$work/version/CMakeLists.txt"
        rm -rf "$work/version/build"
        quiet cmake -S "$work/version" -B "$work/version/build" -DCMAKE_PREFIX_PATH="$work/moved/opt/sdd"
        grep -q 'version: 0\.\|no target sdd::qt9' "$work/log" || fail "CMake does not say why: $(cat "$work/log")"
    done
    echo "ok CMake: versions"
fi

# ---- make uninstall

rm -rf "$work/stage"
quiet make install DESTDIR="$work/stage" PREFIX=/usr
quiet make uninstall DESTDIR="$work/stage" PREFIX=/usr
[ -z "$(find "$work/stage" -type f -o -type l)" ] || fail "make uninstall leaves $(find "$work/stage" -type f)"
echo "ok make uninstall"
