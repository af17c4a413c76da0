"""Decides whether the package carries the library; pyproject.toml has everything else.

SDD_LIBRARY names a file to carry; if it is empty, none is carried, as in a distribution's package. Otherwise an
installed library is used as it is, and where none is installed, that of the checkout is carried; `make` builds it
first, if the Swift toolchain is there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from ctypes.util import find_library
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # an older setuptools
    from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parents[2]


def library_to_carry() -> Path | None:
    named = os.environ.get("SDD_LIBRARY")
    if named is not None:
        return Path(named).resolve(strict=True) if named else None
    if find_library("sdd") or not (ROOT / "include" / "sdd" / "sdd.h").exists():
        return None
    if shutil.which("swift"):
        subprocess.run(["make", "build/libsdd.so", "build/sdd-decoder"], cwd=ROOT, check=True)
    built = ROOT / "build" / "libsdd.so"
    return built.resolve() if built.exists() else None


LIBRARY = library_to_carry()


class Build(build_py):
    def run(self) -> None:
        super().run()
        if LIBRARY:
            target = Path(self.build_lib) / "sdd" / "libsdd.so.0"
            shutil.copyfile(LIBRARY, target)
            files = [target]
            # The program that decodes for `isolated_decoding`: the library looks for it beside itself.
            if (program := LIBRARY.with_name("sdd-decoder")).exists():
                files.append(target.with_name(program.name))
                shutil.copyfile(program, files[-1])
            for file in files:
                file.chmod(0o755)
                if shutil.which("strip"):
                    subprocess.run(["strip", "--strip-unneeded", file], check=True)


class ForOneMachine(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        """With the library: any version of Python, of which the library uses nothing, on this kind of machine."""
        return ("py3", "none", f"linux_{os.uname().machine}") if LIBRARY else super().get_tag()


setup(distclass=ForOneMachine if LIBRARY else Distribution, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
