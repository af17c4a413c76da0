# Sourced by the suites of hostile servers, in the project's folder: makes the folder $work, which is removed when the
# script ends, with the client program, and server.pem and server.key for localhost, which the client trusts.
#
#   new_certificate NAME SUBJECT_ALT_NAME [OPTION...]     makes NAME.pem and NAME.key in $work, signed by itself

work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-hostile.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/lib"
cp "${SDD_LIBDIR:-build}/libsdd.so" "$work/lib/libsdd.so.0"
ln -s libsdd.so.0 "$work/lib/libsdd.so"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinclude Tests/HTTP2/client.c -o "$work/client" \
    -L"$work/lib" -lsdd -Wl,-rpath,"$work/lib"

new_certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=localhost \
        -addext "subjectAltName=$2" -keyout "$work/$1.key" -out "$work/$1.pem" "${@:3}" >"$work/openssl.log" 2>&1 ||
        { cat "$work/openssl.log" >&2; exit 1; }
}
new_certificate server DNS:localhost
export SDD_TEST_CA=$work/server.pem PYTHONPATH=Tests PYTHONDONTWRITEBYTECODE=1
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
