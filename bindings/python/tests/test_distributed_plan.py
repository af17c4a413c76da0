"""Options and plans of sdd.distributed: nothing is downloaded here."""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import os
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sdd

pytest.importorskip("pyarrow")
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from sdd.distributed import JobOptions, Plan, PlanMismatch, ShardWorker, load_plan, make_plan  # noqa: E402
from sdd.distributed import _lists, _plan  # noqa: E402
from sdd.distributed._hosts import hosts_of  # noqa: E402
from sdd.distributed._plan import _Spool  # noqa: E402

# ---- options


def test_options_are_picklable_and_immutable() -> None:
    options = JobOptions(url_list="a", verify_hash=("md5", "md5"), downloader={"low_speed_limit": 1000})
    again = pickle.loads(pickle.dumps(options))
    assert again == options and again.downloader == {"low_speed_limit": 1000}
    assert pickle.loads(pickle.dumps(ShardWorker(options))).options == options
    with pytest.raises(AttributeError):
        options.image_size = 3  # type: ignore[misc]


@pytest.mark.parametrize(("given", "error", "words"), [
    ({"url_list": 3}, TypeError, "url_list must be a text, not 3"),
    ({"url_list": ""}, ValueError, "url_list is empty"),
    ({"image_size": "256"}, TypeError, "image_size must be an integer, not '256'"),
    ({"image_size": True}, TypeError, "image_size must be an integer"),
    ({"image_size": 0}, ValueError, "image_size is 0; it must be at least 1"),
    ({"image_size": 70000}, ValueError, "a JPEG has at most 65,500"),
    ({"timeout": "10"}, TypeError, "timeout must be a number"),
    ({"timeout": -1}, ValueError, "timeout is -1; it must be at least 0"),
    ({"max_aspect_ratio": math.nan}, ValueError, "max_aspect_ratio is nan"),
    ({"resize_mode": "crop"}, ValueError, "it must be one of no, border, keep_ratio, keep_ratio_largest, center_crop"),
    ({"resize_mode": None}, TypeError, "resize_mode must be a text"),
    ({"encode_format": "webp"}, ValueError, "one of jpg, png"),
    ({"output_format": "tfrecord"}, ValueError, "one of files, webdataset, parquet, dummy"),
    ({"encode_quality": 0}, ValueError, "encode_quality is 0; for a JPEG it is 1 to 100"),
    ({"oom_shard_count": 5000}, ValueError, "oom_shard_count is 5000; it is 1 to 18"),
    ({"skip_reencode": 1}, TypeError, "skip_reencode must be True or False, not 1"),
    ({"save_additional_columns": "caption"}, TypeError, "save_additional_columns must be a list of texts"),
    ({"save_additional_columns": [1]}, TypeError, "save_additional_columns must be a list of texts"),
    ({"compute_hash": "sha3"}, ValueError, "'sha3' is no hash"),
    ({"compute_hash": "shake_128"}, ValueError, "'shake_128' is no hash of hashlib, or none of a fixed length"),
    ({"verify_hash": ["md5"]}, ValueError, "verify_hash has a column and the kind"),
    ({"save_additional_columns": ["key"]}, ValueError, "has 'key', which the output has already"),
    ({"save_additional_columns": ["caption"], "caption_col": "caption"}, ValueError, "has 'caption', which"),
    ({"look_ahead": 70000}, ValueError, "it must be at most 65536"),
    ({"caption_col": 1}, TypeError, "caption_col must be a text or None"),
    ({"downloader": {"max_atempts": 3}}, TypeError, "'max_atempts' is not an option of sdd.Downloader"),
    ({"downloader": {"network_threads": "two"}}, TypeError, "'two' is no value of downloader.'network_threads'.: "),
    ({"downloader": {"min_tls_version": "4"}}, ValueError, "'4' is no value of downloader.'min_tls_version'."),
    ({"downloader": []}, TypeError, "downloader must be a mapping"),
    ({"nothing": 1}, TypeError, "nothing"),
])  # fmt: skip
def test_bad_options(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        JobOptions(**{"url_list": "a", **given})


def test_options_of_img2dataset() -> None:
    given: dict[str, Any] = {
        "url_list": "a", "output_folder": "b", "processes_count": 16, "thread_count": 64, "image_size": 384,
        "resize_only_if_bigger": True, "resize_mode": "keep_ratio", "skip_reencode": True, "encode_quality": 95,
        "output_format": "webdataset", "input_format": "txt.gz", "url_col": "URL", "caption_col": "TEXT",
        "save_additional_columns": None, "number_sample_per_shard": 10000, "oom_shard_count": 8, "retries": 2,
        "extract_exif": True, "compute_hash": "sha256", "timeout": 10, "max_aspect_ratio": 3, "min_image_size": 10,
        "max_image_area": math.inf, "incremental_mode": "incremental", "max_shard_retry": 3, "enable_wandb": False,
        "distributor": "multiprocessing", "disallowed_header_directives": [], "verify_hash": None, "bbox_col": None,
    }  # fmt: skip
    options = JobOptions.from_img2dataset(**given)
    assert (options.input_format, options.disallowed_header_directives) == ("txt", ())
    assert options.downloader_options().get("max_attempts") == 3
    for name, value in (("distributor", "ray"), ("bbox_col", "boxes"), ("upscale_interpolation", "cubic")):
        with pytest.raises(ValueError, match=f"{name}='{value}' is not supported: "):
            JobOptions.from_img2dataset(**{**given, name: value})
    with pytest.raises(ValueError, match="one of incremental, overwrite"):
        JobOptions.from_img2dataset(**{**given, "incremental_mode": "extend"})
    with pytest.raises(TypeError, match="^'retrys' is not an option of a job; did you mean 'retries'\\?$"):
        JobOptions.from_img2dataset(**{**given, "retrys": 1})


# ---- plans


def options_of(folder: Path, urls: list[Any] | None = None, **given: Any) -> JobOptions:
    if urls is not None:
        (folder / "urls.txt").write_text("\n".join(urls))
    return JobOptions(**{"url_list": str(folder / "urls.txt"), "output_folder": str(folder / "out"), **given})


def urls_of(plan: Plan, shard: int) -> list[str]:
    return plan.read_shard(shard).column("url").to_pylist()  # type: ignore[no-any-return]


def host_of(url: str) -> str:
    return url.split("/")[2].split(":")[0]


def many_urls() -> list[str]:
    """1,000 URLs: a host with 300, 20 with 30, 100 with one; those of a host are together."""
    urls = [f"http://big.test/{number}.jpg" for number in range(300)]
    urls += [f"https://m{number // 30}.test:{8000 + number % 2}/{number}.jpg" for number in range(600)]
    return urls + [f"http://one{number}.test/x.jpg" for number in range(100)]


def test_hosts() -> None:
    texts = {
        "http://a.test/b": "a.test", "HTTPS://A.Test:80/b": "a.test", "http://u:p@a.test:1/": "a.test",
        "http://a.test?b@c": "a.test", "http://a.test#b": "a.test", "http://[::1]:80/a": "[::1]", "a.test/b": "",
        "": "", "http:///b": "", "data:image/png;base64,AA": "", "http://10.0.0.1/": "10.0.0.1",
    }  # fmt: skip
    assert hosts_of(pa.chunked_array([pa.array([*texts, None])])).to_pylist() == [*texts.values(), ""]


def test_a_host_is_in_one_lane_and_spread_over_its_shards(tmp_path: Path) -> None:
    urls = many_urls()
    plan = make_plan(options_of(tmp_path, urls, number_sample_per_shard=50, lanes=4))
    assert plan.lanes == [0, 1, 2, 3] and plan.rows == 1000 and plan.hosts == 121
    lanes = {lane: [urls_of(plan, shard) for shard in plan.shards_of(lane)] for lane in plan.lanes}
    assert Counter(url for shards in lanes.values() for shard in shards for url in shard) == Counter(urls)
    of_host = defaultdict(set)
    for lane, shards in lanes.items():
        sizes = [len(shard) for shard in shards]
        assert max(sizes) <= 50 and max(sizes) - min(sizes) <= 1
        for shard in shards:
            for url in shard:
                of_host[host_of(url)].add(lane)
    assert {len(found) for found in of_host.values()} == {1}
    (lane,) = of_host["big.test"]
    shares = [sum(host_of(url) == "big.test" for url in shard) for shard in lanes[lane]]
    assert max(shares) - min(shares) <= 2, shares
    totals = [sum(map(len, shards)) for shards in lanes.values()]
    assert totals == sorted(totals, reverse=True) and totals[0] == 300 and min(totals) > 200
    assert [number for lane in plan.lanes for number in plan.shards_of(lane)] == list(plan.shards)


def test_texts_of_a_lane_may_be_longer_than_a_column_of_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 2 GiB have large types while they are sorted; what is in memory is limited by its size as well."""
    options = options_of(tmp_path, many_urls(), number_sample_per_shard=50, lanes=4)
    plan = make_plan(options)
    whole = [plan.read_shard(shard) for shard in plan.shards]
    read_lane, read_list, seen = _Spool.read, _lists.read, set()

    def tables(*given: Any) -> Iterator[pa.Table]:
        for table in read_list(*given):
            yield from (table.slice(begin, 100) for begin in range(0, 1000, 100))

    def look(spool: _Spool, lane: int) -> pa.Table:
        table = read_lane(spool, lane)
        seen.add((len(spool._files), table.schema.field("url").type))
        assert not [fd for fd in os.listdir("/proc/self/fd") if ".arrow" in os.path.realpath(f"/proc/self/fd/{fd}")]
        return table

    monkeypatch.setattr(_lists, "read", tables)
    monkeypatch.setattr(_Spool, "read", look)
    monkeypatch.setattr(_plan, "_SPOOL_BYTES", 1)
    plan = make_plan(dataclasses.replace(options, output_folder=str(tmp_path / "parts")))
    assert seen == {(10, pa.large_string())}
    assert [plan.read_shard(shard) for shard in plan.shards] == whole
    assert whole[0].schema.field("url").type == pa.string()


def test_a_large_host_is_split_if_that_is_allowed(tmp_path: Path) -> None:
    plan = make_plan(options_of(tmp_path, many_urls(), number_sample_per_shard=50, lanes=8, host_lanes=2))
    lanes = Counter(lane for lane in plan.lanes for shard in plan.shards_of(lane)
                    for url in urls_of(plan, shard) if host_of(url) == "big.test")  # fmt: skip
    assert sorted(lanes.values()) == [150, 150]


@pytest.mark.parametrize(("urls", "given", "lanes", "shards"), [
    ([], {}, 0, 0), (["x"], {}, 1, 1), (many_urls(), {"processes_count": 2, "number_sample_per_shard": 100}, 8, 10),
    (many_urls(), {"processes_count": 2}, 1, 1), (["http://a.test/"] * 100, {"number_sample_per_shard": 10}, 1, 10),
    (many_urls(), {"number_sample_per_shard": 1, "lanes": 3}, 3, 1000),
])  # fmt: skip
def test_numbers_of_lanes_and_shards(
    tmp_path: Path, urls: list[str], given: dict[str, Any], lanes: int, shards: int
) -> None:
    plan = make_plan(options_of(tmp_path, urls, **given))
    assert len(plan.lanes) == lanes and abs(len(plan.shards) - shards) <= 1 and plan.rows == len(urls)


def test_the_same_list_gives_the_same_plan(tmp_path: Path) -> None:
    plans = []
    for name in ("a", "b"):
        plan = make_plan(options_of(tmp_path, many_urls(), lanes=5, output_folder=str(tmp_path / name)))
        plans.append([urls_of(plan, shard) for shard in plan.shards])
    assert plans[0] == plans[1]


RECORDS: list[dict[str, Any]] = [
    {"url": f"http://h{number % 3}.test/{number}", "caption": f'a "{number}", b', "score": number / 2}
    for number in range(20)
]


def write(file: Path, kind: str) -> None:
    table = pa.Table.from_pylist(RECORDS)
    if kind == "parquet":
        return pq.write_table(table, file)  # type: ignore[no-any-return]
    if kind in ("csv", "tsv"):
        quote = '"{}"'.format
        lines = [["url", "caption", "score"]]
        lines += [[row["url"], quote(row["caption"].replace('"', '""')), str(row["score"])] for row in RECORDS]
        text = "".join(("," if kind == "csv" else "\t").join(line) + "\n" for line in lines)
    elif kind == "txt":
        text = "".join(f" {row['url']}\n\n" for row in RECORDS)
    else:
        text = json.dumps(RECORDS) if kind == "json" else "".join(f"{json.dumps(row)}\n" for row in RECORDS)
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("kind", ["txt", "csv", "tsv", "json", "jsonl", "parquet"])
def test_lists(tmp_path: Path, kind: str, packed: str) -> None:
    if kind == "parquet" and packed:
        pytest.skip("Parquet is packed inside")
    file = tmp_path / f"list.{kind}{packed}"
    write(file, kind)
    given: dict[str, Any] = {} if kind == "txt" else {"caption_col": "caption", "save_additional_columns": ["score"]}
    given["input_format"] = kind
    options = JobOptions(url_list=str(file), output_folder=str(tmp_path / "out"), **given)
    rows = make_plan(options).read_shard(0).to_pylist()
    wanted = [{"url": row["url"]} if kind == "txt" else row for row in RECORDS]
    assert sorted(rows, key=lambda row: int(row["url"].split("/")[3])) == wanted
    # the same as a folder of files
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / f"1.{kind}{packed}", kind)
    write(folder / f"2.{kind}{packed}", kind)
    (folder / "other").write_text("x")
    options = JobOptions(url_list=str(folder), output_folder=str(tmp_path / "two"), **given)
    assert make_plan(options).rows == 40


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("kind", ["txt", "csv", "jsonl"])
def test_a_byte_order_mark_is_no_part_of_a_list(tmp_path: Path, kind: Any, packed: str) -> None:
    url = "http://a.test/1"
    text = "\ufeff" + {"txt": f"{url}\n", "csv": f"url\n{url}\n", "jsonl": json.dumps({"url": url})}[kind]
    file = tmp_path / f"a.{kind}{packed}"
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert urls_of(make_plan(JobOptions(url_list=str(file), output_folder=str(tmp_path / "out"), input_format=kind)),
                   0) == [url]  # fmt: skip


def captions_of(tmp_path: Path, name: str, text: str, kind: Any) -> list[Any]:
    (tmp_path / name).write_text(text)
    options = JobOptions(url_list=str(tmp_path / name), output_folder=str(tmp_path / f"{name}-out"), input_format=kind,
                         caption_col="caption")  # fmt: skip
    rows = make_plan(options).read_shard(0).to_pylist()
    return [row["caption"] for row in sorted(rows, key=lambda row: int(row["url"].split("/")[3]))]


def test_captions_are_texts_as_they_stand_there(tmp_path: Path) -> None:
    captions = ["007", "1.50", "", "true", "2026-11-27", "a text"]
    lines = [f"http://a.test/{number},{caption}" for number, caption in enumerate(captions)]
    assert captions_of(tmp_path, "a.csv", "\n".join(["url,caption", *lines]), "csv") == captions
    # longer than the block by whose rows types are guessed
    many = [str(number) for number in range(60000)] + ["a text"]
    lines = [f"http://a.test/{number}\t{caption}" for number, caption in enumerate(many)]
    (tmp_path / "many.tsv").write_text("\n".join(["url\tcaption", *lines]))
    options = JobOptions(url_list=str(tmp_path / "many.tsv"), output_folder=str(tmp_path / "many"), lanes=1,
                         input_format="tsv", caption_col="caption", number_sample_per_shard=100000)  # fmt: skip
    assert sorted(make_plan(options).read_shard(0).column("caption").to_pylist()) == sorted(many)
    values = ["007", 7, 1.5, None, True, ["a", 1]]
    rows = [{"url": f"http://a.test/{number}", "caption": value} for number, value in enumerate(values)]
    made = captions_of(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)), "jsonl")
    assert made == ["007", "7", "1.5", None, "true", '["a", 1]']


def test_halves_of_surrogate_pairs_in_json(tmp_path: Path) -> None:
    """A text that was cut within a character ends no job."""
    texts = ["whole \U0001f600", "cut \ud83d", "\ude00 cut \ud83d and more"]
    rows = [{"url": f"http://a.test/{number}", "caption": text} for number, text in enumerate(texts)]
    made = captions_of(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)), "jsonl")
    assert made == ["whole \U0001f600", "cut \ufffd", "\ufffd cut \ufffd and more"]
    row = {"url": "http://a.test/\ud83d", "other": [{"a": "\ud83d"}, None]}
    (tmp_path / "b.json").write_text(json.dumps([row]))
    plan = make_plan(JobOptions(url_list=str(tmp_path / "b.json"), output_folder=str(tmp_path / "b"),
                                input_format="json", save_additional_columns=["other"]))  # fmt: skip
    assert plan.read_shard(0).to_pylist() == [{"url": "http://a.test/\ufffd", "other": [{"a": "\ufffd"}, None]}]


def test_captions_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"url,caption\nhttp://a.test/1,\xe9t\xe9\n")
    pq.write_table(pa.table({"url": ["http://a.test/1"], "caption": [b"\xe9t\xe9"]}), tmp_path / "a.parquet")
    kind: Any
    for kind, words in (("csv", "UTF8"), ("parquet", "the column 'caption' of a.parquet has binary, not texts")):
        with pytest.raises((TypeError, ValueError), match=words):
            make_plan(JobOptions(url_list=str(tmp_path / f"a.{kind}"), output_folder=str(tmp_path / "out"),
                                 input_format=kind, caption_col="caption"))  # fmt: skip


def test_a_column_that_few_records_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lists, "ROWS", 10)
    records: list[dict[str, str]] = [{"url": f"http://a.test/{number}"} for number in range(40)]
    records[25]["license"] = "free"
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    options = JobOptions(url_list=str(tmp_path / "a.jsonl"), input_format="jsonl", output_folder=str(tmp_path / "out"),
                         save_additional_columns=("license",))  # fmt: skip
    assert make_plan(options).read_shard(0).column("license").to_pylist() == [None] * 25 + ["free"] + [None] * 14
    with pytest.raises(ValueError, match="a.jsonl has no column 'licence'; it has url"):
        make_plan(dataclasses.replace(options, output_folder=str(tmp_path / "o"), save_additional_columns=("licence",)))


def test_a_long_row_of_csv(tmp_path: Path) -> None:
    url = "data:image/png;base64," + "A" * (3 << 20)
    (tmp_path / "a.csv").write_text(f'url\n"{url}"\n')
    options = JobOptions(url_list=str(tmp_path / "a.csv"), input_format="csv", output_folder=str(tmp_path / "out"))
    assert urls_of(make_plan(options), 0) == [url]


def test_bad_lists(tmp_path: Path) -> None:
    def refused(error: type[Exception], words: str, **given: Any) -> None:
        with pytest.raises(error, match=words):
            make_plan(JobOptions(**{"url_list": str(tmp_path / "a.csv"), "output_folder": str(tmp_path / "o"),
                                    "input_format": "csv", **given}))  # fmt: skip
        assert not (tmp_path / "o").exists() or not list((tmp_path / "o").iterdir())

    refused(FileNotFoundError, "the list .*a.csv does not exist")
    write(tmp_path / "a.csv", "csv")
    refused(ValueError, "a.csv has no column 'URL'; it has url, caption, score", url_col="URL")
    refused(ValueError, "no column 'text'", caption_col="text")
    pq.write_table(pa.table({"url": [1, 2]}), tmp_path / "n.parquet")
    refused(TypeError, "the column 'url' of n.parquet has int64, not texts", input_format="parquet",
            url_list=str(tmp_path / "n.parquet"))  # fmt: skip
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "n.parquet")
    refused(ValueError, "no column 'caption'; it has url", input_format="parquet", caption_col="caption",
            url_list=str(tmp_path / "n.parquet"))  # fmt: skip
    (tmp_path / "t.txt").write_text("x")
    refused(ValueError, "URLs alone", input_format="txt", url_list=str(tmp_path / "t.txt"), caption_col="caption")
    (tmp_path / "j.jsonl").write_text("[1]\n")
    refused(ValueError, "j.jsonl: line 1: it is not a JSON object", input_format="jsonl",
            url_list=str(tmp_path / "j.jsonl"))  # fmt: skip
    for name, text, words in (
        ("b.jsonl", b'{"url": "http://a.test/"}\n\n{bad\n', "b.jsonl: line 3: Expecting property name .*, at column 2"),
        ("b.json", b"[1]", "b.json: it is not a JSON array of objects"),
        ("c.json", b"[", "c.json: Expecting value"),
        ("b.parquet", b"x", "b.parquet: Parquet .*"),
        ("c.csv", b"url,caption\na\n", "c.csv: CSV parse error"),
        ("d.csv", b"url\nhttp://a.test/\xe9\n", "d.csv: .*UTF8"),
        ("e.txt.gz", b"no gzip", "e.txt.gz: Not a gzipped file"),
        ("f.txt.gz", gzip.compress(b"http://a.test/")[:-5], "f.txt.gz: Compressed file ended"),
    ):
        (tmp_path / name).write_bytes(text)
        refused(ValueError, words, input_format=name.split(".")[1], url_list=str(tmp_path / name))
    (tmp_path / "g.csv").write_text("url,url\na,b\n")
    refused(ValueError, "g.csv has more than one column 'url'", url_list=str(tmp_path / "g.csv"))
    for values, words in (((1, 1 << 64), "int too large"), ((1, "x"), "Could not convert 'x'")):
        (tmp_path / "h.json").write_text(json.dumps([{"url": "a", "n": value} for value in values]))
        refused(ValueError, f"h.json: the column 'n': .*{words}", input_format="json",
                url_list=str(tmp_path / "h.json"), save_additional_columns=["n"])  # fmt: skip
    (tmp_path / "empty").mkdir()
    refused(FileNotFoundError, "no file whose name ends with .csv", url_list=str(tmp_path / "empty"))
    (tmp_path / "many.txt").write_text("http://a.test/\n" * 20)
    refused(ValueError, "there are 20 shards; raise oom_shard_count", input_format="txt", number_sample_per_shard=1,
            oom_shard_count=1, url_list=str(tmp_path / "many.txt"))  # fmt: skip


def test_a_plan_goes_on_or_belongs_to_another_job(tmp_path: Path) -> None:
    options = options_of(tmp_path, many_urls(), number_sample_per_shard=100)
    with pytest.raises(FileNotFoundError, match="has no plan; call make_plan"):
        load_plan(options)
    plan = make_plan(options)
    (tmp_path / "out" / "_plan.tmp-left").mkdir()  # of a process that was killed
    assert make_plan(options_of(tmp_path, number_sample_per_shard=100, thread_count=3, processes_count=9)) == plan
    with pytest.raises(PlanMismatch, match="a job with image_size=256, not 64; use another folder"):
        make_plan(options_of(tmp_path, number_sample_per_shard=100, image_size=64))
    with pytest.raises(PlanMismatch, match="a job with another list"):
        make_plan(options_of(tmp_path, many_urls()[1:], number_sample_per_shard=100))
    (tmp_path / "out" / "00001.tar").write_text("made by the plan")
    (tmp_path / "out" / "other.tar").write_text("not made by it")
    again = make_plan(options_of(tmp_path, number_sample_per_shard=1000, incremental_mode="overwrite"))
    assert len(again.shards) == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_plan", "_plan.tmp-left", "other.tar"] or (
        sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_plan", "other.tar"]
    )


def test_of_several_drivers_one_makes_the_plan(tmp_path: Path) -> None:
    options = options_of(tmp_path, many_urls())
    with ThreadPoolExecutor(8) as pool:
        plans = list(pool.map(make_plan, [options] * 8))
    assert plans == [load_plan(options)] * 8
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_plan"]


def test_a_removal_that_is_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of the job before never counts as done."""
    options = options_of(tmp_path, many_urls(), number_sample_per_shard=500, incremental_mode="overwrite")
    stats = [tmp_path / "out" / f"0000{shard}_stats.json" for shard in make_plan(options).shards]
    for file in stats:
        file.write_text("made by the plan")
    unlink = Path.unlink

    def interrupted(path: Path, missing_ok: bool = False) -> None:
        if path == stats[1]:
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "unlink", interrupted)
        make_plan(options)
    assert [file.exists() for file in stats] == [False, True]
    make_plan(options_of(tmp_path, number_sample_per_shard=500, incremental_mode="overwrite", image_size=64))
    assert not any(file.exists() for file in stats)


@pytest.mark.parametrize("mode", ["incremental", "overwrite"])
def test_shards_without_a_plan_are_refused(tmp_path: Path, mode: str) -> None:
    """As img2dataset leaves them."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "my_stats.json").write_text("{}")
    make_plan(options_of(tmp_path, many_urls(), output_folder=str(tmp_path / "out")))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "00000_stats.json").write_text("{}")
    with pytest.raises(PlanMismatch, match="other has shards of another job, such as that of 00000_stats.json; use"):
        make_plan(options_of(tmp_path, output_folder=str(tmp_path / "other"), incremental_mode=mode))
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["00000_stats.json"]


@pytest.mark.parametrize("text", ["broken", "{}", "[1]"])
def test_a_damaged_plan_is_named(tmp_path: Path, text: str) -> None:
    options = options_of(tmp_path, many_urls())
    make_plan(options)
    (tmp_path / "out" / "_plan" / "plan.json").write_text(text)
    for again in (load_plan, make_plan):
        with pytest.raises(ValueError, match="out/_plan/plan.json is damaged: remove .*out, and begin"):
            again(options)


def test_a_url_that_is_no_text_is_one_failed_row(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"url": "http://a.test/"}\n{"url": 5}\n{"url": null}\n')
    plan = make_plan(JobOptions(url_list=str(tmp_path / "a.jsonl"), output_folder=str(tmp_path / "out"), lanes=1,
                                input_format="jsonl"))  # fmt: skip
    assert sorted(map(str, urls_of(plan, 0))) == ["5", "None", "http://a.test/"]


def test_the_driver_refuses_what_the_workers_would(tmp_path: Path) -> None:
    with pytest.raises(sdd.InvalidArgument, match="max_concurrent_downloads"):
        make_plan(options_of(tmp_path, many_urls(), thread_count=1 << 30))


def test_a_column_of_a_dictionary(tmp_path: Path) -> None:
    column = pa.array(["http://a.test/1", None, "http://a.test/1"]).dictionary_encode()
    pq.write_table(pa.table({"url": column}), tmp_path / "list.parquet")
    plan = make_plan(JobOptions(url_list=str(tmp_path / "list.parquet"), input_format="parquet",
                                output_folder=str(tmp_path / "out")))  # fmt: skip
    assert sorted(map(str, urls_of(plan, 0))) == ["None", "http://a.test/1", "http://a.test/1"]


def test_lanes_that_are_not_there(tmp_path: Path) -> None:
    options = options_of(tmp_path, many_urls())
    make_plan(options)
    with pytest.raises(ValueError, match="there is no lane 7; the plan has 1"):
        ShardWorker(options)(7)
    with pytest.raises(TypeError, match="a lane is an integer, not '0'"):
        ShardWorker(options)("0")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="options must be a JobOptions"):
        ShardWorker({"url_list": "a"})  # type: ignore[arg-type]
