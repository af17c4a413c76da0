#!/bin/bash
# `make damage`: decodes odd and damaged pictures and decompression bombs with the built library; see docs/fuzzing.md.
#
#     Tests/Damage/run.sh [FOLDER]    also decodes the pictures in FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tools/packages.sh
need libjpeg-turbo-progs has cjpeg jpegtran
install_missing
folder=build/damage
rm -rf "$folder"
mkdir -p "$folder"
python3 Tests/Damage/odd_files.py "$folder"
${CC:-cc} -g -O1 -Wall -Wextra -Werror -Iinclude Tests/Damage/damage.c -o build/damage/damage -Lbuild -lsdd \
    -Wl,-rpath,"$PWD/build"
status=0
find Tests/Fixtures "$folder/odd" "$@" -type f \( -name '*.jpg' -o -name '*.png' \) -print0 | sort -z |
    xargs -0 -n 100000 "$folder/damage" damaged || status=1
"$folder/damage" bombs "$folder"/bombs/* || status=1
exit $status
