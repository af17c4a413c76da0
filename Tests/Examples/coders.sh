# Tests the coders of examples/coders; sourced by Tests/examples.sh. Each runs with the library and, under the address
# and undefined behaviour sanitizers, directly. Uses $work, $bin, $root, fail, ok, skip, have, gives, says.

# build_coder NAME CHECK...: builds it by the command in its first line, without a warning, and once more with the
# sanitizers. Skipped unless CHECK succeeds, which looks for its library.
build_coder() {
    local name=$1 line
    shift
    if ! "$@" >/dev/null 2>&1; then
        skip "$name.c: its library is not installed"
        return
    fi
    cp "$root/examples/coders/"{body.h,"$name.c"} "$work/coders/"
    line=$(sed -nE '1s#^/\* ##p' "$work/coders/$name.c")
    (cd "$work/coders" && eval "$line -Wall -Wextra -pedantic -Werror" &&
        eval "${line/ -o $name.so/} -g -fsanitize=address,undefined -fno-sanitize-recover=all -o $name-checked.so")
    if have clang; then
        clang -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only $(pkg-config --cflags sdd) "$work/coders/$name.c"
    fi
    coders+=("$name")
    ok "$name.c builds with the command in its first line"
}

# says_of FILE: prints the expected first line, "FRAMES LOOPS ORIENTATION" and how long each frame is shown.
says_of() {
    case $1 in
    moving.webp) echo "4 3 0: 40 70 100 250" ;;
    *.webp) echo "0 0 0: 0" ;;
    moving.gif) echo "7 0 0: 40 100 0 1000 50 50 50" ;;
    twice.gif) echo "2 2 0: 40 100" ;;
    outside.gif) echo "2 1 0: 50 50" ;;
    *.gif) echo "1 1 0: 50" ;;
    moving.avif) echo "3 0 1: 40 80 120" ;;
    turned.avif) echo "1 0 8: 1000" ;;
    mirrored.avif) echo "1 0 7: 1000" ;;
    *.avif) echo "1 0 1: 1000" ;;
    esac
}

# same_frames FILE: compares the last output exactly, unless the format itself is lossy.
same_frames() {
    case $1 in
    photo.*|moving.avif) "$work/coders/check" near "$work/out" "$fixtures/$1.pams" ;;
    *) cmp "$work/out" "$fixtures/$1.pams" ;;
    esac || fail "$1: other pixels"
}

check_coder() { # check_coder NAME: checks every picture of that format
    local name=$1 object=$work/coders/$1-checked.so file way size
    for file in "$fixtures"/*."$name"; do
        file=${file##*/}
        for way in frames pieces; do
            gives 0 "$work/coders/check" "$way" "$object" "$fixtures/$file"
            same_frames "$file"
            [ "$(tr '\n' ' ' <"$work/err" | sed 's/ /: /3; s/ $//')" = "$(says_of "$file")" ] ||
                fail "$file, by $way: $(cat "$work/err")"
        done
        gives 0 "$work/coders/check" limit "$object" "$fixtures/$file"
        gives 0 "$work/coders/check" damage "$object" "$fixtures/$file"
        # Decodes through the library: the first frame, upright.
        gives 0 "$bin/to_pam" "$work/coders/$name.so" "$fixtures/$file"
        size=$(stat -c %s "$work/out")
        if [ -f "$fixtures/$file.upright.pam" ]; then
            cp "$fixtures/$file.upright.pam" "$work/first"
        else
            head -c "$size" "$fixtures/$file.pams" >"$work/first"
        fi
        "$work/coders/check" near "$work/out" "$work/first" || fail "$file: other pixels through the library"
    done
    ok "$name.c: pictures, pieces, limits, damage"
}

check_coders() {
    local fixtures=$root/Tests/Fixtures/coders coders=() name
    mkdir -p "$work/coders"
    build coders to_pam.c
    build_coder webp pkg-config --exists libwebp libwebpdemux
    build_coder gif cc -include gif_lib.h -x c -fsyntax-only /dev/null
    build_coder avif pkg-config --exists libavif
    cc -std=c11 -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all \
        $(pkg-config --cflags sdd) Tests/Examples/coder_check.c $(pkg-config --libs sdd) -ldl -o "$work/coders/check"
    for name in "${coders[@]}"; do check_coder "$name"; done

    if [[ " ${coders[*]} " = *" webp "* ]]; then
        gives 0 "$work/coders/check" encode "$work/coders/webp-checked.so" "$fixtures/lossless.webp" 100
        cp "$work/out" "$work/coders/made.webp"
        gives 0 "$work/coders/check" frames "$work/coders/webp-checked.so" "$work/coders/made.webp"
        same_frames lossless.webp
        gives 0 "$work/coders/check" encode "$work/coders/webp-checked.so" "$fixtures/photo.webp" 10
        [ "$(stat -c %s "$work/out")" -lt "$(stat -c %s "$fixtures/photo.webp")" ] || fail "webp.c: quality 10 is larger"
        gives 0 "$bin/to_pam" -w 10 "$work/coders/webp.so" "$fixtures/photo.webp" # of a picture of 37 x 29
        says '^WIDTH 10$'
        says '^HEIGHT 8$'
        ok "webp.c: encodes, and makes pictures smaller"
    fi
    gives 1 "$bin/to_pam" "$fixtures/still.gif"
    gives 1 "$bin/to_pam" "$work/coders/nowhere.so" "$fixtures/still.gif"
    gives 2 "$bin/to_pam"
    ok "to_pam.c"
}
