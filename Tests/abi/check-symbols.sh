#!/bin/bash
# Checks that the exported symbols, and the versions that introduced them, are the same in five places: the header, the
# library, the version script, symbols.expected and the Debian symbols file.
#
#     Tests/abi/check-symbols.sh build/libsdd.so.0.1.0
#
# Only this check notices a function of the façade that is not `public` or was never written, and so is missing in the
# library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly library=$1 header=include/sdd/sdd.h map=Sources/SDD/sdd.map
readonly expected=Tests/abi/symbols.expected debian=debian/libsdd0.symbols
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

fail() { echo "check-symbols.sh: $*" >&2; exit 1; }

# same WHAT FILE WHAT FILE: compares two sorted lists.
same() {
    diff --label "$1" --label "$3" -U0 "$2" "$4" >&2 || fail "$1 and $3 differ: - only in the first, + only in the second"
}

# Declarations: a name, then a parenthesis. Pointers to functions have their name inside parentheses.
gcc -std=c11 -E -P "$header" | grep -oP '\bsdd_[a-z0-9_]+ *\((?![ *])' | tr -d ' (' | sort >"$work/header"
[ -s "$work/header" ] || fail "no function found in $header"
[ -z "$(uniq -d "$work/header")" ] || fail "declared twice: $(uniq -d "$work/header" | xargs)"

# nm lists address, kind, NAME@@NODE. Every line counts: any other exported symbol is an error.
nm -D --defined-only "$library" | awk '{ sub(/@@?/, " ", $3); print $3 }' | sort >"$work/library"
sed 's/$/ SDD_0/' "$work/header" >"$work/declared"
same "$header" "$work/declared" "$library" "$work/library"

# Lines of symbols.expected: NAME NODE VERSION; # begins a comment.
sed -e 's/ *#.*//' -e '/^$/d' "$expected" >"$work/expected.full"
sort -c "$work/expected.full" || fail "$expected is not sorted"
if grep -vE '^sdd_[a-z0-9_]+ SDD_[0-9]+ [0-9]+\.[0-9]+\.[0-9]+$' "$work/expected.full"; then
    fail "$expected has malformed lines"
fi
cut -d' ' -f1,2 "$work/expected.full" >"$work/expected"
same "$expected" "$work/expected" "$library" "$work/library"

# The version that introduced each symbol, from its comment.
awk -f Tests/abi/since.awk include/sdd/*.h | sort >"$work/since"
cut -d' ' -f1,3 "$work/expected.full" >"$work/versions"
same "Since: in include/sdd" "$work/since" "$expected" "$work/versions"

# Lines of the Debian file: " NAME@NODE VERSION".
sed -n 's/^ \([^@ ]*\)@\([^ ]*\) /\1 \2 /p' "$debian" | sort >"$work/debian"
same "$expected" "$work/expected.full" "$debian" "$work/debian"

# The version script: every name must match a pattern under `global:`, every pattern must match a name, and all other
# symbols are local.
mapfile -t patterns < <(sed -n '/global:/,/local:/p' "$map" | grep -oE '[A-Za-z0-9_*?]+;' | tr -d ';')
[ ${#patterns[@]} -gt 0 ] || fail "$map exports nothing"
sed -n '/local:/,/}/p' "$map" | grep -q '\*;' || fail "$map does not hide all other symbols"
while read -r name; do
    for pattern in "${patterns[@]}"; do
        # shellcheck disable=SC2053 # a pattern on purpose
        [[ $name == $pattern ]] && continue 2
    done
    fail "$map does not export $name"
done <"$work/header"
for pattern in "${patterns[@]}"; do
    while read -r name; do
        # shellcheck disable=SC2053
        [[ $name == $pattern ]] && continue 2
    done <"$work/header"
    fail "$map exports $pattern, which matches no name in $header"
done

echo "ok $(wc -l <"$work/header") symbols: header, library, version script, symbols.expected, Debian"
