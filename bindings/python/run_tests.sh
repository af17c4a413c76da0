#!/bin/bash
# Runs all checks of the Python package: tests with the README and the doctests, mypy, pyright, `pip install`, and the
# tests again with the wheel.
#
#     SDD_LIBRARY=FILE bindings/python/run_tests.sh [ARGUMENT OF PYTEST...]
#
# The library is that of SDD_LIBRARY, or build/libsdd.so. The virtual environments are in SDD_PYTHON_WORK, a folder
# outside the source tree (default: sdd-python below TMPDIR or /tmp), and are kept for the next run. PYTHON is the
# interpreter (default: python3). With arguments only pytest runs. SDD_TEST_SHARE=K/N runs every Nth file of the tests
# with the wheel, beginning with number K modulo N.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
. "$root/Tests/share.sh"
python=${PYTHON:-python3}
library=$(realpath "${SDD_LIBRARY:-$root/build/libsdd.so}")
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
work=${SDD_PYTHON_WORK:-${TMPDIR:-/tmp}/sdd-python}/$version

fail() { echo "run_tests.sh: $*" >&2; exit 1; }
step() { echo "== $*"; }

[ -e "$library" ] || fail "$library is missing: run make, or set SDD_LIBRARY"
mkdir -p "$work"
exec 9>"$work/lock"
flock 9

requirements=$folder/requirements-test.txt
if ! cmp -s "$requirements" "$work/requirements.txt"; then
    step "a virtual environment with what requirements-test.txt names"
    "$python" -m venv --clear "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$work/requirements.txt"
fi
bin=$work/venv/bin
export SDD_LIBRARY=$library PYTHONPATH=$folder/src PYTHONDONTWRITEBYTECODE=1 PATH=$bin:$PATH

cd "$folder"
step "pytest, $library"
"$bin/python" -X faulthandler -m pytest -p no:cacheprovider "$@"
[ $# -eq 0 ] || exit 0

step "mypy --strict"
"$bin/mypy" --cache-dir "$work/mypy"
step "mypy --strict with the programs of README.md and of the guide"
rm -rf "$work/programs"
"$bin/python" tests/programs.py "$work/programs" README.md ../../docs/guides/start-python.md
"$bin/mypy" --cache-dir "$work/mypy" --strict --config-file= --python-executable "$bin/python" "$work/programs"
step "pyright"
"$bin/pyright" --pythonpath "$bin/python"

# A program that needs no server: it decodes, shares pixels with no other package, and loads a data: URL.
program='import asyncio, base64, sdd
image = sdd.Image.from_pixels(bytes(range(12)), 2, 2, sdd.PixelFormat.RGB8)
url = "data:image/png;base64," + base64.b64encode(image.encode(sdd.ImageFormat.PNG)).decode()
async def main():
    async with sdd.Loader(no_cache=True) as loader:
        return await loader.load(url, pixel_format="rgb8")
assert asyncio.run(main()).tobytes() == bytes(range(12))
print(sdd.library_version(), sdd.library_file)'
unset PYTHONPATH SDD_LIBRARY

step "pip install . with an installed library, and with one to carry"
mkdir -p "$work/lib"
ln -sf "$library" "$work/lib/libsdd.so.0"
rm -rf "$work/checkout"
cp -r "$folder/." "$work/checkout" # setuptools writes into the folder that it builds
"$python" -m venv --clear "$work/installed"
(export LD_LIBRARY_PATH=$work/lib && cd "$work" &&
    installed/bin/pip install --quiet --disable-pip-version-check "$work/checkout" &&
    installed/bin/python -c "$program")
rm -rf "$work/carried"
SDD_LIBRARY=$library "$bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    --wheel-dir "$work/carried" "$work/checkout" # with the setuptools of the tests: the one above was pip's own
loaded=$(cd "$work" && installed/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
    carried/*.whl && installed/bin/python -c "$program")
echo "$loaded"
[[ $loaded == *"$work/installed/"*libsdd.so.0 ]] || fail "pip does not install the library that SDD_LIBRARY names"

step "setup.py without a library, which ends with a sentence"
refuses() { # refuses SENTENCE FOLDER VARIABLE=VALUE...
    local sentence=$1 package=$2 said
    shift 2
    ! said=$(cd "$package" && env PATH=/usr/bin:/bin "$@" "$bin/python" setup.py --name 2>&1 | tail -n 1) ||
        fail "setup.py goes on: $said"
    [[ $said == "sdd: $sentence"* ]] || fail "setup.py says: $said"
}
refuses "SDD_LIBRARY names /none/libsdd.so, which is no file: name a built library" "$work/checkout" \
    SDD_LIBRARY=/none/libsdd.so
if ! "$bin/python" -c 'import ctypes; ctypes.CDLL("libsdd.so.0")' 2>/dev/null &&
    ! PATH=/usr/bin:/bin command -v swift >/dev/null; then
    refuses "libsdd.so.0 is not installed: install it (Debian: libsdd0" "$work/checkout"
    rm -rf "$work/bare"
    mkdir -p "$work/bare/include/sdd" "$work/bare/bindings"
    touch "$work/bare/include/sdd/sdd.h"
    cp -r "$work/checkout" "$work/bare/bindings/python"
    refuses "there is no libsdd: none is installed" "$work/bare/bindings/python"
fi

step "an sdist, which installs where the library is, and says what it needs where it is not"
rm -rf "$work/sdist"
(cd "$work/checkout" && SDD_LIBRARY="" "$bin/python" setup.py -q sdist --dist-dir "$work/sdist" 2>/dev/null)
(export LD_LIBRARY_PATH=$work/lib && cd "$work" &&
    installed/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps sdist/libsdd-*.tar.gz &&
    installed/bin/python -c "$program")
if said=$(cd "$work" && SDD_LIBRARY=/none/libsdd.so installed/bin/pip install --disable-pip-version-check --no-deps \
    --force-reinstall sdist/libsdd-*.tar.gz 2>&1); then fail "pip installs an sdist without a library"; fi
[[ $said == *"sdd: SDD_LIBRARY names /none/libsdd.so"* ]] || fail "pip does not say what the sdist needs: $said"

step "make_wheel.sh, and pytest with the wheel in a fresh virtual environment"
rm -rf "$work/wheels"
status=0
PYTHON=$bin/python SDD_LIBRARY=$library "$folder/make_wheel.sh" "$work/wheels" || status=$?
if [ "$status" -eq 3 ]; then
    echo "skip a wheel with all libraries inside: auditwheel has no tag yet for a C library as new as this system's"
    PYTHON=$bin/python SDD_LIBRARY=$library "$folder/make_wheel.sh" --system-libraries "$work/wheels"
elif [ "$status" -ne 0 ]; then
    exit "$status"
fi
"$python" -m venv --clear "$work/wheel"
grep -v '^#\|^mypy\|^pyright\|^types-' "$requirements" >"$work/requirements-wheel.txt"
"$work/wheel/bin/pip" install --quiet --disable-pip-version-check "$work"/wheels/*.whl -r "$work/requirements-wheel.txt"
loaded=$(cd "$work" && "$work/wheel/bin/python" -c "$program")
echo "$loaded"
[[ $loaded == *"$work/wheel/"*libsdd.so.0 ]] || fail "the wheel does not load the library inside it"
for coder in "$(dirname "$library")"/coders/{webp,gif,avif,bmp,ico}.so; do
    [ ! -e "$coder" ] || [ -x "$(dirname "${loaded##* }")/sdd/coders/$(basename "$coder")" ] ||
        fail "the wheel lacks $coder"
done
# Two of them do not differ in a wheel.
mapfile -t tests < <(printf '%s\n' tests/test_*.py | grep -vE '/test_(load|signals|help)\.py$')
mapfile -t tests < <(share_of "${SDD_TEST_SHARE:-0/1}" "${tests[@]}")
tests+=(tests/test_load.py)
"$work/wheel/bin/python" -X faulthandler -m pytest -p no:cacheprovider "${tests[@]}"
(cd "$work" && "$bin/mypy" --cache-dir "$work/mypy" --strict --python-executable "$work/wheel/bin/python" \
    "$folder/examples/contact_sheet.py")
step "all passed"
