#!/usr/bin/env python3
"""Downloads a list of URLs with Spark, into tar shards for WebDataset and Parquet files with what became of each URL.

pyspark_images.py LIST FOLDER [-w WORKERS] [-o JSON] [--master ADDRESS]

LIST is a Parquet file, CSV, or a text with one URL a line. JSON has further options of sdd.distributed.JobOptions,
such as '{"image_size": 512, "resize_mode": "center_crop"}'. A job that was killed is started again with the same
command, and goes on. The folder must be seen by all workers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports]
from sdd.distributed import JobOptions, JobReport, ShardWorker, make_plan, report_of


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-w", "--workers", type=int, default=2)
    parser.add_argument("-o", "--options", type=json.loads, default={})
    parser.add_argument("--master", help="of a cluster; default: local[WORKERS]")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    options = JobOptions(**{
        "url_list": str(arguments.list.absolute()), "input_format": arguments.list.suffix.lstrip("."),
        "output_folder": str(arguments.folder.absolute()), "output_format": "webdataset", "resize_mode": "keep_ratio",
        "processes_count": arguments.workers, **arguments.options,
    })  # fmt: skip
    plan = make_plan(options)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master(arguments.master or f"local[{arguments.workers}]").appName("images")
        .config("spark.python.worker.reuse", "true")  # a Python process has one downloader for all its lanes
        .config("spark.speculation", "false")  # a lane is worked on once
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )  # fmt: skip
    try:
        # A task for each lane. Spark repeats the task of an executor that died, which goes on in the lane.
        lanes = spark.sparkContext.parallelize(plan.lanes, len(plan.lanes))
        for reports in lanes.map(ShardWorker(options)).toLocalIterator(prefetchPartitions=True):
            print(JobReport.of(reports), flush=True)
    finally:
        spark.stop()
    report = report_of(plan, options)
    print(f"== the whole job\n{report}")
    return 1 if report.missing else 0


if __name__ == "__main__":
    sys.exit(main())
