#!/bin/bash
# Runs the suite of hostile HTTP/2 servers against the built library.
#
#     Tests/HTTP2/run.sh [NAME...]     only cases whose names contain one of NAME
#
#   SDD_LIBDIR       where libsdd.so is; default: build/
#   SDD_TEST_LONG=1  each flood lasts up to a minute, and stories with many floods are run
#   SDD_TEST_JOBS    cases at a time; default 4
#
# Writes only a temporary folder, which is removed when the script ends.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-http2.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/lib"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinclude Tests/HTTP2/client.c -o "$work/client" \
    -L"$work/lib" -lsdd -Wl,-rpath,"$work/lib"

quiet() { "$@" >"$work/openssl.log" 2>&1 || { cat "$work/openssl.log" >&2; exit 1; }; }
new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
quiet openssl req -x509 "${new_key[@]}" -days 3650 -subj "/CN=localhost" -addext "subjectAltName=DNS:localhost" \
    -keyout "$work/server.key" -out "$work/server.pem"
export SDD_TEST_CA=$work/server.pem
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
PYTHONDONTWRITEBYTECODE=1 python3 Tests/HTTP2/suite.py "$work/client" "$work/server" "$@"
