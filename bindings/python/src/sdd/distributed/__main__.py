"""The command `python -m sdd.distributed`, which takes the options of the command img2dataset.

The options are the fields of JobOptions and the names of NOT_SUPPORTED: what is added there is an option here.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, NoReturn

from .._errors import CallError
from .._values import no_option
from ._display import display
from ._local import LaneFailed, report_of, run_plan
from ._options import CHOICES, NOT_SUPPORTED, JobOptions
from ._plan import make_plan
from ._report import DamagedStats

_NAME = "sdd.distributed"
_FAILED, _REFUSED, _INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status: 1 for a job that failed, 2 for options that are refused."""
    given = vars(_parse(sys.argv[1:] if arguments is None else arguments))
    is_quiet = given.pop("quiet")
    try:
        options = JobOptions.from_img2dataset(**{name: _value(name, text) for name, text in given.items()})
        plan = make_plan(options)
    except (TypeError, ValueError, OverflowError, FileNotFoundError, CallError) as error:
        return _say(str(error), _REFUSED)
    except OSError as error:
        return _say(str(error), _FAILED)
    except KeyboardInterrupt:
        return _say("interrupted while the list was read; nothing was downloaded", _INTERRUPTED)
    sentence, status = "", 0
    try:
        with display(sys.stderr, is_quiet) as show:
            run_plan(plan, options, show)
    except (LaneFailed, OSError) as error:
        sentence, status = f"{error}; the same command goes on with what is missing", _FAILED
    except DamagedStats as error:
        return _say(str(error), _FAILED)
    except KeyboardInterrupt:
        sentence, status = "interrupted; the same command goes on with what is missing", _INTERRUPTED
    report = str(report_of(plan, options))
    try:
        print(report, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python tries it once more when it ends
        sentence, status = sentence or f"standard output: {error.strerror}", status or _FAILED
    return _say(sentence, status) if sentence else status


def _say(sentence: str, status: int) -> int:
    if sys.stderr is not None:  # it may be closed
        print(f"{_NAME}: {' '.join(sentence.split())}", file=sys.stderr)
    return status


# ---- the options


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(_say(message, _REFUSED))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog=f"python -m {_NAME}", allow_abbrev=False, argument_default=argparse.SUPPRESS,
        usage="%(prog)s --url_list FILE [--output_folder FOLDER] [OPTION...]",
        description="Downloads the pictures of a list of URLs, with the options and the output of img2dataset. "
        "A job that has ended early goes on when the same command is given again. Names of options may also have "
        "hyphens.", epilog=f"Options of img2dataset that are not here: {', '.join(NOT_SUPPORTED)}.",
    )  # fmt: skip
    texts = _descriptions()
    for entry in fields(JobOptions):
        is_required = entry.default is MISSING and entry.default_factory is MISSING
        _add(parser, entry.name, entry.type == "bool", _help(entry, texts), is_required)
    for name, (accepted, _) in NOT_SUPPORTED.items():
        _add(parser, name, isinstance(accepted, bool))
    parser.add_argument("--quiet", action="store_true", default=False, help="No progress on standard error.")
    known, rest = parser.parse_known_args([_OPTION.sub(_underscored, text) for text in arguments])
    for text in rest:
        if text.startswith("--"):
            names = [*JobOptions.__dataclass_fields__, *NOT_SUPPORTED, "quiet", "help"]
            parser.error(str(no_option(text[2:].partition("=")[0], names)))
        parser.error(f"{text!r} belongs to no option; --help lists the options")
    return known


_OPTION = re.compile(r"^--\w[\w-]*")


def _underscored(option: re.Match[str]) -> str:
    return "--" + option[0][2:].replace("-", "_")


def _add(
    parser: argparse.ArgumentParser, name: str, is_switch: bool, text: str = argparse.SUPPRESS,
    is_required: bool = False,
) -> None:  # fmt: skip
    """A switch may be without a value, and then is True."""
    more: dict[str, Any] = {"nargs": "?", "const": "True"} if is_switch else {}
    parser.add_argument(f"--{name}", metavar="VALUE", help=text, required=is_required, **more)


def _help(entry: Field[Any], texts: dict[str, str]) -> str:
    text = texts.get(entry.name, "")
    if entry.name in CHOICES:
        text += f" One of {', '.join(CHOICES[entry.name])}."
    if entry.default is not MISSING:
        default = ",".join(entry.default) if isinstance(entry.default, tuple) else entry.default
        text += f" Default: {default if default != '' else 'none'}."
    return text.strip().replace("%", "%%")


def _descriptions() -> dict[str, str]:
    """The texts below the fields of JobOptions, as far as its source is there."""
    with contextlib.suppress(OSError):
        (kind,) = ast.parse(inspect.getsource(JobOptions)).body
        assert isinstance(kind, ast.ClassDef)
        return {
            field.target.id: " ".join(text.value.value.split()) for field, text in zip(kind.body, kind.body[1:])
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
        }  # fmt: skip
    return {}


# ---- values


def _value(name: str, text: str) -> Any:
    """What a text stands for. One that is not of the option's kind stays as it is, and JobOptions refuses it."""
    entry = JobOptions.__dataclass_fields__.get(name)
    if entry is None:
        return _literal(text)
    return _KINDS.get(str(entry.type), str)(text)


def _literal(text: str) -> Any:
    """A value as Python or JSON writes it."""
    for read in (ast.literal_eval, json.loads, float):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return read(text)
    return text


def _text_or_none(text: str) -> str | None:
    return None if text == "None" else text


def _texts(text: str) -> Any:
    """A list as Python writes it, also without quotation marks, or words with commas between them."""
    made = _literal(text)
    if isinstance(made, str):
        return [word.strip() for word in text.strip("[]()").split(",") if word.strip()]
    return made


_KINDS: dict[str, Callable[[str], Any]] = {
    "int": _literal, "float": _literal, "bool": _literal, "str | None": _text_or_none, "Sequence[str]": _texts,
    "Mapping[str, Any]": _literal,
}  # fmt: skip
"""How values of a field's type are read. Those of other types, which are all texts, need nothing."""


if __name__ == "__main__":
    sys.exit(main())
