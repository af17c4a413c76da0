#!/bin/bash
# Runs the long forms of all suites one after the other, each with its own time limit, and then writes their results
# into the first part of docs/reliability.md. The part of that page written by hand, after a marker line, stays. The page
# is of one commit, the last that changed anything but the page itself: results of other commits are not on it, and a
# tree with changes that are not committed is refused.
#
#     Tests/torture.sh [STEP...]
#
#   TORTURE_SCALE   1: everything, some hours on two cores; 0.1: a tenth of the counts, and the short forms of suites
#                   without counts
#
# Named steps run again; for the others the page keeps the results of their last run on this commit, also if that was in
# another clone, which committed the page.
# Needs build/libsdd.so and the fault server, as `make torture` makes them. The status is 1 if a step of this run fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scale=${TORTURE_SCALE:-1}
page=docs/reliability.md
if changed=$(git status --porcelain --untracked-files=no -- . ":!$page") && [ -n "$changed" ]; then
    printf 'torture.sh: the results are of one commit, and the tree differs from it:\n%s\n' "$changed" >&2
    exit 2
fi
commit=$(git log -1 --format=%h -- . ":!$page" 2>/dev/null) && [ -n "$commit" ] ||
    { echo "torture.sh: no commit: this is no clone" >&2; exit 2; }
out=build/torture/$commit
mark='<!-- From here on by hand. -->'
mkdir -p "$out"
times() { awk -v scale="$scale" -v count="$1" 'BEGIN { n = int(scale * count); print n < 1 ? 1 : n }'; }
[ "$(times 100)" -lt 100 ] || export SDD_TEST_LONG=1
every=$(awk -v scale="$scale" 'BEGIN { n = int(1 / scale + 0.5); print n < 1 ? 1 : n }')

# name | limit in seconds | command
steps=(
    "random calls|1500|SDD_RANDOM_SECONDS=$(times 600) SDD_TEST_SECONDS=1400 Tests/C/run.sh plain test_random_calls"
    "random calls, ASan|900|SDD_RANDOM_SECONDS=$(times 120) SDD_TEST_SECONDS=800 Tests/C/run.sh asan test_random_calls"
    "random calls, TSan|1500|SDD_RANDOM_SECONDS=$(times 300) SDD_TEST_SECONDS=1400 Tests/C/run.sh tsan test_random_calls"
    "simulation|14400|make -s simulate SEEDS=$(times 1000000)"
    "faulty downloads|1500|SDD_FAULTY_DOWNLOADS=$(times 10000) SDD_TEST_SECONDS=1400 Tests/C/run.sh plain test_faulty_downloads"
    "one fault at every place|5400|SDD_TEST_LONG=1 SDD_TEST_EVERY=$every SDD_TEST_SECONDS=5300 Tests/Caches/run.sh places"
    "isolated decoding|1800|SDD_TEST_SCALE=$(times 20) SDD_TEST_SECONDS=1700 Tests/C/run.sh plain test_isolated test_isolated_starts test_isolated_ends"
    "coders|3600|make -s coders && Tests/Coders/run.sh"
    "coders, fuzzing|7200|make -s fuzz-coders FUZZ_SECONDS=$(times 120)"
    "caches|3000|Tests/Caches/run.sh killed together spaces clock versions mixed faults resumed slow"
    "hostile HTTP/2|3600|make -s test-http2"
    "hostile HTTP/3|3600|make -s test-http3"
    "programs in C|3600|SDD_RANDOM_SECONDS=5 SDD_TEST_SECONDS=1800 Tests/C/run.sh plain"
    "programs in C, TSan|5400|SDD_RANDOM_SECONDS=5 SDD_TEST_SECONDS=1800 Tests/C/run.sh tsan"
    "programs in C, ASan|3600|SDD_RANDOM_SECONDS=5 SDD_TEST_SECONDS=1800 Tests/C/run.sh asan"
    "programs in C, valgrind|7200|SDD_RANDOM_SECONDS=5 SDD_TEST_SECONDS=1800 Tests/C/run.sh valgrind"
    "Swift tests|3600|Tests/swift-tests.sh"
    "soak|7200|make -s soak SOAK_LOADS=$(times 200000)"
    "damage|3600|make -s damage"
    "fuzzing|7200|make -s fuzz FUZZ_SECONDS=$(times 120)"
    "coverage|3600|Tests/Coverage/run.sh"
)

version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo unknown; }
head_of_page() {
    cat <<END
# Reliability

The first part of this page is written by \`make torture\`: the long forms of the suites, and what they said. The scale
of a suite is 1 for the whole of it (see Tests/torture.sh).

- Machine: $(nproc) processors, Linux $(uname -r), $(. /etc/os-release && echo "$PRETTY_NAME")
- Swift $(swift --version 2>/dev/null | grep -oEm1 '[0-9]+\.[0-9]+(\.[0-9]+)?' | head -n 1), libcurl $(version libcurl4), libjpeg-turbo $(version libjpeg62-turbo), libpng $(version libpng16-16), glibc $(version libc6)

END
}

failed=0
names=()
for step in "${steps[@]}"; do
    IFS='|' read -r name limit command <<<"$step"
    names+=("$name")
    if [ $# -gt 0 ] && ! printf '%s\n' "$@" | grep -qxF "$name"; then continue; fi
    log=$out/${name//[ ,\/]/-}.log start=$SECONDS status=0
    echo "== $name: $command"
    timeout -k 30 "$limit" bash -c "$command" >"$log" 2>&1 || status=$?
    verdict=passed
    [ "$status" -eq 0 ] || { verdict="**failed** (status $status)"; failed=1; }
    echo "$name: $verdict, $((SECONDS - start)) s"
    echo "| $name | $scale | \`$command\` | $verdict | $((SECONDS - start)) s | $(date -u +%Y-%m-%d), $commit |" >"${log%.log}.row"
done

# ---- the page

# row NAME: the step's row, of this clone's run or of the page, if it is of this commit.
row() {
    cat "$out/${1//[ ,\/]/-}.row" 2>/dev/null ||
        awk -v begin="| $1 | " -v end=", $commit |" \
            'index($0, begin) == 1 && substr($0, length($0) - length(end) + 1) == end' "$page"
}
# said NAME: what the step said at the end, likewise.
said() {
    local log=$out/${1//[ ,\/]/-}.log
    if [ -f "${log%.log}.row" ]; then
        printf '\n### %s\n\n```\n' "${1^}"
        grep -vE '^(Building|\[[0-9]|Compiling|Build )' "$log" | tail -n 25 | cut -c 1-160
        echo '```'
    elif [ -n "$(row "$1")" ]; then
        echo
        awk -v begin="### ${1^}" '$0 == begin { inside = 1 } inside; inside && /^```$/ && fence++ { exit }' "$page"
    fi
}
{
    head_of_page
    echo "| suite | scale | command | verdict | time | date, commit |"
    echo "| --- | --- | --- | --- | --- | --- |"
    for name in "${names[@]}"; do row "$name"; done
    echo
    echo "## What they said, at the end"
    for name in "${names[@]}"; do said "$name"; done
    echo
    if grep -qxF -- "$mark" "$page" 2>/dev/null; then sed -n "/^$mark\$/,\$p" "$page"; else echo "$mark"; fi
} >"$page.new"
mv "$page.new" "$page"
exit "$failed"
