#!/bin/bash
# Compares the header's interface with abi/, which was written for the release: nothing that a program was compiled
# against may disappear or change. Additions are allowed: a call, a number, a field after the last one of a struct that
# begins with struct_size.
#
#     Tests/abi/check-abi.sh               compares
#     Tests/abi/check-abi.sh --write       writes abi/ again: `make abi-description`; docs/abi.md says when
#     Tests/abi/check-abi.sh --test        checks that it notices breaks in copies of the header
#     Tests/abi/check-abi.sh --fields      prints the header's fields as in abi/fields; --numbers: as in abi/numbers
#
#   abi/libsdd0.abi    abidw's description of all calls and structs, made of a C object because the library is Swift
#   abi/fields         offset and size of each field of each struct
#   abi/numbers        the value of each named number
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly mode=${1:-} description=abi/libsdd0.abi numbers=abi/numbers layout=abi/fields
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

fail() { echo "check-abi.sh: $*" >&2; exit 1; }

for tool in abidw abidiff; do
    if [[ $mode != --fields && $mode != --numbers ]] && ! command -v $tool >/dev/null; then
        echo "skip the ABI: no $tool (Debian: abigail-tools)"
        exit 0
    fi
done

# gcc 15 compiles C23 if nothing else is asked for, in which lists of numbers have types (SDD_ENUM): c11 everywhere.

# calls INCLUDE: prints the functions: a name, then a parenthesis; pointers to functions have their name inside
# parentheses.
calls() { gcc -std=c11 -E -P "-I$1" "$1/sdd/sdd.h" | grep -oP '\bsdd_[a-z0-9_]+ *\((?![ *])' | tr -d ' (' | sort; }
# structs INCLUDE: prints the structs
structs() { gcc -std=c11 -E -P "-I$1" "$1/sdd/sdd.h" | grep -oP '^\} \Ksdd_[a-z0-9_]+(?=;)' | sort; }
# fixed INCLUDE: prints the structs that do not begin with their size and can never grow.
fixed() {
    gcc -std=c11 -E -P "-I$1" "$1/sdd/sdd.h" |
        awk '/^typedef struct sdd_[a-z0-9_]+ \{/ { name = $3; getline; if (!/size_t struct_size;/) print name }' | sort
}

# object INCLUDE FILE: builds an object with a pointer to each call and each struct, and with debug information.
object() {
    {
        echo '#include <sdd/sdd.h>'
        for name in $(calls "$1"); do echo "__typeof__($name) *call_$name;"; done
        for name in $(structs "$1"); do echo "$name *struct_$name;"; done
    } >"$work/object.c"
    gcc -std=c11 -g -O0 -fPIC -shared "-I$1" "$work/object.c" -o "$2" || fail "the header does not compile"
}

# values INCLUDE: prints NAME VALUE for each name in an SDD_ENUM and each macro that is a plain number.
values() {
    {
        echo '#include <sdd/sdd.h>'
        echo '#include <stdio.h>'
        echo 'int main(void) {'
        for name in $(gcc -std=c11 -E -P "-I$1" "$1/sdd/sdd.h" | awk '/^enum \{/ { on = 1 } on { print } /\};/ { on = 0 }' |
            grep -oE '\bSDD_[A-Z0-9_]+\b *=' | tr -d ' =' | sort -u); do
            echo "printf(\"%s %lld\\n\", \"$name\", (long long)$name);"
        done
        echo 'return 0; }'
    } >"$work/values.c"
    gcc -std=c11 "-I$1" "$work/values.c" -o "$work/values" || fail "the numbers do not compile"
    "$work/values"
}

# fields INCLUDE: prints STRUCT.FIELD OFFSET SIZE, and the size of each struct that can never grow. abidiff does not
# report fields that only changed their order.
fields() {
    {
        echo '#include <sdd/sdd.h>'
        echo '#include <stdio.h>'
        echo 'int main(void) {'
        gcc -std=c11 -E -P "-I$1" "$1/sdd/sdd.h" | tr -s ' \n' ' ' | grep -oP 'typedef struct sdd_[a-z0-9_]+ \{[^}]*\} sdd_[a-z0-9_]+;' |
            while read -r _ _ name _ body; do
                grep -oP '(\(\* *\K[a-z0-9_]+(?=\)\())|([a-z0-9_]+(?=(\[[^]]*\])?;))' <<<"${body%\}*}" | while read -r field; do
                    printf 'printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n' \
                        "$name" "$field" "$name" "$field" "$name" "$field"
                done
            done
        for name in $(fixed "$1"); do echo "printf(\"$name %zu\\n\", sizeof($name));"; done
        echo 'return 0; }'
    } >"$work/fields.c"
    gcc -std=c11 "-I$1" "$work/fields.c" -o "$work/fields" || fail "the fields do not compile"
    "$work/fields"
}

# lost OLD NEW WHAT: returns status 1 if a line is missing in NEW.
lost() {
    comm -23 "$1" "$2" >"$work/changed"
    [ -s "$work/changed" ] || return 0
    sed "s/^/$3 has gone or changed: /" "$work/changed"
    return 1
}

# compare INCLUDE: prints the changes and returns status 1 if they break the interface.
compare() {
    local include=$1 status=0 names
    object "$include" "$work/now.so"
    names=$(fixed "$include" | paste -sd'|')
    # A struct that begins with its size may grow at its end. What abidiff calls harmless is left out: whether a compiler
    # calls a type int32_t or by a name for it.
    printf '[suppress_type]\n  type_kind = struct\n  name_regexp = ^sdd_\n  name_not_regexp = ^(%s)$\n' "$names" >"$work/growth"
    printf '  has_data_member_inserted_at = end\n  has_size_change = yes\n' >>"$work/growth"
    abidiff --suppressions "$work/growth" --no-added-syms "$description" "$work/now.so" >"$work/report" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
        cat "$work/report"
        return 1
    fi
    values "$include" | sort >"$work/numbers"
    fields "$include" | sort >"$work/layout"
    lost "$numbers" "$work/numbers" "a number" && lost "$layout" "$work/layout" "a field (offset, size)"
}

write() {
    object include "$work/libsdd0.so"
    mkdir -p "${description%/*}"
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash "$work/libsdd0.so" >"$description"
    values include | sort >"$numbers"
    fields include | sort >"$layout"
    echo "wrote $description, $layout and $numbers"
}

# ---- a test of the check: each of these changes is a break, or is allowed

# change WHAT SED...: changes a copy of the header, which must differ from the original.
change() {
    local what=$1
    shift
    rm -rf "$work/copy"
    cp -r include "$work/copy"
    sed -i "$@" "$work"/copy/sdd/*.h
    ! diff -rq include "$work/copy" >/dev/null || fail "the header has nothing to change for: $what"
}
breaks() {
    change "$@"
    ! compare "$work/copy" >"$work/found" || fail "not noticed: $1"
    [ -s "$work/found" ] || fail "noticed without a message: $1"
}
allows() {
    change "$@"
    compare "$work/copy" >"$work/found" || { cat "$work/found" >&2; fail "taken for a break: $1"; }
}
try() {
    breaks "a call has gone" '/^SDD_API sdd_status sdd_downloader_idle_wait(/ { :a; /;/! { N; ba }; d }'
    breaks "a parameter has another type" '/^SDD_API sdd_status sdd_downloader_idle_wait(/,/;/s/int64_t/int32_t/'
    breaks "a call returns something else" 's/^SDD_API size_t sdd_bytes_size/SDD_API uint32_t sdd_bytes_size/'
    breaks "a field has gone" '/^    int64_t tls_us;/d'
    breaks "two fields have changed places" 's/^    int64_t tls_us;/    int64_t swapped_us;/; s/^    int64_t connect_us;/    int64_t tls_us;/; s/swapped_us/connect_us/'
    breaks "a field has another type" 's/^    int64_t tls_us;/    int32_t tls_us;/'
    breaks "a struct without a size has grown" 's/^} sdd_header;/    int more;\n&/'
    breaks "a callback has another parameter" '/(\*sdd_user_data_free_fn)(/s/user_data)/user_data, int32_t more)/'
    breaks "a status has another number" 's/SDD_ERROR_CLOSED = [0-9]*/SDD_ERROR_CLOSED = 4999/'
    breaks "a number has gone" 's/^    SDD_PRIORITY_HIGH\b/    SDD_PRIORITY_HIGHER/'
    allows "a field behind the last one" 's/^} sdd_metrics;/    int64_t more;\n&/'
    allows "another call" 's/^SDD_API size_t sdd_bytes_size/SDD_API int sdd_another_call(void);\n&/'
    allows "another number" 's/^    SDD_ERROR_CLOSED =/    SDD_ERROR_ANOTHER = 4998,\n&/'
    echo "ok ABI: the check notices a break of each kind"
}

case $mode in
    --write) write ;;
    --test) try ;;
    --fields) fields include | sort ;;
    --numbers) values include | sort ;;
    '')
        compare include >&2 || fail "the interface no longer matches abi/: see docs/abi.md"
        echo "ok ABI: $(calls include | wc -l) calls, $(structs include | wc -l) structs, $(wc -l <"$numbers") numbers as in abi/"
        ;;
    *) fail "unknown option: $mode" ;;
esac
