# Installs missing Debian packages that a build of libsdd needs. Sourced by the scripts that are run first after a
# clone: examples/demo.sh and Tests/run.sh. A script declares its needs, then calls install_missing.
#
#   fail SENTENCE               ends the script with that message
#   has COMMAND...              succeeds if all of the commands exist
#   need PACKAGE COMMAND...     records the package as missing, unless the command succeeds
#   need_toolchain              records libraries that the Swift toolchain on the PATH lacks; without a toolchain it
#                               records Debian's, or fails if that is too old
#   need_libraries              records missing compilers and libraries that libsdd is built with
#   install_missing             prints the recorded packages and installs them
#   check_toolchain             fails unless Swift runs and is new enough; sets swift_version

oldest_swift=6.2
get_swift="get it from https://www.swift.org/install/linux/ and put its usr/bin on the PATH"
no_swift="the Swift toolchain ($oldest_swift or later) is not on the PATH: $get_swift"
missing=()

fail() { echo "${0##*/}: $*" >&2; exit 1; }
has() { local name; for name in "$@"; do command -v "$name" >/dev/null || return 1; done; }
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# The version of a package that apt would install; nothing if it has none.
candidate() { apt-cache policy "$1" | sed -n '/(none)/!s/^ *Candidate: //p'; }

need() {
    local package=$1
    shift
    if "$@" >/dev/null 2>&1; then return; fi
    # One package may satisfy several needs.
    [[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
}

# ---- the Swift toolchain: outside of Debian's packages, so that the libraries it is linked with may be missing, or
# Debian's swiftlang

is_new_enough() { [ "$(printf '%s\n' "$oldest_swift" "$1" | sort -V | head -n 1)" = "$oldest_swift" ]; }

# The version of Debian's Swift that apt would install; nothing if it has none.
packaged_swift() {
    has apt-get || return 0
    compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || as_root apt-get -qq update >&2
    candidate swiftlang
}

need_toolchain() {
    local folder= library
    if has swift; then
        folder=$(dirname "$(realpath "$(command -v swift)")")
    else
        is_new_enough "$(packaged_swift)" || fail "$no_swift"
        need swiftlang false
    fi
    # The programs of the toolchain that a build runs. lldb has more dependencies, but a build does not need it.
    for library in $(for program in swift-driver swift-frontend swift-build swift-package swift-test clang lld; do
        [ ! -e "$folder/$program" ] || ldd "$folder/$program" 2>/dev/null
    done | sed -n 's/^[[:space:]]*\([^ ]*\) => not found$/\1/p' | sort -u); do
        case $library in
        libncurses.so.6 | libpanel.so.6 | libform.so.6 | libtinfo.so.6) need libncurses6 false ;;
        libedit.so.2) need libedit2 false ;;
        libsqlite3.so.0) need libsqlite3-0 false ;;
        libxml2.so.2) need libxml2 false ;;
        libz3.so.4) need libz3-4 false ;;
        libcurl.so.4) need libcurl4 false ;;
        *) echo "${0##*/}: the Swift toolchain needs $library, and no package is known for it" >&2 ;;
        esac
    done
    # The compiler links with the system's C and C++ libraries and linker: build-essential contains libstdc++-dev,
    # libgcc-dev and binutils. The package manager calls git. Swift's own packages depend on tzdata and zlib.
    need build-essential has gcc g++ make ld
    need git has git
    need tzdata test -e /usr/share/zoneinfo/UTC
    need zlib1g-dev test -e /usr/include/zlib.h
    need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
}

check_toolchain() {
    local said
    has swift || fail "$no_swift"
    said=$(swift --version 2>&1) || fail "swift --version does not run: ${said%%$'\n'*}"
    swift_version=$(grep -oEm1 'Swift version [0-9]+(\.[0-9]+)*' <<<"$said") ||
        fail "swift --version tells no version: is $(command -v swift) Apple's Swift?"
    swift_version=${swift_version##* }
    is_new_enough "$swift_version" ||
        fail "Swift $swift_version is too old, libsdd needs $oldest_swift or later: $get_swift"
}

# ---- compilers and libraries that libsdd is built with

need_libraries() {
    local jpeg=libjpeg62-turbo-dev
    if grep -qs '^ID\(_LIKE\)\?=.*ubuntu' /etc/os-release; then jpeg=libjpeg-turbo8-dev; fi
    need build-essential has gcc g++ make
    need pkg-config has pkg-config
    need libcurl4-openssl-dev pkg-config --exists libcurl
    need "$jpeg" pkg-config --exists libjpeg
    need libpng-dev pkg-config --exists libpng
}

install_missing() {
    [ ${#missing[@]} -gt 0 ] || return 0
    has apt-get || fail "please install what Debian calls: ${missing[*]}"
    [ "$(id -u)" -eq 0 ] || has sudo || fail "please install, as root: apt-get install ${missing[*]}"
    echo "== missing: ${missing[*]}; asking apt-get for them"
    as_root apt-get -qq update
    local name names=()
    for name in "${missing[@]}"; do
        case $name in
        cargo | rustc) # Debian 12's own are too old for the examples; those for browsers are newer
            ! dpkg --compare-versions "$(candidate cargo)" lt 0.70 || [ -z "$(candidate "$name-web")" ] || name+=-web
            ;;
        libheif-plugin-*) # a part of libheif itself in Debian 12
            [ "$(candidate "$name")" ] || continue
            ;;
        esac
        names+=("$name")
    done
    missing=("${names[@]}")
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "== installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null
    missing=()
}
