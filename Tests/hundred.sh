#!/bin/bash
# Fetches a hundred pictures from nginx over TLS and HTTP/2, eight at a time, with the examples in C, Python and Rust:
# each must get all of them, with the pixels that were drawn. Prints "ok NAME: TIME" for each.
#
#     Tests/hundred.sh
#
# Writes nothing outside build/.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$PWD/build/hundred
stage=$PWD/build/hundred/stage
readonly work stage
fail() { echo "not ok $*" >&2; exit 1; }
trap 'echo "not ok: Tests/hundred.sh, line $LINENO: $BASH_COMMAND" >&2' ERR

# ---- the programs

rm -rf "$work"
mkdir -p "$work/files" "$work/reference" "$work/rust" "$work/nginx" "$work/crate"
make >/dev/null
make install DESTDIR="$stage" PREFIX=/usr >/dev/null
pc_file=$(find "$stage" -name sdd.pc)
library=$(find "$stage" -name libsdd.so.0)
export PKG_CONFIG_PATH=${pc_file%/*} LD_LIBRARY_PATH=${library%/*} SDD_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$PWD/bindings/python/src
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import cffi' 2>/dev/null; then python=$candidate && break; fi
done
cc -std=c99 -O2 examples/c/gallery.c $(pkg-config --cflags --libs sdd) -o "$work/gallery"
cc -std=c99 -O2 examples/server/make_pictures.c $(pkg-config --cflags --libs libjpeg libpng) -lm -o "$work/make_pictures"
if command -v cargo >/dev/null && compgen -G "/usr/share/cargo/registry/pkg-config-*" >/dev/null; then
    cp -r examples/rust/src bindings/rust/.cargo "$work/crate/"
    sed "s|path = \"\.\./\.\.|path = \"$PWD|" examples/rust/Cargo.toml >"$work/crate/Cargo.toml"
    (cd "$work/crate" && cargo build --quiet --release --offline --bin sdd-get)
fi

# ---- six pictures under a hundred names

"$work/make_pictures" "$work/files" "$work/reference"
pictures=("$work"/files/*)
[ ${#pictures[@]} -eq 6 ] || fail "not six pictures"
names=()
for number in {0..99}; do
    source=${pictures[number % 6]}
    name=$number-${source##*/}
    cp "$source" "$work/files/$name"
    names+=("$name")
done

# ---- nginx

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
nginx=$(PATH=$PATH:/usr/sbin command -v nginx)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
is_up() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
for try in {1..20}; do
    port=$((20000 + RANDOM % 12000))
    if is_up; then continue; fi
    cat >"$work/nginx.conf" <<EOF
daemon off;
master_process off; # a worker would be another user, who may not enter the folders above the tree
pid $work/nginx/pid;
error_log $work/nginx/error.log;
events {}
http {
    log_format protocol '\$server_protocol \$status \$connection';
    access_log $work/nginx/access.log protocol;
    client_body_temp_path $work/nginx/1; proxy_temp_path $work/nginx/2; fastcgi_temp_path $work/nginx/3;
    uwsgi_temp_path $work/nginx/4; scgi_temp_path $work/nginx/5;
    types { image/jpeg jpg; image/png png; }
    root $work/files;
    server {
        listen 127.0.0.1:$port ssl http2;
        ssl_certificate $work/cert.pem;
        ssl_certificate_key $work/key.pem;
    }
}
EOF
    "$nginx" -e "$work/nginx/error.log" -c "$work/nginx.conf" &
    server=$!
    # nginx writes its process id once it listens, and ends at once if it cannot.
    while kill -0 "$server" 2>/dev/null && ! is_up; do read -rt 0.05 <> <(:) || true; done
    if is_up; then break; fi
    server=
done
[ -n "$server" ] || fail "nginx does not start: $(tail -1 "$work/nginx/error.log")"
urls=("${names[@]/#/https://localhost:$port/}")

# ---- the three examples

fetch() { # fetch NAME LINES COMMAND...: fetches all pictures at once with the example's own downloader
    local name=$1 lines=$2 begin=${EPOCHREALTIME/./} status=0
    shift 2
    : >"$work/nginx/access.log"
    kill -USR1 "$server"
    timeout 120 "$@" "${urls[@]}" >"$work/$name.out" 2>&1 </dev/null || status=$?
    local milliseconds=$(((${EPOCHREALTIME/./} - begin) / 1000))
    [ "$status" -eq 0 ] || { tail -3 "$work/$name.out" >&2; fail "$name: status $status"; }
    [ "$(grep -cE "$lines" "$work/$name.out")" -eq 100 ] || fail "$name: not a hundred lines"
    echo "ok $name: 100 pictures over TLS, 8 at a time, in $milliseconds ms"
}
fetch c '^[0-9]+-.* [0-9]+ x [0-9]+$' "$work/gallery" -c "$work/cert.pem" -j 8 -o "$work/c.ppm"
if [ -n "$python" ]; then
    fetch python ' [0-9]+ x [0-9]+$' "$python" examples/python/asyncio_gallery.py -c "$work/cert.pem" -j 8 \
        -o "$work/python.ppm"
    cmp "$work/c.ppm" "$work/python.ppm" || fail "C and Python have other contact sheets"
else
    echo "skip python: no cffi"
fi
get=$work/crate/target/release/sdd-get
if [ -x "$get" ]; then
    fetch rust 'HTTP 200$' "$get" --ca-file "$work/cert.pem" -j 8 -o "$work/rust"
    for index in {0..99}; do
        name=${names[index]}
        cmp "$work/rust/$((index + 1))-$name".p?m "$work/reference/${name#*-}".p?m || fail "rust: other pixels of $name"
    done
else
    echo "skip rust: no cargo, or no librust-pkg-config-dev"
fi
[ "$(sort -u <(cut -d' ' -f1,2 "$work/nginx/access.log"))" = "HTTP/2.0 200" ] || fail "not all by HTTP/2 with status 200"
echo "ok all by HTTP/2"
