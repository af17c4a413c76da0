#!/bin/bash
# Runs the tests of the Swift targets: `swift test` with these arguments. Prints its output as it comes, without the
# lines of tests that begin; keeps all of it in build/swift-tests.log; and if a test has failed, prints at the end which
# one, where and why. The exit status is that of `swift test`.
#
#     Tests/swift-tests.sh [ARGUMENT...]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/swift-tests.log
mkdir -p build

# Prints each issue with its comments, reports of the thread sanitizer and the compiler, and why the process died.
reasons() {
    awk '/ recorded an issue / { on = 1; print; next }
        on && /^↳ / { print; next }
        { on = 0 }
        /: Fatal error: |^error: |: error: |^SUMMARY: ThreadSanitizer/ { print }' "$log" | uniq
}

# Prints the tests that began and did not end: a crash, or a hang that was ended, names no test.
under_way() {
    awk '$2 != "Test" || $3 == "case" || $3 == "run" { next }
        sub(/ started\.$/, "") { sub(/^[^ ]+ /, ""); begun[$0] = 1; next }
        / (passed|failed|skipped)/ {
            sub(/^[^ ]+ /, ""); sub(/ (with [0-9]+ test cases? )?(passed|failed|skipped).*/, ""); delete begun[$0] }
        END { for (name in begun) print "under way: " name }' "$log"
}

swift test --disable-xctest "$@" 2>&1 | tee "$log" | grep --line-buffered -vE '^[^ ]+ +(Test|Suite) .*started\.$'
status=${PIPESTATUS[0]}
[ "$status" -ne 0 ] || exit 0

# The first failures are enough.
echo "== swift test: status $status; its output is in $log; the failures:"
reasons | cut -c 1-400 | head -n 14
grep '^✘ Test run with' "$log" || under_way | head -n 6
exit "$status"
