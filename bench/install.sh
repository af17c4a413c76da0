#!/bin/bash
# Installs what the benchmark needs: Debian packages with apt-get, Python packages into WORK/venv, and the peer in Rust,
# which is left out if the system has no packages for its crates.
#
#     bench/install.sh WORK
#
# Needs the Swift toolchain (6.2 or later) on the PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "${1:?usage: bench/install.sh WORK}"
work=$(realpath "$1")

. tools/packages.sh

crates=/usr/share/cargo/registry # of the librust-*-dev packages

need_toolchain
need_libraries
need curl has curl
need nginx-light env PATH="$PATH:/usr/sbin" nginx -v
need openssl has openssl
need python3 has python3
need python3-venv python3 -c 'import ensurepip, venv'
has_package() { apt-cache show "$1" 2>/dev/null | grep -q .; }
has_package mate-backgrounds || as_root apt-get -qq update # a package of the corpus: the lists may be empty
if has_package librust-reqwest-dev && has_package librust-tokio-dev; then
    need cargo has cargo
    for crate in native-tls reqwest tokio; do
        need "librust-$crate-dev" sh -c "ls -d $crates/$crate-[0-9]*"
    done
fi
install_missing
check_toolchain

# The stamps are copies of what was installed, so that a change leads to a new installation.
if ! cmp -s bench/requirements.txt "$work/requirements.txt"; then
    echo "== installing the Python packages of the peers"
    rm -rf "$work/venv"
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement bench/requirements.txt
    cp bench/requirements.txt "$work/requirements.txt"
fi

if has cargo && ls -d "$crates"/reqwest-[0-9]* >/dev/null 2>&1; then
    mkdir -p "$work/reqwest"
    cp -ru bench/peers/reqwest/. "$work/reqwest/"
    (cd "$work/reqwest" && cargo build --quiet --release --offline --config 'source.crates-io.replace-with="debian"' \
        --config "source.debian.directory=\"$crates\"" 2>"$work/reqwest/errors") ||
        echo "install.sh: the peer with reqwest does not build and is left out; see $work/reqwest/errors" >&2
else
    echo "install.sh: the system has no packages for reqwest, which is left out" >&2
fi
