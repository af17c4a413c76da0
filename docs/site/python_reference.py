"""Writes the reference of the Python package for Sphinx, from its sources: nothing is imported, so that neither the
library nor cffi need be there when the site is made."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from header import ROOT

PACKAGE = ROOT / "bindings" / "python" / "src" / "sdd"
INDENT = "   "
GROUPS = [
    (
        "Functions of the process",
        [
            "load",
            "load_sync",
            "fetch",
            "fetch_sync",
            "load_many",
            "previews",
            "batch",
            "default_loader",
            "probe",
            "library_version",
            "library_file",
            "process_statistics",
            "set_decode_memory_limit",
        ],
    ),
    (
        "Objects",
        [
            "Loader",
            "Downloader",
            "Cache",
            "Image",
            "Batch",
            "Item",
            "PictureItem",
            "BytesItem",
            "RowItem",
            "FailedItem",
            "Previews",
        ],
    ),
    (
        "Results",
        ["Result", "Response", "Metrics", "Colour", "GainMapInfo", "PrefetchReport", "PrefetchOutcome", "CacheEntry"],
    ),
    (
        "Options",
        [
            "PictureOptions",
            "TransferOptions",
            "StoreOptions",
            "RequestOptions",
            "DownloadOptions",
            "LoadOptions",
            "PrefetchOptions",
            "RowOptions",
            "BatchOptions",
            "DownloaderOptions",
            "CacheOptions",
            "Credential",
        ],
    ),
    ("Transforms", ["Transform", "resize", "crop", "flip", "rotate", "round_corners", "border", "tint", "blur"]),
    (
        "Errors",
        [
            "Error",
            "RequestError",
            "CallError",
            "InvalidArgument",
            "ClosedError",
            "ForkedError",
            "Blocked",
            "NotCached",
            "ResponseError",
            "NotModified",
            "ImageError",
            "NetworkError",
            "TLSError",
            "RequestTimeout",
            "LimitError",
            "ResourceError",
            "RequestCancelled",
        ],
    ),
    (
        "Numbers",
        [
            "Status", "Detail", "ErrorClass", "Stage", "Origin", "Priority", "PixelFormat", "ColourKind",
            "ImageFormat", "EntryState",
        ],  # fmt: skip
    ),
]


def sources() -> tuple[list[str], dict[str, tuple[ast.AST, ast.Module]], str]:
    """Returns the public names, where each is defined, and the docstring of the package."""
    top = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    names: list[str] = []
    defined: dict[str, tuple[ast.AST, ast.Module]] = {}
    for node in top.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = ast.literal_eval(node.value)
    for path in sorted(PACKAGE.glob("_*.py")):
        if path.name == "_ffi.py":
            continue
        module = ast.parse(path.read_text(encoding="utf-8"))
        for node in module.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if node.name not in defined:
                    defined[node.name] = (node, module)
    return names, defined, ast.get_docstring(top) or ""


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef, method: bool) -> str:
    arguments = node.args
    static = any(getattr(mark, "id", "") == "staticmethod" for mark in node.decorator_list)
    parts: list[str] = []
    plain = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = list(zip(plain, defaults))
    for argument, default in pairs[1:] if method and not static else pairs:
        parts.append(one(argument, default))
    if arguments.vararg:
        parts.append("*" + one(arguments.vararg, None))
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [one(argument, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        parts.append("**" + one(arguments.kwarg, None))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{node.name}({', '.join(parts)}){returns}"


def one(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg + (f": {ast.unparse(argument.annotation)}" if argument.annotation else "")
    if default is None:
        return text
    return f"{text} = {ast.unparse(default)}" if argument.annotation else f"{text}={ast.unparse(default)}"


def text_of(docstring: str | None) -> list[str]:
    """Docstrings have `code` in one pair of backquotes, and doctests, which reStructuredText shows as they are."""
    if not docstring:
        return []
    text = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"``\1``", docstring)
    text = re.sub(r"(?<![`\\])\*(?=\w)|(?<=-)\*", r"\\*", text)
    text = re.sub(r"(?<![`\w])(\w+_)(?![\w`])", r"``\1``", text)  # SDD_OPTION_ would be a link
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith("    "):
            lines += ["::", "", paragraph, ""]
        else:
            lines += [*paragraph.split("\n"), ""]
    return lines


def indented(lines: list[str], depth: int = 1) -> list[str]:
    return [INDENT * depth + line if line else "" for line in lines]


def class_lines(node: ast.ClassDef, defined: dict[str, tuple[ast.AST, ast.Module]]) -> list[str]:
    bases = [ast.unparse(base) for base in node.bases]
    is_error = (
        node.name.endswith("Error")
        or any(base.endswith("Error") for base in bases)
        or node.name in ("Blocked", "NotCached", "NotModified", "RequestTimeout", "RequestCancelled", "InvalidArgument")
    )
    init = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
    arguments = signature(init, True).removeprefix("__init__").removesuffix(" -> None") if init else ""
    if node.name in ("Image", "Response", "Batch", "Previews") or is_error:
        arguments = ""  # they are made by the package
    lines = [f".. py:{'exception' if is_error else 'class'}:: {node.name}{arguments}", ""]
    shown = [base for base in bases if base in defined and not base.startswith("_") and base not in ("Closing", "Number")]
    shown += [base for base in bases if base in ("TimeoutError", "Exception", "TypedDict")]
    if shown:
        lines += indented([f"Base: {', '.join(f'``{base}``' for base in shown)}.", ""])
    lines += indented(text_of(ast.get_docstring(node)))
    for index, part in enumerate(node.body):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and not part.name.startswith("_"):
            marks = {getattr(mark, "id", getattr(mark, "attr", "")) for mark in part.decorator_list}
            if "setter" in marks or "overload" in marks:
                continue
            if marks & {"property", "cached_property"}:
                returns = [f"{INDENT}:type: {ast.unparse(part.returns)}"] if part.returns is not None else []
                member = [f".. py:property:: {part.name}", *returns, ""]
            else:
                options = [f"{INDENT}:async:"] if isinstance(part, ast.AsyncFunctionDef) else []
                options += [f"{INDENT}:{mark}:" for mark in ("staticmethod", "classmethod") if mark in marks]
                member = [f".. py:method:: {signature(part, True)}", *options, ""]
            lines += indented([*member, *indented(text_of(ast.get_docstring(part)))])
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.target.id[0] != "_":
            following = node.body[index + 1] if index + 1 < len(node.body) else None
            doc = ""
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                doc = str(following.value.value)
            annotation = ast.unparse(part.annotation).replace("\n", " ")
            lines += indented(
                [f".. py:attribute:: {part.target.id}", f"{INDENT}:type: {annotation}", "", *indented(text_of(doc))]
            )
        elif (
            isinstance(part, ast.Assign)
            and isinstance(part.targets[0], ast.Name)
            and part.targets[0].id[0] != "_"
            and isinstance(part.value, (ast.Constant, ast.UnaryOp))
        ):
            lines += indented(
                [f".. py:attribute:: {part.targets[0].id}", f"{INDENT}:value: {ast.unparse(part.value)}", ""]
            )
    return lines


def write(path: Path) -> None:
    names, defined, intro = sources()
    grouped = [name for _, group in GROUPS for name in group]
    if set(grouped) != set(names) or len(grouped) != len(set(grouped)):
        raise SystemExit(f"python_reference.py: GROUPS and sdd.__all__ differ: {sorted(set(grouped) ^ set(names))}")
    lines = [
        ".. _python-reference:",
        "",
        "The interface in Python",
        "=======================",
        "",
        ".. py:module:: sdd",
        "",
        *text_of(intro.partition("\n")[0]),
        ":doc:`/python` has examples. Times are seconds, sizes bytes, sides pixels. Options are keywords; the classes "
        "under Options describe them, with their defaults.",
        "",
    ]
    for title, group in GROUPS:
        lines += [title, "-" * len(title), ""]
        for name in group:
            if name == "library_file":
                lines += [
                    ".. py:data:: library_file",
                    f"{INDENT}:type: str",
                    "",
                    f"{INDENT}The path of the libsdd that the package has loaded.",
                    "",
                ]
                continue
            node, _ = defined[name]
            if isinstance(node, ast.ClassDef):
                lines += class_lines(node, defined)
            else:
                assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                options = [f"{INDENT}:async:"] if isinstance(node, ast.AsyncFunctionDef) else []
                lines += [
                    f".. py:function:: {signature(node, False)}",
                    *options,
                    "",
                    *indented(text_of(ast.get_docstring(node))),
                ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
