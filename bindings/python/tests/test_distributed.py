"""Jobs of sdd.distributed: output, resizing, failures, politeness."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LIMIT, TESTS, gradient, in_thread, run_script
from PIL import Image as Pillow

import sdd

pytest.importorskip("pyarrow")
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from distributed_job import (  # noqa: E402
    HOSTS,
    Crowd,
    check_complete,
    mixed_urls,
    one,
    options_for,
    rows_of,
    run,
    samples_of,
)

from sdd.distributed import (  # noqa: E402
    JobOptions,
    LaneFailed,
    ShardWorker,
    download,
    make_plan,
    report_of,
)
from sdd.distributed import _disk  # noqa: E402
from sdd.distributed._exif import exif_json  # noqa: E402
from sdd.distributed._process import downloader_of_process  # noqa: E402


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    crowd = Crowd(tmp_path_factory.mktemp("crowd"))
    yield crowd
    crowd.stop()


# ---- the layout, as img2dataset 1.47 writes it

COLUMNS = ["number", "caption", "url", "key", "status", "error_message", "width", "height", "original_width",
           "original_height", "exif", "sha256"]  # fmt: skip
ERROR_COLUMNS = ["error_class", "error_code", "error_detail", "http_status", "attempts"]
STATS = ["count", "successes", "failed_to_download", "failed_to_resize", "duration", "start_time", "end_time",
         "status_dict"]  # fmt: skip


def test_webdataset(crowd: Crowd, tmp_path: Path) -> None:
    urls = mixed_urls(crowd)
    reports = run(options_for(crowd, tmp_path, urls, lanes=1))
    out = tmp_path / "out"
    # 25 rows, at most 10 in a shard: three shards of equal length; 5 digits of the shard and 1 of the row
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [f"0000{shard}{end}" for shard in range(3) for end in (".tar", ".parquet", "_stats.json")] + ["_plan"]
    )
    check_complete(out, urls)
    table = pq.read_table(out / "00001.parquet")
    assert table.column_names == COLUMNS + ERROR_COLUMNS
    types = dict(zip(table.schema.names, table.schema.types))
    assert {types[name] for name in ("width", "height", "original_width", "original_height")} == {pa.int32()}
    assert types["number"] == pa.int64() and types["key"] == types["exif"] == types["sha256"] == pa.string()
    keys = [row["key"] for row in rows_of(out)]
    assert keys[0] == "000000" and keys[-1] == "000028" and keys == sorted(keys)
    samples = samples_of(out / "00001.tar")
    row = next(row for row in table.to_pylist() if row["status"] == "success")
    key = row["key"]
    assert samples[f"{key}.txt"].decode() == row["caption"] == f"caption {row['number']}"
    text = samples[f"{key}.json"].decode()
    assert list(json.loads(text)) == COLUMNS and text.startswith('{\n    "number"')
    assert json.loads(text) == {name: row[name] for name in COLUMNS}
    assert row["sha256"] == hashlib.sha256((crowd.folder / "a.jpg").read_bytes()).hexdigest()
    assert (row["width"], row["height"], row["original_width"], row["original_height"]) == (43, 32, 64, 48)
    failed = next(row for row in table.to_pylist() if row["status"] != "success")
    assert failed["status"] == "failed_to_download" and failed["http_status"] == 404
    assert f"{failed['key']}.jpg" not in samples
    stats = json.loads((out / "00001_stats.json").read_text())
    assert set(STATS) <= set(stats)
    assert stats["count"] == stats["successes"] + stats["failed_to_download"] == sum(stats["status_dict"].values())
    assert stats["duration"] == pytest.approx(stats["end_time"] - stats["start_time"])
    assert sum(report.successes for report in reports) == 20


def test_webdataset_is_read_by_its_own_package(crowd: Crowd, tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    options = options_for(crowd, tmp_path, mixed_urls(crowd), number_sample_per_shard=10000, lanes=1)
    run(options)
    dataset = webdataset.WebDataset(str(tmp_path / "out" / "00000.tar"), shardshuffle=False).decode("pil")
    samples = list(dataset)
    assert len(samples) == 20
    for sample in samples:
        assert len(sample["__key__"]) == 9 and sample["jpg"].size == (43, 32)
        assert sample["txt"] == sample["json"]["caption"] and sample["json"]["key"] == sample["__key__"]


def test_files(crowd: Crowd, tmp_path: Path) -> None:
    run(options_for(crowd, tmp_path, mixed_urls(crowd), lanes=1, output_format="files", error_columns=False))
    out = tmp_path / "out"
    rows = rows_of(out)
    assert list(rows[0]) == COLUMNS
    for row in rows:
        for end in ("jpg", "txt", "json"):
            file = out / row["key"][:5] / f"{row['key']}.{end}"
            assert file.exists() == (row["status"] == "success")


def test_parquet_and_dummy(crowd: Crowd, tmp_path: Path) -> None:
    urls = mixed_urls(crowd)
    run(options_for(crowd, tmp_path, urls, output_format="parquet"))
    for row in rows_of(tmp_path / "out"):
        assert (row["jpg"] is None) == (row["status"] != "success")
        assert row["jpg"] is None or sdd.Image.decode(row["jpg"]).size == (43, 32)
    reports = run(options_for(crowd, tmp_path, urls, output_format="dummy", output_folder=str(tmp_path / "none")))
    assert sum(report.count for report in reports) == 25
    assert {path.suffix for path in (tmp_path / "none").iterdir()} == {".json", ""}


# ---- pictures


@pytest.mark.parametrize(("mode", "path", "size"), [
    ("keep_ratio", "pic/1/a.jpg", (43, 32)), ("keep_ratio", "pic/1/tall.jpg", (32, 64)),
    ("keep_ratio_largest", "pic/1/a.jpg", (32, 24)), ("keep_ratio_largest", "pic/1/tall.jpg", (16, 32)),
    ("center_crop", "pic/1/a.jpg", (32, 32)), ("border", "pic/1/a.jpg", (32, 32)),
    ("border", "pic/1/tall.jpg", (32, 32)), ("border", "pic/1/b.png", (32, 32)), ("no", "pic/1/a.jpg", (64, 48)),
])  # fmt: skip
def test_resize_modes(crowd: Crowd, tmp_path: Path, mode: str, path: str, size: tuple[int, int]) -> None:
    row = one(crowd, tmp_path, path, resize_mode=mode)
    picture = Pillow.open(io.BytesIO(row["picture"]))
    assert (row["width"], row["height"]) == picture.size == size
    pixels = np.asarray(picture).astype(int)
    if mode == "border" and path.endswith("a.jpg"):  # 32 x 24 in the middle
        assert pixels[:3].min() > 230 and pixels[-3:].min() > 230 and pixels[8:24].mean() < 200
    if mode == "border" and path.endswith("tall.jpg"):
        assert pixels[:, :6].min() > 230 and pixels[:, -6:].min() > 230 and pixels[:, 12:20].mean() < 200


def test_small_pictures_are_enlarged_unless_told_otherwise(crowd: Crowd, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert one(crowd, tmp_path / "a", "pic/1/a.jpg", image_size=96)["width"] == 128
    row = one(crowd, tmp_path / "b", "pic/1/a.jpg", image_size=96, resize_only_if_bigger=True, skip_reencode=True)
    assert row["picture"] == (crowd.folder / "a.jpg").read_bytes() and row["width"] == row["original_width"] == 64


@pytest.mark.parametrize("file", ["a.jpg", "b.png", "page.html"])
def test_bytes_pass_through(crowd: Crowd, tmp_path: Path, file: str) -> None:
    given: dict[str, Any] = {"resize_mode": "no", "skip_reencode": True}
    if file == "page.html":
        given = {"disable_all_reencoding": True}
    row = one(crowd, tmp_path, f"pic/1/{file}", **given)
    body = (crowd.folder / file).read_bytes()
    assert row["picture"] == body and row["sha256"] == hashlib.sha256(body).hexdigest()
    assert row["width"] == {"a.jpg": 64, "b.png": 40, "page.html": None}[file]


@pytest.mark.parametrize(("file", "kind"), [("a.webp", "webp"), ("a.gif", "gif")])
def test_what_coders_decode(crowd: Crowd, tmp_path: Path, file: str, kind: Any) -> None:
    try:
        picture = sdd.Image.decode((crowd.folder / "a.jpg").read_bytes())
        body = sdd.Image.animation([picture] * 2, 0.1).encode(kind, animated=True)
        sdd.Image.decode(body)
    except sdd.Error as error:
        pytest.skip(str(error))
    for name, data in ((file, body), (f"cut-{file}", body[:40])):
        (crowd.folder / name).write_bytes(data)
        (tmp_path / name).mkdir()
        row = one(crowd, tmp_path / name, f"pic/1/{name}", resize_mode="border")
        if data is body:
            assert (row["width"], row["height"], row["original_width"], row["original_height"]) == (32, 32, 64, 48), row
            pixels = np.asarray(Pillow.open(io.BytesIO(row["picture"]))).astype(int)
            assert pixels[:3].min() > 230 and pixels[8:24].mean() < 200
        else:
            assert row["error_class"] == "ImageError" and row["status"] == "failed_to_resize"


def test_png(crowd: Crowd, tmp_path: Path) -> None:
    row = one(crowd, tmp_path, "pic/1/b.png", encode_format="png", compute_hash="md5", extract_exif=False)
    assert row["picture"].startswith(b"\x89PNG") and "exif" not in row and "sha256" not in row
    assert row["md5"] == hashlib.md5((crowd.folder / "b.png").read_bytes()).hexdigest()


def test_orientation_and_exif(crowd: Crowd, tmp_path: Path) -> None:
    picture = Pillow.open(crowd.folder / "a.jpg")
    exif = Pillow.Exif()
    exif[0x0112], exif[0x010F] = 6, "Maker"
    exif.get_ifd(0x8769)[0x829A] = (1, 125)
    picture.save(crowd.folder / "turned.jpg", exif=exif)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    row = one(crowd, tmp_path / "a", "pic/1/turned.jpg")
    assert (row["width"], row["height"], row["original_width"]) == (32, 43, 48)
    assert json.loads(row["exif"]).items() >= {"Image Make": "Maker", "Image Orientation": "6"}.items()
    row = one(crowd, tmp_path / "b", "pic/1/turned.jpg", keep_orientation=True)
    assert (row["width"], row["height"], row["original_width"]) == (43, 32, 64)


def test_exif_of_any_bytes(crowd: Crowd) -> None:
    body = (crowd.folder / "a.jpg").read_bytes()
    head = b"\xff\xd8\xff\xe1\x00\x40Exif\0\0"
    chance = np.random.default_rng(3)
    for length in range(200):
        block = b"II*\0\x08\0\0\0" + chance.bytes(length)
        assert isinstance(json.loads(exif_json(head + block)), dict)
    assert exif_json(body) == exif_json(b"") == exif_json(b"\xff\xd8\xff") == "{}"


# ---- failures


def test_failures_by_kind(crowd: Crowd, tmp_path: Path) -> None:
    urls = [crowd.url("pic/1/a.jpg"), crowd.url("none/1"), crowd.url("none/2"), crowd.url("pic/1/page.html"),
            crowd.url("pic/1/broken.jpg"), "http://127.0.0.1:9/a.jpg", "no url", "", None, "ftp://h0.test/a.jpg",
            crowd.url("pic/2/a.jpg")]  # fmt: skip
    options = options_for(crowd, tmp_path, urls, number_sample_per_shard=4)
    run(options)
    report = report_of(make_plan(options), options)
    assert (report.count, report.successes, report.failed_to_download, report.failed_to_resize) == (11, 2, 7, 2)
    kinds = {(kind.error_class, kind.error_code, kind.error_detail, kind.http_status): kind for kind in report.failures}
    missing = kinds["ResponseError", "INVALID_DOWNLOAD_STATUS_CODE", "", 404]
    assert missing.count == 2 and missing.url in urls and missing.message.endswith(".")
    assert kinds["NetworkError", "CONNECT", "", 0].status == "failed_to_download"
    assert kinds["ImageError", "BAD_IMAGE_DATA", "IMAGE_UNKNOWN_FORMAT", 200].status == "failed_to_resize"
    assert kinds["ImageError", "BAD_IMAGE_DATA", "IMAGE_TRUNCATED", 200].count == 1
    assert sum(kind.count for key, kind in kinds.items() if key[1] == "INVALID_URL") == 4
    assert report.failures[0].count == max(kind.count for kind in report.failures)
    assert "404" in str(report) and "2 of 11 URLs" in str(report)
    (row,) = [row for row in rows_of(tmp_path / "out") if row["url"] == "no url"]
    assert row["error_class"] == "RequestError" and row["error_message"] and row["error_detail"]


def test_pictures_that_options_refuse(crowd: Crowd, tmp_path: Path) -> None:
    for name, given, code in (
        ("small", {"min_image_size": 49}, "IMAGE_TOO_SMALL"),
        ("area", {"max_image_area": 3000}, "IMAGE_AREA_TOO_LARGE"),
        ("ratio", {"max_aspect_ratio": 1.3}, "ASPECT_RATIO_TOO_LARGE"),
        ("hash", {"verify_hash": ["caption", "md5"]}, "HASH_DIFFERS"),
    ):  # fmt: skip
        (tmp_path / name).mkdir()
        row = one(crowd, tmp_path / name, "pic/1/a.jpg", **given)
        assert row["error_class"] == "Rejected" and row["error_code"] == code and row["error_message"]
        assert row["status"] == ("failed_to_download" if code == "HASH_DIFFERS" else "failed_to_resize")


def test_a_picture_that_would_be_too_long(crowd: Crowd, tmp_path: Path) -> None:
    gradient(2000, 1).save(crowd.folder / "line.jpg")
    row = one(crowd, tmp_path, "pic/1/line.jpg", image_size=64)
    assert row["error_code"] == "ASPECT_RATIO_TOO_LARGE" and row["status"] == "failed_to_resize"


def test_a_closed_downloader_is_no_failure_of_rows(crowd: Crowd, tmp_path: Path) -> None:
    urls = [crowd.url("gate/closed/1/a.jpg")] + mixed_urls(crowd)
    options = options_for(crowd, tmp_path, urls, lanes=1, number_sample_per_shard=100)
    make_plan(options)
    thread, outcome = in_thread(lambda: ShardWorker(options)(0))
    crowd.order("wait/closed")
    downloader_of_process(options).close()
    thread.join(LIMIT)
    assert isinstance(outcome[0], (sdd.RequestCancelled, sdd.ClosedError)), outcome
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_plan"]
    crowd.order("open/closed")
    run(options)
    check_complete(tmp_path / "out", urls)


@pytest.mark.parametrize(("value", "given", "is_refused"), [
    ("noai", {}, True), ("nofollow, NoImageIndex", {}, True), ("nofollow", {}, False), ("other: noai", {}, False),
    ("mine: noai", {"user_agent_token": "mine"}, True), ("noai", {"disallowed_header_directives": []}, False),
    ("none", {}, True), ("none", {"disallowed_header_directives": ["noai"]}, False), ("other: none", {}, False),
    ("max-image-preview:large, noai", {}, True), ("noai, max-snippet: 3", {}, True), ("max-snippet: 3", {}, False),
    ("unavailable_after: Fri, 25 Jun 2038 15:00:00 GMT, noindex", {}, True), ("*: noai", {}, True),
    ("noindex, unavailable_after: 25 Jun 2038 15:00:00 GMT", {}, True), ("noai, other: nofollow", {}, True),
    ("other: nofollow, noai", {}, False), ("other: max-snippet:3, noai", {"user_agent_token": "mine"}, False),
    ("other: nofollow, Mine: max-snippet:3, noai", {"user_agent_token": "mine"}, True),
])  # fmt: skip
def test_robots_tag(crowd: Crowd, tmp_path: Path, value: str, given: dict[str, Any], is_refused: bool) -> None:
    row = one(crowd, tmp_path, f"tag/{value.replace(' ', '%20')}/a.jpg", **given)
    assert (row["error_code"] == "DISALLOWED_BY_HEADER") == is_refused == (row["status"] != "success")


def test_numbers_that_json_does_not_have(crowd: Crowd, tmp_path: Path) -> None:
    number = [{"a": float("nan")}, {"a": float("inf")}, {"a": 1.5}]
    table = pa.table({"url": [crowd.url("pic/nan/a.jpg")], "caption": ["a"], "number": [number]})
    pq.write_table(table, tmp_path / "list.parquet")
    row = one(crowd, tmp_path, "")
    sample = samples_of(tmp_path / "out" / "00000.tar")[f"{row['key']}.json"]
    assert json.loads(sample, parse_constant=pytest.fail)["number"] == [{"a": None}, {"a": None}, {"a": 1.5}]


def test_times_that_python_does_not_have(crowd: Crowd, tmp_path: Path) -> None:
    when = pa.array([1_600_000_000_123_456_789], pa.timestamp("ns"))
    table = pa.table({"url": [crowd.url("pic/when/a.jpg")], "caption": ["a"], "number": when})
    pq.write_table(table, tmp_path / "list.parquet")
    run(options_for(crowd, tmp_path, [""]))
    (sample,) = (body for name, body in samples_of(tmp_path / "out" / "00000.tar").items() if name.endswith(".json"))
    assert json.loads(sample)["number"] == "2020-09-13 12:26:40.123456789"
    assert pq.read_table(tmp_path / "out" / "00000.parquet").column("number").combine_chunks() == when


def test_files_are_durable_before_they_count(crowd: Crowd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    durable: list[list[str]] = []
    syncfs = _disk.sync_below

    def sync(path: Path) -> None:
        assert not [name for name in os.listdir(path.parent) if name.endswith(".json")]
        durable.append(sorted(os.listdir(path)))
        syncfs(path)

    monkeypatch.setattr(_disk, "sync_below", sync)
    options = options_for(crowd, tmp_path, [crowd.url("pic/durable/a.jpg")], output_format="files")
    run(options)
    plan, shard = durable
    assert plan == ["0.parquet", "plan.json"]
    assert shard == sorted(os.listdir(tmp_path / "out" / "00000")) and len(shard) == 3


def test_an_error_of_the_disk_leaves_nothing_and_can_be_repeated(crowd: Crowd, tmp_path: Path) -> None:
    urls = mixed_urls(crowd)
    options = options_for(crowd, tmp_path, urls, lanes=1)
    make_plan(options)
    script = """
import pickle, resource, sys
worker = pickle.loads(open(sys.argv[1], "rb").read())
resource.setrlimit(resource.RLIMIT_FSIZE, (15000, 15000))
try:
    worker(0)
except OSError as error:
    print("errno", error.errno)
"""
    (tmp_path / "worker").write_bytes(pickle.dumps(ShardWorker(options)))
    done = run_script(script, str(tmp_path / "worker"))
    assert done.returncode == 0 and "errno 27" in done.stdout, done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_plan"]
    run(options)
    check_complete(tmp_path / "out", urls)


def test_a_lane_that_fails_is_reported(crowd: Crowd, tmp_path: Path) -> None:
    options = options_for(crowd, tmp_path, mixed_urls(crowd), lanes=2)
    plan = make_plan(options)
    (tmp_path / "out" / "_plan" / f"{plan.shards_of(1)[0]}.parquet").write_bytes(b"damaged")
    with pytest.raises(LaneFailed, match="lane 1: ArrowInvalid"):
        download(options)
    assert report_of(plan, options).missing == tuple(plan.shards_of(1))


# ---- the documents

DOCUMENT = (TESTS.parent / "DISTRIBUTED.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```output\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_programs_of_the_document(crowd: Crowd, tmp_path: Path, program: str, expected: str) -> None:
    urls = [f"http://127.0.0.1:{crowd.port}/{'none' if number % 10 == 9 else 'pic'}/{number}/a.jpg"
            for number in range(20)]  # fmt: skip
    pq.write_table(pa.table({"url": urls, "caption": ["a caption"] * 20}), tmp_path / "urls.parquet")
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT)
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


def test_examples_are_short() -> None:
    assert len(PROGRAMS) == 2
    for name in ("dask", "ray", "pyspark"):
        assert len((TESTS.parent / "examples" / f"{name}_images.py").read_text().splitlines()) < 80


# ---- politeness, processes


def test_a_host_has_its_limit_in_the_whole_job(crowd: Crowd, tmp_path: Path) -> None:
    hosts = [f"polite{number}.test:{crowd.port}" for number in range(6)]
    urls = [f"http://{hosts[number % 6]}/pic/{number}/a.jpg" for number in range(600)]
    options = options_for(crowd, tmp_path, urls, processes_count=2, lanes=3, max_concurrent_per_host=2,
                          downloader={"resolve": [f"{host}:127.0.0.1" for host in hosts]})  # fmt: skip
    report = download(options)
    assert report.successes == 600
    most = crowd.order("log")["most"]
    assert {most[host] for host in hosts} <= {1, 2}, most
    check_complete(tmp_path / "out", urls)


def test_one_downloader_a_process(crowd: Crowd, tmp_path: Path) -> None:
    options = options_for(crowd, tmp_path, mixed_urls(crowd))
    first = downloader_of_process(options)
    assert downloader_of_process(pickle.loads(pickle.dumps(options))) is first
    run(options)
    assert downloader_of_process(options) is first
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            other = options_for(crowd, tmp_path, [], output_folder=str(tmp_path / "child"))
            assert downloader_of_process(other) is not first
            run(other)
            assert len(rows_of(tmp_path / "child")) == 25
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    os.close(reader)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert downloader_of_process(options) is first and not first.closed


def test_small_shards_and_slow_urls(crowd: Crowd, tmp_path: Path) -> None:
    """Shards of one row, more than the look-ahead has, and a URL that holds up the first of them."""
    urls = [crowd.url("gate/slow/1/a.jpg")] + [crowd.url(f"pic/{number}/a.jpg", number % HOSTS) for number in range(60)]
    options = options_for(crowd, tmp_path, urls, number_sample_per_shard=2, lanes=1, look_ahead=4, thread_count=4)
    crowd.order("open/slow")
    run(options)
    check_complete(tmp_path / "out", urls)
