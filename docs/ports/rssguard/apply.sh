#!/bin/bash
# Applies the port to the source of RSS Guard 4.8.6+dfsg-2.
#
#     apply.sh SOURCE_FOLDER
#
# Nothing is changed unless each file is the one that the port was made for. Needs ed.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
cd "$1"
command -v ed >/dev/null || { echo "apply.sh: ed is not installed" >&2; exit 1; }
while read -r sum file; do
    if [ ! -f "$file" ]; then
        echo "apply.sh: $1 has no $file: it is not the source of RSS Guard" >&2
        exit 1
    fi
    if [ "$(sha256sum <"$file")" != "$sum  -" ]; then
        echo "apply.sh: $file is not that of RSS Guard 4.8.6+dfsg-2; nothing was changed" >&2
        exit 1
    fi
done <"$here/files"

while read -r _ file; do
    edit=$here/edits/$(basename "$file").ed
    [ "$file" != src/librssguard/CMakeLists.txt ] || edit=$here/edits/librssguard_CMakeLists.txt.ed
    # Some files have the line ends of DOS, which are given back to them.
    is_dos=$(grep -c $'\r$' "$file" || true)
    sed -i 's/\r$//' "$file"
    { cat "$edit"; echo w; echo q; } | ed -s "$file"
    [ "$is_dos" -eq 0 ] || sed -i 's/$/\r/' "$file"
done <"$here/files"
cp "$here"/pictureloader.{h,cpp} src/librssguard/network-web/
