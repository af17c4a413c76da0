#!/bin/bash
# Checks that the header compiles together with others: before and after the headers of Qt 6, GTK 4, GLib and X11, whose
# macros are short words (slots, signals, emit, foreach, None, Status, Bool, True, Success), as C and as C++; with other
# linkage of the functions; and the README's program as C99 to C++20. Missing packages are skipped; Tests/run.sh
# installs all of them.
#
#     Tests/abi/check-compilers.sh       needs no build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly warnings=(-Wall -Wextra -pedantic -Werror)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "check-compilers.sh: $*" >&2; exit 1; }

clang=
if command -v clang >/dev/null; then
    clang=clang
elif command -v swift >/dev/null && [ -x "$(dirname "$(realpath "$(command -v swift)")")/clang" ]; then
    clang=$(dirname "$(realpath "$(command -v swift)")")/clang
fi

count=0
# compile LANGUAGE STANDARD FILE FLAG...: compiles with gcc and clang
compile() {
    local language=$1 standard=$2 file=$3 compiler
    shift 3
    for compiler in gcc $clang; do
        "$compiler" -x "$language" "-std=$standard" "${warnings[@]}" -Iinclude "$@" -fsyntax-only "$file" ||
            fail "$compiler, $standard: $(xargs -d '\n' <"$file" | cut -c1-200)"
        count=$((count + 1))
    done
}

# ---- before and after others' headers

# among PACKAGE LANGUAGE STANDARD HEADER [FLAG...]: treats the other headers' folders as the system's, so that only our
# own warnings count. Uses every struct and every inline function, so that a macro between the two includes has an
# effect.
among() {
    local package=$1 language=$2 standard=$3 header=$4 flags
    shift 4
    if ! pkg-config --exists "$package"; then
        echo "skip $header: $package is not installed"
        return
    fi
    flags=$(pkg-config --cflags "$package" | sed 's/-I/-isystem /g')
    printf '#include <%s>\n#include <sdd/sdd.h>\nint here;\n' "$header" >"$work/behind"
    printf '#include <sdd/sdd.h>\n#include <%s>\nint here;\n' "$header" >"$work/before"
    # shellcheck disable=SC2086 # words on purpose
    compile "$language" "$standard" "$work/behind" $flags "$@"
    # shellcheck disable=SC2086
    compile "$language" "$standard" "$work/before" $flags "$@"
}
among gtk4 c c11 gtk/gtk.h
among gtk4 c++ c++17 gtk/gtk.h
among glib-2.0 c c99 glib-object.h
among x11 c c99 X11/Xlib.h
among x11 c++ c++20 X11/Xlib.h
among Qt6Core c++ c++17 QtCore/QtCore -fPIC
among Qt6Widgets c++ c++20 QtWidgets/QWidget -fPIC

# Defines each of these words as an empty macro or with another meaning.
{
    printf '#define %s\n' slots signals emit foreach Q_SLOTS forever
    printf '#define %s 0L\n' None Success False Always Bool Status True Unsorted KeyPress
    printf '#include <sdd/sdd.h>\nint here;\n'
} >"$work/words"
compile c c99 "$work/words"
compile c++ c++11 "$work/words"

# ---- other linkage, and functions that cannot throw

printf '#define SDD_API static\n#include <sdd/sdd.h>\nint here;\n' >"$work/linkage"
compile c c99 "$work/linkage" -Wno-unused-function
compile c++ c++17 "$work/linkage" -Wno-unused-function
printf '#define SDD_NOEXCEPT_CALLBACKS\n#include <sdd/sdd.h>\nint here;\n' >"$work/noexcept"
for standard in c++11 c++17 c++2b; do compile c++ $standard "$work/noexcept"; done

# ---- the README's program

awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >"$work/readme"
grep -q 'int main(int argc' "$work/readme" || fail "README.md has no program in C"
for standard in c99 c11 c17 c2x; do compile c $standard "$work/readme"; done
for standard in c++11 c++14 c++17 c++20 c++2b; do compile c++ $standard "$work/readme"; done

echo "ok header: $count compilations among Qt, GTK, GLib and X11, with other linkage, and of README.md"
