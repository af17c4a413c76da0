#!/bin/bash
# Builds every example against an installed copy of the library, as a user would, and runs each against the examples'
# own server, or nginx where a password, a cookie or a certificate is asked for. Installs missing packages with apt-get,
# if it may. Prints "ok NAME" for each check that succeeds and "skip NAME" where a tool is missing; ends at the first
# failure with status 1.
#
#     Tests/examples.sh
#
# Apart from such packages, it writes nothing outside build/.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
work=$root/build/examples-test
stage=$root/build/stage
readonly root work stage

fail() { echo "not ok $*" >&2; exit 1; }
ok() { echo "ok $*"; }
skip() { echo "skip $*"; }
have() { command -v "$1" >/dev/null; }
trap 'echo "not ok: Tests/examples.sh, line $LINENO: $BASH_COMMAND" >&2' ERR

# gives STATUS COMMAND...: runs the command, with a limit of two minutes, and checks its status; its output goes to
# $work/out and $work/err.
gives() {
    local expected=$1 status=0
    shift
    timeout 120 "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq "$expected" ] && return
    cat "$work/out" "$work/err" >&2
    fail "status $status, not $expected: $*"
}

# says PATTERN: checks that the last output has such a line.
# quiet NAME: checks that standard error is empty, except for asyncio's warnings on a slow machine.
quiet() { ! grep -v '^Executing <' "$work/err" || fail "$1: $(cat "$work/err")"; }
says() {
    grep -Eq -- "$1" "$work/out" && return
    cat "$work/out" "$work/err" >&2
    fail "no line like: $1"
}

. Tests/Examples/nginx.sh
. Tests/Examples/programs.sh
. Tests/Examples/coders.sh
. Tests/Examples/dataset.sh
. Tests/Examples/pictures.sh

# ---- packages that some examples need, and a server for them

have_python() { [ -n "$(python_with "$1")" ]; }
missing=()
need() { # need PACKAGE COMMAND...: notes the package unless the command succeeds
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
export PATH=$PATH:/usr/sbin # for nginx
need libglib2.0-dev pkg-config --exists glib-2.0
need libuv1-dev pkg-config --exists libuv
need libwebp-dev pkg-config --exists libwebp libwebpdemux libwebpmux
need libavif-dev pkg-config --exists libavif
need libsqlite3-dev pkg-config --exists sqlite3
need libsdl2-dev pkg-config --exists sdl2
need xvfb have Xvfb
need nginx-light have nginx
need openssl have openssl
need python3-numpy have_python 'numpy, PIL'
need python3-pil have_python 'numpy, PIL'
need python3-numpy have_python 'cffi, numpy'
need python3-cffi have_python 'cffi, numpy'
if [ ${#missing[@]} -gt 0 ] && have apt-get; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    echo "== installing ${missing[*]}"
    { "${as_root[@]}" apt-get -qq update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null; } ||
        echo "== installing failed: some examples are skipped"
fi

# ---- the installed copy

rm -rf "$work" "$stage"
mkdir -p "$work/bin" "$work/pictures" "$work/reference"
make >/dev/null
make install DESTDIR="$stage" PREFIX=/usr >/dev/null
pc_file=$(find "$stage" -name sdd.pc)
library=$(find "$stage" -name libsdd.so.0)
[ -n "$pc_file" ] && [ -n "$library" ] || fail "make install left no sdd.pc, or no libsdd.so.0"
export PKG_CONFIG_PATH=${pc_file%/*}
[[ $(pkg-config --cflags --libs sdd) = *"-I$stage"*"-L$stage"*-lsdd* ]] || fail "sdd.pc points to another folder"
export LD_LIBRARY_PATH=${library%/*} SDD_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1
export XDG_CACHE_HOME=$work/caches # for the shared cache
ok "make install"

# ---- C and C++: each builds alone, by the command in its first line, and without a warning

# build DIRECTORY FILE [COMPILER STANDARD]: also builds with that second compiler, if it is installed.
build() {
    local file=$2 compiler=${3:-clang} standard=${4:-c99} line packages
    cp "$root/examples/$1/$file" "$work/bin/"
    line=$(sed -nE '1s#^(/\*|//) ##p' "$work/bin/$file")
    packages=$(sed -nE 's/.*pkg-config --cflags --libs ([^)]*)\).*/\1/p' <<<"$line")
    if [ -n "$packages" ] && ! pkg-config --exists $packages; then
        skip "$file: not all of $packages are installed"
        return
    fi
    (cd "$work/bin" && eval "$line -Wall -Wextra -pedantic -Werror")
    if have "$compiler"; then
        "$compiler" "-std=$standard" -Wall -Wextra -pedantic -Werror -fsyntax-only \
            $(pkg-config --cflags ${packages:-sdd}) "$work/bin/$file"
    fi
    ok "$file builds with the command in its first line"
}
for name in static_server make_pictures; do build server "$name.c"; done
for name in get load gallery cancel auth cookies priorities custom_transport probe thumbnail progressive cache \
    sqlite_cache contact_sheet viewer glib_loop libuv_loop; do
    build c "$name.c"
done
build cpp raii.cc clang++ c++17
bin=$work/bin

# ---- pictures, and servers for them

"$bin/make_pictures" "$work/pictures" "$work/reference"
echo '<p>not a picture</p>' >"$work/pictures/page.html"
pictures=(circles.jpg glass.png mandelbrot.png plasma.jpg ripples.jpg tiles.png)

gives 1 "$bin/probe" "$work/pictures/"{circles.jpg,tiles.png,page.html} Tests/Fixtures/facts/*.png
says 'pictures/circles.jpg: JPEG, 1023 x 767, 3 channels of 8 bits, progressive$'
says 'pictures/tiles.png: PNG, [0-9]+ x [0-9]+, [34] channels of 8 bits'
says 'pictures/page.html: sdd_image_probe: bytes: they do not begin as a JPEG or PNG does.'
says 'facts/animated.png: PNG, 12 x 8, 3 channels of 8 bits, 3 frames$'
says 'facts/orientation.png: PNG, 19 x 13, 4 channels of 8 bits, orientation 5$'
gives 0 "$bin/probe" Tests/Fixtures/jpeg/progressive-420.jpg
says 'JPEG, 37 x 29, 3 channels of 8 bits, progressive$'
gives 2 "$bin/probe"
ok "probe"

small=$work/small
gives 0 "$bin/thumbnail" "$work/pictures/plasma.jpg" "$small.jpg" # 1600 x 1200
says 'small.jpg: 160 x 120$'
gives 0 "$bin/thumbnail" -s 50 -c 9 "$work/pictures/plasma.jpg" "$small ä.png"
gives 0 "$bin/thumbnail" -s 800 -k 20 "$small ä.png" "$small.png" # not enlarged, and its corners show through
says 'small.png: 50 x 38$'
gives 0 "$bin/thumbnail" -s 800 -k 20 "$work/pictures/plasma.jpg" "$small.20"
[ "$(stat -c %s "$small.20")" -le 20480 ] || fail "thumbnail.c: -k"
gives 0 "$bin/probe" "$small.jpg" "$small.png" "$small.20"
says 'small.jpg: JPEG, 160 x 120, 3 channels of 8 bits$'
says 'small.png: PNG, 50 x 38, 4 channels of 8 bits$'
says 'small.20: JPEG, 800 x 600, 3 channels of 8 bits$'
gives 1 "$bin/thumbnail" "$work/pictures/page.html" "$small.none"
gives 1 "$bin/thumbnail" "$work/pictures/missing.png" "$small.none"
gives 1 "$bin/thumbnail" -c -1 "$work/pictures/plasma.jpg" "$small.none"
[ ! -e "$small.none" ] || fail "thumbnail.c: a file without a picture"
gives 1 "$bin/thumbnail" "$work/pictures/plasma.jpg" /dev/full
gives 2 "$bin/thumbnail" -s 0 "$work/pictures/plasma.jpg" "$small.none"
gives 2 "$bin/thumbnail" "$work/pictures/plasma.jpg"
ok "thumbnail"

mkfifo "$work/alive"
exec {alive}<>"$work/alive" # the servers' input, which ends when this script does
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true' EXIT

# start PATTERN COMMAND...: runs the command in the background and waits for its first line with PATTERN; $line gets the
# text after PATTERN, and $descriptor gives the lines after that one.
start() {
    local pattern=$1 output=$work/output.${#processes[@]}
    shift
    mkfifo "$output"
    "$@" <"$work/alive" >"$output" 2>"$output.err" {alive}>&- &
    processes+=($!)
    exec {descriptor}<"$output" # stays open: later output must not hit a closed pipe
    while read -t 60 -r line <&"$descriptor"; do
        [ "${line#"$pattern"}" = "$line" ] || break
    done
    line=${line#"$pattern"}
    [ -n "$line" ] || fail "no line \"$pattern\" from: $*"
}
start "listening " "$bin/static_server" "$work/pictures"
base=$line
start "listening " "$bin/static_server" --rate 200000 "$work/pictures"
slow=$line
start "listening " "$bin/static_server" --require "Referer: https://example.org/" "$work/pictures"
closed=$line
gives 0 "$bin/static_server" "$work/pictures" # with no input
says '^listening http://127\.0\.0\.1:[0-9]+/$'
ok "static_server ends with its input"

# raw REQUEST: sends a request as it is, and keeps the response as the last output.
raw() {
    local port=${base##*:} connection
    exec {connection}<>"/dev/tcp/127.0.0.1/${port%/}"
    printf '%b' "$1" >&"$connection"
    timeout 60 tr -d '\r\0' <&"$connection" >"$work/out"
    exec {connection}>&-
}
raw 'HEAD /tiles.png HTTP/1.1\r\n\r\nGET /page.html?x HTTP/1.1\r\nconnection: close\r\n\r\n' # both on one connection
[ "$(grep -c '^HTTP/1.1 200 OK$' "$work/out")" -eq 2 ] || fail "static_server: two requests on one connection"
says '^Content-Type: image/png$'
says "^Content-Length: $(stat -c %s "$work/pictures/tiles.png")$"
says '^<p>not a picture</p>$'
for path in /../reference/tiles.png.ppm //../list /.hidden "/$work/reference/tiles.png.ppm" / /missing; do
    raw "GET $path HTTP/1.0\r\n\r\n"
    says '^HTTP/1.1 404 Not Found$'
done
ok "static_server: HEAD, keep-alive, nothing from outside its directory"

http= # stays empty without nginx
if have nginx && have openssl; then
    start_nginx
    http=http://127.0.0.1:$port
fi

urls=("${pictures[@]/#/$base}")

# same_pictures DIRECTORY: checks that it has exactly the pixels that were drawn, or that libjpeg decodes.
same_pictures() {
    local number=0 picture reference
    for picture in "${pictures[@]}"; do
        number=$((number + 1))
        reference=$(echo "$work/reference/$picture".p?m)
        cmp "$reference" "$1/$number-$picture.${reference##*.}" || fail "$picture has other pixels in $1"
    done
}

# ---- get: the same behaviour in each language

check_get() { # check_get NAME COMMAND...
    local name=$1 directory=$work/$1
    shift
    mkdir -p "$directory"
    gives 0 "$@" -o "$directory" "${urls[@]}"
    [ ! -s "$work/err" ] || fail "$name: progress, but no terminal"
    [ "$(wc -l <"$work/out")" -eq ${#urls[@]} ] || fail "$name: not one line each"
    says "^plasma.jpg +1600 x 1200 +$(stat -c %s "$work/pictures/plasma.jpg") bytes +[0-9]+ ms  HTTP 200$"
    sed -E 's/ +[0-9]+ ms/ ms/' "$work/out" | sort >"$directory/lines"
    same_pictures "$directory"
    ok "$name: pixels and lines"

    gives 1 "$@" -o "$directory" "${base}missing.png" "${base}page.html" http://127.0.0.1:1/x.png "${urls[0]}"
    says '^missing.png +SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    says '^page.html +SDD_ERROR_BAD_IMAGE_DATA: .'
    says '^x.png +SDD_ERROR_CONNECT: .'
    says '^circles.jpg +1023 x 767 '
    gives 2 "$@"
    ok "$name: errors and exit status"

    gives 1 "$@" -o "$directory" "${closed}tiles.png"
    says '^tiles.png +SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    gives 0 "$@" -o "$directory" -H "Referer: https://example.org/" "${closed}tiles.png"
    ok "$name: header"

    mkdir -p "$directory/names"
    gives 0 "$@" -o "$directory/names" "${base}tiles.png?/../../up.png#/../up.png"
    [ "$(cd "$directory" && find names -type f)" = names/1-tiles.png.ppm ] || fail "$name: file name"
    ok "$name: file names"

    gives 0 script -qec "$(printf '%q ' "$@" -o "$directory" "${urls[@]}")" /dev/null
    says '\[=+ *\] [0-6] of 6'
    ok "$name: progress on a terminal"
}
check_get get.c "$bin/get"
gives 1 "$bin/get" -o "$work/nowhere" "${urls[0]}"
says 'cannot be written'
ok "get.c: a directory that is not there"

# ---- gallery and cancel, in C

printf '%s\n' "${urls[@]:0:3}" >"$work/list"
gives 0 "$bin/gallery" -i "$work/list" -o "$work/c.ppm" "${urls[@]:3}"
says '^plasma.jpg +1600 x 1200$'
[ "$(head -c 15 "$work/c.ppm")" = $'P6\n960 120\n255' ] || fail "gallery.c: the sheet"
gives 1 "$bin/gallery" -o "$work/c-missing.ppm" "${urls[@]}" "${base}missing.png"
says '^missing.png +SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
gives 0 script -qec "$(printf '%q ' "$bin/gallery" -o "$work/c.ppm" "${slow}glass.png" "${urls[@]:1}")" /dev/null
says 'glass.png +\[=* *\] [0-9]+'
gives 0 "$bin/gallery" -o "$work/c.ppm" "${urls[@]}"
ok "gallery.c"

gives 0 "$bin/cancel" "${slow}mandelbrot.png" "${slow}tiles.png" "${base}glass.png" "${base}plasma.jpg"
says '^http.*/mandelbrot.png: SDD_ERROR_CANCELLED: .'
says '^1 cancelled, 3 pictures, of 4$'
gives 0 "$bin/cancel" "${slow}plasma.jpg" "${slow}plasma.jpg" # these share a transfer
gives 1 "$bin/cancel" "${slow}mandelbrot.png" "${base}missing.png"
ok "cancel.c"

check_load
check_contact_sheet
check_viewer
check_progressive
if [ -n "$http" ]; then
    check_auth
    check_cookies
    check_cache
    check_sqlite_cache
else
    skip "auth.c, cookies.c, cache.c, sqlite_cache.c: no nginx, or no openssl"
fi
check_priorities
check_custom_transport
check_loop glib_loop
check_loop libuv_loop
check_raii
check_coders

# ---- valgrind, with a user's program: with the installed suppressions it reports only that program's leaks

if have valgrind; then
    memcheck=(valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,possible
        "--suppressions=$(pkg-config --variable=suppressions sdd)")
    gives 0 "${memcheck[@]}" "$bin/load" "${base}circles.jpg" "${base}tiles.png"
    cat >"$work/leak.c" <<'C'
#include <sdd/sdd.h>
int main(void)
{
    sdd_bytes_create("lost", 4);
    return 0;
}
C
    # shellcheck disable=SC2046 # words on purpose
    cc "$work/leak.c" $(pkg-config --cflags --libs sdd) -o "$work/leak"
    gives 9 "${memcheck[@]}" "$work/leak"
    ok "valgrind: no report about the library, with its suppressions"
fi

# ---- Python

python=$(python_with cffi)
if [ -n "$python" ]; then
    export PYTHONPATH=$root/bindings/python/src
    check_dataset
    check_cached
    check_get get.py "$python" examples/python/get.py
    cmp "$work/get.c/lines" "$work/get.py/lines" || fail "get.py: other lines than get.c"

    gallery=("$python" -X dev -W error examples/python/asyncio_gallery.py -o "$work/py.ppm")
    gives 0 "${gallery[@]}" "${urls[@]}"
    cmp "$work/c.ppm" "$work/py.ppm" || fail "asyncio_gallery.py: another sheet than gallery.c"
    gives 1 "${gallery[@]}" "${urls[0]}" "${base}missing.png"
    says 'missing.png SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    gives 0 "${gallery[@]}" -n 1 "${slow}mandelbrot.png" "${urls[0]}"
    says 'mandelbrot.png cancelled$'
    quiet asyncio_gallery.py
    ok "asyncio_gallery.py: the same sheet as gallery.c, with only the requested pictures"

    gives 0 "$python" -X dev -W error Tests/Examples/forked.py "${base}plasma.jpg" "${base}glass.png"
    says '^100( 100){5}$'
    [ ! -s "$work/err" ] || fail "forked.py: $(cat "$work/err")"
    ok "forked.py: a process pool, forked by a process that has used the library"
    if [ -n "$http" ]; then check_session_py; fi
else
    skip "Python: no cffi"
fi

# ---- Rust, with the crates as they are in the tree

# crate NAME: builds the crate in $work/NAME, offline, with those of Debian's packages.
crate() {
    cp -r bindings/rust/.cargo "$work/$1/"
    (cd "$work/$1" && RUSTFLAGS="-D warnings" timeout 600 cargo build --quiet --offline)
}
have_crates() { have cargo && compgen -G "/usr/share/cargo/registry/pkg-config-*" >/dev/null; }
if have_crates; then
    mkdir "$work/rust"
    cp -r examples/rust/src "$work/rust/"
    sed "s|path = \"\.\./\.\.|path = \"$root|" examples/rust/Cargo.toml >"$work/rust/Cargo.toml"
    crate rust
    if cargo clippy --version >/dev/null 2>&1; then
        (cd "$work/rust" && timeout 600 cargo clippy --quiet --offline -- -D warnings)
        ok "Rust: clippy finds nothing"
    fi
    rust=$work/rust/target/debug
    check_get sdd-get "$rust/sdd-get"
    cmp "$work/get.c/lines" "$work/sdd-get/lines" || fail "sdd-get: other lines than get.c"
    check_sdd_load "$rust/sdd-load"
    if [ -n "$http" ]; then check_sdd_session "$rust/sdd-session"; fi
    if [ -n "$http" ] && [ -n "$python" ]; then
        cmp "$work/session.py/lines" "$work/sdd-session/lines" || fail "sdd-session: other lines than session.py"
    fi
else
    skip "Rust: no cargo, or no librust-pkg-config-dev"
fi

# ---- HTTPS

if have openssl && have_crates; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
        -keyout "$work/certificate.key" -out "$work/certificate.pem" 2>"$work/err"
    start "ACCEPT " bash -c 'cd "$1" && exec openssl s_server -4 -accept 0 -WWW -cert "$2.pem" -key "$2.key"' \
        - "$work/pictures" "$work/certificate"
    https=https://127.0.0.1:${line##*:}
    gives 0 "$rust/sdd-get" --ca-file "$work/certificate.pem" -o "$work" "$https/glass.png"
    cmp "$work/reference/glass.png.pam" "$work/1-glass.png.pam"
    gives 1 "$bin/get" -o "$work" "$https/glass.png"
    says '^glass.png +SDD_ERROR_TLS: .'
    ok "HTTPS: succeeds only with its certificate"
else
    skip "HTTPS: no openssl, no cargo, or no librust-pkg-config-dev"
fi

# ---- README.md: its programs, which print the same lines

block() { awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' README.md; }
asked=("${urls[@]}" "${base}missing.png")

block c >"$work/readme.c"
cc -std=c99 -Wall -Wextra -pedantic -Werror "$work/readme.c" $(pkg-config --cflags --libs sdd) -o "$bin/readme"
gives 0 "$bin/readme" "${asked[@]}"
says '/circles.jpg: 1023 x 767$'
says '/missing.png: .'
[ "$(wc -l <"$work/out")" -eq 7 ] || fail "README.md, C: not one line each"
sort "$work/out" >"$work/readme.lines"
ok "README.md: C"
if have python3; then
    gives 1 python3 -X dev -W error examples/python/ctypes_load.py "${asked[@]}"
    [ ! -s "$work/err" ] || fail "ctypes_load.py: $(cat "$work/err")"
    sort "$work/out" | cmp - "$work/readme.lines" || fail "ctypes_load.py prints something else than the README's C"
    gives 0 python3 examples/python/ctypes_load.py "${urls[@]}"
    ok "ctypes_load.py: the same in Python without a package"
fi
if [ -n "$python" ]; then
    block python >"$work/readme.py"
    gives 0 "$python" "$work/readme.py" "${asked[@]}"
    sort "$work/out" | cmp - "$work/readme.lines" || fail "README.md: Python prints something else than C"
    ok "README.md: Python"
else
    skip "README.md: Python: no cffi"
fi
if have_crates; then
    mkdir -p "$work/readme-rust/src"
    block rust >"$work/readme-rust/src/main.rs"
    printf '[package]\nname = "readme"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s\n' \
        "sdd = { path = \"$root/bindings/rust/sdd\" }" >"$work/readme-rust/Cargo.toml"
    crate readme-rust
    gives 0 "$work/readme-rust/target/debug/readme" "${asked[@]}"
    sort "$work/out" | cmp - "$work/readme.lines" || fail "README.md: Rust prints something else than C"
    ok "README.md: Rust"
else
    skip "README.md: Rust: no cargo, or no librust-pkg-config-dev"
fi

# ---- the demo

env -u LD_LIBRARY_PATH examples/demo.sh >"$work/demo.out" 2>&1 </dev/null || fail "demo.sh: $(cat "$work/demo.out")"
same_pictures build/demo
cp "$work/demo.out" "$work/out"
says '^tiles.png +64 x 64 '
env -u LD_LIBRARY_PATH examples/demo.sh "${base}glass.png" >"$work/out" 2>&1 </dev/null
says '^glass.png +512 x 512 '
cmp "$work/reference/glass.png.pam" build/demo/1-glass.png.pam
ok "demo.sh"
echo "all examples work"
