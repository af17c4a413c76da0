#!/bin/bash
# Builds the site of the documents: gathers the pages (stage.py) and runs Sphinx. Installs nothing, and needs no network.
#
#     docs/site/build.sh FOLDER      writes FOLDER/html; DOCS_PYTHON is the Python that has Sphinx, MyST and Furo
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${DOCS_PYTHON:-/usr/bin/python3}
folder=${1:?a folder is needed}

missing=()
for module in sphinx:python3-sphinx myst_parser:python3-myst-parser furo:furo; do
    "$python" -c "import ${module%:*}" 2>/dev/null || missing+=("${module#*:}")
done
command -v dot >/dev/null || missing+=(graphviz)
command -v mandoc >/dev/null || missing+=(mandoc)
if [ ${#missing[@]} -gt 0 ]; then
    echo "make docs: missing: ${missing[*]}; on Debian: apt-get install ${missing[*]}" >&2
    exit 1
fi

rm -rf "$folder"
mkdir -p "$folder"
export PYTHONDONTWRITEBYTECODE=1
"$python" docs/site/stage.py "$folder/source"
# -n: every name in the reference must be known; -W: a warning is an error.
"$python" -m sphinx -q -n -W --keep-going -d "$folder/doctrees" -c docs/site "$folder/source" "$folder/html"
rm -rf "$folder/doctrees"
echo "open $folder/html/index.html"
