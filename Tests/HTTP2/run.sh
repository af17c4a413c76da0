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

. Tests/HTTP2/prepare.sh
python3 -m HTTP2.suite "$work/client" "$work/server" "$@"
