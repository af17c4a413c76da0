#!/bin/bash
# Checks the effects of loading the library on a process, from C and from Python: see load_probe.c.
#
#     Tests/abi/check-loading.sh build/libsdd.so.0.1.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
library=$(realpath "$1")
mkdir -p build/tests

gcc -std=c11 -Wall -Wextra -Werror -Iinclude Tests/abi/load_probe.c -ldl -o build/tests/load_probe
timeout 60 build/tests/load_probe "$library"

if command -v python3 >/dev/null; then
    timeout 60 python3 Tests/abi/load_python.py "$library" include/sdd/sdd.h
else
    echo "skip loading from Python: no python3"
fi
