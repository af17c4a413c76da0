#!/bin/bash
# Runs the fuzz targets: docs/fuzzing.md describes them, and what to do with a finding.
#
#     Tests/Fuzz/run.sh [TARGET...]
#
#   FUZZ_SECONDS   for each target; default: 60
#   FUZZ_JOBS      targets at a time; default: 1
#   FUZZ_SCRATCH   SwiftPM's build folder; default: .build-fuzz
#
# Corpora stay in build/fuzz/corpus/TARGET and grow from run to run; inputs that are findings lie in
# build/fuzz/findings. The status is 1 if this run has one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${FUZZ_SECONDS:-60} jobs=${FUZZ_JOBS:-1} scratch=${FUZZ_SCRATCH:-.build-fuzz}
targets=("$@")
[ $# -gt 0 ] || targets=(probe jpeg png frames metadata colour gainmap thumbhash edit text http files)
clang=$(dirname "$(realpath "$(command -v swift)")")/clang
folder=build/fuzz
mkdir -p $folder/findings

# ---- build: the library's code as shipped, with its checks, the sanitizer and counters

# -enable-testing gives the targets access to internal declarations. --sanitize is not used: given two of them, SwiftPM
# orders them at random, and in one order Swift has no counters.
SDD_FUZZ=1 swift build -c release --product sdd-fuzz --scratch-path "$scratch" \
    -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link,address -Xswiftc -enable-testing
install "$scratch/release/libsdd-fuzz.so" "$folder/new.so" # a copy, so that a build cannot replace it
mv "$folder/new.so" "$folder/libsdd-fuzz.so"
for target in "${targets[@]}"; do
    "$clang" -g -O1 -fuse-ld=lld -fsanitize=fuzzer,address "-DTARGET=fuzz_$target" Tests/Fuzz/entry.c \
        -o "$folder/$target" -L"$folder" -lsdd-fuzz -Wl,-rpath,'$ORIGIN'
done

# ---- seeds: fixtures after some control bytes, which make pieces of about 16, 4096, 1 and 200 bytes

seed() { # seed TARGET FILE CONTROL: CONTROL is a printf format
    { printf "$3"; cat "$2"; } >"$folder/corpus/$1/seed-$(printf '%s%s' "$2" "$3" | cksum | cut -d' ' -f1)"
}
control_bytes=('\x10\x7f\x01\x42\x00\x07\x07\x00' '\xff\xff\xff\xff\x88\x05\x00\x00' '\x3f\x41\x40\x50\x61\x0b\x09\x00')
seed_all() { # seed_all TARGET PATTERN...: makes seeds of the fixtures with those names
    local target=$1 file control
    mkdir -p "$folder/corpus/$target"
    shift
    while read -r file; do
        for control in "${control_bytes[@]}"; do seed "$target" "$file" "$control"; done
    done < <(find Tests/Fixtures -type f -size -17k \( -name "$1" -o -name "${2:-$1}" \))
}
seed_profiles() { # seed_profiles TARGET: makes seeds of the profiles in pictures
    local file control python=python3
    "$python" -c 'import PIL' 2>/dev/null || python=/usr/bin/python3
    mkdir -p "$folder/profiles"
    "$python" Tests/Fuzz/profiles.py "$folder/profiles"
    for file in "$folder"/profiles/*.icc; do
        for control in "${control_bytes[@]}"; do seed "$1" "$file" "$control"; done
    done
}

# ---- run

run() { # run TARGET
    local target=$1 status=0
    ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=32 SWIFT_BACKTRACE=enable=no \
        "$folder/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=512 -malloc_limit_mb=512 \
        -max_len=16384 -dict="$folder/words.dict" -artifact_prefix="$folder/findings/$target-" -print_final_stats=1 \
        "$folder/corpus/$target" >"$folder/$target.log" 2>&1 || status=$?
    grep -E 'INITED|DONE|SUMMARY|stat::(number_of_executed|average_exec|peak_rss)|Fatal error|Test unit written' \
        "$folder/$target.log" | sed "s/^/$target: /" || true
    [ $status -eq 0 ] || echo "$target: a finding; see $folder/$target.log, and the input it names"
    return $status
}

cat Tests/Fuzz/*.dict >$folder/words.dict
failed=0
running=0
for target in "${targets[@]}"; do
    case $target in
    jpeg) seed_all jpeg '*.jpg' ;;
    gainmap)
        seed_all gainmap '*.jpg'
        seed_all gainmap '*.avif' '*.heic'
        ;;
    colour) seed_all colour '*.icc' && seed_profiles colour ;;
    png | frames) seed_all "$target" '*.png' ;;
    thumbhash | text | http | files) mkdir -p "$folder/corpus/$target" ;; # their dictionaries suffice
    *) seed_all "$target" '*.jpg' '*.png' ;;
    esac
    if [ $running -ge "$jobs" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    run "$target" &
    running=$((running + 1))
done
for ((; running > 0; running--)); do wait -n || failed=1; done
exit $failed
