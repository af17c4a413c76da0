#!/usr/bin/env python3
"""Compiles and runs the code of the documents: each fenced block in C, C++, Python, Rust, sh, CMake and Meson.

    Tests/Docs/run.py [PAGE...]        after `make`; FAULT_SERVER names the server that replaces https://example.org/
    Tests/Docs/run.py --test           checks that broken blocks fail

The pages are those of docs/guides, docs/site and the README; the programs of the README and of the bindings' pages also
run elsewhere (Tests/examples.sh, the tests of the bindings). A comment before a block says what the test cannot know:

    <!-- test: file=NAME args="..." with=PACKAGE -->

    file=NAME        the block is this file of the page's folder, for blocks in sh, CMake and Meson
    args="..."       arguments of the program; https://example.org/ is replaced by the server
    with="P..."      packages of pkg-config beside sdd
    std=c++20        another standard than C11 or C++17
    env=NAME=VALUE   a variable of the environment
    sort             the lines of the output come in any order
    part             declarations without main(): compiled after sdd/sdd.h, and `include=HEADER`
    no-warnings      compiled without -Wall -Wextra -Werror: code of other libraries
    needs=A,B        modules of Python; the block is only compiled where one of them is missing
    in-root          sh: runs in the root folder of the repository
    not-run="..."    neither compiled nor run, for that reason; sh is still parsed

The pages for developers are not run: commands.py checks what their commands name.

A block ```output after a program is what it prints. All else that is printed is not checked.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
from broken import BROKEN  # noqa: E402
from commands import BLOCK, check_commands  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "build" / "docs-test"
ADDRESS = "https://example.org/"
LIMIT = 300
MOST_NOT_RUN = 12  # of all blocks

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-const-variable", "-Wno-unused-variable"]
PROGRAMS = {"c", "cpp", "python", "rust", "sh", "cmake", "meson"}
TEXTS = {"", "text", "output", "dot", "toml", "ini", "json"}


class Failure(Exception):
    """A block that does not do what its page says."""


@dataclass
class Block:
    page: Path
    line: int
    language: str
    body: str
    output: str | None
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page
        return f"{page}:{self.line}"

    def file(self, folder: Path) -> Path:
        extension = {"python": "py", "rust": "rs", "cpp": "cc", "cmake": "txt", "meson": "build"}
        return folder / self.marks.get("file", f"block{self.line}.{extension.get(self.language, self.language)}")


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    blocks = []
    for found in BLOCK.finditer(text):
        marks = {}
        for word in shlex.split(found["mark"] or ""):
            name, _, value = word.partition("=")
            marks[name] = value
        unknown = set(marks) - {
            "file",
            "args",
            "with",
            "std",
            "env",
            "sort",
            "part",
            "include",
            "no-warnings",
            "needs",
            "in-root",
            "not-run",
        }
        line = text.count("\n", 0, found.start("language")) + 1
        block = Block(page, line, found["language"].strip(), found["body"], found["output"], marks)
        if unknown:
            raise Failure(f"{block.place}: unknown marks: {', '.join(sorted(unknown))}")
        if block.language not in PROGRAMS | TEXTS and "not-run" not in marks:
            raise Failure(f"{block.place}: a block in {block.language}, which no test knows")
        if block.language == "output":
            raise Failure(f"{block.place}: output of no program")
        if block.language in PROGRAMS or "not-run" in marks:
            blocks.append(block)
    return blocks


# ---- running


class Runner:
    """Runs the blocks of pages, each page in a folder of its own, against one server."""

    def __init__(self, base: str, stage: Path, python: str) -> None:
        self.base = base
        self.python = python
        library = next(stage.rglob("libsdd.so.0"))
        self.environment = os.environ | {
            "PKG_CONFIG_PATH": str(next(stage.rglob("sdd.pc")).parent),
            "CMAKE_PREFIX_PATH": str(stage / "usr"),
            "LD_LIBRARY_PATH": str(library.parent),
            "SDD_LIBRARY": str(library),
            "PYTHONPATH": str(ROOT / "bindings" / "python" / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            self.environment.pop(name, None)
        self.not_run: list[str] = []
        self.rust: list[tuple[Block, Path]] = []
        self.python_files: list[Path] = []

    def served(self, text: str) -> str:
        return text.replace(ADDRESS, self.base)

    def command(self, block: Block, folder: Path, *command: str) -> str:
        environment = self.environment | {"XDG_CACHE_HOME": str(WORK / block.page.stem / f"caches{block.line}")}
        for setting in block.marks.get("env", "").split():
            name, _, value = setting.partition("=")
            environment[name] = value
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failure(f"{block.place}: still running after {LIMIT} seconds: {shlex.join(command)}") from None
        if done.returncode != 0:
            raise Failure(f"{block.place}: status {done.returncode}: {shlex.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compare(self, block: Block, printed: str) -> None:
        if block.output is None:
            return
        printed = printed.replace(self.base, ADDRESS)
        expected, got = block.output.splitlines(), printed.splitlines()
        if "sort" in block.marks:
            expected, got = sorted(expected), sorted(got)
        if expected != got:
            raise Failure(f"{block.place}: prints something else than the page says:\n" + "\n".join(got))

    def arguments(self, block: Block) -> list[str]:
        return shlex.split(self.served(block.marks.get("args", "")))

    def packages(self, block: Block, folder: Path) -> list[str]:
        names = ["sdd", *block.marks.get("with", "").split()]
        return self.command(block, folder, "pkg-config", "--cflags", "--libs", *names).split()

    def run(self, block: Block, folder: Path) -> None:
        if "not-run" in block.marks:
            if len(block.marks["not-run"]) < 20:
                raise Failure(f"{block.place}: not-run without a reason")
            self.not_run.append(f"{block.place}: {block.marks['not-run']}")
            if block.language == "sh":
                self.command(block, folder, "bash", "-n", "-c", block.body)
            return
        getattr(self, f"run_{block.language}")(block, folder)

    def run_c(self, block: Block, folder: Path) -> None:
        self.compiled(block, folder, ["cc", f"-std={block.marks.get('std', 'c11')}", "-D_DEFAULT_SOURCE"])

    def run_cpp(self, block: Block, folder: Path) -> None:
        self.compiled(block, folder, ["c++", f"-std={block.marks.get('std', 'c++17')}"])

    def compiled(self, block: Block, folder: Path, compiler: list[str]) -> None:
        path = block.file(folder)
        warnings = ["-w"] if "no-warnings" in block.marks else WARNINGS
        if "part" in block.marks:
            headers = [*block.marks.get("include", "").split(), "sdd/sdd.h", "stddef.h", "stdint.h"]
            path.write_text("".join(f"#include <{name}>\n" for name in headers) + block.body, encoding="utf-8")
            self.command(
                block, folder, *compiler, *warnings, "-c", str(path), *self.packages(block, folder), "-o", "part.o"
            )
            return
        if "main(" not in block.body:
            raise Failure(f"{block.place}: neither a program nor a part")
        path.write_text(self.served(block.body), encoding="utf-8")
        program = folder / f"program{block.line}"
        self.command(
            block,
            folder,
            *compiler,
            "-g",
            *warnings,
            str(path),
            *self.packages(block, folder),
            "-pthread",
            "-lm",
            "-o",
            str(program),
        )
        # A page that goes on with a command runs the program itself.
        if block.output is not None or "args" in block.marks or "argc" not in block.body:
            self.compare(block, self.command(block, folder, str(program), *self.arguments(block)))

    def run_python(self, block: Block, folder: Path) -> None:
        path = block.file(folder)
        path.write_text(block.body, encoding="utf-8")
        self.python_files.append(path)
        missing = [
            name
            for name in block.marks.get("needs", "").split(",")
            if name
            and subprocess.run([self.python, "-c", f"import {name}"], capture_output=True, check=False).returncode != 0
        ]
        if missing:
            self.command(block, folder, self.python, "-m", "py_compile", str(path))
            print(f"skip {block.place}: {', '.join(missing)} is missing: compiled only")
            return
        served = path.with_name("served_" + path.name)
        served.write_text(self.served(block.body), encoding="utf-8")
        self.compare(
            block,
            self.command(
                block,
                folder,
                self.python,
                "-X",
                "dev",
                "-W",
                "error::ResourceWarning",
                str(served),
                *self.arguments(block),
            ),
        )

    def run_rust(self, block: Block, folder: Path) -> None:
        self.rust.append((block, folder))  # built together, by finish()

    def run_sh(self, block: Block, folder: Path) -> None:
        inside = ROOT if "in-root" in block.marks else folder
        self.compare(block, self.command(block, inside, "bash", "-euo", "pipefail", "-c", self.served(block.body)))

    def run_cmake(self, block: Block, folder: Path) -> None:
        if "file" not in block.marks:
            raise Failure(f"{block.place}: without the mark file=")
        block.file(folder).write_text(block.body, encoding="utf-8")

    run_meson = run_cmake

    def finish(self) -> None:
        """Builds and runs all programs in Rust as one crate, and checks the types of all programs in Python."""
        self.finish_rust()
        if self.python_files:
            self.check_types()

    def finish_rust(self) -> None:
        if not self.rust:
            return
        if not shutil.which("cargo") or not list(Path("/usr/share/cargo/registry").glob("pkg-config-*")):
            print("skip Rust: no cargo, or no librust-pkg-config-dev")
            return
        crate = WORK / "rust"
        (crate / "src" / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copytree(ROOT / "bindings" / "rust" / ".cargo", crate / ".cargo", dirs_exist_ok=True)
        (crate / "Cargo.toml").write_text(
            '[package]\nname = "guides"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\n'
            f'sdd = {{ path = "{ROOT}/bindings/rust/sdd" }}\n',
            encoding="utf-8",
        )
        names = {}
        for block, folder in self.rust:
            names[block.line, folder] = f"{folder.name.replace('-', '_')}_{block.line}"
            path = crate / "src" / "bin" / f"{names[block.line, folder]}.rs"
            path.write_text(block.body, encoding="utf-8")
        first = self.rust[0][0]
        self.environment["RUSTFLAGS"] = "-D warnings"
        self.command(first, crate, "cargo", "build", "--quiet", "--offline")
        for block, folder in self.rust:
            program = crate / "target" / "debug" / names[block.line, folder]
            self.compare(block, self.command(block, folder, str(program), *self.arguments(block)))
            print(f"ok {block.place}: rust")

    def check_types(self) -> None:
        mypy = shutil.which("mypy")
        if not mypy:
            print("skip types: no mypy")
            return
        files = [str(path) for path in self.python_files]
        for path in files:  # one at a time: they are all programs named __main__
            done = subprocess.run(
                [
                    mypy,
                    "--strict",
                    "--ignore-missing-imports",
                    "--follow-imports=silent",
                    "--enable-incomplete-feature=Unpack",
                    "--cache-dir",
                    str(WORK / "mypy"),
                    path,
                ],
                cwd=WORK,
                env=self.environment | {"MYPYPATH": str(ROOT / "bindings" / "python" / "src")},
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
            if done.returncode != 0:
                raise Failure(f"{path}: mypy: {done.stdout}{done.stderr}")
        print(f"ok types: {len(files)} programs in Python")


# ---- the server and its pictures


def make_pictures(folder: Path) -> None:
    """Makes the files of https://example.org/: a.jpg, b.png, progressive.jpg, pictures/0.jpg to 19.jpg, a.webp."""
    made = folder.parent / "made"
    for path in (folder / "pictures", made / "reference"):
        path.mkdir(parents=True)
    program = folder.parent / "make_pictures"
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "libjpeg", "libpng"], capture_output=True, text=True, check=True
    ).stdout.split()
    subprocess.run(
        ["cc", "-O1", str(ROOT / "examples/server/make_pictures.c"), *flags, "-lm", "-o", str(program)], check=True
    )
    subprocess.run([str(program), str(made), str(made / "reference")], check=True, stdout=subprocess.DEVNULL)
    for name, source in (("a.jpg", "plasma.jpg"), ("b.png", "glass.png"), ("progressive.jpg", "circles.jpg")):
        shutil.copyfile(made / source, folder / name)
    shutil.copyfile(ROOT / "Tests/Fixtures/coders/photo.webp", folder / "a.webp")
    for number in range(20):
        shutil.copyfile(made / "ripples.jpg", folder / "pictures" / f"{number}.jpg")


def python_with_packages() -> str:
    """Returns the first Python with what all pages need, or else with what nearly all need."""
    for modules in ("cffi, numpy, PIL, aiohttp", "cffi, numpy"):
        for python in (sys.executable, "/usr/bin/python3"):
            if subprocess.run([python, "-c", f"import {modules}"], capture_output=True, check=False).returncode == 0:
                return python
    raise SystemExit("Tests/Docs/run.py: no Python with cffi and numpy: apt-get install python3-cffi python3-numpy")


def pages() -> list[Path]:
    return [
        *sorted((ROOT / "docs/guides").glob("*.md")),
        ROOT / "docs/site/index.md",
        ROOT / "docs/site/examples.md",
        ROOT / "docs/features.md",
        ROOT / "docs/examples.md",
        ROOT / "docs/coders.md",
        ROOT / "docs/debugging.md",
    ]


def run_pages(runner: Runner, chosen: list[Path]) -> tuple[int, list[str]]:
    count, failures = 0, []
    for page in chosen:
        folder = WORK / page.stem
        folder.mkdir(exist_ok=True)
        for block in blocks_of(page):
            count += 1
            try:
                runner.run(block, folder)
            except Failure as failure:
                failures.append(str(failure))
                continue
            if block.language != "rust" and "not-run" not in block.marks:
                print(f"ok {block.place}: {block.language}", flush=True)
    try:
        runner.finish()
    except Failure as failure:
        failures.append(str(failure))
    return count, failures


def test_broken(make_runner) -> None:
    """Each of these blocks must fail, or the tests of the pages would show nothing."""
    for name, text in BROKEN.items():
        if name == "Rust" and not shutil.which("cargo"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "broken.md"
            page.write_text(text, encoding="utf-8")
            shutil.rmtree(WORK / "rust", ignore_errors=True)
            try:
                _, failures = run_pages(make_runner(), [page])
            except Failure as failure:
                failures = [str(failure)]
        if not failures:
            raise SystemExit(f"Tests/Docs/run.py: nothing fails for {name}")
        print(f"ok broken: {name}", flush=True)


def main() -> None:
    arguments = sys.argv[1:]
    if "FAULT_SERVER" not in os.environ:
        sys.exit("Tests/Docs/run.py: FAULT_SERVER names no server: make fault-server")
    shutil.rmtree(WORK, ignore_errors=True)
    files = WORK / "files"
    files.mkdir(parents=True)
    make_pictures(files)
    stage = WORK / "stage"
    subprocess.run(
        ["make", "install", f"DESTDIR={stage}", "PREFIX=/usr"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    server = subprocess.Popen(
        [os.environ["FAULT_SERVER"], "--files", str(files)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout
    port = server.stdout.readline().split()[1]
    python = python_with_packages()

    def make_runner() -> Runner:
        return Runner(f"http://127.0.0.1:{port}/file/", stage, python)

    try:
        if arguments == ["--test"]:
            test_broken(make_runner)
            return
        chosen = [Path(name).resolve() for name in arguments] or pages()
        runner = make_runner()
        count, failures = run_pages(runner, chosen)
        failures += [] if arguments else check_commands(pages())
    except Failure as failure:
        sys.exit(f"not ok {failure}")
    finally:
        server.communicate()  # closes its input, which ends it
    for line in runner.not_run:
        print(f"not run: {line}")
    for line in failures:
        print(f"not ok {line}", file=sys.stderr)
    if failures:
        sys.exit(1)
    if count == 0 or len(runner.not_run) > MOST_NOT_RUN:
        sys.exit(f"Tests/Docs/run.py: {count} blocks, and {len(runner.not_run)} are not run: at most {MOST_NOT_RUN}")
    print(f"ok docs: {count} blocks, {len(runner.not_run)} of them not run")


main()
