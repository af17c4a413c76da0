#!/bin/bash
# Runs img2dataset 1.47.0 as it is and with libsdd over the same lists, against a local server, and compares.
#
#     try.sh SOURCE_FOLDER PYTHON
#
# SOURCE_FOLDER is an unpacked wheel or a checkout, which stays as it is. PYTHON is an interpreter that has what
# img2dataset needs, and the package sdd: installed, or by PYTHONPATH and SDD_LIBRARY.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

[ $# -eq 2 ] || { echo "try.sh: two arguments are needed: SOURCE_FOLDER PYTHON" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for kind in old new; do
    mkdir "$work/$kind"
    cp -r "$1/img2dataset" "$work/$kind/"
done
"$folder/apply.sh" "$work/new"
"$2" "$folder/trial.py" "$work"
