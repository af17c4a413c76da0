# Checks how the library finds and loads coders; sourced by run.sh. Uses $work, $fixtures, $pictures, fail, ok.

# discovery EXPECTED MODE...: runs the program with $path as SDD_CODER_PATH; its output must match the pattern.
discovery() {
    local expected=$1 status=0
    shift
    env ${path+SDD_CODER_PATH="$path"} SDD_LOG=warning ${runner:-} "$work/bin/discovery" "$@" \
        >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 0 ] || fail "discovery $* (status $status): $(cat "$work/out")"
    # shellcheck disable=SC2053
    [[ "$(cat "$work/out")" = $expected ]] || fail "discovery $*: $(cat "$work/out")"
}
# logged COUNT PATTERN: so many lines of the last run's log contain the pattern.
logged() { [ "$(grep -cE "$2" "$work/err")" -eq "$1" ] || fail "not $1 lines with: $2"; }

# refused FOLDER PATTERN: a coder there is not used, and the log says why. allowed FOLDER: it is used.
refused() { path=$1 discovery '1001 100102 *no decoder for WebP is installed*' decode "$webp"; logged 1 "$2"; }
allowed() { path=$1 discovery '4 37 29' decode "$webp"; logged 0 .; }

object() { # object FOLDER VARIANT NAME: builds a variant of object.c
    mkdir -p "$1"
    "${CC:-cc}" -shared -fPIC -D"$2" -Iinclude Tests/Coders/object.c -o "$1/$3.so" -ldl
}
folder() { # folder PATH: a new folder with webp.so
    mkdir -p "$1"
    cp "$work/coders/webp.so" "$1/"
}

check_permissions() {
    local base=$work/permissions
    folder "$base/good" && allowed "$base/good"
    path=$base/nowhere:relative:$base/good discovery '4 37 29' decode "$webp"
    logged 1 'relative.*absolute'
    folder "$base/group" && chmod 775 "$base/group" && refused "$base/group" 'group.*may be written to'
    folder "$base/world" && chmod 777 "$base/world" && refused "$base/world" 'world.*may be written to'
    folder "$base/sticky" && chmod 1777 "$base/sticky" && refused "$base/sticky" 'sticky.*may be written to'
    folder "$base/file" && chmod 666 "$base/file/webp.so" && refused "$base/file" 'webp.so.*may be written to'
    folder "$base/open/inner" && chmod 777 "$base/open" && refused "$base/open/inner" 'open.*may be written to'
    chmod 1777 "$base/open" && allowed "$base/open/inner" # as /tmp is
    mkdir "$base/link" && ln -s ../good/webp.so "$base/link/webp.so" && refused "$base/link" 'webp.so.*not a regular file'
    mkdir "$base/fifo" && mkfifo "$base/fifo/webp.so" && refused "$base/fifo" 'webp.so.*not a regular file'
    ln -s good "$base/linked" && allowed "$base/linked"
    ln -s open/inner/.. "$base/upward" && cp "$work/coders/webp.so" "$base/open/" &&
        refused "$base/upward" 'open.*may be written to'
    ln -s round "$base/round" && path=$base/round discovery '1001 *' decode "$webp"
    path=$base/good/webp.so discovery '1001 *' decode "$webp"
    logged 1 'not a folder'
    if [ "$(id -u)" -eq 0 ]; then
        folder "$base/theirs" && chown 65534 "$base/theirs" && refused "$base/theirs" 'theirs.*belongs neither'
        folder "$base/other" && chown 65534 "$base/other/webp.so" && refused "$base/other" 'webp.so.*belongs neither'
        folder "$base/above/inner" && chown 65534 "$base/above" && refused "$base/above/inner" 'above.*belongs neither'
        # A link of another user, in a folder that everyone may write to.
        mkdir -m 1777 "$base/public" && ln -s ../good "$base/public/link" && allowed "$base/public/link"
        chown -h 65534 "$base/public/link" && refused "$base/public/link" 'link.*belongs neither'
        # A program that gains privileges ignores the variable.
        cp "$work/bin/discovery" "$work/bin/privileged"
        allowed "$base/good"
        chown 65534 "$work/bin/privileged" && chmod 4755 "$work/bin/privileged"
        SDD_CODER_PATH=$base/good "$work/bin/privileged" decode "$webp" >"$work/out" 2>"$work/err"
        grep -q '^1001 .*no decoder for WebP is installed' "$work/out" || fail "a set-uid program uses SDD_CODER_PATH"
        # The process runs as the effective user now, whose own files are trusted, as are those of root.
        chown -R 65534 "$work/permissions/good"
        ok "discovery: owners, set-uid"
    else
        echo "skip owners and set-uid: they need root"
    fi
    ok "discovery: permissions, symbolic links"
}

check_objects() {
    local base=$work/objects
    object "$base/good" GOOD webp
    path=$base/good discovery '4 1 1' decode "$webp"
    mkdir -p "$base/broken" && head -c 4000 /dev/urandom >"$base/broken/webp.so"
    path=$base/broken discovery "*The coder cannot be loaded: $base/broken/webp.so: *" twice "$webp"
    logged 1 'broken/webp.so'
    path=$base/broken discovery "*$base/broken/webp.so*" download "$webp"
    path=$base/broken discovery "4001 *$base/broken/webp.so*" encode 4
    mkdir "$base/empty" && : >"$base/empty/webp.so"
    path=$base/empty discovery "*$base/empty/webp.so*" twice "$webp"
    head -c 3000 "$work/coders/webp.so" >"$base/empty/webp.so"
    path=$base/empty discovery "*$base/empty/webp.so*cut off*" twice "$webp"
    object "$base/nameless" NAMELESS webp
    path=$base/nameless discovery "*no function sdd_coder_main in $base/nameless/webp.so*" twice "$webp"
    object "$base/none" NONE webp
    path=$base/none discovery "*sdd_coder_main of $base/none/webp.so gives no coder*" twice "$webp"
    object "$base/partial" PARTIAL webp
    path=$base/partial discovery "*$base/partial/webp.so has no next*" twice "$webp"
    object "$base/other" OTHER webp
    path=$base/other discovery "*$base/other/webp.so is of another format, 3*" twice "$webp"
    # An object that needs a library that is not there.
    "${CC:-cc}" -shared -fPIC -Wl,-soname,libnowhere.so -x c /dev/null -o "$work/libnowhere.so"
    mkdir "$base/needs"
    "${CC:-cc}" -shared -fPIC -Iinclude Tests/Coders/object.c -o "$base/needs/webp.so" -ldl -Wl,--no-as-needed \
        "$work/libnowhere.so"
    path=$base/needs discovery "*libnowhere.so*" twice "$webp"
    # A coder that cannot be loaded does not keep the others from decoding.
    path=$base/none discovery '1 *' decode "$jpeg"
    ok "discovery: objects that are no coders"
}

# What is said about a picture of a coder's format without decoding it: its format alone. The tool also says its size,
# where there is a coder.
check_facts() {
    local tool=${SDD_TOOL:-$libdir/sdd} format file number
    for format in webp:4:small avif:5:small gif:3:palette heif:6:small jxl:11:small bmp:8:small \
        ico:12:small svg:10:small; do
        IFS=: read -r format number file <<<"$format"
        has_coder "$format" || continue
        file=$(find "$pictures" -name "$file*.$format" | sort | head -n 1)
        [ -n "$file" ] || fail "no picture in $format"
        path=$work/coders discovery '' facts "$number" "$file"
        for path in "$work/coders" ""; do
            SDD_CODER_PATH=$path "$tool" info --json "$file" >"$work/out" 2>"$work/err" || fail "sdd info $file"
            grep -q '"ok":true.*"format":"' "$work/out" || fail "sdd info $file: $(cat "$work/out")"
            if [ -n "$path" ]; then grep -q '"width"' "$work/out"; else ! grep -q '"width"' "$work/out"; fi ||
                fail "sdd info $file, coders in '$path': $(cat "$work/out")"
        done
    done
    ok "discovery: formats of coders are recognised; facts come from their coders"
}

check_discovery() {
    local webp=$pictures/small.webp jpeg=$PWD/Tests/Fixtures/large/baseline.jpg path runner=
    has_coder webp || { echo "skip discovery: it needs coders/webp.c"; return; }
    build discovery Tests/Coders/discovery.c -rdynamic
    path=$work/coders discovery '' lazy "$webp" "$jpeg"
    path=$work/coders discovery 'image/jpeg,image/png,*image/webp*,image/\*;q=0.8,*' accept
    if has_coder svg; then
        path=$work/coders discovery 'image/jpeg,image/png,*image/svg+xml*,image/\*;q=0.8,*' accept
    fi
    path= discovery 'image/jpeg,image/png,image/\*;q=0.8,\*/\*;q=0.5' accept
    path=$work/coders discovery '' off "$webp"
    path=$work/coders discovery '' before "$webp"
    path=$work/coders discovery '' child "$webp"
    object "$work/objects/hooked" GOOD webp
    path=$work/objects/hooked discovery '' threads "$webp"
    path=$work/objects/hooked discovery '' fork "$webp"
    ok "discovery: loaded lazily, once, across forks; Accept follows; off by the config"
    check_facts
    check_permissions
    check_objects
    # Without the variable, the coders in the folder beside the library are used.
    unset path
    discovery '1001 *no decoder for WebP is installed*' decode "$webp"
    mkdir -p "$work/lib/sdd" && cp -r "$work/coders" "$work/lib/sdd/coders"
    discovery '4 37 29' decode "$webp"
    path= discovery '1001 *no decoder for WebP is installed*' decode "$webp"
    rm -r "$work/lib/sdd"
    path=$work/coders
    for format in webp:4 avif:5 jxl:11; do
        has_coder "${format%:*}" && discovery "${format#*:}" encode "${format#*:}"
    done
    discovery '4001 *nothing encodes the format 8*' encode 8
    ok "discovery: the folder beside the library; encoding"
    if command -v valgrind >/dev/null; then
        strip --strip-debug "$work/lib/libsdd.so.0"
        runner="valgrind -q --error-exitcode=9 --fair-sched=yes --suppressions=Tests/C/valgrind.supp"
        path=$work/coders discovery '' lazy "$webp" "$jpeg"
        path=$work/coders discovery '' off "$webp"
        path=$work/objects/hooked discovery '' threads "$webp"
        path=$work/objects/broken discovery "*$work/objects/broken/webp.so*" twice "$webp"
        runner=
        ok "discovery: the same under valgrind"
    fi
}

check_previews() {
    local path=$work/coders
    export SDD_CODER_PATH=$path
    if has_coder webp; then
        "$work/bin/previews" rows large.webp large-lossless.webp large-alpha.webp >"$work/err" 2>&1 || fail "previews rows"
        "$work/bin/previews" none moving.webp turned.webp >"$work/err" 2>&1 || fail "previews none"
        head -c "$(($(stat -c %s "$pictures/large.webp") * 9 / 10))" "$pictures/large.webp" >"$pictures/cut.webp"
        SDD_TEST_DAMAGED=$pictures/cut.webp "$work/bin/previews" damaged large.webp >"$work/err" 2>&1 || fail "previews damaged"
        "$work/bin/previews" cancel large.webp >"$work/err" 2>&1 || fail "previews cancel"
    fi
    if has_coder jxl; then
        "$work/bin/previews" refined progressive.jxl >"$work/err" 2>&1 || fail "previews refined"
    fi
    unset SDD_CODER_PATH
    ok "previews: rows that stay, refinement, none, damage, cancel"
}
