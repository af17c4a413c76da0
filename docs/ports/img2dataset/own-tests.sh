#!/bin/bash
# Runs img2dataset's own tests before and after the change, each in a copy of its checkout.
#
#     own-tests.sh CHECKOUT PYTHON [ARGUMENT OF PYTEST...]
#
# PYTHON has what requirements.txt names, and pytest, pytest-xdist, psutil, uvicorn, fastapi, and sdd (see try.sh). The
# tests' one picture on the Internet is taken from the checkout, by a local server. Not run are those that need hosts
# of the Internet (test_unique_hash, test_benchmark), TensorFlow, Ray or Spark.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

[ $# -ge 2 ] || { echo "own-tests.sh: two arguments are needed: CHECKOUT PYTHON" >&2; exit 1; }
checkout=$1 python=$(realpath -s "$2")
shift 2
work=$(mktemp -d)
server='' status=0
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
mkdir "$work/old" "$work/new"
for kind in old new; do
    cp -r "$checkout/img2dataset" "$checkout/tests" "$work/$kind/"
done
"$folder/apply.sh" "$work/new"

mkfifo "$work/port"
"$python" - "$work/old/tests/blur_test_files" >"$work/port" <<'PROGRAM' &
import functools, http.server, sys

class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=sys.argv[1]))
print(server.server_address[1], flush=True)
server.serve_forever()
PROGRAM
server=$!
read -r port <"$work/port"

for kind in old new; do
    echo "== $kind"
    cd "$work/$kind"
    "$python" - "http://127.0.0.1:$port/original.png" <<'PROGRAM'
import sys
from pathlib import Path
import pyarrow as pa
import pyarrow.parquet as pq

Path("tests/test_files/sample_image.txt").write_text(sys.argv[1])
for file in ("tests/blur_test_files/test_bbox.parquet", "tests/test_files/sample_image.parquet"):
    table = pq.read_table(file)
    urls = pa.array([sys.argv[1]] * table.num_rows)
    pq.write_table(table.set_column(table.schema.get_field_index("url"), "url", urls), file)
PROGRAM
    PYTHONPATH=$work/$kind${PYTHONPATH:+:$PYTHONPATH} NO_ALBUMENTATIONS_UPDATE=1 "$python" -m pytest -q --no-header \
        -p no:cacheprovider tests -k "not unique_hash and not benchmark and not tfrecord and not ray and not pyspark" \
        "$@" || status=1
done
exit $status
