"""The command `python -m sdd.distributed`: options, progress, exit statuses, Ctrl-C."""

from __future__ import annotations

import fcntl
import io
import json
import multiprocessing
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from conftest import LIMIT

pytest.importorskip("pyarrow")
from distributed_job import HOSTS, Crowd, check_complete, options_for, rows_of  # noqa: E402

from sdd.distributed import NOT_SUPPORTED, JobOptions, Progress, download, make_plan  # noqa: E402
from sdd.distributed import __main__ as command  # noqa: E402
from sdd.distributed import _local as local  # noqa: E402
from sdd.distributed._display import Lines, display  # noqa: E402

COMMAND = [sys.executable, "-m", "sdd.distributed"]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    crowd = Crowd(tmp_path_factory.mktemp("crowd"))
    yield crowd
    crowd.stop()


def urls_of(crowd: Crowd, name: str, count: int = 25) -> list[str]:
    """Pictures, and each fifth URL is none."""
    return [crowd.url(f"{'none' if number % 5 == 4 else 'pic'}/{name}-{number}/a.jpg", number % HOSTS)
            for number in range(count)]  # fmt: skip


def job(crowd: Crowd, folder: Path, urls: list[str], *more: str) -> list[str]:
    (folder / "urls.txt").write_text("\n".join(urls))
    return [*COMMAND, "--url_list", str(folder / "urls.txt"), "--output-folder", str(folder / "out"),
            f"--downloader={json.dumps(crowd.downloader)}", "--image_size=32", "--thread-count", "16",
            "--number_sample_per_shard", "5", "--timeout", str(2 * LIMIT), *more]  # fmt: skip


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=2 * LIMIT)


# ---- options


def test_a_job(crowd: Crowd, tmp_path: Path) -> None:
    urls = urls_of(crowd, "job")
    done = run(job(crowd, tmp_path, urls, "--output_format=webdataset", "--resize-mode", "keep_ratio", "--lanes=1",
                   "--processes_count", "2", "--encode-quality", "80", "--compute_hash", "md5"))  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("20 of 25 URLs in 5 shards gave a picture, 5 were not downloaded, 0 were refused")
    assert "5  ResponseError INVALID_DOWNLOAD_STATUS_CODE 404, as http" in done.stdout
    check_complete(tmp_path / "out", urls)
    row = next(row for row in rows_of(tmp_path / "out") if row["status"] == "success")
    assert (row["width"], row["height"], len(row["md5"])) == (43, 32, 32)


# Each option of img2dataset 1.47, as its signature has them.
OF_IMG2DATASET = """url_list image_size output_folder processes_count resize_mode resize_only_if_bigger
upscale_interpolation downscale_interpolation encode_quality encode_format skip_reencode output_format input_format
url_col caption_col bbox_col thread_count number_sample_per_shard extract_exif save_additional_columns timeout
enable_wandb wandb_project oom_shard_count compute_hash verify_hash distributor subjob_size retries
disable_all_reencoding min_image_size max_image_area max_aspect_ratio incremental_mode max_shard_retry
user_agent_token disallowed_header_directives""".split()


def options_from(*arguments: str) -> JobOptions:
    given = vars(command._parse(["--url_list", "a", *arguments]))
    assert given.pop("quiet") is False
    return JobOptions.from_img2dataset(**{name: command._value(name, text) for name, text in given.items()})


def test_each_field_is_an_option_and_has_its_description() -> None:
    """Defaults, as Python writes them, are read back; so no field has a type that the command does not know."""
    expected = JobOptions("a")
    for entry in fields(JobOptions):
        value = getattr(expected, entry.name)
        shown = value if isinstance(value, str) else repr(value)
        for name in {entry.name, entry.name.replace("_", "-")}:
            assert options_from(f"--{name}", shown) == options_from(f"--{name}={shown}") == expected
    assert set(command._descriptions()) == set(JobOptions.__dataclass_fields__)


def test_each_option_of_img2dataset_is_taken_or_refused_with_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(OF_IMG2DATASET) <= set(JobOptions.__dataclass_fields__) | set(NOT_SUPPORTED)
    for name, (accepted, advice) in NOT_SUPPORTED.items():
        assert options_from(f"--{name}={accepted}") == JobOptions("a")
        assert command.main(["--url_list", "a", f"--{name.replace('_', '-')}", "other"]) == 2
        assert capsys.readouterr().err == f"sdd.distributed: {name}='other' is not supported: {advice}\n"


@pytest.mark.parametrize(("arguments", "name", "value"), [
    (["--save_additional_columns", '["a", "b"]'], "save_additional_columns", ("a", "b")),
    (["--save_additional_columns", "[a,b]"], "save_additional_columns", ("a", "b")),
    (["--save-additional-columns=a, b"], "save_additional_columns", ("a", "b")),
    (["--verify_hash", "('md5','md5')"], "verify_hash", ("md5", "md5")),
    (["--disallowed_header_directives", "[]"], "disallowed_header_directives", ()),
    (["--disallowed_header_directives", "None"], "disallowed_header_directives",
     ("noai", "noimageai", "noindex", "noimageindex")),
    (["--skip_reencode"], "skip_reencode", True), (["--skip_reencode", "False"], "skip_reencode", False),
    (["--extract-exif=false"], "extract_exif", False), (["--compute_hash", "None"], "compute_hash", None),
    (["--caption_col", "12"], "caption_col", "12"), (["--input_format", "jsonl.gz"], "input_format", "jsonl"),
    (["--max_aspect_ratio", "2.5"], "max_aspect_ratio", 2.5),
    (["--downloader", '{"public_addresses_only": true}'], "downloader", {"public_addresses_only": True}),
])  # fmt: skip
def test_values(arguments: list[str], name: str, value: object) -> None:
    assert getattr(options_from(*arguments), name) == value


@pytest.mark.parametrize(("arguments", "sentence"), [
    ([], "the following arguments are required: --url_list"),
    (["--url_list"], "argument --url_list: expected one argument"),
    (["--url_list", "a", "--image-size", "big"], "image_size must be an integer, not 'big'"),
    (["--url_list", "a", "--image_size", "1.5"], "image_size must be an integer, not 1.5"),
    (["--url_list", "a", "--image_size"], "argument --image_size: expected one argument"),
    (["--url_list", "a", "--timeout=-1"], "timeout is -1; it must be at least 0"),
    (["--url_list", "a", "--resize_mode", "crop"],
     "resize_mode is 'crop'; it must be one of no, border, keep_ratio, keep_ratio_largest, center_crop"),
    (["--url_list", "a", "--encode_format=webp"], "encode_format is 'webp'; it must be one of jpg, png"),
    (["--url_list", "a", "--skip_reencode", "perhaps"], "skip_reencode must be True or False, not 'perhaps'"),
    (["--url_list", "a", "--downloader", '{"max_atempts": 3}'],
     "'max_atempts' is not an option of sdd.Downloader"),
    (["--url_list", "a", "--image-sise", "3"], "'image_sise' is not an option here; did you mean 'image_size'?"),
    (["a", "b"], "the following arguments are required: --url_list"),
    (["--url_list", "a", "b"], "'b' belongs to no option; --help lists the options"),
    (["--url_list", "s3://a/b"],
     "url_list is 's3://a/b', a URL; give a path, for example of the store where it is mounted"),
    (["--url_list", "/none/list"], "the list /none/list does not exist"),
])  # fmt: skip
def test_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    try:
        status = command.main(arguments)
    except SystemExit as ended:
        status = int(str(ended.code))
    said = capsys.readouterr()
    assert (status, said.out, said.err) == (2, "", f"sdd.distributed: {sentence}\n")


def test_another_list_is_refused(crowd: Crowd, tmp_path: Path) -> None:
    assert run(job(crowd, tmp_path, urls_of(crowd, "first", 3), "--output_format=dummy")).returncode == 0
    done = run(job(crowd, tmp_path, urls_of(crowd, "other", 3), "--output_format=dummy"))
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "belongs to a job with another list; use another folder" in done.stderr


@pytest.mark.parametrize("arguments", [["--thread_count=99999999999"], ["--timeout=1e300"], ["--retries=2147483647"]])
def test_numbers_that_are_too_large(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.txt").write_text("http://a.test/")
    assert command.main(["--url_list", str(tmp_path / "a.txt"), "--output_folder", str(tmp_path), *arguments]) == 2
    assert re.fullmatch(r"sdd\.distributed: \w+ is too large, or below zero: .*\n", capsys.readouterr().err)


# ---- failures, Ctrl-C


def test_standard_streams_that_are_closed_or_full(crowd: Crowd, tmp_path: Path) -> None:
    """They end no job; a report that cannot be written is a failure."""
    for number, (end, status, said) in enumerate([
        ("2>&-", 0, ""), ("2>/dev/full", 0, ""), (">&- 2>&-", 0, ""), (">&-", 0, ""),
        (">/dev/full", 1, "sdd.distributed: standard output: No space left on device\n"),
    ]):  # fmt: skip
        folder = tmp_path / str(number)
        folder.mkdir()
        arguments = job(crowd, folder, urls_of(crowd, f"streams-{number}", 5))
        done = run(["bash", "-c", f'"$@" {end}', "bash", *arguments])
        assert (done.returncode, done.stderr) == (status, said), end
        assert (folder / "out" / "00000_stats.json").exists(), end
    assert run(["bash", "-c", '"$@" 2>&-', "bash", *COMMAND, "--url_list", "/none/list"]).stdout == ""


def test_progress_that_cannot_be_written() -> None:
    with open("/dev/full", "w") as stream, display(stream, False) as show:
        lines = Lines(stream, 0)
        for number in range(3):
            lines(Progress(3, number, 0, 0))
        assert isinstance(show, Lines)
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # what is left of it when it is closed


def test_damaged_statistics_are_named(crowd: Crowd, tmp_path: Path) -> None:
    arguments = job(crowd, tmp_path, urls_of(crowd, "stats", 5))
    assert run(arguments).returncode == 0
    stats = tmp_path / "out" / "00000_stats.json"
    for text in ("", "{}", "[]", '{"status_dict": {}, "failures": 1}'):
        stats.write_text(text)
        done = run(arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"sdd.distributed: {stats} is damaged: remove it, and its shard is made again\n"


def test_a_failed_job(crowd: Crowd, tmp_path: Path) -> None:
    arguments = job(crowd, tmp_path, urls_of(crowd, "failed"), "--lanes=2", "--max_shard_retry=0")
    options = options_from(*arguments[len(COMMAND) :])
    plan = make_plan(options)
    (tmp_path / "out" / "_plan" / f"{plan.shards_of(1)[0]}.parquet").write_bytes(b"damaged")
    done = run(arguments)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1] == f"{len(plan.shards_of(1))} shards are missing"
    last = done.stderr.splitlines()[-1]
    assert last.startswith("sdd.distributed: lane 1: ArrowInvalid") and last.endswith("goes on with what is missing")


def children_of(process: subprocess.Popen[Any]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


@pytest.mark.parametrize("when", ["answer waits", "answer is sent"])
def test_connection_closed_early(when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker ends without a word when the process that started it has gone on, at whatever moment."""
    ours, theirs = multiprocessing.Pipe()
    life, kept = multiprocessing.Pipe(duplex=False)
    made = []

    def make_lane(options: JobOptions, lane: int, tally: object) -> list[object]:
        made.append(lane)
        ours.close()
        return []

    monkeypatch.setattr(local, "make_lane", make_lane)
    if when == "answer waits":
        theirs.send([])
        ours.close()
    else:
        ours.send(1)
    options = JobOptions(url_list=str(tmp_path / "urls.txt"), output_folder=str(tmp_path / "out"))
    local._serve(options, theirs, life, None)
    assert made == ([] if when == "answer waits" else [1])
    kept.send(None)  # otherwise the end of `kept` ends this process


def test_interrupted(crowd: Crowd, tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal's foreground, here a session."""
    urls = [crowd.url(f"pic/int-{number}/a.jpg", number % HOSTS) for number in range(39)]
    urls.append(crowd.url("gate/int/1/a.jpg", 3))
    arguments = job(crowd, tmp_path, urls, "--output_format=webdataset", "--processes_count=2", "--lanes=2")
    # A shell has the signal ignored by what it runs in the background, as these tests may be.
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    crowd.order("wait/int")
    out = tmp_path / "out"
    end = time.monotonic() + LIMIT
    while len(list(out.glob("*_stats.json"))) < 6:  # the others are of the lane with the gate
        assert time.monotonic() < end, process.poll()
        time.sleep(0.02)
    children = children_of(process)
    assert len(children) >= 2
    os.killpg(process.pid, signal.SIGINT)
    said, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert errors == "sdd.distributed: interrupted; the same command goes on with what is missing\n"
    done = len(list(out.glob("*_stats.json")))
    assert f" URLs in {done} shards gave a picture" in said and f"{8 - done} shards are missing" in said
    assert not [path.name for path in out.iterdir() if ".tmp-" in path.name]
    before = crowd.requests()
    crowd.order("open/int")
    again = run(arguments)
    assert (again.returncode, again.stderr) == (0, "") and again.stdout.startswith("40 of 40 URLs in 8 shards")
    check_complete(out, urls)
    assert sum((crowd.requests() - before).values()) == 5 * (8 - done)


# ---- progress


def test_progress_of_a_job_that_goes_on(crowd: Crowd, tmp_path: Path) -> None:
    """Counts never exceed what there is, and at the end they are those of the report."""
    urls = urls_of(crowd, "meter", 200)
    options = options_for(crowd, tmp_path, urls, processes_count=2, lanes=4)
    seen: list[Progress] = []
    report = download(options, progress=seen.append)
    last = Progress(200, 200, report.failed_to_download, report.bytes)
    assert seen[0] == Progress(200, 0, 0, 0) and seen[-1] == last and last.failed == 40
    assert all(one.done <= two.done <= 200 for one, two in zip(seen, seen[1:]))
    (tmp_path / "out" / "00000_stats.json").unlink()
    again: list[Progress] = []
    download(options, progress=again.append)
    # The whole lane of that shard is open at first; its other shards are counted when a process has it.
    assert 0 < again[0].done < 200 and again[-1] == last


def test_lines() -> None:
    stream, now = io.StringIO(), [100.0]
    lines = Lines(stream, 10, lambda: now[0])
    for seconds, done in ((0, 1000), (9, 1090), (10, 1200), (19, 1250), (20.5, 1305), (21, 1310)):
        now[0] = 100.0 + seconds
        lines(Progress(2000, done, 7, 12_345_678))
    assert stream.getvalue() == (
        "1200 of 2000, 20.0 images/s, 7 failed, 12.3 MB\n1305 of 2000, 10.0 images/s, 7 failed, 12.3 MB\n"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_on_a_terminal_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with display(Terminal(), False) as show:
        assert isinstance(show, Lines)


@pytest.mark.parametrize("more", [[], ["--quiet"]])
def test_a_bar_on_a_terminal(crowd: Crowd, tmp_path: Path, more: list[str]) -> None:
    pytest.importorskip("tqdm")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 120, 0, 0))
    arguments = job(crowd, tmp_path, urls_of(crowd, "bar"), *more)
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # Linux's end of file on a terminal
        pass
    os.close(ours)
    assert process.communicate(timeout=LIMIT)[0].startswith("20 of 25 URLs")
    assert process.returncode == 0
    if more:
        assert shown == b""
    else:
        assert re.search(rb"25/25 \[.* images/s, 5 failed, 0\.0 MB\]", shown), shown
