#!/bin/bash
# Every name of libsdd in the pages named below is one of the header: functions, types, macros, numbers, and the field
# in `sdd_struct.field`. What ends in "_" or "_*" stands for names that begin so.
#
#     Tests/abi/check-docs.sh [PAGE...]       needs no build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
pages=("$@")
[ $# -gt 0 ] || pages=(README.md docs/sdwebimage.md docs/debugging.md docs/requirements.md)
# What looks like a name of libsdd, and is none: a module of the examples, and a variable of the environment.
readonly others=(sdd_ctypes sdd_helpers SDD_LIBRARY SDD_LOG)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

fail() { echo "check-docs.sh: $*" >&2; exit 1; }

# Without comments, so that a name that only a comment still has does not count. Macros stay; nothing is included. Those
# of several compilers are defined one after the other: -w.
for header in include/sdd/*.h; do
    gcc -w -fpreprocessed -dD -E -P "$header"
done >"$work/header"
grep -oE '\b(sdd|SDD)_[A-Za-z0-9_]+' "$work/header" | sort -u >"$work/names"
[ -s "$work/names" ] || fail "no name found in include/sdd"

# Fields, as sdd_struct.field: each word between `typedef struct sdd_struct {` and its `}`.
awk '/^typedef struct sdd_[a-z0-9_]+ \{/ { struct = $3; next }
     /^}/ { struct = "" }
     struct { gsub(/[^A-Za-z0-9_]/, " "); for (i = 1; i <= NF; i++) print struct "." $i }' "$work/header" |
    sort -u >"$work/fields"
grep -qx 'sdd_result\.error' "$work/fields" || fail "the fields of sdd_result were not found in include/sdd"

wrong=0
report() { echo "check-docs.sh: $*" >&2; wrong=1; }

count=0
for page in "${pages[@]}"; do
    grep -oE '\b(sdd|SDD)_[A-Za-z0-9_]+' "$page" | sort -u >"$work/page" || fail "$page names nothing of libsdd"
    while read -r name; do
        count=$((count + 1))
        case $name in
            *_) grep -q "^$name" "$work/names" || report "$page: no name of the header begins with $name" ;;
            *)
                grep -qx "$name" "$work/names" && continue
                [[ " ${others[*]} " == *" $name "* ]] || report "$page: $name is no name of the header"
                ;;
        esac
    done <"$work/page"
    while read -r field; do
        count=$((count + 1))
        # A struct's name, a dot and a word; of a file's name ("sdd_ctypes.py") the first is no struct.
        grep -q "^${field%%.*}\." "$work/fields" || continue
        grep -qx "$field" "$work/fields" || report "$page: $field is no field of the header"
    done < <(grep -oE '\bsdd_[a-z0-9_]+\.[a-z][A-Za-z0-9_]*' "$page" | sort -u)
done
[ $wrong = 0 ] || exit 1
echo "ok docs: $count names of the header in ${pages[*]}"
