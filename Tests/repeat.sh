#!/bin/bash
# Runs suites again and again beside processes that keep the processors busy, to find the test that fails once in many
# runs. Each run has another share of what is divided into shares. Prints a line for each run, and at the end how often each
# suite has failed. What a run said that failed is in build/repeat/SUITE.RUN.log.
#
#     Tests/repeat.sh SUITE...    `make repeat` builds before what they need; SUITE is a target of the Makefile
#
#   TIMES   runs of each suite; default: 30
#   BUSY    busy processes; default: 3
#
# All suites have had a run before one has its next, so that it can be ended at any time. The status is 1 if a run failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=build/repeat
rm -rf "$out"
mkdir -p "$out"
: "${TIMES:=30}" "${BUSY:=3}"
declare -A runs=() failures=() longest=()

# Each run is a process group, so that nothing of it is left when this script is ended.
set -m
busy=()
for ((i = 0; i < BUSY; i++)); do
    while :; do :; done &
    busy+=($!)
done
run=
clean_up() {
    kill "${busy[@]}" 2>/dev/null || true
    [ -z "$run" ] || kill -- "-$run" 2>/dev/null || true
}
summary() {
    local suite
    for suite; do
        printf '%-16s %3d runs, %d failed, longest %d s\n' \
            "$suite" "${runs[$suite]:-0}" "${failures[$suite]:-0}" "${longest[$suite]:-0}"
    done
}
trap clean_up EXIT
trap 'summary "$@"; exit 130' INT TERM

for ((turn = 1; turn <= TIMES; turn++)); do
    for suite; do
        log=$out/$suite.$turn.log start=$SECONDS verdict=ok
        make --no-print-directory TURN="$turn" --old-file={all,debug,coders,bench-programs,fault-server} "$suite" \
            </dev/null >"$log" 2>&1 &
        run=$!
        wait "$run" || verdict="not ok"
        run=
        seconds=$((SECONDS - start))
        runs[$suite]=$((${runs[$suite]:-0} + 1))
        [ "$seconds" -le "${longest[$suite]:-0}" ] || longest[$suite]=$seconds
        echo "$verdict $suite, run $turn ($seconds s)"
        if [ "$verdict" = ok ]; then
            rm "$log"
        else
            failures[$suite]=$((${failures[$suite]:-0} + 1))
            tail -n 20 "$log" | sed 's/^/    /'
        fi
    done
done
summary "$@"
[ ${#failures[@]} -eq 0 ]
