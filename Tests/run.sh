#!/bin/bash
# Builds libsdd and runs all its tests: installs missing packages with apt-get, then runs `make check`.
#
#     Tests/run.sh
#
# Needs the Swift toolchain (6.2 or later) on the PATH, if Debian's own is older. The exit status is that of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. tools/packages.sh

need_toolchain
need_libraries
python3_with_numpy() { python3 -c 'import numpy, PIL' || /usr/bin/python3 -c 'import numpy, PIL'; }
python3_with() { python3 -c "import $1" || /usr/bin/python3 -c "import $1"; }
need nginx-light env PATH="$PATH:/usr/sbin" nginx -v # a test server
need tinyproxy has tinyproxy                         # a test proxy
need openssl has openssl                             # its certificates
need valgrind has valgrind
need clang-format has clang-format                     # make lint
need python3 has python3                             # examples in Python
need python3-numpy python3_with_numpy
need python3-pil python3_with_numpy
need cargo has cargo                                 # Rust: the crates, and examples
need rustc has rustc
for crate in pkg-config futures-core tokio; do
    need "librust-$crate-dev" sh -c "ls -d /usr/share/cargo/registry/$crate-[0-9]*"
done
need libglib2.0-dev pkg-config --exists glib-2.0      # examples with GLib and libuv
need libuv1-dev pkg-config --exists libuv
need libsqlite3-dev pkg-config --exists sqlite3       # example with SQLite
need libsdl2-dev pkg-config --exists sdl2             # examples with SDL, on a display without a screen
need xvfb has Xvfb
need libwebp-dev pkg-config --exists libwebp libwebpdemux libwebpmux # coders
need libavif-dev pkg-config --exists libavif
need libjxl-dev pkg-config --exists libjxl
need libheif-dev pkg-config --exists libheif
need liblcms2-dev pkg-config --exists lcms2
need librsvg2-dev pkg-config --exists librsvg-2.0
need libfontconfig-dev pkg-config --exists fontconfig
need webp has cwebp dwebp gif2webp                    # files for the tests of coders
need libavif-bin has avifenc avifdec
need libjxl-tools has cjxl djxl
need libheif-examples has heif-enc heif-convert
need librsvg2-bin has rsvg-convert
need libheif-plugin-x265 sh -c 'heif-enc --list-encoders | grep -qi x265'
need qt6-base-dev pkg-config --exists Qt6Widgets       # the headers for toolkits, and galleries of them
need qt6-declarative-dev pkg-config --exists Qt6Quick
qml_module() { compgen -G "/usr/lib/*/qt6/qml/$1/qmldir"; }
need qml6-module-qtquick qml_module QtQuick
need qml6-module-qtquick-window qml_module QtQuick/Window
need qml6-module-qtquick-controls qml_module QtQuick/Controls
need qml6-module-qtquick-templates qml_module QtQuick/Templates
need qml6-module-qtqml-workerscript qml_module QtQml/WorkerScript
need libgtk-4-dev pkg-config --exists gtk4
need imagemagick has import                           # what the galleries show on the screen
need cmake has cmake                                  # examples in C++
need meson has meson
need mandoc has mandoc                                # the tool: man pages, screens, completions
need man-db has man
need python3-pyte python3_with pexpect,PIL,pyte          # all of them in one Python: Tests/Tool/run.sh
need python3-pexpect python3_with pexpect,PIL,pyte
need python3-pil python3_with pexpect,PIL,pyte
need tmux has tmux
need zsh has zsh
need fish has fish
need libx11-dev pkg-config --exists x11
need bindgen has bindgen                              # tools that generate bindings
need libclang-dev sh -c 'ldconfig -p | grep -q libclang-[0-9]'
need swig has swig
need python3-dev has /usr/bin/python3-config
need python3-pycparser sh -c 'python3 -c "import pycparser" || /usr/bin/python3 -c "import pycparser"'
need python3-cffi python3_with cffi,numpy             # both in one Python: Tests/examples.sh
need python3-numpy python3_with cffi,numpy
need python3-pip python3 -m pip --version             # installs ctypesgen
need python3-venv python3 -c "import ensurepip"       # the Python package
need binutils has strip objdump
need python3-sphinx /usr/bin/python3 -c 'import sphinx' # make docs
need python3-myst-parser /usr/bin/python3 -c 'import myst_parser'
need furo /usr/bin/python3 -c 'import furo'
need graphviz has dot
need mandoc has mandoc                               # make docs, make test-docs
need man-db has man
need bsdextrautils has col
need mypy has mypy
if ! grep -qs '^ID=ubuntu' /etc/os-release; then      # it opens each page; Ubuntu's is a snap, which sees no files here
    need chromium has chromium
    need chromium-driver has chromedriver
    need python3-selenium /usr/bin/python3 -c 'import selenium'
fi
if apt-cache depends libcurl4t64 2>/dev/null | grep -q ngtcp2; then # hostile servers, where libcurl has HTTP/3
    need python3-aioquic python3_with aioquic
fi
need python3-aiohttp python3_with aiohttp            # what the guides begin with
need libstb-dev pkg-config --exists stb
need libsoup-3.0-dev pkg-config --exists libsoup-3.0
need libgdk-pixbuf-2.0-dev pkg-config --exists gdk-pixbuf-2.0
need abigail-tools has abidw abidiff                 # comparison with the released interface
need debhelper has dh                                # make deb
need dh-python has dh_python3
need pybuild-plugin-pyproject /usr/bin/python3 -c "import build"
need python3-all dpkg -s python3-all
need python3-setuptools /usr/bin/python3 -c "import setuptools"
need python3-wheel /usr/bin/python3 -c "import wheel"
need lintian has lintian                             # make check-deb

install_missing
check_toolchain

# ---- the tests

echo "== make check, with Swift $swift_version"
status=0
make check || status=$?
if [ "$status" -eq 0 ]; then
    echo "Tests/run.sh: ALL TESTS PASSED"
else
    echo "Tests/run.sh: TESTS FAILED (status $status); the failures are listed above" >&2
fi
exit "$status"
