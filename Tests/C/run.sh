#!/bin/bash
# Compiles the programs of this folder against the built library, starts the servers they need, and runs each. Prints
# "ok NAME" or "not ok NAME" and the program's output; at the end it lists the failures with their reasons and exits
# with status 1 if there were any.
#
#     Tests/C/run.sh plain|asan|valgrind|tsan [NAME...]
#
#   plain      built as users build
#   asan       programs with gcc's address, leak and undefined behaviour sanitizers; fewer requests
#   valgrind   under memcheck, which also sees into the library; a twentieth of the requests
#   tsan       programs and library with clang's thread sanitizer; a tenth of the requests
#
#   SDD_LIBDIR     where libsdd.so is; default: build/; for tsan it is built, in .build-tsan
#   FAULT_SERVER   the program Tests/FaultServer; default: built here
#   SDD_TEST_RUNNER  in the mode plain, the command that runs each program, for those of another machine
#   CC, CXX        compilers; default: cc, and both g++ and clang++ if they are there; for tsan Swift's clang
#   SDD_STRESS     how many requests test_stress makes; default: 40,000, with tsan 20,000, less in the other modes
#   SDD_TEST_SECONDS  when a program counts as hanging; default: 600, for machines that do much else
#   SDD_SOAK       how many loads test_soak makes; default: 4000, less in the other modes; `make soak` makes 200,000
#   SDD_RANDOM_CALLS, SDD_RANDOM_SECONDS, SDD_FAULTY_DOWNLOADS   see test_random_calls and test_faulty_downloads
#   SDD_TEST_JOBS  how many programs run at a time, each beside servers of its own; default: 1, because a few tests
#                  have short time limits, which a busy machine exceeds
#   SDD_TEST_SHARE K/N: every Nth program, beginning with number K modulo N; default: all
#   SDD_TEST_ISOLATED_SHARE  the same for the programs that run a second time, with isolated decoding
#   SDD_TEST_DECODER_FLAGS   more of the compiler's arguments for sdd-decoder, see Tests/Coverage/run.sh
#   SDD_TEST_SEED  a seed that a test has printed, to repeat that run
#
# Writes only a temporary folder, which is removed when the script ends.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tests/failures.sh
. Tests/ports.sh
. Tests/share.sh

usage() { echo "usage: Tests/C/run.sh plain|asan|valgrind|tsan [NAME...]" >&2; exit 2; }
mode=${1:-}
[ $# -gt 0 ] && shift
sanitize=() runner=() extra_libraries=()
case $mode in
plain)
    export SDD_TEST_SCALE=${SDD_TEST_SCALE:-1} SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-600}
    read -ra runner <<<"${SDD_TEST_RUNNER:-}"
    ;;
asan)
    export SDD_TEST_SCALE=${SDD_TEST_SCALE:-0.25} SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-600}
    sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=all)
    CC=${CC:-gcc} CXX=${CXX:-g++}
    ;;
valgrind)
    export SDD_TEST_SCALE=${SDD_TEST_SCALE:-0.05} SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-600}
    # valgrind wrongly takes pixels that libjpeg-turbo's vector code makes of small JPEGs for undefined; without that
    # code the pixels are the same.
    export JSIMD_FORCENONE=1 SDD_TEST_VALGRIND=1
    runner=(valgrind -q --leak-check=full --show-leak-kinds=definite
        --errors-for-leak-kinds=definite --error-exitcode=9
        --fair-sched=yes --expensive-definedness-checks=yes --suppressions=Tests/C/valgrind.supp)
    CXX=${CXX:-g++}
    ;;
tsan)
    export SDD_TEST_SCALE=${SDD_TEST_SCALE:-0.1} SDD_TEST_SECONDS=${SDD_TEST_SECONDS:-600}
    export SDD_STRESS=${SDD_STRESS:-20000}
    # The library is instrumented by Swift's compiler, so the program needs the runtime that comes with it.
    swift_folder=$(dirname "$(realpath "$(command -v swift)")")
    CC=${CC:-$swift_folder/clang} CXX=${CXX:-$swift_folder/clang++}
    sanitize=(-fsanitize=thread -fuse-ld=lld)
    runtime=${swift_folder%/bin}/lib/swift/linux # the sanitizer's runtime needs libdispatch
    extra_libraries=(-L"$runtime" -ldispatch -lBlocksRuntime -Wl,-rpath,"$runtime")
    if [ -z "${SDD_LIBDIR:-}" ]; then
        SDD_LIBDIR=.build-tsan/debug
        swift build --sanitize=thread --product sdd --scratch-path .build-tsan >&2
    fi
    ;;
*) usage ;;
esac

names=("$@")
if [ $# -eq 0 ]; then
    for source in Tests/C/test_*.c Tests/C/test_*.cc; do
        source=${source##*/}
        names+=("${source%.*}")
    done
fi

if [ $# -eq 0 ] && [ -n "${SDD_TEST_SHARE:-}" ]; then
    all=("${names[@]}")
    mapfile -t names < <(share_of "$SDD_TEST_SHARE" "${all[@]}")
    echo "share $SDD_TEST_SHARE: ${#names[@]} of ${#all[@]} programs"
fi

# ---- several at a time: this script once more for each share of the programs

jobs=${SDD_TEST_JOBS:-1}
if [ "$jobs" -gt 1 ] && [ "${#names[@]}" -gt "$jobs" ]; then
    logs=$(mktemp -d "${TMPDIR:-/tmp}/sdd-c.XXXXXX")
    shares=() status=0
    trap 'kill "${shares[@]}" 2>/dev/null || true; rm -rf "$logs"' EXIT
    for ((job = 0; job < jobs; job++)); do
        share=()
        for ((i = job; i < ${#names[@]}; i += jobs)); do share+=("${names[i]}"); done
        SDD_TEST_JOBS=1 SDD_LIBDIR=${SDD_LIBDIR:-build} Tests/C/run.sh "$mode" "${share[@]}" > >(tee "$logs/$job") 2>&1 &
        shares+=($!)
    done
    for share in "${shares[@]}"; do wait "$share" || status=$?; done
    # The failures again, at the end.
    [ "$status" -eq 0 ] || sed -n '/^== failed/,$p' "$logs"/*
    exit "$status"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-c.XXXXXX")
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

# ---- the library: a copy, so that a build meanwhile does not replace it under a running program

mkdir "$work/lib" "$work/bin"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
# valgrind 3.19 cannot read the debug information of the Swift compiler.
[ "$mode" != valgrind ] || strip --strip-debug "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"

# The program that decodes for SDD_DECODE_ISOLATED. It loads that library, so it has the same sanitizers, with all that
# the library needs of them.
read -ra decoder_flags <<<"${SDD_TEST_DECODER_FLAGS:-}"
"${CC:-cc}" -std=c11 -g "${sanitize[@]}" tools/decoder/sdd-decoder.c "${decoder_flags[@]}" -o "$work/lib/sdd-decoder" -L"$work/lib" -lsdd \
    -Wl,-rpath,"$work/lib" "${extra_libraries[@]}" -ldl

# ---- programs

mkdir "$work/tables"
Tests/C/tables.sh "$work/tables"
warnings=(-g -Wall -Wextra -Werror -Iinclude -I"$work/tables")
libraries=(-L"$work/lib" -lsdd -Wl,-rpath,"$work/lib" "${extra_libraries[@]}" -pthread -ldl)
programs=()
build() { # build PROGRAM COMMAND...
    local program=$1
    shift
    "$@" "${sanitize[@]}" "${warnings[@]}" -o "$work/bin/$program" "${libraries[@]}"
    programs+=("$program")
}
for name in "${names[@]}"; do
    if [ -f "Tests/C/$name.cc" ]; then
        for compiler in ${CXX:-g++ clang++}; do
            command -v "$compiler" >/dev/null || { echo "skip $name: no $compiler"; continue; }
            build "$name.${compiler##*/}" "$compiler" -std=c++17 "Tests/C/$name.cc"
        done
    elif [[ $mode/$name =~ ^tsan/test_(fork|fork_shared|fork_isolated|fork_cold|fork_loader|no_threads|exit)$ ]]; then
        # TSan has threads and handlers of its own, and does not take its locks in a fork.
        echo "skip $name: not with the thread sanitizer"
    elif [[ $mode/$name =~ ^(asan|valgrind|tsan)/test_no_memory$ ]]; then
        echo "skip $name: the tool takes more memory than the program may have"
    elif [[ $mode/$name =~ ^(asan|valgrind|tsan)/test_cache_allocations$ ]]; then
        echo "skip $name: the tool has an allocator of its own"
    elif [[ $mode/$name = asan/test_fork* ]]; then
        # gcc's libasan does not reset its allocator's locks in a fork: children of working threads hang in malloc.
        echo "skip $name: the sanitizer's allocator does not survive a fork"
    else
        own=()
        # Its function is called by a shared object.
        if [ "$name" = test_fork_loader ]; then own=(-rdynamic); fi
        # It has a file of the library inside.
        if [ "$name" = test_filter ]; then own=(-ISources/CHelper/include); fi
        build "$name" "${CC:-cc}" -std=c11 "${own[@]}" "Tests/C/$name.c"
    fi
done

# ---- shared objects for test_coders: one is good, the others are wrong

export SDD_TEST_OBJECTS=$work/objects
mkdir "$SDD_TEST_OBJECTS"
for way in GOOD NONE PARTIAL NEWER UNSIZED; do
    if [[ " ${names[*]} " != *" test_coders "* ]]; then break; fi
    "${CC:-cc}" -std=c11 -shared -fPIC -D"$way" "${warnings[@]}" Tests/C/loadable_coder.c \
        -o "$SDD_TEST_OBJECTS/loadable_${way,,}.so"
done

# ---- for test_isolated and others: a coder that misbehaves, the same with a library that it needs, and a program that
# ---- answers what no decoder does

if [[ " ${names[*]} " == *" test_isolated"* ]]; then
    "${CC:-cc}" -std=c11 -shared -fPIC "${warnings[@]}" Tests/C/misbehaving_coder.c -o "$SDD_TEST_OBJECTS/misbehaving.so"
    mkdir "$SDD_TEST_OBJECTS/needed"
    echo 'int needed_by_a_coder = 1;' |
        "${CC:-cc}" -shared -fPIC -x c - -Wl,-soname,libneeded.so -o "$SDD_TEST_OBJECTS/needed/libneeded.so"
    "${CC:-cc}" -std=c11 -shared -fPIC "${warnings[@]}" Tests/C/misbehaving_coder.c -o "$SDD_TEST_OBJECTS/needing.so" \
        -L"$SDD_TEST_OBJECTS/needed" -Wl,--no-as-needed -lneeded
    "${CC:-cc}" -std=c11 "${warnings[@]}" -ISources/CHelper/include Tests/C/false_decoder.c \
        -o "$SDD_TEST_OBJECTS/false_decoder"
fi

# ---- for test_fork_loader: an object whose constructor forks, and an installed coder

if [[ " ${names[*]} " == *" test_fork_loader "* ]]; then
    echo 'void fork_in_constructor(void); __attribute__((constructor)) static void f(void) { fork_in_constructor(); }' |
        "${CC:-cc}" -shared -fPIC -x c - -o "$SDD_TEST_OBJECTS/forking.so"
    mkdir "$SDD_TEST_OBJECTS/coders"
    "${CC:-cc}" -shared -fPIC -DGOOD -Iinclude Tests/Coders/object.c -o "$SDD_TEST_OBJECTS/coders/webp.so" -ldl
fi

# ---- the fault server: it ends with its input, which this script holds open

if [ -z "${FAULT_SERVER:-}" ]; then
    swift build --product fault-server >"$work/swift.log" 2>&1 || { cat "$work/swift.log" >&2; exit 1; }
    FAULT_SERVER=$(swift build --show-bin-path)/fault-server
fi
mkfifo "$work/alive"
exec {alive}<>"$work/alive"
start_fault_server() { # start_fault_server NAME: sets `port`
    local said word
    mkfifo "$work/$1"
    "$FAULT_SERVER" --files Tests/Fixtures <"$work/alive" >"$work/$1" {alive}>&- &
    pids+=($!)
    exec {said}<"$work/$1"
    read -r -t 30 word port <&"$said"
    [ "$word" = listening ]
}
start_fault_server second # a second host, for limits and for redirects to another host
export SDD_TEST_SERVER_2=http://127.0.0.1:$port
start_fault_server first
export SDD_TEST_SERVER=http://127.0.0.1:$port
export SDD_TEST_FIXTURES=$PWD/Tests/Fixtures/
export SDD_TEST_FOLDER=$work/files XDG_CACHE_HOME=$work/caches # location of the shared cache
mkdir "$work/files"

# ---- certificates of our own authority

cat >"$work/openssl.cnf" <<EOF
[req]
distinguished_name = name
prompt = no
[name]
[ca]
default_ca = authority_files
[authority_files]
certificate = $work/ca.pem
private_key = $work/ca.key
database = $work/index.txt
new_certs_dir = $work
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[local]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:localhost, IP:127.0.0.1
[other]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:other.example
EOF
: >"$work/index.txt"
quiet() { "$@" >"$work/openssl.log" 2>&1 || { cat "$work/openssl.log" >&2; exit 1; }; }
new_key() { # new_key NAME ARGUMENTS...: makes a request or certificate with its own key
    local name=$1
    shift
    quiet openssl req -config "$work/openssl.cnf" -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -keyout "$work/$name.key" "$@"
}
signed() { # signed NAME HOST EXTENSIONS START END
    new_key "$1" -new -subj "/CN=$2" -out "$work/$1.csr"
    quiet openssl ca -batch -notext -config "$work/openssl.cnf" -extensions "$3" -startdate "$4" -enddate "$5" \
        -in "$work/$1.csr" -out "$work/$1.pem"
}
new_key ca -x509 -days 3650 -subj "/CN=authority of the tests" -extensions authority -out "$work/ca.pem"
new_key self_signed -x509 -days 3650 -subj /CN=localhost -extensions local -out "$work/self_signed.pem"
signed good localhost local 20200101000000Z 20991231235959Z
signed expired localhost local 20200101000000Z 20200201000000Z
signed wrong_host other.example other 20200101000000Z 20991231235959Z
export SDD_TEST_CA=$work/ca.pem
# Two client identities, each with key and certificate in one file.
for person in alice bob; do
    signed "$person" "$person" local 20200101000000Z 20991231235959Z
    cat "$work/$person.key" "$work/$person.pem" >"$work/$person-both.pem"
done
export SDD_TEST_ALICE=$work/alice-both.pem SDD_TEST_BOB=$work/bob-both.pem

# ---- nginx: TLS, over HTTP/1.1 and HTTP/2

echo 'user:{PLAIN}secret' >"$work/users"
nginx=$(command -v nginx || echo /usr/sbin/nginx)
# tls_server PORT CERTIFICATE [PROTOCOL [REQUESTS [IDLE]]]: PROTOCOL is http2 or empty, REQUESTS are the most of a
# connection, IDLE is how long it is kept without any
tls_server() {
    cat <<EOF
    server {
        listen 127.0.0.1:$1 ssl ${3:-};
        ssl_certificate $work/$2.pem;
        ssl_certificate_key $work/$2.key;
        root $PWD/Tests/Fixtures;
        keepalive_requests ${4:-1000};
        keepalive_timeout ${5:-75s};
        location = /protocol { return 200 \$server_protocol; }
        location = /session { return 200 \$ssl_session_reused; }
        location = /to-http { return 302 $SDD_TEST_SERVER/ok; }
        location /behind/ { proxy_pass $SDD_TEST_SERVER/; proxy_buffering off; }
        location = /private { auth_basic "tests"; auth_basic_user_file $work/users; try_files /png/rgb8.png =404; }
    }
EOF
}
client_server() { # client_server PORT: the fault server over TLS, with the client's name in a request header
    cat <<EOF
    map \$ssl_client_s_dn \$person { default ""; "~CN=alice" alice; "~CN=bob" bob; }
    server {
        listen 127.0.0.1:$1 ssl;
        ssl_certificate $work/good.pem;
        ssl_certificate_key $work/good.key;
        ssl_verify_client optional;
        ssl_client_certificate $work/ca.pem;
        location / {
            proxy_pass $SDD_TEST_SERVER;
            proxy_http_version 1.1;
            proxy_buffering off;
            proxy_set_header Connection "";
            proxy_set_header X-Certificate \$person;
        }
    }
EOF
}
start_nginx() { # start_nginx PORT: uses that port and the eight above it
    {
        echo "daemon off; master_process off; pid $work/nginx.pid; error_log stderr error;"
        echo "events { worker_connections 256; }"
        echo "http {"
        echo "    access_log off; default_type application/octet-stream;"
        for kind in client_body fastcgi proxy scgi uwsgi; do echo "    ${kind}_temp_path $work/nginx-$kind;"; done
        tls_server "$1" good http2
        tls_server $(($1 + 1)) good
        tls_server $(($1 + 2)) expired
        tls_server $(($1 + 3)) wrong_host
        tls_server $(($1 + 4)) self_signed
        echo "    server { listen 127.0.0.1:$(($1 + 5)); }"
        client_server $(($1 + 6))
        tls_server $(($1 + 7)) good http2 6
        tls_server $(($1 + 8)) good "" 1000 20ms
        echo "}"
    } >"$work/nginx.conf"
    "$nginx" -c "$work/nginx.conf" -p "$work" -e stderr 2>"$work/nginx.log" {alive}>&- &
    local pid=$!
    is_up "$pid" "$1" $(($1 + 8)) && pids+=("$pid")
}
at_some_port start_nginx "$work/nginx.log"
export SDD_TEST_TLS=https://localhost:$base SDD_TEST_TLS_HTTP1=https://localhost:$((base + 1))
export SDD_TEST_TLS_EXPIRED=https://localhost:$((base + 2)) SDD_TEST_TLS_WRONG_HOST=https://localhost:$((base + 3))
export SDD_TEST_TLS_SELF_SIGNED=https://localhost:$((base + 4)) SDD_TEST_TLS_NONE=https://localhost:$((base + 5))
export SDD_TEST_TLS_CLIENT=https://localhost:$((base + 6)) SDD_TEST_TLS_SHORT=https://localhost:$((base + 7))
export SDD_TEST_TLS_IDLE=https://localhost:$((base + 8))

# ---- tinyproxy: tunnels to nginx

start_tunnels() { # start_tunnels PORT
    printf '%s\n' "Port $1" "Listen 127.0.0.1" "Timeout 600" "MaxClients 500" "LogLevel Error" \
        "LogFile \"$work/tinyproxy.log\"" >"$work/tinyproxy.conf"
    "$(command -v tinyproxy || echo /usr/bin/tinyproxy)" -d -c "$work/tinyproxy.conf" >"$work/tinyproxy.said" 2>&1 {alive}>&- &
    local pid=$!
    is_up "$pid" "$1" && pids+=("$pid")
}
at_some_port start_tunnels "$work/tinyproxy.said"
export SDD_TEST_TUNNELS=http://127.0.0.1:$base

# ---- the run

# A proxy set on this machine must not stand between the programs and their servers.
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/Tests/C/lsan.supp:print_suppressions=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/Tests/C/tsan.supp}
reset_server() { # reset_server PORT: resets counts and releases
    local server port=$1
    exec {server}<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET /reset-stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&"$server"
    cat <&"$server" >/dev/null
    exec {server}>&-
}
# Programs that run a second time, with pictures that are decoded by other processes.
isolated=(test_bad_input test_colour test_frames test_pixels test_previews test_room test_forms test_get test_growth test_batch test_load_order test_transform test_transform_data test_lifecycle test_living test_ends test_app_delivery test_descriptors test_cache_bad test_integrity test_memory_told test_error_facts test_callers test_exit test_background test_load_refresh)
if [ "${SDD_TEST_ISOLATED_SHARE:-}" ]; then
    mapfile -t isolated < <(share_of "$SDD_TEST_ISOLATED_SHARE" "${isolated[@]}")
fi
runs=()
for program in "${programs[@]}"; do
    runs+=("$program")
    if [[ " ${isolated[*]} " == *" $program "* ]]; then runs+=("$program isolated"); fi
done
for run in "${runs[@]}"; do
    program=${run% isolated}
    unset SDD_TEST_ISOLATED SDD_PLAIN_MALLOC
    if [ "$run" != "$program" ]; then export SDD_TEST_ISOLATED=1; fi
    # These compare what malloc() has handed out, which includes freed memory that is cached.
    case $program in
    test_data_urls | test_queue | test_soak | test_stress | test_transport) export SDD_PLAIN_MALLOC=1 ;;
    esac
    reset_server "${SDD_TEST_SERVER##*:}"
    reset_server "${SDD_TEST_SERVER_2##*:}"
    status=0 begin=$SECONDS
    extra=()
    # A child has the memory of its parent's threads, but not the threads, so everything of theirs looks lost.
    if [[ $mode/$program = valgrind/test_fork* ]]; then extra=(--leak-check=no); fi
    "${runner[@]}" "${extra[@]}" "$work/bin/$program" >"$work/out" 2>&1 {alive}>&- || status=$?
    took "$run" $((SECONDS - begin))
    if [ "$status" -eq 0 ]; then
        echo "ok $run"
    else
        echo "not ok $run (status $status)"
        failed "$run" "$status"
    fi
    sed 's/^/    /' "$work/out"
done
end_with_failures
