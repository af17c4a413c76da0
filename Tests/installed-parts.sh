# Sourced by Tests/installed.sh: the parts of the test. Each runs in the bare Debian of Tests/root.sh, whose /src/packages
# has all packages, and /src/older those to upgrade from.

quietly() { # quietly COMMAND...: inside, shows its output only if it fails
    inside "$@" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; return 1; }
}
have() { quietly apt-get install -y -qq --no-install-recommends "$@"; } # have PACKAGE...: of the mirror, or a path

# Installs packages of ours, with what they depend on among ours: apt finds the rest.
have_ours() { # have_ours NAME...
    local names=("$@") files=()
    case " $* " in *" libsdd-dev "*) names+=(libsdd0) ;; esac
    case " $* " in *" python3-sdd "*) names+=(libsdd0) ;; esac
    case " $* " in *" librust-sdd-dev "*) names+=(librust-sdd-sys-dev libsdd-dev libsdd0) ;; esac
    case " $* " in *" libsdd-coder-"* | *" sdd-tools "*) names+=(libsdd0) ;; esac
    local name
    for name in "${names[@]}"; do files+=(/src/packages/"${name}"_*.deb); done
    inside bash -c "apt-get install -y -qq --no-install-recommends ${files[*]}" >"$work/log" 2>&1 ||
        { tail -n 30 "$work/log"; return 1; }
}
all_ours() { for package in "$bare"/src/packages/*.deb; do basename "${package%%_*}"; done | grep -v -- '-dbgsym$'; }

purge_ours() { # removes the packages of ours that are there, and prints their names
    local today names
    today=$(for package in "$bare"/src/packages/*.deb; do basename "${package%%_*}"; done)
    names=$(inside dpkg-query -W -f '${Package}\n' | grep -xF "$today") || return 0
    quietly apt-get purge -y -qq $names
    echo "$names"
}

# A test of debian/tests, after what its paragraph depends on: with as few of our packages as it says.
part_declared() { # part_declared NAME
    local needed package ours=() others=()
    needed=$(awk -v RS= -v name="$1" '$0 ~ "Tests: " name "\n"' debian/tests/control | sed -n 's/^Depends: //p')
    [ -n "$needed" ] || fail "debian/tests/control has no test $1"
    # Of alternatives, the first that there is.
    while read -r package; do
        for package in ${package//|/ }; do
            if [ -n "$(compgen -G "$bare/src/packages/${package}_*.deb")" ] ||
                inside apt-cache show "$package" >/dev/null 2>&1; then break; fi
        done
        if [ -n "$(compgen -G "$bare/src/packages/${package}_*.deb")" ]; then ours+=("$package"); else others+=("$package"); fi
    done < <(tr ',' '\n' <<<"$needed")
    [ ${#others[@]} -eq 0 ] || have "${others[@]}"
    purge_ours >/dev/null
    have_ours "${ours[@]}"
    inside "debian/tests/$1"
}

# Runs the programs of Tests/Cxx.
part_programs() {
    have g++ libc6-dev pkg-config make
    have_ours libsdd-dev
    printf '#!/bin/sh\necho "listening $SDD_TEST_PORT"\nexec cat >/dev/null\n' >"$bare/src/server"
    chmod +x "$bare/src/server"
    inside env SDD_INSTALLED=1 FAULT_SERVER=/src/server CXX=g++ Tests/Cxx/run.sh plain
}

# The first program in C++ of the documents, as it is.
part_readme() {
    local page=README.md
    [ ! -e docs/guides/start-cpp.md ] || page=docs/guides/start-cpp.md
    have g++ libc6-dev pkg-config
    have_ours libsdd-dev
    inside env PAGE="$page" XDG_CACHE_HOME=/tmp/caches bash -c '
        set -euo pipefail
        awk "/^\`\`\`cpp\$/ && !n { n = inside = 1; next } /^\`\`\`\$/ { inside = 0 } inside" "$PAGE" >/tmp/readme.cc
        g++ -std=c++17 -Wall -Wextra -Werror /tmp/readme.cc $(pkg-config --cflags --libs sdd) -o /tmp/readme
        url=http://127.0.0.1:$SDD_TEST_PORT/file/jpeg/baseline-420.jpg
        [[ $(/tmp/readme "$url") == *"37 x 29" ]]
        [[ $(/tmp/readme "$url") == *"37 x 29" ]] # from the cache
        echo "ok $PAGE: C++"'
}

# The package with debug information is that of the installed library, and names its sources.
part_debug() {
    have binutils
    have_ours libsdd0 libsdd0-dbgsym
    inside bash -c '
        set -euo pipefail
        library=$(realpath /usr/lib/*/libsdd.so.0)
        id=$(readelf -n "$library" | sed -n "s/.*Build ID: //p")
        debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
        files=$(readelf --debug-dump=decodedline "$debug" 2>/dev/null | grep -oE "[^ ]*Sources/SDD[^ ]*\.swift" | sort -u)
        [ "$(grep -c "^\(\./\)*Sources/SDD" <<<"$files")" -gt 100 ]
        ! grep "^/" <<<"$files" || exit 1
        echo "ok $(wc -l <<<"$files") files of the sources, by relative paths"'
}

# Beside the -dev packages of the libraries inside, in each of their variants; and with a second architecture, of which
# only the control data and the paths are made up.
part_together() {
    local package
    have gcc libc6-dev pkg-config
    have_ours $(all_ours)
    for package in libcurl4-openssl-dev libcurl4-gnutls-dev; do
        have "$package" libjpeg-dev libpng-dev
        inside bash -c '
            set -euo pipefail
            printf "%s\n" "#include <stdio.h>" "#include <curl/curl.h>" "#include <jpeglib.h>" "#include <png.h>" \
                "#include <sdd/sdd.h>" "int main(void) { return !(curl_version() && sdd_version_string() &&" \
                "png_access_version_number() && jpeg_std_error(&(struct jpeg_error_mgr){0})); }" >/tmp/together.c
            gcc -std=c99 -Wall -Werror /tmp/together.c $(pkg-config --cflags --libs sdd libcurl libjpeg libpng) \
                -o /tmp/together
            /tmp/together'
        echo "ok with $package"
    done
    inside apt-get check -qq
    inside env ARCHITECTURE=riscv64 bash -c '
        set -euo pipefail
        triplet=$ARCHITECTURE-linux-gnu native=$(gcc -print-multiarch)
        dpkg --add-architecture "$ARCHITECTURE"
        for package in libsdd0 libsdd-dev; do
            rm -rf /tmp/foreign
            dpkg-deb -R /src/packages/${package}_*.deb /tmp/foreign
            mv /tmp/foreign/usr/lib/$native /tmp/foreign/usr/lib/$triplet
            sed -i "s/^Architecture: .*/Architecture: $ARCHITECTURE/; s/^Depends: .*//" /tmp/foreign/DEBIAN/control
            sed -i "/^\$/d; s|usr/lib/$native|usr/lib/$triplet|" /tmp/foreign/DEBIAN/{control,md5sums}
            dpkg-deb -b /tmp/foreign /tmp/foreign.deb >/dev/null
            dpkg -i /tmp/foreign.deb >/dev/null
        done
        dpkg-query -W -f "ok \${binary:Package} \${db:Status-Abbrev}\n" libsdd0 libsdd-dev
        [ "$(dpkg-query -W -f "\${db:Status-Abbrev}\n" libsdd0 libsdd-dev | grep -c "^ii")" -eq 4 ]
        dpkg --purge libsdd0:$ARCHITECTURE libsdd-dev:$ARCHITECTURE >/dev/null
        dpkg --remove-architecture "$ARCHITECTURE"
        [ -e /usr/include/sdd/sdd.h ] # the other architecture still has it'
}

# From the older packages, of which only two exist, to those of today, as apt does it.
part_upgrade() {
    local old new
    part_purge
    quietly bash -c 'apt-get install -y -qq --no-install-recommends /src/older/*.deb'
    old=$(inside dpkg-query -W -f '${Version}' libsdd0)
    inside bash -c 'dpkg -L libsdd0 libsdd-dev | sort -u' >"$work/old-files"
    have_ours $(all_ours)
    new=$(inside dpkg-query -W -f '${Version}' libsdd0)
    dpkg --compare-versions "$old" lt "$new" || fail "$old is no older version than $new"
    inside bash -c "dpkg -L $(all_ours | xargs) | sort -u" >"$work/new-files"
    # Nothing that only the older packages had is left.
    comm -23 "$work/old-files" "$work/new-files" | while read -r file; do
        [ ! -e "$bare$file" ] && [ ! -L "$bare$file" ] || { echo "left after the upgrade: $file"; exit 1; }
    done
    inside bash -c '[ "$(readlink /usr/lib/*/libsdd.so.0)" = "libsdd.so.$(dpkg-query -W -f "\${source:Upstream-Version}" libsdd0)" ]'
    inside bash -c '[ -z "$(dpkg --audit)" ]'
    have binutils python3
    inside debian/tests/library
    echo "ok from $old to $new"
}

# Removes all packages: no file, and no state of theirs is left.
part_purge() {
    have_ours $(all_ours)
    local names
    mapfile -t names < <(purge_ours)
    [ "${#names[@]}" -ge "$(all_ours | wc -l)" ] || fail "removed only: ${names[*]}"
    ! inside dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' "${names[@]}" 2>/dev/null | grep -v ' un' ||
        fail "packages are left"
    # The pages that man has formatted are its own. "sddl" is a name of Windows, in a crate.
    local left
    left=$(find "$bare" -mindepth 1 -xdev -path "$bare/src" -prune -o -path "$bare/tmp" -prune -o -path "$bare/proc" -prune -o \
        -path "$bare/var/cache/apt" -prune -o -path "$bare/var/cache/man" -prune -o \
        -iregex '.*/[^/]*sdd\([^a-z/][^/]*\)?' -print)
    [ -z "$left" ] || fail "left after purge: $left"
    echo "ok nothing is left"
}
