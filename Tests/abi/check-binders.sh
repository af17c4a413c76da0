#!/bin/bash
# Generates bindings from the header with bindgen (Rust), cffi and ctypesgen (Python), and SWIG (C to Python), compiles
# them, and calls the library through them. A missing tool is skipped; Tests/run.sh installs them.
#
#     Tests/abi/check-binders.sh build/libsdd.so.0.1.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
library=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "check-binders.sh: $*" >&2; [ ! -s "$work/said" ] || cat "$work/said" >&2; exit 1; }
has() { command -v "$1" >/dev/null; }
quiet() { timeout 120 "$@" >"$work/said" 2>&1 || fail "status $?: $*"; }

ln -s "$library" "$work/libsdd.so"
ln -s "$library" "$work/libsdd.so.0"
export LD_LIBRARY_PATH=$work XDG_CACHE_HOME=$work/caches PYTHONDONTWRITEBYTECODE=1
builtin=$(gcc -print-file-name=include) # stddef.h, in case the system has no clang

# ---- Rust

if has bindgen && has rustc; then
    quiet bindgen include/sdd/sdd.h -o "$work/bindings.rs" --allowlist-function 'sdd_.*' --allowlist-type 'sdd_.*' \
        --allowlist-var 'SDD_.*' -- -Iinclude -isystem "$builtin"
    BINDINGS=$work/bindings.rs quiet rustc --edition 2021 -A warnings -L "$work" -l sdd -o "$work/bindgen" \
        Tests/abi/binders/bindgen.rs
    quiet "$work/bindgen"
    # bindgen's own tests check the size, alignment and offsets of the structs.
    if grep -q '#\[test\]' "$work/bindings.rs"; then
        quiet rustc --edition 2021 --test -A warnings -A deref_nullptr -L "$work" -l sdd -o "$work/layouts" --crate-type lib \
            "$work/bindings.rs"
        quiet "$work/layouts"
    fi
    echo "ok bindgen"
else
    echo "skip bindgen: no bindgen or no rustc"
fi

# ---- Python

python=
for candidate in python3 /usr/bin/python3; do
    if has $candidate && $candidate -c 'import cffi' 2>/dev/null; then python=$candidate && break; fi
done
if [ -n "$python" ]; then
    gcc -std=c11 -E -P -Iinclude -DSDD_API= include/sdd/sdd.h | sed '/__extension__/d' >"$work/all"
    # cffi declares the system headers' types itself.
    gcc -std=c11 -E -P -Iinclude -DSDD_API= -x c - <<<$'#include <stddef.h>\n#include <stdint.h>' >"$work/system"
    grep -vxFf "$work/system" "$work/all" >"$work/cdef" || fail "the header is empty without the system's lines"
    quiet "$python" Tests/abi/binders/cffi_check.py "$work/cdef" "$library"
    echo "ok cffi"
else
    echo "skip cffi: not installed"
fi

if has python3; then
    if ! python3 -c 'import ctypesgen' 2>/dev/null; then
        # No distribution packages it.
        python3 -m pip -q install --disable-pip-version-check --target "$work/pip" ctypesgen==1.1.1 >"$work/said" 2>&1 || true
    fi
    export PYTHONPATH=$work/pip:$work
    if python3 -c 'import ctypesgen' 2>/dev/null; then
        quiet python3 -c 'from ctypesgen.main import main; main()' --cpp "gcc -std=c11 -E" -Iinclude -D SDD_API= -l sdd \
            -L "$work" --no-macro-warnings -o "$work/made.py" include/sdd/sdd.h $(printf ' %s' include/sdd/*.h)
        quiet python3 Tests/abi/binders/ctypesgen_check.py
        echo "ok ctypesgen"
    else
        echo "skip ctypesgen: not installed, and pip cannot install it"
    fi
fi

# ---- SWIG

if has swig && /usr/bin/python3-config --includes >/dev/null 2>&1; then
    {
        echo '%module sdd_swig'
        echo '%{'
        echo '#include <sdd/sdd.h>'
        echo '%}'
        echo '%include <stdint.i>'
        echo '%define SDD_API %enddef'
        for chapter in $(sed -n 's/^#include "\(.*\)"/\1/p' include/sdd/sdd.h); do echo "%include \"sdd/$chapter\""; done
    } >"$work/sdd_swig.i"
    quiet swig -python -Iinclude -outdir "$work" -o "$work/wrap.c" "$work/sdd_swig.i"
    # shellcheck disable=SC2046 # words on purpose
    quiet gcc -shared -fPIC -Iinclude $(/usr/bin/python3-config --includes) "$work/wrap.c" -L"$work" -lsdd -o "$work/_sdd_swig.so"
    PYTHONPATH=$work quiet /usr/bin/python3 Tests/abi/binders/swig_check.py
    echo "ok SWIG"
else
    echo "skip SWIG: no swig, or no python3-dev"
fi
