#!/bin/bash
# Checks the manual pages that tools/make_man.py has made in build/man: mandoc and man find nothing to complain about,
# each call of the library has a page, and each reference leads to one.
#
#     Tests/Docs/man.sh        after `make man`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fail() { echo "man.sh: $*" >&2; exit 1; }
for tool in mandoc man; do command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install mandoc man-db"; done

cd build/man
pages=(man3/*.3 man7/*.7)
own=() # pages with a text of their own
for page in "${pages[@]}"; do
    if [ "$(head -c 4 "$page")" = ".so " ]; then
        target=$(sed -n '1s/^\.so //p' "$page")
        [ -s "$target" ] || fail "$page leads to $target, which is not there"
    else
        own+=("$page")
    fi
done

# mandoc looks for references among the installed pages; they are checked below.
complaints=$(mandoc -T lint -W style "${own[@]}" | grep -v 'STYLE: referenced manual not found' || true)
[ -z "$complaints" ] || fail "mandoc complains: $complaints"
for page in "${own[@]}"; do
    # Since version 1.23 groff also says where a line of long names keeps a ragged margin.
    said=$(MANROFFSEQ='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null |
        grep -v 'cannot adjust line' || true)
    [ -z "$said" ] || fail "man complains: $page: $said"
done
while read -r name section; do
    # sdd(1) is the tool's, in docs/man.
    [ -e "man$section/$name.$section" ] || [ "$name.$section" = sdd.1 ] || fail "no page $name($section)"
done < <(sed -nE 's/^\.(It )?Xr ([^ ]+) ([0-9]).*/\2 \3/p' "${own[@]}" | sort -u)

count=0
while read -r name; do
    [ -e "man3/$name.3" ] || fail "$name has no page"
    count=$((count + 1))
done < <(grep -o '^sdd_[a-z0-9_]*' ../../Tests/abi/symbols.expected)
text=$(MANPATH=$PWD man -P cat sdd_load | col -b)
grep -q 'NAME' <<<"$text" && grep -q 'sdd_load(sdd_loader' <<<"$text" || fail "man sdd_load shows something else"
text=$(MANPATH=$PWD man -P cat 7 libsdd | col -b)
grep -q '^RULES' <<<"$text" || fail "man 7 libsdd shows something else"
echo "ok manual pages: ${#own[@]}, with names for $count calls"
