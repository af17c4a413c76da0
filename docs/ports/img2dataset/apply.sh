#!/bin/bash
# Makes img2dataset 1.47.0 download by libsdd: changes img2dataset/downloader.py in SOURCE_FOLDER.
#
#     apply.sh SOURCE_FOLDER        an unpacked wheel or a checkout; needs ed
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
expected=da5e8b296d63e1ac4b903b4176f7cf44ca88b5f345ac5543c158cab78d48935a

fail() { echo "apply.sh: $*" >&2; exit 1; }

[ $# -eq 1 ] || fail "one argument is needed: the folder with the source of img2dataset"
file=$1/img2dataset/downloader.py
[ -f "$file" ] || fail "$file does not exist: name the folder that contains the folder img2dataset"
command -v ed >/dev/null || fail "ed is missing: install the package ed"
found=$(sha256sum "$file" | cut -d' ' -f1)
[ "$found" = "$expected" ] || fail "$file is not that of img2dataset 1.47.0, or is changed already (sha256 $found)"
ed -s "$file" <"$folder/downloader.py.ed"
