"""Decides whether the package carries the library; pyproject.toml has everything else.

SDD_LIBRARY names a file to carry; if it is empty, none is carried, as in a distribution's package. Otherwise an
installed library is used as it is, and where none is installed, that of the checkout is carried; `make` builds it
first, if the Swift toolchain is there. With the library go the coders for the formats of CODERS that are beside it.
Where there is no library at all, nothing is built: `import sdd` could only fail.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # an older setuptools
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CODERS = ("webp.so", "gif.so", "avif.so", "bmp.so", "ico.so")


def stop(sentence: str) -> NoReturn:
    sys.exit(f"sdd: {sentence}")


def is_installed() -> bool:
    """Whether `import sdd` finds a library of the system, and one that is new enough."""
    try:
        number = int(ctypes.CDLL("libsdd.so.0").sdd_version())
    except (OSError, AttributeError):
        return False
    constants = (HERE / "src" / "sdd" / "_constants.py").read_text(encoding="utf-8")
    major, minor = re.findall(r"^VERSION_M(?:AJOR|INOR): Final = (\d+)$", constants, re.MULTILINE)
    return number >= int(major) * 1000000 + int(minor) * 1000


def library_to_carry() -> Path | None:
    named = os.environ.get("SDD_LIBRARY")
    if named is not None:
        if named and not Path(named).is_file():
            stop(
                f"SDD_LIBRARY names {named}, which is no file: name a built library, such as build/libsdd.so, or "
                "unset it."
            )
        return Path(named).resolve() if named else None
    if is_installed():
        return None
    if not (ROOT / "include" / "sdd" / "sdd.h").exists():
        stop(
            "libsdd.so.0 is not installed: install it (Debian: libsdd0; in a checkout: `make install`), or name the "
            "file to carry by SDD_LIBRARY, as in SDD_LIBRARY=/path/libsdd.so.0 pip install libsdd."
        )
    built = ROOT / "build" / "libsdd.so"
    targets = ["build/libsdd.so", "build/sdd-decoder", "coders"]
    if shutil.which("swift") and subprocess.run(["make", *targets], cwd=ROOT).returncode:
        stop(f"`make` in {ROOT} has failed, as it says above; README.md names what it needs.")
    if not built.exists():
        stop(
            f"there is no libsdd: none is installed, and {ROOT} has none, nor Swift to build it. Install libsdd "
            "(Debian: libsdd0), or run `make` with Swift 6.2 or later (swift.org/install), or name a built library by "
            "SDD_LIBRARY."
        )
    return built.resolve()


LIBRARY = library_to_carry()


def machine_of(library: Path) -> str:
    """The machine that a library is for, which may be another one than this; by its ELF header."""
    with library.open("rb") as file:
        number = int.from_bytes(file.read(20)[18:], "little")
    return {62: "x86_64", 183: "aarch64"}.get(number, os.uname().machine)


def coders_of(library: Path) -> list[Path]:
    """The coders beside a library: in a build's folder, or in that of an installed one."""
    for folder in (library.parent / "sdd" / "coders", library.parent / "coders"):
        if folder.is_dir():
            return [folder / name for name in CODERS if (folder / name).exists()]
    return []


class Build(build_py):
    def run(self) -> None:
        super().run()
        if LIBRARY is None:
            return
        package = Path(self.build_lib) / "sdd"
        # The library looks beside itself for the program of `isolated_decoding`, and for coders in sdd/coders.
        files = {LIBRARY: package / "libsdd.so.0"}
        if (program := LIBRARY.with_name("sdd-decoder")).exists():
            files[program] = package / program.name
        files.update({coder: package / "sdd" / "coders" / coder.name for coder in coders_of(LIBRARY)})
        for file, target in files.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            target.chmod(0o755)
            strip = os.environ.get("STRIP", "strip")  # another machine's, where the library is for that
            if shutil.which(strip):
                subprocess.run([strip, "--strip-unneeded", target], check=True)


class ForOneMachine(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        """With the library: any version of Python, of which the library uses nothing, on the library's kind of machine."""
        return ("py3", "none", f"linux_{machine_of(LIBRARY)}") if LIBRARY else super().get_tag()


setup(distclass=ForOneMachine if LIBRARY else Distribution, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
