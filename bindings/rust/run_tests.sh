#!/bin/bash
# Checks the crates against build/libsdd.so, or the library in the folder that SDD_LIB_DIR names; with SDD_LIB_DIR= the
# installed one, as pkg-config finds it. What of the header they have, format, clippy, build, tests, documentation.
# Installs nothing.
#
#     bindings/rust/run_tests.sh
#
# CARGO, RUSTC and RUSTDOC name another toolchain than that of the PATH, such as Debian's:
#
#     CARGO=/usr/bin/cargo RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc bindings/rust/run_tests.sh
#
# CARGO_TARGET_DIR is the folder for what is built; default: target/ here. Format and clippy are skipped where the
# toolchain has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

fail() { echo "run_tests.sh: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null; }

export SDD_LIB_DIR=${SDD_LIB_DIR-$PWD/../../build} CARGO=${CARGO:-cargo} RUSTC=${RUSTC:-rustc}
readonly rustdoc=${RUSTDOC:-rustdoc} registry=/usr/share/cargo/registry
if [ -n "$SDD_LIB_DIR" ]; then
    [ -e "$SDD_LIB_DIR/libsdd.so" ] || fail "no libsdd.so in $SDD_LIB_DIR: run make, or set SDD_LIB_DIR"
    LD_LIBRARY_PATH=$SDD_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
for tool in "$CARGO" "$RUSTC" "$rustdoc" cc pkg-config python3; do has "$tool" || fail "$tool is missing"; done
for crate in pkg-config futures-core tokio; do
    compgen -G "$registry/$crate-[0-9]*" >/dev/null || fail "no crate $crate (Debian: librust-$crate-dev)"
done
export CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never RUST_BACKTRACE=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# rustdoc compares the error codes of compile_fail only if it believes that it is a nightly.
printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec %q "$@"\n' "$(command -v "$rustdoc")" >"$work/rustdoc"
chmod +x "$work/rustdoc"
export RUSTDOC=$rustdoc

step() { echo "== $*"; }
step "$("$RUSTC" --version)"
step coverage
./coverage.py
if has cargo-fmt && [ "$CARGO" = cargo ]; then
    step format
    cargo fmt --all --check
else
    step "format: skipped, no cargo-fmt"
fi
if has cargo-clippy && [ "$CARGO" = cargo ]; then
    step clippy
    cargo clippy --quiet --workspace --all-targets --all-features -- -D warnings
else
    step "clippy: skipped, no cargo-clippy"
fi
# Each test of the documentation is a program of its own, so most of the time goes to linking. Debug information would
# double that, and a static standard library too.
export RUSTFLAGS="-D warnings" RUSTDOCFLAGS="-D warnings" CARGO_PROFILE_DEV_DEBUG=0
step "build without features"
"$CARGO" check --quiet --workspace
step tests
"$CARGO" test --workspace --all-features --all-targets
step examples
"$CARGO" run --quiet --example tokio
"$CARGO" run --quiet --example egui
step "tests of the documentation"
standard_library=$("$RUSTC" --print target-libdir)
LD_LIBRARY_PATH=$standard_library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} RUSTDOC=$work/rustdoc \
    RUSTDOCFLAGS="-D warnings -C prefer-dynamic" "$CARGO" test --workspace --all-features --doc
step documentation
"$CARGO" doc --quiet --workspace --all-features --no-deps
echo "run_tests.sh: all is well"
