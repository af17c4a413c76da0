# Sourced by the scripts that run many programs: repeats the failures at the end of the output. These scripts have set
# `work`, a folder of their own.
failures=()

took() { echo "$2 $1" >>"$work/seconds"; } # took NAME SECONDS

# Prints the five programs that took longest. Tests/suites.sh repeats this line at its end.
print_slowest() {
    [ -s "$work/seconds" ] || return 0
    echo "== slowest: $(sort -rn "$work/seconds" | head -n 5 | sed -E 's/([0-9]+) (.*)/\2 \1 s/' | paste -sd, | sed 's/,/, /g')"
}

failed() { # failed NAME STATUS: the program's output is in $work/out
    failures+=("$1 (status $2)")
    cp "$work/out" "$work/failure.${#failures[@]}"
}

# Prints the beginning and the end of each failed program's output and ends the script, with status 1 if there were
# failures. If there are many, the last ones are printed by name alone, so that everything fits into the last lines of a
# log.
end_with_failures() {
    print_slowest
    [ ${#failures[@]} -gt 0 ] || exit 0
    local index file
    [ ${#failures[@]} -le 3 ] || echo "== failed as well: ${failures[*]:3}"
    for index in "${!failures[@]}"; do
        [ "$index" -lt 3 ] || break
        file=$work/failure.$((index + 1))
        echo "== failed: ${failures[index]}"
        if [ "$(wc -l <"$file")" -gt 6 ]; then
            { head -n 3 "$file"; echo ...; tail -n 3 "$file"; } | cut -c 1-300
        else
            cut -c 1-300 "$file"
        fi
    done
    exit 1
}
