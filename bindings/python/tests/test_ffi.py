"""The generated low layer fits the header."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TESTS

import sdd
from sdd._constants import Status
from sdd.lowlevel import ffi, lib

ROOT = TESTS.parents[2]
SOURCE = Path(sdd.__file__).parent

needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


def header() -> str:
    return "".join(file.read_text() for file in sorted((ROOT / "include" / "sdd").glob("*.h")))


@needs_compiler
@pytest.mark.skipif(not importlib.util.find_spec("pycparser"), reason="no pycparser")
@pytest.mark.skipif(not importlib.util.find_spec("cffi"), reason="no cffi, but its runtime alone")
def test_the_files_are_what_the_generator_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_cffi.py"), str(tmp_path)], check=True)
    for name in ("_ffi.py", "_constants.py"):
        assert (tmp_path / name).read_text() == (SOURCE / name).read_text(), f"tools/bindings.sh cffi makes another {name}"


def test_every_call_is_there() -> None:
    names = re.findall(r"^SDD_API [^;(]*?\b(sdd_\w+)\(", header(), re.MULTILINE)
    assert len(names) > 100
    for name in names:
        assert callable(getattr(lib, name)), name


@needs_compiler
def test_structs_and_numbers_are_those_of_the_compiler(tmp_path: Path) -> None:
    structs = re.findall(r"^} (sdd_\w+);", header(), re.MULTILINE)
    numbers = re.findall(r"^    (SDD_[A-Z0-9_]+)(?: = [^,\n]+)?(?:,|$| /)", header(), re.MULTILINE)
    fields = {name: [field for field, _ in ffi.typeof(name).fields] for name in structs}
    lines = [f'printf("{name} %zu\\n", sizeof({name}));' for name in structs]
    lines += [f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));' for name in structs for field in fields[name]]
    lines += [f'printf("{name} %lld\\n", (long long){name});' for name in numbers]
    program = tmp_path / "sizes"
    text = "#include <sdd/sdd.h>\n#include <stdio.h>\n#include <stddef.h>\nint main(void) {" + "\n".join(lines) + "}"
    command = ["gcc", "-w", f"-I{ROOT / 'include'}", "-x", "c", "-", "-o", str(program)]
    subprocess.run(command, input=text, text=True, check=True)
    output = subprocess.run([str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert len(structs) > 30 and len(numbers) > 150
    for line in output.splitlines():
        name, value = line.split()
        if "." in name:
            struct, field = name.split(".")
            assert ffi.offsetof(struct, field) == int(value), name
        elif name.startswith("SDD_"):
            assert getattr(lib, name) == int(value), name
        else:
            assert ffi.sizeof(name) == int(value), name


def test_every_status_has_an_exception_and_a_name() -> None:
    from sdd._errors import error_of

    for status in Status:
        assert ffi.string(lib.sdd_status_name(status)).decode() in (f"SDD_ERROR_{status.name}", "SDD_OK")
    for kind in set(sdd.ErrorClass) - {sdd.ErrorClass.NONE}:
        error = error_of(ffi.new("sdd_failure *", {"status": Status.TRANSPORT, "error_class": kind}))
        assert error.error_class is kind and type(error)._CLASS is kind


def test_the_library_is_named_when_it_is_missing() -> None:
    done = subprocess.run([sys.executable, "-c", "import sdd"], env={"SDD_LIBRARY": "/none/libsdd.so",
                          "PYTHONPATH": str(SOURCE.parent)}, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 1
    assert "ImportError: libsdd cannot be loaded" in done.stderr and "SDD_LIBRARY" in done.stderr


def test_a_library_that_is_too_old_or_another_is_refused(tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    file = tmp_path / "libsdd.so.0"
    text = 'unsigned sdd_version(void) { return 2000; } const char *sdd_version_string(void) { return "0.2.0"; }'
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(file)], input=text, text=True, check=True)
    done = subprocess.run([sys.executable, "-c", "import sdd"], env={"SDD_LIBRARY": str(file),
                          "PYTHONPATH": str(SOURCE.parent)}, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 1 and "is libsdd 0.2.0; this package needs 0.4 or later" in done.stderr
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(file)], input="", text=True, check=True)
    done = subprocess.run([sys.executable, "-c", "import sdd"], env={"SDD_LIBRARY": str(file),
                          "PYTHONPATH": str(SOURCE.parent)}, capture_output=True, text=True)  # fmt: skip
    assert f"ImportError: {file} is not libsdd. SDD_LIBRARY names this file: set it to" in done.stderr
