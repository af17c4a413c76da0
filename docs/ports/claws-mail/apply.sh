#!/bin/sh
# Applies the port to the source of Claws Mail 4.3.1. It changes nothing if the files that it touches are not those of
# that version. Says how many lines went and came. It needs ed(1).
#
#     apply.sh SOURCE_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: apply.sh SOURCE_FOLDER" >&2
    exit 2
fi
cd "$1"

if ! sha256sum --check --quiet "$here/files.sha256"; then
    echo "apply.sh: these are not the files of Claws Mail 4.3.1, or they have been changed: nothing was done" >&2
    exit 1
fi

removed=0
added=0
before=$(mktemp)
while read -r _ file; do
    edit=$here/edits/$file.ed
    if [ -e "$edit" ]; then
        cp "$file" "$before"
        { cat "$edit"; echo w; echo q; } | ed -s "$file"
        removed=$((removed + $(diff "$before" "$file" | grep -c '^<' || :)))
        added=$((added + $(diff "$before" "$file" | grep -c '^>' || :)))
    else # nothing of it is left
        removed=$((removed + $(wc -l <"$file")))
        rm "$file"
    fi
done <"$here/files.sha256"
rm "$before"

for file in "$here"/new/*; do
    cp "$file" src/plugins/libravatar/
    added=$((added + $(wc -l <"$file")))
done
echo "$removed lines removed, $added lines added"
