#!/bin/bash
# Measures which lines of the Swift core the tests reach: builds everything with counters, runs the Swift tests, the
# programs in C, the coders and the hostile HTTP/2 servers, and prints a table of folders and the files below the goal.
# The report by llvm-cov stays in build/coverage. Needs build/sdd and build/coders.
#
#     Tests/Coverage/run.sh [NAME...]
#
#   NAME               programs of Tests/C to run, and nothing else but the Swift tests; default: everything
#   COVERAGE_SCRATCH   SwiftPM's folder; default: .build-coverage
#   COVERAGE_SWIFT=no  leaves out the Swift tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scratch=${COVERAGE_SCRATCH:-.build-coverage}
out=$PWD/build/coverage
tools=$(dirname "$(realpath "$(command -v swift)")")
flags=(--scratch-path "$scratch" -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping
    -Xcc -fprofile-instr-generate -Xcc -fcoverage-mapping)
rm -rf "$out"
mkdir -p "$out/raw"

# ---- the build, and the runs: each process writes a profile of its own

echo "== building with counters"
swift build --build-tests "${flags[@]}" >"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log" >&2; exit 1; }
export LLVM_PROFILE_FILE=$out/raw/%p-%m.profraw
export SDD_LIBDIR=$scratch/debug FAULT_SERVER=$PWD/$scratch/debug/fault-server
run() { # run WHAT COMMAND...: a failure is told, and counts for nothing here
    local name=${1//[ \/]/-}
    echo "== $1"
    "${@:2}" >"$out/$name.log" 2>&1 || echo "some failed: $out/$name.log"
    # A process that was killed as it wrote its profile has left a part of it.
    find "$out/raw" -name '*.profraw' >"$out/profiles"
    "$tools/llvm-profdata" merge -sparse -failure-mode=all -f "$out/profiles" -o "$out/$name.profdata" 2>/dev/null ||
        echo "no profile: $1"
    rm -rf "$out/raw"
    mkdir "$out/raw"
}
if [ "${COVERAGE_SWIFT:-yes}" != no ]; then
    run "the Swift tests" swift test --skip-build --disable-xctest "${flags[@]}"
fi
run "the programs in C" Tests/C/run.sh plain "$@"
if [ $# -eq 0 ]; then
    run "hostile HTTP/2 servers" Tests/HTTP2/run.sh
    # Once more what decodes in other processes, since these write no profile else: see open_helper.c. What a coder may
    # do there is not what is tested then.
    "${CC:-cc}" -std=c11 -O1 -shared -fPIC Tests/Coverage/open_helper.c -o "$out/open_helper.so" -ldl
    export SDD_TEST_DECODER_FLAGS="-rdynamic -DIN_HELPER -DPROFILES=\"$LLVM_PROFILE_FILE\" $PWD/Tests/Coverage/open_helper.c"
    export SDD_TEST_RUNNER="env LD_PRELOAD=$out/open_helper.so"
    run "isolated decoding" Tests/C/run.sh plain test_isolated test_pixels test_previews test_frames test_colour
    run "coders" env SDD_TOOL="$PWD/build/sdd" Tests/Coders/run.sh
fi

# ---- the figures

"$tools/llvm-profdata" merge -sparse "$out"/*.profdata -o "$out/all.profdata"
bundle=$(find "$scratch/debug/" -maxdepth 1 -name '*.xctest' -type f | head -n 1)
objects=("$scratch/debug/libsdd.so")
[ -z "$bundle" ] || objects+=(-object "$bundle")
"$tools/llvm-cov" export -summary-only -instr-profile="$out/all.profdata" "${objects[@]}" >"$out/summary.json" 2>/dev/null
python3 - "$out/summary.json" "$PWD" <<'END'
import json, os, sys
files = json.load(open(sys.argv[1]))["data"][0]["files"]
folders, low = {}, []
for file in files:
    path = os.path.relpath(file["filename"], sys.argv[2])
    if not path.startswith("Sources/"):
        continue
    lines = file["summary"]["lines"]
    regions = file["summary"]["regions"]
    part = folders.setdefault("/".join(path.split("/")[:2]), [0, 0, 0, 0])
    for index, number in enumerate((lines["count"], lines["covered"], regions["count"], regions["covered"])):
        part[index] += number
    if lines["count"] >= 10 and lines["covered"] < 0.9 * lines["count"]:
        low.append((lines["covered"] / lines["count"], path, lines["count"] - lines["covered"]))
print(f"{'folder':24}{'lines':>8}{'reached':>9}{'':>8}{'regions':>9}")
whole = [0, 0, 0, 0]
for name, part in sorted(folders.items()) + [("all", whole)]:
    if name != "all":
        whole = [a + b for a, b in zip(whole, part)]
    else:
        part = whole
    print(f"{name:24}{part[0]:8}{part[1]:9}{100 * part[1] / max(part[0], 1):7.1f}%{100 * part[3] / max(part[2], 1):8.1f}%")
print("\nbelow 90%:")
for share, path, missing in sorted(low):
    print(f"{100 * share:5.1f}%  {missing:4} lines not reached  {path}")
END
