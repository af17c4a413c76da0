#!/bin/bash
# `make simulate`: builds the simulation and plays seeds; see Tests/Simulation/README.md. Without arguments it plays
# those of the file `seeds`, and 2,000 others.
#
#     Tests/Simulation/run.sh [ARGUMENT OF simulate...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p build/simulation
${CC:-cc} -std=gnu11 -g -O2 -Wall -Wextra -Werror -Iinclude Tests/Simulation/*.c -o build/simulation/simulate \
    -rdynamic -Lbuild -lsdd -lcurl -Wl,-rpath,"$PWD/build"
[ $# -eq 0 ] || exec build/simulation/simulate "$@"
grep -oE '^[0-9]+' Tests/Simulation/seeds | while read -r seed; do
    build/simulation/simulate --first "$seed" --seeds 1
done
exec build/simulation/simulate
