"""A job that is killed in the middle goes on where it was: no URL is lost, no finished shard is made again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import LIMIT, TESTS

pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402
from distributed_job import HOSTS, Crowd, check_complete, options_for  # noqa: E402

from sdd.distributed import JobOptions, load_plan, make_plan, report_of  # noqa: E402

EXAMPLES = TESTS.parent / "examples"
LOCAL = """
import pickle, sys
from sdd.distributed import download
if __name__ == "__main__":
    print(download(pickle.loads(open(sys.argv[1], "rb").read())))
"""
ENGINES = ("local", "dask", "ray", "pyspark")
NEEDS = {"dask": "distributed", "ray": "ray", "pyspark": "pyspark"}


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Crowd]:
    (tmp_path / "files").mkdir()
    crowd = Crowd(tmp_path / "files")
    yield crowd
    crowd.stop()


def start(engine: str, options: JobOptions, folder: Path) -> subprocess.Popen[bytes]:
    """Starts the job in a session of its own, so that all its processes can be killed."""
    if engine == "local":
        import pickle

        (folder / "options").write_bytes(pickle.dumps(options))
        (folder / "local.py").write_text(LOCAL)
        command = [sys.executable, str(folder / "local.py"), str(folder / "options")]
    else:
        given = {name: getattr(options, name) for name in (
            "image_size", "thread_count", "caption_col", "save_additional_columns", "number_sample_per_shard",
            "timeout", "downloader", "lanes")}  # fmt: skip
        command = [sys.executable, str(EXAMPLES / f"{engine}_images.py"), options.url_list, options.output_folder,
                   "-w", "2", "-o", json.dumps(given)]  # fmt: skip
    log = (folder / "log").open("ab")
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "JOB_OF_TEST": str(folder)}
    return subprocess.Popen(command, start_new_session=True, stdout=log, stderr=log, env=environment)


def processes(folder: Path, words: bytes = b"") -> list[int]:
    """The processes of the job that run, whoever started them. They have a mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = f"JOB_OF_TEST={folder}".encode() in (path / "environ").read_bytes().split(b"\0")
            if is_ours and words in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:
            pass
    return found


def wait_until(condition: Callable[[], object], what: str, folder: Path) -> None:
    end = time.monotonic() + 3 * LIMIT
    while not condition():
        assert time.monotonic() < end, f"{what}: {(folder / 'log').read_text()}"
        time.sleep(0.02)


def kill_all(folder: Path) -> None:
    def none_is_left() -> bool:
        left = processes(folder)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not left

    wait_until(none_is_left, "processes do not end", folder)


def kill_driver(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """The driver alone: its workers end by themselves."""
    process.kill()
    wait_until(lambda: not processes(folder), "the workers survive the driver", folder)


CASES = [(engine, "all") for engine in ENGINES] + [("local", "driver"), ("local", "worker"), ("dask", "worker")]


@pytest.mark.parametrize(("engine", "who"), CASES)
def test_a_killed_job_goes_on(crowd: Crowd, tmp_path: Path, engine: str, who: str) -> None:
    pytest.importorskip(NEEDS.get(engine, "sdd"))
    urls = [crowd.url(f"pic/{number}/a.jpg", number % HOSTS) for number in range(160)]
    options = options_for(crowd, tmp_path, urls, processes_count=2, lanes=2, number_sample_per_shard=20)
    plan = make_plan(options)
    # Each lane has four shards. In the last but one of each, a URL waits before a gate until the job is killed.
    held = {lane: hold(crowd, plan.folder, list(plan.shards_of(lane))[2], f"{engine}-{who}-{lane}")
            for lane in plan.lanes}  # fmt: skip
    shards = {shard: plan.read_shard(shard).column("url").to_pylist() for shard in plan.shards}
    urls = [url for found in shards.values() for url in found]

    process = start(engine, options, tmp_path)
    for name in held.values():
        crowd.order(f"wait/{name}")
    early = {shard for lane in plan.lanes for shard in list(plan.shards_of(lane))[:2]}
    stats = {shard: Path(options.output_folder) / f"{shard:05d}_stats.json" for shard in plan.shards}
    wait_until(lambda: all(stats[shard].exists() for shard in early), "the first shards", tmp_path)
    if who == "all":
        kill_all(tmp_path)
        process.wait(LIMIT)
    elif who == "driver":
        kill_driver(tmp_path, process)
        process.wait(LIMIT)
    done = {shard for shard in plan.shards if stats[shard].exists()}
    assert early <= done < set(plan.shards)
    before = crowd.requests()
    if who == "worker":  # the job itself goes on
        victims = processes(tmp_path, b"spawn_main")
        assert len(victims) >= 2
        os.kill(victims[-1], signal.SIGKILL)
        for name in held.values():
            crowd.order(f"open/{name}")
    else:
        assert report_of(load_plan(options), options).missing
        for name in held.values():
            crowd.order(f"open/{name}")
        process = start(engine, options, tmp_path)
    assert process.wait(4 * LIMIT) == 0, (tmp_path / "log").read_text()

    check_complete(Path(options.output_folder), urls)
    report = report_of(load_plan(options), options)
    assert (report.count, report.successes, report.missing) == (160, 160, ())
    after = crowd.requests()
    for shard in done:
        assert all(after[url] == before[url] == 1 for url in shards[shard])  # no double work
    assert all(1 <= after[url] <= 2 for url in urls)
    assert b"Traceback" not in (tmp_path / "log").read_bytes() or who == "worker" or engine != "local"
    kill_all(tmp_path)  # what an engine has left


def hold(crowd: Crowd, folder: Path, shard: int, name: str) -> str:
    """Replaces a URL of a shard by one that waits before a gate."""
    file = folder / "_plan" / f"{shard}.parquet"
    table = pq.read_table(file)
    urls = table.column("url").to_pylist()
    urls[3] = urls[3].replace("/pic/", f"/gate/{name}/")
    pq.write_table(table.set_column(table.column_names.index("url"), "url", [urls]), file)
    return name


def test_a_lane_is_worked_on_by_one_process_at_a_time(crowd: Crowd, tmp_path: Path) -> None:
    """Two jobs over the same folder, as when a driver is started again too early: the second finds the work done."""
    urls = [crowd.url(f"pic/twice-{number}/a.jpg", number % HOSTS) for number in range(39)]
    urls.append(crowd.url("gate/t/1/a.jpg"))
    options = options_for(crowd, tmp_path, urls, processes_count=1, lanes=1)
    make_plan(options)
    first = start("local", options, tmp_path)
    crowd.order("wait/t")
    second = start("local", options, tmp_path)
    lock = Path(options.output_folder) / "_plan" / "lane-0.lock"

    def both_have_the_lock_open() -> bool:
        workers = processes(tmp_path, b"spawn_main")
        return sum(str(lock) in map(_target, Path(f"/proc/{pid}/fd").glob("*")) for pid in workers) == 2

    wait_until(both_have_the_lock_open, "the second job", tmp_path)
    crowd.order("open/t")
    assert first.wait(LIMIT) == second.wait(LIMIT) == 0, (tmp_path / "log").read_text()
    check_complete(Path(options.output_folder), urls)
    assert set(crowd.requests().values()) == {1}


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""
