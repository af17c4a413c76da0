#!/bin/bash
# Runs the suite of hostile HTTP/3 servers against the built library, where libcurl has HTTP/3.
#
#     Tests/HTTP3/run.sh [NAME...]     only cases whose names contain one of NAME
#
#   SDD_LIBDIR         where libsdd.so is; default: build/
#   SDD_TEST_LONG=1    each flood lasts up to a minute
#   SDD_TEST_JOBS      cases at a time; default 4
#   SDD_TEST_VERBOSE=1 prints how each hostile request ended
#
# Writes only a temporary folder, which is removed when the script ends.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

. Tests/HTTP2/prepare.sh
status=0
"$work/client" <<<"make http3" >"$work/client.log" 2>&1 || status=$?
case $status in
0) ;;
4) echo "skip hostile HTTP/3 servers: libcurl has no HTTP/3" && exit ;;
*) cat "$work/client.log" >&2 && exit "$status" ;;
esac
new_certificate stranger DNS:localhost
new_certificate elsewhere DNS:elsewhere.example
new_certificate expired DNS:localhost -not_before 20200101000000Z -not_after 20200201000000Z
export SDD_TEST_CA=$work/trusted.pem
cat "$work"/{server,elsewhere,expired}.pem >"$SDD_TEST_CA"
python=python3
"$python" -c 'import aioquic' 2>/dev/null || python=/usr/bin/python3 # Debian's package is for Debian's Python
"$python" -m HTTP3.suite "$work/client" "$work/server" "$@"
