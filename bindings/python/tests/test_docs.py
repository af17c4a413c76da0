"""The programs of README.md and of examples/ run, and the doctests hold."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import LIMIT, TESTS, Server, run_script
from PIL import Image as Pillow

import sdd

FOLDER = TESTS.parent
BLOCKS = re.findall(r"```python\n(.*?)```\n\n```output\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)


def test_the_readme_has_programs() -> None:
    text = (FOLDER / "README.md").read_text()
    assert len(BLOCKS) == text.count("```python") >= 8


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_programs_of_the_readme(server: Server, number: int, tmp_path: Path) -> None:
    program, expected = BLOCKS[number]
    program = program.replace("https://example.org/", server.url("file/")).replace("/tmp/", f"{tmp_path}/")
    if sys.version_info < (3, 10) and "async with (" in program:
        pytest.skip("this Python has no with statement in parentheses")
    done = run_script(program)
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


def run_example(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(FOLDER / "examples" / name), *arguments], capture_output=True, text=True, timeout=LIMIT,
        env=dict(os.environ),
    )  # fmt: skip


def test_tqdm_progress(server: Server, tmp_path: Path) -> None:
    done = run_example("tqdm_progress.py", str(tmp_path), server.url("file/a.jpg"), server.url("file/b.png"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.jpg").read_bytes() == (server.folder / "a.jpg").read_bytes()
    assert "b.png" in done.stdout
    assert run_example("tqdm_progress.py", str(tmp_path), server.url("status/404")).returncode == 1


def test_contact_sheet(server: Server, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    done = run_example("contact_sheet.py", str(sheet), *[server.url(f"file/small-{n}.jpg") for n in range(8)])
    assert done.returncode == 0, done.stderr
    picture = Pillow.open(sheet)
    assert picture.size == (960, 320) and np.asarray(picture)[:30, :40].std() > 1


def test_torch_dataset(server: Server, tmp_path: Path) -> None:
    """Runs with PyTorch if it is installed, else with NumPy alone."""
    file = tmp_path / "urls"
    urls = [server.url(f"file/small-{n}.jpg") for n in range(20)] + [server.url("status/404")]
    file.write_text("\n".join(urls))
    done = run_example("torch_dataset.py", "-b", "8", "-s", "32", "-w", "2", str(file))
    assert done.returncode == 0, done.stderr
    assert "20 pictures" in done.stdout and "(8, 3, 32, 32)" in done.stdout


def test_doctests() -> None:
    tried = 0
    for module in pkgutil.iter_modules(sdd.__path__, "sdd."):
        if module.name == "sdd.distributed" and not importlib.util.find_spec("pyarrow"):
            continue
        results = doctest.testmod(importlib.import_module(module.name))
        assert results.failed == 0, module.name
        tried += results.attempted
    assert tried >= 4


def test_every_public_name_has_a_docstring() -> None:
    for name in sdd.__all__:
        thing = getattr(sdd, name)
        if callable(thing):
            assert thing.__doc__, name


def test_soak() -> None:
    done = subprocess.run([sys.executable, str(TESTS / "soak.py"), "--loads", "2000"], capture_output=True, text=True,
                          timeout=10 * LIMIT)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
