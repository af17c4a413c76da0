#!/bin/bash
# Checks what Sources/CFork/runtime.c relies on: the Swift runtime of the toolchain waits only in functions that the
# linker replaces, in the library nothing of it is left that calls them, and the library's own locks do not pass the
# replacements.
#
#     Tests/abi/check-runtime.sh build/libsdd.so.0.1.0           checks the toolchain and the library
#     Tests/abi/check-runtime.sh --test build/libsdd.so.0.1.0    checks that it notices a change of each kind
#
# The library needs its names of symbols: an installed one has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
is_test=
[ "${1:-}" != --test ] || { is_test=1; shift; }
readonly library=$1 is_test source=Sources/CFork/runtime.c
readonly once=_ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

fail() { echo "check-runtime.sh: $*; read $source" >&2; exit 1; }

# Functions in which a thread waits for another, apart from those that are replaced. pthread_mutex_trylock() is here,
# too: it takes a lock.
waiting='^(pthread_mutex_(trylock|timedlock|clocklock)|pthread_(rwlock|spin|cond|barrier)_.*|pthread_(once|.*join.*)'
waiting+='|mtx_.*|cnd_.*|call_once|sem_.*wait|.*futex.*|syscall|flock|lockf|os_unfair_lock.*|dispatch_.*'
waiting+='|__cxa_guard_abort|_ZN?K?St.*(mutex|condition_variable|call_once|once_flag|semaphore|latch|barrier).*'
waiting+='|.*__atomic_wait.*)$'
readonly waiting

# ---- facts, each a file of lines in a folder

# wraps DIRECTORY: what Package.swift has the linker replace, and the replacements in the source
wraps() {
    # malloc() and its like are replaced for other reasons: Sources/CHeap/heap.c.
    grep -oP -- '"--wrap=\K[^"]+' Package.swift | grep -vxE 'malloc|calloc|realloc|posix_memalign|strdup|free' | sort >"$1/wraps"
    grep -oP '^[a-z].*\b__wrap_\K\w+(?=\()' $source | sort -u >"$1/replacements"
}

# toolchain DIRECTORY: MEMBER KIND SYMBOL of the runtime's archive, U for a symbol that it takes from elsewhere
toolchain() {
    local folder
    folder=$(swiftc -print-target-info -static-stdlib | grep -A1 '"runtimeLibraryPaths"' | grep -oP '^ *"\K/[^"]+')
    [ -f "$folder/libswiftCore.a" ] || fail "the toolchain has no libswiftCore.a in $folder"
    nm -A "$folder/libswiftCore.a" 2>/dev/null |
        sed -nE 's/^[^:]*:([^:]*):[0-9a-f ]*([A-Za-z]) ([^ ]+)$/\1 \2 \3/p' >"$1/archive"
    # The probe refers to one function of the runtime, so the linker takes two members of the archive.
    local wrap flags=()
    while read -r wrap; do flags+=("-Wl,--wrap=$wrap"); done <"$1/wraps"
    "$(dirname "$(realpath "$(command -v swiftc)")")/clang" -O1 -ffunction-sections -fuse-ld=lld -Wl,--gc-sections \
        "${flags[@]}" ${PROBE_FLAGS:-} -ISources/CSystem/include Tests/abi/once_probe.c -o "$1/probe" \
        "-L$folder" -lswiftCore -lstdc++ -lm -ldl -pthread >"$1/probe.log" 2>&1 ||
        { cat "$1/probe.log" >&2; fail "a program with the runtime's swift_once() cannot be linked"; }
}

# contents DIRECTORY: the library's names, the functions that it takes from elsewhere by their address, CALLER CALLEE
# for each function that another names, and CALLER (kernel) for each instruction that calls the kernel
contents() {
    nm "$library" 2>/dev/null | awk '{ print $(NF - 1), $NF }' >"$1/names"
    readelf -rW "$library" | awk 'NF > 4 && $3 !~ /JUMP_SL/ { sub(/@.*/, "", $5); print $5 }' >"$1/addresses"
    objdump -d --no-show-raw-insn "$library" | awk '
        /^[0-9a-f]+ <.*>:$/ { caller = substr($2, 2, length($2) - 3); next }
        caller ~ /@plt$/ { next }
        match($0, /<[^<>+]+>$/) {
            callee = substr($0, RSTART + 1, RLENGTH - 2)
            sub(/@plt$/, "", callee)
            print caller, callee
        }
        $2 == "syscall" || $2 == "svc" { print caller, "(kernel)" }' | sort -u >"$1/calls"
    # Functions of the C code, which need not have a prefix.
    grep -ohP '^[a-z_][\w *]*\b\K\w+(?=\()' Sources/C*/*.c | sort -u >"$1/own"
}

# of_library DIRECTORY, of_runtime DIRECTORY: read lines CALLER CALLEE and print those whose caller is the library's own
# code, or the runtime's. Mangled names of the library's Swift code contain the name of a target.
of_either() {
    awk -v is_wanted="$2" 'NR == FNR { own[$1]; next } {
        name = $1
        if (name !~ /^\$s/) sub(/\..*/, "", name)
        if ((name ~ /SDD|^sdd|^__wrap_/ || name in own) == is_wanted) print
    }' "$1/own" -
}
of_library() { of_either "$1" 1; }
of_runtime() { of_either "$1" 0; }
# callers NAME DIRECTORY: CALLER CALLEE for each function that names another
callers() { awk -v callee="$1" '$2 == callee' "$2/calls"; }
one_of() { awk 'NR == 1 { print $1 }'; }

# ---- checks

check_wraps() {
    local wrap
    wrap=$(comm -3 "$1/wraps" "$1/replacements" | xargs)
    [ -z "$wrap" ] || fail "Package.swift and the source do not replace the same functions: $wrap"
}

check_toolchain() {
    local other said wrap
    awk -v once=$once '$2 == "T" && $3 == once { found = 1 } END { exit !found }' "$1/archive" ||
        fail "the runtime has no once_slow() of the name $once: it makes globals in another way"
    awk -v once=$once '$1 == "Once.cpp.o" && $2 == "U" && $3 == once { found = 1 } END { exit !found }' "$1/archive" ||
        fail "the runtime's swift_once() does not call once_slow(): it makes globals in another way"
    while read -r wrap; do
        awk -v wrap="$wrap" '$2 == "U" && $3 == wrap { found = 1 } END { exit !found }' "$1/archive" ||
            fail "the runtime does not call $wrap() any more: it waits in another way, or needs no replacement"
    done <"$1/wraps"
    # The system call of Linux.cpp is once_slow()'s; the others ask for random bytes and for the threads of a crash.
    other=$(awk -v waiting="$waiting" '$2 == "U" && $3 ~ waiting {
        if ($3 == "syscall" && $1 ~ /^(Linux|Random|CrashHandlerLinux)\.cpp\.o$/) next
        print $3 "() in " $1
    }' "$1/archive" | xargs)
    [ -z "$other" ] || fail "the runtime waits in functions that are not replaced: $other"
    said=$(timeout 60 "$1/probe") || fail "the runtime does not fit the replacement of once_slow(): ${said:-it hangs}"
}

check_library() {
    local wrap other
    while read -r wrap; do
        other=$(callers "$wrap" "$1" | of_runtime "$1" | one_of)
        [ -z "$other" ] || fail "$library: $other of the runtime calls $wrap() itself, not its replacement"
        other=$(callers "__wrap_$wrap" "$1" | of_library "$1" | one_of)
        [ -z "$other" ] || fail "$library: $other calls $wrap(), which is replaced for the runtime: see CSystem/lock.h"
        [ -n "$(callers "__wrap_$wrap" "$1")" ] || fail "$library: nothing calls the replacement of $wrap()"
        ! grep -qx "$wrap" "$1/addresses" || fail "$library: something calls $wrap() by its address"
    done <"$1/wraps"
    ! grep -qE " ($once|__real_.*)$" "$1/names" ||
        fail "$library: it has $(grep -oP " \K($once|__real_.*)$" "$1/names" | xargs), which nothing should call"
    # The runtime may call the kernel for random bytes, and when it reports a crash.
    other=$(awk -v waiting="$waiting" '$2 ~ waiting || $2 == "(kernel)"' "$1/calls" | of_runtime "$1" |
        grep -vE '^(swift_stdlib_random|_ZN12_GLOBAL__N_1.*(pause_thread|handle_fatal_signal)|\$s15Synchronization)' |
        awk 'NR == 1 { print $1 " in " $2 }' || true)
    [ -z "$other" ] || fail "$library: the runtime waits in a function that is not replaced: $other"
    # Swift's Mutex sleeps in the kernel. It is linked beside the atomics, and nothing may use it.
    other=$(awk '$2 ~ /^\$s15Synchronization12_MutexHandle/ && $1 !~ /^\$s15Synchronization12_MutexHandle/' "$1/calls" |
        one_of)
    [ -z "$other" ] || fail "$library: $other uses Swift's Mutex, for which a fork does not wait"
}

check() {
    check_wraps "$1"
    check_toolchain "$1"
    check_library "$1"
}

# ---- a test of the check

# notices WORDS FILE SED...: changes a copy of a file of facts, and expects a failure that says so.
notices() {
    local words=$1 file=$2
    shift 2
    rm -rf "$work/copy"
    cp -r "$work/facts" "$work/copy"
    sed -i -E "$@" "$work/copy/$file"
    ! cmp -s "$work/facts/$file" "$work/copy/$file" || fail "$file has nothing to change for: $words"
    said=$( (check "$work/copy") 2>&1) && fail "not noticed: $words"
    [[ $said == *"$words"* ]] || fail "noticed with other words than \"$words\": $said"
}
try() {
    check "$work/facts"
    notices "do not replace the same functions: pthread_mutex_unlock" wraps '/pthread_mutex_unlock/d'
    notices "no once_slow() of the name" archive "s/ T $once$/ T another/"
    notices "swift_once() does not call once_slow()" archive "s/^(Once.cpp.o U) $once$/\1 another/"
    notices "does not call pthread_mutex_lock() any more" archive 's/ U pthread_mutex_lock$/ U another/'
    for other in pthread_rwlock_rdlock pthread_cond_wait pthread_mutex_trylock syscall os_unfair_lock_lock mtx_lock \
        _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE; do
        notices "not replaced: $other() in Metadata.cpp.o" archive "\$aMetadata.cpp.o U $other"
    done
    notices "it has $once" names "\$at $once"
    notices "it has __real_pthread_mutex_lock" names "\$aU __real_pthread_mutex_lock"
    notices "swift_getTypeName of the runtime calls pthread_mutex_lock()" calls '$aswift_getTypeName pthread_mutex_lock'
    notices "\$s3SDD4testyyF calls pthread_mutex_lock(), which" calls '$a$s3SDD4testyyF __wrap_pthread_mutex_lock'
    notices "forget.llvm.7 calls pthread_mutex_unlock(), which" calls '$aforget.llvm.7 __wrap_pthread_mutex_unlock'
    notices "nothing calls the replacement of pthread_mutex_lock()" calls '/ __wrap_pthread_mutex_lock$/d'
    notices "calls pthread_mutex_lock() by its address" addresses '$apthread_mutex_lock'
    notices "swift_getTypeName in syscall" calls '$aswift_getTypeName syscall'
    notices "swift_getTypeName in (kernel)" calls '$aswift_getTypeName (kernel)'
    notices "_ZN5swift4testEv in pthread_cond_wait" calls '$a_ZN5swift4testEv pthread_cond_wait'
    notices "uses Swift's Mutex" calls '$a$s3SDD4testyyF $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF'
    PROBE_FLAGS=-DMADE=7 toolchain "$work/facts"
    said=$( (check "$work/facts") 2>&1) && fail "not noticed: a word that means something else"
    [[ $said == *"does not take a negative word for a global that is made"* ]] || fail "noticed with other words: $said"
    echo "ok runtime: the check notices a change of each kind"
}

mkdir "$work/facts"
contents "$work/facts"
if [ ! -s "$work/facts/names" ]; then
    echo "skip the runtime: $library has no names of symbols"
    exit 0
fi
wraps "$work/facts"
toolchain "$work/facts"
if [ -n "$is_test" ]; then
    try
else
    check "$work/facts"
    echo "ok runtime: $(wc -l <"$work/facts/wraps") functions are replaced for it, and it waits in no other"
fi
