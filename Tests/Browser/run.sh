#!/bin/bash
# Compares pictures with what Chromium shows: formats, colours, damage. Writes the tables of docs/formats.md.
#
#     Tests/Browser/run.sh
#
#   SDD_LIBRARY      the library (default: build/libsdd.so), with build/coders
#   SDD_BROWSER      Chromium's program (default: chromium)
#   SDD_PYTHON_WORK  the folder of virtual environments, see bindings/python/run_tests.sh
#
# The status is 1 if a picture differs by more than docs/formats.md says it may.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
work=$root/build/browser
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
environment=${SDD_PYTHON_WORK:-${TMPDIR:-/tmp}/sdd-python}/browser-$version

command -v "${SDD_BROWSER:-chromium}" >/dev/null || { echo "run.sh: chromium is missing" >&2; exit 1; }
if ! cmp -s "$folder/requirements.txt" "$environment/requirements.txt"; then
    python3 -m venv --clear "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$folder/requirements.txt"
    cp "$folder/requirements.txt" "$environment/requirements.txt"
fi
export SDD_LIBRARY=${SDD_LIBRARY:-$root/build/libsdd.so} SDD_CODER_PATH=${SDD_CODER_PATH-$root/build/coders}
export PYTHONPATH=$root/bindings/python/src:$root/Tests/Fixtures PYTHONDONTWRITEBYTECODE=1
rm -rf "$work"
mkdir -p "$work"
"$environment/bin/python" "$folder/pictures.py" "$work"
"$environment/bin/python" "$folder/chromium.py" "$work"
"$environment/bin/python" "$folder/compare.py" "$work" "$root/docs/formats.md"
