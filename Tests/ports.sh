# Starts test servers that take a number for their port. To be sourced.

# is_up PID PORT...: waits until something answers at each port; the status is 1 if the server ended before, because
# what answers may be another program.
is_up() {
    local pid=$1 port
    shift
    for port; do
        until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
            kill -0 "$pid" 2>/dev/null || return 1
            sleep 0.02
        done
    done
    kill -0 "$pid" 2>/dev/null
}

# at_some_port START LOG: calls START PORT until it succeeds and leaves the port in $base. After ten times it prints the
# log and ends the script.
at_some_port() {
    local _
    for _ in {1..10}; do
        base=$((20000 + RANDOM % 12000))
        if "$1" "$base"; then return; fi
    done
    cat "$2" >&2
    exit 1
}
