#!/bin/bash
# Measures which lines of the Swift core the tests reach: builds everything with counters, runs the Swift tests and the
# programs in C, and prints a table of folders and the files below the goal. The report by llvm-cov stays in
# build/coverage.
#
#     Tests/coverage.sh [NAME...]
#
#   NAME               programs of Tests/C to run; default: all
#   COVERAGE_SCRATCH   SwiftPM's folder; default: .build-coverage
#   COVERAGE_SWIFT=no  leaves out the Swift tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
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
if [ "${COVERAGE_SWIFT:-yes}" != no ]; then
    echo "== the Swift tests"
    swift test --skip-build --disable-xctest "${flags[@]}" >"$out/swift.log" 2>&1 || echo "some Swift tests failed: $out/swift.log"
fi
echo "== the programs in C"
SDD_LIBDIR=$scratch/debug FAULT_SERVER=$scratch/debug/fault-server Tests/C/run.sh plain "$@" >"$out/c.log" 2>&1 ||
    echo "some programs failed: $out/c.log"

# ---- the figures

"$tools/llvm-profdata" merge -sparse "$out"/raw/*.profraw -o "$out/all.profdata"
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
