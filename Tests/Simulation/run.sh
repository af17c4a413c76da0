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
play() { build/simulation/simulate "$@" 2>&1 | Tests/Simulation/stacks.py; }
if [ $# -gt 0 ]; then
    play "$@"
    exit
fi
while read -r seed _; do
    [[ $seed != [0-9]* ]] || play --first "$seed" --seeds 1
done <Tests/Simulation/seeds
play
