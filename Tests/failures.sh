# Sourced by the scripts that run many programs: repeats the failures at the end of the output. These scripts have set
# `work`, a folder of their own.
failures=()

failed() { # failed NAME STATUS: the program's output is in $work/out
    failures+=("$1 (status $2)")
    cp "$work/out" "$work/failure.${#failures[@]}"
}

# Prints the beginning and the end of each failed program's output and ends the script, with status 1 if there were
# failures. If there are many, the last ones are printed by name alone, so that everything fits into the last lines of a
# log.
end_with_failures() {
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
