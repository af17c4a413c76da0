#!/bin/bash
# Writes the tables of the header that Tests/C/interface.h includes, with the first Python that has pycparser (Debian:
# python3-pycparser).
#
#     Tests/C/tables.sh FOLDER [INCLUDE]      writes FOLDER/tables.h; INCLUDE: the header's folder
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for python in python3 /usr/bin/python3; do
    "$python" -c "import pycparser" 2>/dev/null || continue
    exec "$python" tools/make_tables.py "$1/tables.h" "${2:-include}"
done
echo "tables.sh: no Python with pycparser (Debian: python3-pycparser)" >&2
exit 1
