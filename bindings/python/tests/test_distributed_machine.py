"""Jobs of sdd.distributed: retries, and what the machine lacks."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import run_script

pytest.importorskip("pyarrow")
from distributed_job import Crowd, check_complete, mixed_urls, options_for, rows_of, run  # noqa: E402

from sdd.distributed import ShardWorker, make_plan  # noqa: E402


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    crowd = Crowd(tmp_path_factory.mktemp("crowd"))
    yield crowd
    crowd.stop()


def test_each_url_has_its_retries(crowd: Crowd, tmp_path: Path) -> None:
    """Also where more URLs of a host fail than the budget of a downloader has retries."""
    urls = [crowd.url(f"once/{number}/a.jpg") for number in range(30)]
    own: dict[str, Any] = {**crowd.downloader, "retry_delay": 0.01}
    run(options_for(crowd, tmp_path, urls, retries=1, downloader=own))
    rows = rows_of(tmp_path / "out")
    assert [(row["status"], row["attempts"]) for row in rows] == [("success", 2)] * 30
    urls = [crowd.url(f"once/limited/{number}/a.jpg") for number in range(30)]
    (tmp_path / "limited").mkdir()
    run(options_for(crowd, tmp_path / "limited", urls, retries=1, downloader={**own, "retry_budget": 3}))
    attempts = [row["attempts"] for row in rows_of(tmp_path / "limited" / "out")]
    assert attempts.count(2) < 15 and set(attempts) == {1, 2}


def test_a_lack_of_descriptors_is_no_failure_of_rows(crowd: Crowd, tmp_path: Path) -> None:
    urls = mixed_urls(crowd)
    options = options_for(crowd, tmp_path, urls, lanes=1, transform_threads=1)
    make_plan(options)
    (tmp_path / "worker").write_bytes(pickle.dumps(ShardWorker(options)))
    script = """
import os, pickle, resource, sys
import sdd
from sdd.distributed import _process, _worker
worker = pickle.loads(open(sys.argv[1], "rb").read())
downloader = _process.downloader_of_process(worker.options)
downloader.suspend()
work, limits = _worker._Lane._work, resource.getrlimit(resource.RLIMIT_NOFILE)
def work_without(*arguments):
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))  # there is none from here on
    downloader.resume()
    work(*arguments)
_worker._Lane._work = work_without
try:
    worker(0)
except sdd.ResourceError as error:
    print(error.retryable)
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
print(os.listdir(worker.options.output_folder))
"""
    done = run_script(script, str(tmp_path / "worker"))
    assert done.stdout == "True\n['_plan']\n", done.stderr
    run(options)
    check_complete(tmp_path / "out", urls)


def test_transfers_are_no_more_than_descriptors(crowd: Crowd, tmp_path: Path) -> None:
    script = """
import logging, resource
from sdd.distributed._process import _possible
logging.basicConfig(format="%(message)s")
for limits in ((300, 1200), (200, 200)):
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    print(_possible(256), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
    done = run_script(script)
    first, second = (tuple(map(int, line.split())) for line in done.stdout.splitlines())
    assert first[0] == 256 and 1024 < first[1] < 1200, done.stdout
    assert 10 < second[0] < 50 and second[1] == 200 and "256 transfers at a time need" in done.stderr, done.stdout
