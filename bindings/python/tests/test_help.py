"""Every option and every public member has a description, which help() shows."""

from __future__ import annotations

import ast
import inspect
import pydoc
import re
from pathlib import Path
from typing import Any

import pytest

import sdd
from sdd import _options
from sdd._descriptions import CHAINS, OPTIONS

SOURCE = Path(sdd.__file__).parent
OPTION_CLASSES = [name for name in CHAINS if name != "Credential"]


def classes() -> list[tuple[str, ast.ClassDef]]:
    """The classes of the package, and their files."""
    return [
        (file.name, node)
        for file in sorted(SOURCE.glob("_*.py"))
        if file.name not in ("_ffi.py", "_constants.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef)
    ]


def undescribed(node: ast.ClassDef) -> list[str]:
    """The public members of a class without a description."""
    found = []
    for part, following in zip(node.body, [*node.body[1:], None]):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not part.name.startswith("_") and not ast.get_docstring(part):
                found.append(f"{node.name}.{part.name}")
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.target.id[0] != "_":
            is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            if not is_text and not is_narrowed(node, part.target.id):
                found.append(f"{node.name}.{part.target.id}")
    return found


def is_narrowed(node: ast.ClassDef, name: str) -> bool:
    """Whether a member is one of Item's, which a kind of item has with a narrower type."""
    is_kind = any(getattr(base, "id", "") in ("Item", "_CopiedItem") for base in node.bases)
    return is_kind and (name in sdd.Item.__annotations__ or hasattr(sdd.Item, name))


def test_every_member_has_a_description() -> None:
    public = [node for _, node in classes() if node.name in sdd.__all__ or node.name in OPTION_CLASSES]
    assert len(public) > 40
    assert [name for node in public for name in undescribed(node)] == []


@pytest.mark.parametrize("kind", OPTION_CLASSES)
def test_every_option_is_described(kind: str) -> None:
    made: Any = getattr(_options, kind)
    shown = inspect.getdoc(made) or ""
    for name in made.__annotations__:
        assert f"\n{name}: " in shown, name
    texts = dict(text.replace("\n    ", " ").split(": ", 1) for part in CHAINS[kind]
                 for text in re.split(r"\n(?! )", OPTIONS[part].strip()))  # fmt: skip
    assert sorted(texts) == sorted(made.__annotations__)
    for name, text in texts.items():
        assert re.search(r"[Dd]efault", text), f"{name} has no default"
        assert not re.search(r"\b(?:sdd_(?!downloader_enter)|SDD_)|\bNULL\b", text), f"{name} has words of C"


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (sdd.load, "LoadOptions"), (sdd.load_many, "BatchOptions"), (sdd.Loader, "DownloaderOptions"),
        (sdd.Loader.fetch_sync, "LoadOptions"), (sdd.Downloader.fetch, "DownloadOptions"), (sdd.Cache, "CacheOptions"),
        (sdd.Image.decode, "PictureOptions"), (sdd.Loader.prefetch, "PrefetchOptions"), (sdd.batch, "RowOptions"),
        (sdd.Cache.get, "PictureOptions"),
    ],
)  # fmt: skip
def test_help_shows_the_options(function: Any, kind: str) -> None:
    text = pydoc.plain(pydoc.render_doc(function))
    options: Any = getattr(_options, kind)
    for name in options.__annotations__:
        assert f"{name}: " in text, name
    shown = inspect.getdoc(function) or ""
    assert "\nOptions:\n\n" in shown and not [line for line in shown.split("\n") if line.startswith("     ")]


def test_reprs_and_the_version() -> None:
    assert sdd.__version__ == sdd._constants.VERSION_STRING
    with sdd.Cache(name="repr") as cache, sdd.Loader(cache=cache) as loader:
        things = [cache, loader, loader.downloader, loader.load_many([]), sdd.Cache.shared(), sdd.rotate(90)]
        assert [repr(thing) for thing in things] == [
            "<sdd.Cache>", "<sdd.Loader, 0 running>", "<sdd.Downloader>", "<sdd.Batch, 0 taken>", "<sdd.Cache, shared>",
            "Transform(fields=(('kind', 4), ('degrees', 90.0)))",
        ]  # fmt: skip
    assert repr(cache) == "<sdd.Cache, closed>" and repr(loader) == "<sdd.Loader, closed>"
    assert repr(loader.downloader) == "<sdd.Downloader, closed>"


def test_numbers_that_a_newer_library_has() -> None:
    status = sdd.Status(9999)
    assert status == 9999 and status.name == "UNKNOWN_9999" and isinstance(status, sdd.Status)
    error = sdd.Error("A sentence.", status=9999, detail=77)
    assert isinstance(error.status, sdd.Status) and isinstance(error.detail, sdd.Detail)
    assert error.stage is sdd.Stage.NONE and error.error_class is sdd.ErrorClass.NONE
    with pytest.raises(ValueError):
        sdd.Status("TLS")  # type: ignore[arg-type]
