# Sourced by the scripts that run many programs: what failed is said once more at the end, where one looks first.
# They have set `work`, a folder of their own.
failures=()

failed() { # failed NAME STATUS: what the program said is in $work/out
    failures+=("$1 (status $2)")
    cp "$work/out" "$work/failure.${#failures[@]}"
}

# Prints of each failure the beginning and the end of what the program said, and ends the script; status 1 if there were
# any. Of many the last ones by name alone, so that all of it stands among the last lines of a log.
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
