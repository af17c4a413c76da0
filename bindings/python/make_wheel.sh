#!/bin/bash
# Makes a wheel with the library inside, which installs without a compiler and without libsdd.
#
#     bindings/python/make_wheel.sh [FOLDER]     writes it to FOLDER, default build/wheels
#
# The library is that of SDD_LIBRARY, or build/libsdd.so; it is stripped. PYTHON is an interpreter with pip. The tag is
# py3-none-linux_MACHINE: the wheel runs with every Python 3 of the package, but uses the system's libcurl, libjpeg,
# libpng and C library, so that it is for the distribution that the library was built on, and those after it that have
# the same sonames. It is not a manylinux wheel. The script prints what the library needs.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
python=${PYTHON:-python3}
library=$(realpath "${SDD_LIBRARY:-$root/build/libsdd.so}")
target=$(realpath -m "${1:-$root/build/wheels}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -e "$library" ] || { echo "make_wheel.sh: $library is missing: run make, or set SDD_LIBRARY" >&2; exit 1; }
cp -r "$folder/pyproject.toml" "$folder/README.md" "$folder/src" "$work"
rm -rf "$work"/src/*.egg-info
cp "$root/LICENSE" "$work"
strip --strip-unneeded -o "$work/src/sdd/libsdd.so.0" "$library"
machine=$(uname -m)
cat >"$work/setup.py" <<'END'
import os
from setuptools import setup
try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

class Wheel(bdist_wheel):
    """No code for one version of Python, but a library for one machine."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", "linux_" + os.uname().machine

setup(cmdclass={"bdist_wheel": Wheel})
END
mkdir -p "$target"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$target" "$work"
ls -l "$target"/*linux_"$machine".whl
echo "The library inside needs: $(objdump -p "$library" | awk '$1 == "NEEDED" { printf "%s ", $2 }')"
echo "and the C library $(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)"
