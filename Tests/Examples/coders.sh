# Tests the example of examples/coders; sourced by Tests/examples.sh. The coder runs with the library and, under the
# address and undefined behaviour sanitizers, directly. Uses $work, $bin, $root, fail, ok, have, gives, says. The coders
# of the formats of the web are tested by Tests/Coders/run.sh.

check_coders() {
    local line pictures=$work/coders
    mkdir -p "$pictures"
    build coders to_pam.c
    cp "$root/examples/coders/farbfeld.c" "$pictures/"
    line=$(sed -nE '1s#^/\* ##p' "$pictures/farbfeld.c")
    (cd "$pictures" && eval "$line -Wall -Wextra -pedantic -Werror" &&
        eval "${line/ -o farbfeld.so/} -g -fsanitize=address,undefined -fno-sanitize-recover=all -o checked.so")
    if have clang; then
        clang -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only $(pkg-config --cflags sdd) "$pictures/farbfeld.c"
    fi
    # Two rows of three pixels.
    printf 'farbfeld\0\0\0\3\0\0\0\2' >"$pictures/one.ff"
    printf 'P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n' >"$pictures/one.pam"
    for channel in 10 20 30 ff 40 50 60 80 70 80 90 ff a0 b0 c0 ff d0 e0 f0 ff 01 02 03 ff; do
        printf "\x$channel\x55" >>"$pictures/one.ff"
        printf "\x$channel" >>"$pictures/one.pam"
    done
    cc -std=c11 -Wall -Wextra -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all \
        $(pkg-config --cflags sdd) Tests/Coders/coder_check.c -ldl -o "$pictures/check"
    gives 0 "$pictures/check" frames "$pictures/checked.so" "$pictures/one.ff"
    cmp "$work/out" "$pictures/one.pam" || fail "farbfeld.c: other pixels"
    gives 0 "$pictures/check" changes "$pictures/checked.so" "$pictures/one.ff" 2000
    gives 0 "$bin/to_pam" "$pictures/farbfeld.so" "$pictures/one.ff"
    cmp "$work/out" "$pictures/one.pam" || fail "farbfeld.c: other pixels through the library"
    gives 0 "$bin/to_pam" -w 1 "$pictures/farbfeld.so" "$pictures/one.ff"
    says '^WIDTH 1$'
    ok "farbfeld.c: builds with the command in its first line, pixels, damage"
    gives 1 "$bin/to_pam" "$pictures/one.ff"
    gives 1 "$bin/to_pam" "$pictures/nowhere.so" "$pictures/one.ff"
    gives 2 "$bin/to_pam"
    ok "to_pam.c"
}
