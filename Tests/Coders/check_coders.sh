# Checks each coder alone, under sanitizers; sourced by run.sh. Uses $work, $fixtures, $pictures, $names, fail, ok.

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
    *.bmp | *.ico | *.svg) echo "0 0 0: 0" ;;
    esac
}

check() { # check MODE OBJECT FILE...: runs coder_check
    "$work/checked/check" "$@" >"$work/out" 2>"$work/err" || fail "coder_check $*"
}

# same_frames FILE: compares the last output exactly, unless the format itself is lossy.
same_frames() {
    case $1 in
    photo.*|moving.avif) "$work/checked/check" near "$work/out" "$fixtures/$1.pams" ;;
    *) cmp "$work/out" "$fixtures/$1.pams" ;;
    esac || fail "$1: other pixels"
}

# Fixtures with frames that are known.
check_fixtures() {
    local name=$1 object=$work/checked/$1.so file way
    for file in "$fixtures"/*."$name"; do
        [ -f "$file" ] || continue
        file=${file##*/}
        for way in frames pieces; do
            check "$way" "$object" "$fixtures/$file"
            same_frames "$file"
            [ "$(tr '\n' ' ' <"$work/err" | sed 's/ /: /3; s/ $//')" = "$(says_of "$file")" ] ||
                fail "$file, by $way: $(cat "$work/err")"
        done
        check limit "$object" "$fixtures/$file"
        check damage "$object" "$fixtures/$file"
    done
}

check_coders() {
    local name file flags other
    # librsvg 2.54 does not free the text of an entity.
    echo leak:xmlParseEntityValue >"$work/leaks"
    export LSAN_OPTIONS=suppressions=$work/leaks:print_suppressions=0
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all -Iinclude \
        Tests/Coders/coder_check.c -ldl -o "$work/checked/check"
    for name in "${names[@]}"; do
        make -s "coder-$name" CODER_DIR="$work/checked" \
            CODER_FLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Werror -pedantic" 2>"$work/err" ||
            fail "coders/$name.c does not build with the sanitizers"
        # A shared object of its own has one symbol. With others avif.c keeps dav1d silent, heif.c libde265 without
        # threads, and svg.c libpango without threads and files.
        case $name in
        avif) other=dav1d_default_settings ;;
        heif) other=de265_start_worker_threads ;;
        svg) other=cairo_ft_font_face_create_for_pattern,g_thread_new ;;
        *) other= ;;
        esac
        [ "$(nm -D --defined-only "$work/coders/$name.so" |
            awk -v other=",$other," 'index(other, "," $3 ",") == 0 { print $3 }')" = \
            sdd_coder_main ] || fail "$name.so exports more than sdd_coder_main"
        check_fixtures "$name"
        for file in small small-alpha small-lossless dot row column grey deep turned container moving wide unused-bit \
            deep-alpha linear turned-moving; do
            file=$pictures/$file.$name
            [ -f "$file" ] || continue
            check frames "$work/checked/$name.so" "$file"
            cp "$work/out" "$work/frames"
            check pieces "$work/checked/$name.so" "$file"
            cmp "$work/out" "$work/frames" || fail "${file##*/}: other frames if it comes in pieces"
            case ${file##*/} in
            small* | deep*) check limit "$work/checked/$name.so" "$file" ;; # the others have very few pixels
            esac
            check changes "$work/checked/$name.so" "$file" "${SDD_CODER_CHANGES:-400}"
            [ "$name" != svg ] || check sizes "$work/checked/$name.so" "$file"
            # The libjxl of Debian 12 is built with debug output.
            [ "$name" = jxl ] || [ ! -s "$work/err" ] || fail "$name.c lets its library print"
        done
        ok "coders/$name.c: pictures, pieces, limits, damage"
    done
    if has_coder avif; then # libavif's own limit on a side, which its tools have, is 32,768
        "$python" -c 'import sys; from PIL import Image; Image.new("RGB", (40000, 1), "teal").save(sys.argv[1])' \
            "$work/long.png"
        avifenc -j 1 -s 10 "$work/long.png" "$work/long.avif" >/dev/null
        check frames "$work/checked/avif.so" "$work/long.avif"
        ok "coders/avif.c decodes what is long and low"
    fi
    if has_coder webp; then
        check encode "$work/checked/webp.so" "$fixtures/lossless.webp" 100
        cp "$work/out" "$work/made.webp"
        check frames "$work/checked/webp.so" "$work/made.webp"
        same_frames lossless.webp
        check encode "$work/checked/webp.so" "$fixtures/photo.webp" 10
        [ "$(stat -c %s "$work/out")" -lt "$(stat -c %s "$fixtures/photo.webp")" ] || fail "webp.c: quality 10 is larger"
        ok "coders/webp.c encodes"
    fi
    # The longest time that a frame can have, and how long each is then shown.
    if has_coder gif; then
        check animate "$work/checked/gif.so" "$fixtures/still.gif" 100 9223372036854775807
        cp "$work/out" "$work/made.gif"
        check frames "$work/checked/gif.so" "$work/made.gif"
        [ "$(tail -n 3 "$work/err" | tr '\n' ' ')" = "655350 655350 655350 " ] || fail "gif.c: other times"
        ok "coders/gif.c encodes"
    fi
    if has_coder webp; then
        check animate "$work/checked/webp.so" "$fixtures/photo.webp" 50 16777215000
        cp "$work/out" "$work/made.webp"
        check frames "$work/checked/webp.so" "$work/made.webp"
        [ "$(tail -n 3 "$work/err" | tr '\n' ' ')" = "16777215 16777215 16777215 " ] || fail "webp.c: other times"
        "$work/checked/check" animate "$work/checked/webp.so" "$fixtures/photo.webp" 50 9223372036854775807 && fail "webp.c: any time"
        [ $? = 4 ] || fail "webp.c: the longest time"
        ok "coders/webp.c encodes animations"
    fi
}
