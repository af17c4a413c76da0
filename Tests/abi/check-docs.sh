#!/bin/bash
# Checks that every libsdd name in the pages named below exists in the header: functions, types, macros, numbers, and the
# field in `sdd_struct.field`. A name that ends in "_" or "_*" stands for all names with that prefix.
#
#     Tests/abi/check-docs.sh [PAGE...]       needs no build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
pages=("$@")
if [ $# = 0 ]; then
    pages=(README.md docs/{features,sdwebimage,debugging,requirements,glossary,coders,design}.md docs/site/examples.md)
    more=(docs/{guides,decisions}/*.md bindings/*/README.md)
    mapfile -t -O "${#pages[@]}" pages < <(grep -lE '\b(sdd|SDD)_[A-Za-z0-9]' "${more[@]}")
fi
# Names that the headers do not define: a function of a coder's object, a word for any struct, a macro of the program,
# and environment variables.
readonly others=(sdd_coder_main sdd_FOUND sdd_struct SDD_GTK_IMPLEMENTATION SDD_LIBRARY SDD_LIB_DIR SDD_LOG
    SDD_CODER_PATH SDD_DECODER SDD_PLAIN_MALLOC)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

fail() { echo "check-docs.sh: $*" >&2; exit 1; }

# Comments are removed, so that a name that only a comment still has does not count. Macros stay; nothing is included.
# -w: macros with a version for each compiler are defined several times.
for header in include/sdd/*.h toolkits/sdd/*.h; do
    gcc -w -fpreprocessed -dD -E -P "$header"
done >"$work/header"
grep -oE '\b(sdd|SDD)_[A-Za-z0-9_]+' "$work/header" | sort -u >"$work/names"
[ -s "$work/names" ] || fail "no name found in include/sdd"

# Lists fields as sdd_struct.field: each word between `typedef struct sdd_struct {` and its `}`.
awk '/^typedef struct sdd_[a-z0-9_]+ \{/ { struct = $3; next }
     /^}/ { struct = "" }
     struct { gsub(/[^A-Za-z0-9_]/, " "); for (i = 1; i <= NF; i++) print struct "." $i }' "$work/header" |
    sort -u >"$work/fields"
grep -qx 'sdd_result\.failure' "$work/fields" || fail "the fields of sdd_result were not found in include/sdd"

wrong=0
report() { echo "check-docs.sh: $*" >&2; wrong=1; }

count=0
for page in "${pages[@]}"; do
    grep -oE '\b(sdd|SDD)_[A-Za-z0-9_]+' "$page" | sort -u >"$work/page" || fail "$page contains no name of libsdd"
    while read -r name; do
        count=$((count + 1))
        case $name in
            *_) grep -q "^$name" "$work/names" || report "$page: no name in the header begins with $name" ;;
            *)
                grep -qx "$name" "$work/names" && continue
                [[ " ${others[*]} " == *" $name "* ]] || report "$page: $name is not a name in the header"
                ;;
        esac
    done <"$work/page"
    while read -r field; do
        count=$((count + 1))
        # Checks a struct's name, a dot and a word; in a file's name ("sdd_demo.h") the first word is not a struct.
        grep -q "^${field%%.*}\." "$work/fields" || continue
        grep -qx "$field" "$work/fields" || report "$page: $field is not a field in the header"
    done < <(grep -oE '\bsdd_[a-z0-9_]+\.[a-z][A-Za-z0-9_]*' "$page" | sort -u)
done
[ $wrong = 0 ] || exit 1
echo "ok docs: $count names of the header in ${pages[*]}"
