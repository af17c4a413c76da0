"""Downloads of millions of URLs: the worker that an engine such as Dask, Ray or Spark calls, and one without an engine.

    options = JobOptions(url_list="urls.parquet", input_format="parquet", output_folder="out",
                         output_format="webdataset")
    plan = make_plan(options)                     # once, before the workers
    engine.map(ShardWorker(options), plan.lanes)  # ShardWorker is picklable; a lane is an integer
    print(report_of(plan, options))

`download(options)` does the same in processes of this machine, and so does the command `python -m sdd.distributed`.
bindings/python/DISTRIBUTED.md describes options, output and what happens when a worker is killed. The module needs
pyarrow: `pip install libsdd[distributed]`.
"""

try:
    import pyarrow as _pyarrow
except ImportError as error:  # pragma: no cover
    raise ImportError("sdd.distributed needs pyarrow: pip install libsdd[distributed]") from error

from ._failures import Failure
from ._local import LaneFailed, download, report_of
from ._options import NOT_SUPPORTED, JobOptions
from ._plan import Plan, PlanMismatch, load_plan, make_plan
from ._progress import Progress
from ._report import FailureKind, JobReport, ShardReport
from ._worker import ShardWorker

__all__ = [
    "NOT_SUPPORTED", "Failure", "FailureKind", "JobOptions", "JobReport", "LaneFailed", "Plan", "PlanMismatch",
    "Progress", "ShardReport", "ShardWorker", "download", "load_plan", "make_plan", "report_of",
]  # fmt: skip

del _pyarrow
