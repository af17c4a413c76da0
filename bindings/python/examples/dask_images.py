#!/usr/bin/env python3
"""Downloads a list of URLs with Dask, into tar shards for WebDataset and Parquet files with what became of each URL.

dask_images.py LIST FOLDER [-w WORKERS] [-o JSON] [--scheduler ADDRESS]

LIST is a Parquet file, CSV, or a text with one URL a line. JSON has further options of sdd.distributed.JobOptions,
such as '{"image_size": 512, "resize_mode": "center_crop"}'. A job that was killed is started again with the same
command, and goes on. The folder must be seen by all workers.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from dask.distributed import Client, LocalCluster, as_completed
from sdd.distributed import JobOptions, JobReport, ShardWorker, make_plan, report_of


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-w", "--workers", type=int, default=2)
    parser.add_argument("-o", "--options", type=json.loads, default={})
    parser.add_argument("--scheduler", help="of a cluster that runs; default: one on this machine")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    options = JobOptions(**{
        "url_list": str(arguments.list.absolute()), "input_format": arguments.list.suffix.lstrip("."),
        "output_folder": str(arguments.folder.absolute()), "output_format": "webdataset", "resize_mode": "keep_ratio",
        "processes_count": arguments.workers, **arguments.options,
    })  # fmt: skip
    plan = make_plan(options)
    worker = ShardWorker(options)
    with ExitStack() as stack:
        if arguments.scheduler:
            client = stack.enter_context(Client(arguments.scheduler))
        else:
            # A process a worker: each has one downloader, with the limits of the job's hosts.
            cluster = LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0")
            client = stack.enter_context(Client(stack.enter_context(cluster)))
        # Not pure: a lane that ran before is looked at again. Retries are for workers that die.
        lanes = client.map(worker, plan.lanes, pure=False, retries=2)
        for _, reports in as_completed(lanes, with_results=True):
            print(JobReport.of(reports), flush=True)
    report = report_of(plan, options)
    print(f"== the whole job\n{report}")
    return 1 if report.missing else 0


if __name__ == "__main__":
    sys.exit(main())
