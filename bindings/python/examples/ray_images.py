#!/usr/bin/env python3
"""Downloads a list of URLs with Ray Data, into tar shards for WebDataset and Parquet files with what became of each.

ray_images.py LIST FOLDER [-w WORKERS] [-o JSON] [--address ADDRESS]

LIST is a Parquet file, CSV, or a text with one URL a line. JSON has further options of sdd.distributed.JobOptions,
such as '{"image_size": 512, "resize_mode": "center_crop"}'. A job that was killed is started again with the same
command, and goes on. The folder must be seen by all workers.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import ray  # pyright: ignore[reportMissingImports]
import ray.data  # pyright: ignore[reportMissingImports]
from sdd.distributed import JobOptions, JobReport, ShardWorker, make_plan, report_of


class Lanes:
    """An actor. Each is a process of its own, with one downloader."""

    def __init__(self, options: JobOptions) -> None:
        self._worker = ShardWorker(options)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        report = JobReport.of(self._worker(int(row["item"])))
        return {"lane": row["item"], "count": report.count, "successes": report.successes, "text": str(report)}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-w", "--workers", type=int, default=2)
    parser.add_argument("-o", "--options", type=json.loads, default={})
    parser.add_argument("--address", help="of a cluster that runs; default: one on this machine")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    options = JobOptions(**{
        "url_list": str(arguments.list.absolute()), "input_format": arguments.list.suffix.lstrip("."),
        "output_folder": str(arguments.folder.absolute()), "output_format": "webdataset", "resize_mode": "keep_ratio",
        "processes_count": arguments.workers, **arguments.options,
    })  # fmt: skip
    plan = make_plan(options)
    ray.init(arguments.address, include_dashboard=False, num_cpus=None if arguments.address else arguments.workers)
    # A block for each lane, so that actors without work take the next one.
    lanes: Any = ray.data.from_items(plan.lanes, override_num_blocks=len(plan.lanes))
    actors = ray.data.ActorPoolStrategy(size=arguments.workers, max_tasks_in_flight_per_actor=1)
    done = lanes.map(Lanes, fn_constructor_args=(options,), compute=actors, num_cpus=1)
    for row in done.iter_rows():
        print(row["text"], flush=True)
    report = report_of(plan, options)
    print(f"== the whole job\n{report}")
    return 1 if report.missing else 0


if __name__ == "__main__":
    sys.exit(main())
