#!/bin/bash
# Runs targets of the Makefile side by side, and prints how long each took, with the processor's time in it. The output of
# each goes to a file of its own; that of a suite that fails is also printed. All of them run, whatever fails.
#
#     Tests/suites.sh [TARGET... --]... SUITE...
#
#   --          what stands before it is made first, and not made again by what follows. If some of it cannot be made,
#               nothing else begins.
#   SDD_SUITES  how many run at a time; default: 3. Most of a suite's time goes to waiting: for timers, servers, and
#               processes that end.
#
# The suites begin in the given order, so those that take long come first. Writes to build/suites. The status is 1 if a
# suite has failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=build/suites
rm -rf "$out"
mkdir -p "$out"

at_a_time=${SDD_SUITES:-3}
declare -A name_of=() # by process
begun=() built=() failures=()

# Each suite is a process group, so that nothing of it is left when this script is ended.
set -m
clean_up() {
    local process
    for process in "${!name_of[@]}"; do kill -- "-$process" 2>/dev/null || true; done
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

begin() { # begin SUITE
    {
        local status=0 TIMEFORMAT='%0R %0U %0S'
        { time make --no-print-directory "${built[@]}" "$1" >"$out/$1.log" 2>&1; } 2>"$out/$1.times" || status=$?
        exit "$status"
    } </dev/null &
    name_of[$!]=$1
    begun+=("$1")
}

# Waits until one of those that run has ended, and says how.
end_one() {
    local process status=0 name seconds
    wait -n -p process "${!name_of[@]}" || status=$?
    name=${name_of[$process]}
    unset "name_of[$process]"
    read -r seconds _ <"$out/$name.times" || true # nothing is there if the suite was killed
    if [ "$status" -eq 0 ]; then
        echo "ok $name ($seconds s)"
        sed -n "s/^skip/    &/p" "$out/$name.log"
    else
        failures+=("$name")
        echo "not ok $name (status $status, $seconds s): $out/$name.log"
        tail -n 60 "$out/$name.log" | sed 's/^/    /'
    fi
}

start=$SECONDS
for suite; do
    if [ "$suite" = -- ]; then
        while [ ${#name_of[@]} -gt 0 ]; do end_one; done
        [ ${#failures[@]} -eq 0 ] || break
        built=("${begun[@]/#/--old-file=}")
        continue
    fi
    while [ ${#name_of[@]} -ge "$at_a_time" ]; do end_one; done
    begin "$suite"
done
while [ ${#name_of[@]} -gt 0 ]; do end_one; done

echo "== seconds, $((SECONDS - start)) in all, and of a processor:"
for suite in "${begun[@]}"; do
    read -r seconds user system <"$out/$suite.times" || true
    printf '%6d %6d  %s\n' "$seconds" $((user + system)) "$suite"
done | sort -rn
echo "== what took long in them:"
sed -n "s/^== slowest: /        /p" "$out"/*.log
[ ${#failures[@]} -gt 0 ] || exit 0
echo "== failed: ${failures[*]}" >&2
# The end of each once more, since the last lines of a log are what is read first.
for suite in "${failures[@]}"; do
    echo "== the end of $out/$suite.log:"
    tail -n 12 "$out/$suite.log" | cut -c 1-300
done >&2
exit 1
