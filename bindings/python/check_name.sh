#!/bin/bash
# Tells before a release whether the name of the distribution is free: whether the index that pip uses has one of that
# name which is not this project's. The status is 1 then, and 2 if the index cannot be asked.
#
#     bindings/python/check_name.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
name=$(sed -n 's/^name = "\(.*\)"$/\1/p' pyproject.toml)
summary=$(sed -n 's/^description = "\(.*\)"$/\1/p' pyproject.toml)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ask() { python3 -m pip download --quiet --no-deps --dest "$work" "$1" >"$work/said" 2>&1; }

# What every index has tells that this one answers.
ask wheel || { cat "$work/said" >&2; exit 2; }
rm -f "$work"/*
if ask "$name"; then
    case $(ls "$work" | grep -v ^said) in
    *.whl) metadata=$(unzip -p "$work"/*.whl '*.dist-info/METADATA') ;;
    *) metadata=$(tar -xOf "$work"/*.tar.* --wildcards '*/PKG-INFO') ;;
    esac
    theirs=$(sed -n 's/^Summary: //p' <<<"$metadata" | head -n 1)
    if [ "$theirs" != "$summary" ]; then
        echo "check_name.sh: $name is somebody else's: \"$theirs\"" >&2
        exit 1
    fi
    echo "$name is this project's."
elif grep -q 'No matching distribution found' "$work/said"; then
    echo "$name is free."
else
    cat "$work/said" >&2
    exit 2
fi
