#!/bin/bash
# Tests caches on disk with many processes, on full disks, and with failing system calls: builds the drivers of this
# folder against the built library, starts the servers they need, and runs each. Prints "ok NAME" or "not ok NAME" and
# the driver's output; at the end it lists the failures with their reasons and exits with status 1 if there were any.
#
#     Tests/Caches/run.sh [NAME...]
#
#   SDD_TEST_LONG  1: the long form, some minutes; default: the short one, under a minute
#   SDD_TEST_PLACES, SDD_TEST_KIND, SDD_TEST_EVERY, SDD_TEST_SHOW_PLACES   for `places`: see docs/fuzzing.md
#   SDD_LIBDIR     where libsdd.so is; default: build/
#   FAULT_SERVER   the program Tests/FaultServer; default: built here
#   CC             the compiler; default: cc
#
# `spaces` needs root or user namespaces for its own small file systems; otherwise it is skipped. Writes only a
# temporary folder, which is removed when the script ends.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/failures.sh
. Tests/ports.sh
if [ -n "${SDD_TEST_LONG:-}" ]; then export SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-1200}; else unset SDD_TEST_LONG; fi

work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-caches.XXXXXX")
pids=()
clean_up() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- the library (a copy, so that a build meanwhile does no harm) and the drivers

chmod 711 "$work" # one case runs as another user, who may not enter the folder of this clone
cp -r Tests/Fixtures "$work/fixtures"
chmod -R a+rX "$work/fixtures"
mkdir -m 755 "$work/lib" "$work/bin"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"
names=("$@")
[ $# -gt 0 ] || names=(killed together spaces clock versions mixed faults places resumed slow)
flags=(-std=c11 -g -O1 -Wall -Wextra -Werror -Iinclude)
for name in "${names[@]}"; do
    "${CC:-cc}" "${flags[@]}" "Tests/Caches/$name.c" -o "$work/bin/$name" -L"$work/lib" -lsdd \
        -Wl,-rpath,"$work/lib" -pthread -ldl
done
export SDD_TEST_CALLS=$work/lib/calls.so
"${CC:-cc}" "${flags[@]}" -shared -fPIC Tests/Caches/calls.c -o "$SDD_TEST_CALLS" -ldl

# ---- the fault server: it ends with its input, which this script holds open

if [ -z "${FAULT_SERVER:-}" ]; then
    swift build --product fault-server >"$work/swift.log" 2>&1 || { cat "$work/swift.log" >&2; exit 1; }
    FAULT_SERVER=$(swift build --show-bin-path)/fault-server
fi
mkfifo "$work/alive" "$work/said"
exec {alive}<>"$work/alive"
"$FAULT_SERVER" --files Tests/Fixtures <"$work/alive" >"$work/said" {alive}>&- &
pids+=($!)
exec {said}<"$work/said"
read -r -t 30 word port <&"$said"
[ "$word" = listening ]
export SDD_TEST_SERVER=http://127.0.0.1:$port SDD_TEST_FIXTURES=$work/fixtures/
export SDD_TEST_FOLDER=$work/files XDG_CACHE_HOME=$work/caches
mkdir -m 755 "$work/files"

# ---- nginx, which sends a large file slowly, supports ranges, and logs what it sent and from which offset

nginx=$(command -v nginx || echo /usr/sbin/nginx)
export SDD_TEST_LARGE_FILE=$work/www/large SDD_TEST_LARGE_LOG=$work/nginx.sent
start_nginx() { # start_nginx PORT
    cat >"$work/nginx.conf" <<END
daemon off; master_process off; pid $work/nginx.pid; error_log stderr error;
events { worker_connections 256; }
http {
    log_format sent '\$body_bytes_sent \$http_range';
    access_log $SDD_TEST_LARGE_LOG sent;
    $(for kind in client_body fastcgi proxy scgi uwsgi; do echo "${kind}_temp_path $work/nginx-$kind;"; done)
    server { listen 127.0.0.1:$1; root $work/www; limit_rate 8m; sendfile off; output_buffers 1 16k; }
}
END
    "$nginx" -c "$work/nginx.conf" -p "$work" -e stderr 2>"$work/nginx.log" {alive}>&- {said}<&- &
    local pid=$!
    is_up "$pid" "$1" && pids+=("$pid")
}
if [[ " ${names[*]} " == *" resumed "* ]]; then
    mkdir -m 755 "$work/www"
    head -c 8388608 /dev/urandom >"$SDD_TEST_LARGE_FILE"
    chmod 644 "$SDD_TEST_LARGE_FILE"
    at_some_port start_nginx "$work/nginx.log"
    export SDD_TEST_LARGE=http://127.0.0.1:$base
fi

# ---- the run

unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
for name in "${names[@]}"; do
    status=0 runner=()
    if [ "$name" = spaces ]; then # with mounts that only it sees
        runner=(unshare -m)
        "${runner[@]}" true 2>/dev/null || runner=(unshare -rm)
        if ! "${runner[@]}" mount -t tmpfs tmpfs "$work/files" 2>/dev/null; then
            echo "skip $name: this user may not mount file systems, not even in a namespace"
            continue
        fi
    fi
    start=$SECONDS
    "${runner[@]}" "$work/bin/$name" >"$work/out" 2>&1 {alive}>&- {said}<&- || status=$?
    took "$name" $((SECONDS - start))
    if [ "$status" -eq 0 ]; then
        echo "ok $name ($((SECONDS - start)) s)"
    else
        echo "not ok $name (status $status)"
        failed "$name" "$status"
    fi
    sed 's/^/    /' "$work/out"
done
end_with_failures
