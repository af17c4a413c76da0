# Tests the later examples, with one function for each; sourced by Tests/examples.sh. Uses the functions of that script,
# and those of nginx.sh that check the server's log.

check_auth() {
    gives 0 "$bin/auth" -u guest:open "$http/asking/tiles.png"
    says '/tiles.png: 64 x 64$'
    empty_log
    gives 3 "$bin/auth" -u guest:wrong "$http/asking/tiles.png"
    says ': HTTP 401, wanted: Basic realm="pictures"$'
    logged 1 '^/asking/tiles.png 401 user=- '     # the challenge
    logged 1 '^/asking/tiles.png 401 user=guest ' # a wrong password is sent once
    gives 3 "$bin/auth" "$http/asking/tiles.png"
    gives 3 "$bin/auth" -u guest:open "$http/away.png" # the password is for one server, and "localhost" is another
    gives 2 "$bin/auth" -u guest "$http/asking/tiles.png"
    ok "auth.c: user and password"

    empty_log
    gives 0 "$bin/auth" -t sesame "$http/token/tiles.png"
    says '/tiles.png: 64 x 64$'
    gives 3 "$bin/auth" -t another "$http/token/tiles.png"
    says ': HTTP 403, wanted: \?$'
    logged 2 '^/token/tiles.png ' # a token is sent at once
    gives 1 "$bin/auth" -t sesame -u guest:open "$http/token/tiles.png"
    says ': SDD_ERROR_INVALID_DOWNLOAD_OPERATION \(detail 200009\): .'
    ok "auth.c: token"

    local trusted=$work/nginx/server.pem url=https://localhost:$tls_port/tiles.png
    local guest=("$bin/auth" -e "$work/nginx/guest.pem")
    empty_log
    gives 0 "${guest[@]}" -k "$work/nginx/guest.key" -c "$trusted" "$url"
    says '/tiles.png: 64 x 64$'
    logged 1 '^/tiles.png 200 .* certificate=SUCCESS'
    cat "$work/nginx/stranger.pem" "$work/nginx/stranger.key" >"$work/stranger"
    gives 1 "$bin/auth" -e "$work/stranger" -c "$trusted" "$url"
    gives 1 "$bin/auth" -c "$trusted" "$url"
    says ': SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE \(detail 0\): .* 400'
    gives 1 "${guest[@]}" -k "$work/nowhere" -c "$trusted" "$url"
    says ': SDD_ERROR_TLS \(detail 300308\): .'
    gives 1 "${guest[@]}" -k "$work/nginx/guest.key" "$url"
    says ': SDD_ERROR_TLS \(detail 30030[45]\): .'
    ok "auth.c: client certificate"
}

check_cookies() {
    gives 1 "$bin/cookies" -f "$work/jar" "$http/members/tiles.png" "$http/login" "$http/members/tiles.png"
    [ "$(sed -n 's/^http.*: //p' "$work/out" | tr '\n' ' ')" = \
        "SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE 8 bytes 300 bytes " ] || fail "cookies.c: $(cat "$work/out")"
    says '^2 cookies$'
    says '^    session=open for 127.0.0.1/, till the end of the session$'
    says '^    seen=yes for 127.0.0.1/$'
    [ "$(stat -c %a "$work/jar")" = 600 ] || fail "cookies.c: who may read the file"
    empty_log
    gives 1 "$bin/cookies" -f "$work/jar" "$http/members/tiles.png"
    says '^1 cookies$'
    logged 1 '^/members/tiles.png 403 .* cookies=seen=yes '
    gives 0 "$bin/cookies" -s 127.0.0.1:session=open -s localhost:x=y -x localhost "$http/members/tiles.png"
    [ "$(grep ' cookies$' "$work/out" | tr '\n' ' ')" = "2 cookies 1 cookies " ] || fail "cookies.c: $(cat "$work/out")"
    gives 1 "$bin/cookies" -s 'localhost:a=b;c' "$http/login"
    gives 2 "$bin/cookies" -f "$work/jar"
    ok "cookies.c"
}

check_cache() {
    local directory=$work/cache entry
    rm -rf "$directory"
    empty_log
    gives 0 "$bin/cache" "$directory" "$http/fresh/plasma.jpg"
    says '/plasma.jpg: 1600 x 1200 from: network$'
    says '/plasma.jpg: 1600 x 1200 from: HTTP cache, fresh$'
    says '^thumbnail: 100 x 75 from: disk$'
    says '^hello, stored by cache.c$'
    says '^on disk: 2 entries, [0-9]+ bytes; in memory: [12] pictures$'
    says '^HTTP: 1 fresh, 0 revalidated, 1 missed$'
    gives 0 "$bin/cache" "$directory" "$http/fresh/plasma.jpg" # another process
    says '^HTTP: 2 fresh, 0 revalidated, 0 missed$'
    logged 1 '^/fresh/plasma.jpg 200 '
    [ "$(stat -c %a "$directory")" = 700 ] || fail "cache.c: who may read the directory"
    entry=$(find "$directory" -type f -name '*.jpg') # viewers open such a file
    gives 0 "$bin/probe" "$entry"
    says ': JPEG, 1600 x 1200, '
    gives 1 "$bin/cache" "$directory" "$http/missing.png"
    gives 1 "$bin/cache" "$work/nginx/access.log" "$http/fresh/plasma.jpg" # a file in place of a directory
    gives 2 "$bin/cache" "$directory"
    ok "cache.c"
}

# Two processes run at once, then a third; then a row of the database is damaged.
check_sqlite_cache() {
    local directory=$work/sqlite first urls=()
    [ -x "$bin/sqlite_cache" ] || return 0
    rm -rf "$directory"
    empty_log
    for name in circles.jpg plasma.jpg ripples.jpg tiles.png; do urls+=("$http/fresh/$name"); done
    "$bin/sqlite_cache" "$directory" "${urls[@]}" >"$work/first.out" 2>&1 </dev/null &
    first=$!
    gives 0 "$bin/sqlite_cache" "$directory" "${urls[@]}"
    wait "$first" || fail "sqlite_cache.c: $(cat "$work/first.out")"
    for name in circles.jpg plasma.jpg ripples.jpg tiles.png; do logged 1 "^/fresh/$name 200 "; done
    gives 0 "$bin/sqlite_cache" "$directory" "${urls[@]}"
    [ "$(grep -c 'from the cache$' "$work/out")" -eq 4 ] || fail "sqlite_cache.c: $(cat "$work/out")"
    logged 1 '^/fresh/tiles.png 200 '
    [ -z "$(find "$directory" -name '*.jpg' -o -name '*.png')" ] || fail "sqlite_cache.c: entries in files"
    cat >"$work/rows.py" <<'PYTHON'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1])
assert rows.execute("SELECT COUNT(*) FROM entries").fetchone() == (4,)
for key, body in rows.execute("SELECT key, body FROM entries").fetchall():
    with open(sys.argv[2] + "/" + key.rsplit("/", 1)[1], "rb") as file:
        assert body == file.read(), key
with rows:
    rows.execute("UPDATE entries SET body = x'00' || SUBSTR(body, 2) WHERE key LIKE '%tiles.png'")
PYTHON
    gives 0 python3 "$work/rows.py" "$directory/pictures.db" "$work/pictures"
    gives 0 "$bin/sqlite_cache" "$directory" "${urls[@]}"
    says '/tiles.png: 64 x 64 from the network$'
    [ "$(grep -c 'from the cache$' "$work/out")" -eq 3 ] || fail "sqlite_cache.c: $(cat "$work/out")"
    gives 1 "$bin/sqlite_cache" "$directory" "$http/missing.png"
    gives 2 "$bin/sqlite_cache" "$directory"
    ok "sqlite_cache.c"
}

check_cached() {
    local directory=$work/cached script=("$python" -X dev -W error examples/python/cached.py)
    rm -rf "$directory"
    gives 0 "${script[@]}" "$directory" "$work/pictures/"{tiles.png,plasma.jpg}
    says '/tiles.png: 64 x 64, is new$'
    gives 1 "${script[@]}" "$directory" "$work/pictures/"{plasma.jpg,missing.png}
    says '/plasma.jpg: 1600 x 1200, was there$'
    says '/missing.png: .'
    gives 2 "${script[@]}" "$directory"
    ok "cached.py"
}

# begins LOW HIGH: the first requests to end have numbers from LOW to HIGH, among the seventeen that can have begun by
# then.
begins() {
    local number
    for number in $(sed -n 's/^order: \(.*\) \.\.\.$/\1/p' "$work/out"); do
        [ "$number" -ge "$1" ] && [ "$number" -le "$2" ] || fail "priorities.c: $(cat "$work/out")"
    done
}

check_priorities() {
    gives 0 "$bin/priorities" -n 120 "${slow}glass.png" # slow: urgent requests must not wait for the others
    begins 104 120
    says '^number 1, raised: ended at place [1-5]?[0-9] of 121$'
    says '^the urgent one: ended at place [1-4]?[0-9] of 121, after [0-9.]+ ms, [0-9]{1,2}\.[0-9] of them in the queue$'
    gives 0 "$bin/priorities" -f "${base}tiles.png"
    begins 1 17
    says '^the urgent one: ended at place [0-9]+ of 301, '
    gives 0 "$bin/priorities" -r 0 "${base}tiles.png"
    gives 1 "$bin/priorities" -r 6 "${base}tiles.png" # one slot must remain
    gives 1 "$bin/priorities" -n 120 "${base}missing.png"
    gives 2 "$bin/priorities" -n 1 "${base}tiles.png"
    ok "priorities.c"
}

check_custom_transport() {
    local archive=$work/archive
    local outside=(.hidden.png below/tiles.png link.png pipe.png .. below missing.png %2e%2e/pictures/tiles.png
        %zz plasma.jpg%00 "$work/pictures/tiles.png")
    mkdir -p "$archive/below"
    cp "$work"/pictures/*.jpg "$archive/"
    for name in "ä b.png" .hidden.png below/tiles.png; do cp "$work/pictures/tiles.png" "$archive/$name"; done
    ln -s "$work/pictures/tiles.png" "$archive/link.png"
    mkfifo "$archive/pipe.png"
    gives 0 "$bin/custom_transport" "$archive" archive:plasma.jpg archive:circles.jpg archive:ä%20b.png instant:dot
    says '^archive:plasma.jpg: 1600 x 1200$'
    says '^archive:ä%20b.png: 64 x 64$'
    says '^instant:dot: 1 x 1$'
    gives 1 "$bin/custom_transport" "$archive" "${outside[@]/#/archive:}"
    [ "$(grep -c ': SDD_ERROR_FILE_NOT_READABLE: Not in the archive.$' "$work/out")" -eq ${#outside[@]} ] ||
        fail "custom_transport.c: a picture missing in the archive: $(cat "$work/out")"
    gives 1 "$bin/custom_transport" "$archive" instant:broken instant:else "file:$archive/plasma.jpg" instant:dot
    says '^instant:broken: SDD_ERROR_CONNECTION_LOST: .'
    says '^instant:else: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .* 404'
    says '^file:.*: SDD_ERROR_INVALID_URL: .'
    says '^instant:dot: 1 x 1$'
    gives 1 "$bin/custom_transport" -c "$archive" instant:silent archive:plasma.jpg
    says '^instant:silent: SDD_ERROR_CANCELLED: .'
    says '^instant: told to stop$'
    gives 1 "$bin/custom_transport" "$work/nowhere" instant:dot
    ok "custom_transport.c"
}

check_loop() { # check_loop NAME
    if [ ! -x "$bin/$1" ]; then return; fi # skipped at build time
    gives 0 "$bin/$1" "${urls[@]}" "${urls[@]}" "${urls[@]}" "${urls[@]}" "${urls[@]}" "${urls[@]}"
    [ "$(grep -c '/plasma.jpg: 1600 x 1200$' "$work/out")" -eq 6 ] || fail "$1.c: not one line each"
    gives 1 "$bin/$1" "${base}missing.png" "${urls[0]}"
    says '/missing.png: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    gives 2 "$bin/$1"
    start "${base}tiles.png: " "$bin/$1" "${slow}mandelbrot.png" "${base}tiles.png"
    kill -INT "${processes[-1]}"
    timeout 60 cat <&"$descriptor" >"$work/out"
    says '/mandelbrot.png: SDD_ERROR_CANCELLED: .'
    ok "$1.c"
}

check_progressive() {
    local directory=$work/progressive
    mkdir -p "$directory"
    gives 0 "$bin/progressive" -o "$directory" "${slow}plasma.jpg" # row by row
    says '^ *[0-9]+ ms  preview-1.png: ([1-9]|[1-9][0-9]|[1-9][0-9]{2}|1[01][0-9]{2}) of 1200 rows$'
    says '^ *[0-9]+ ms  final.png: 1200 of 1200 rows$'
    gives 0 "$bin/probe" "$directory/preview-1.png" "$directory/final.png"
    says 'preview-1.png: PNG, 1600 x 1200, 4 channels of 8 bits$' # transparent where no bytes have arrived
    says 'final.png: PNG, 1600 x 1200, [34] channels of 8 bits$'
    rm "$directory"/*.png
    gives 0 "$bin/progressive" -o "$directory" "${slow}circles.jpg" # scan by scan
    says '^ *[0-9]+ ms  preview-1.png: 767 of 767 rows$'
    says '^ *[0-9]+ ms  final.png: 767 of 767 rows$'
    cmp -s "$directory/preview-1.png" "$directory/final.png" && fail "progressive.c: a preview that is the picture"
    gives 1 "$bin/progressive" -o "$directory" "${base}missing.png"
    gives 1 "$bin/progressive" -o "$directory" "${base}page.html"
    gives 1 "$bin/progressive" -o "$work/nowhere" "${base}tiles.png"
    gives 2 "$bin/progressive" -o "$directory"
    ok "progressive.c"
}

check_raii() {
    gives 0 "$bin/raii" "${urls[@]}"
    says '/plasma.jpg: 1600 x 1200, #[0-9a-f]{6} in the middle$'
    says '/circles.jpg: 64 x 48, small$'
    [ "$(wc -l <"$work/out")" -eq $((${#urls[@]} + 1)) ] || fail "raii.cc: not one line each"
    gives 1 "$bin/raii" "${base}missing.png" "${urls[0]}"
    says '/missing.png: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    gives 2 "$bin/raii"
    ok "raii.cc"
}

check_session() { # check_session NAME COMMAND...: the same checks for each language
    local name=$1 directory=$work/$1
    shift
    mkdir -p "$directory"
    empty_log
    gives 1 "$@" -v -u guest:open -l "$http/login" -b "$directory/jar" "$http/asking/tiles.png" \
        "$http/members/plasma.jpg" "$http/missing.png"
    says '/asking/tiles.png: 64 x 64, HTTP 200, image/png, ETag ".+"$'
    says '/members/plasma.jpg: 1600 x 1200, HTTP 200, image/jpeg, ETag ".+"$'
    says '/missing.png: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, HTTP 404$'
    says '^4 requests, 1 failed, 2 pictures, [0-9]+ bytes$'
    logged 1 '^/members/plasma.jpg 200 .* cookies=session=open; seen=yes '
    grep -v '^cookie ' "$work/out" >"$directory/lines"
    cp "$work/out" "$directory/said"
    cp "$work/err" "$directory/notices"
    empty_log
    gives 0 "$@" -t sesame -b "$directory/jar" "$http/token/tiles.png"
    logged 1 '^/token/tiles.png 200 .* cookies=seen=yes ' # that of the session is not kept
    [ ! -s "$work/err" ] || fail "$name: $(cat "$work/err")"
    cp "$work/out" "$directory/again"
    gives 1 "$@" -u guest:wrong "$http/asking/tiles.png"
    says ': SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, HTTP 401$'
    gives 2 "$@"
    ok "$name"
}

# The package for Python has log messages in place of notices, and no list of cookies.
check_session_py() {
    check_session session.py "$python" -X dev -W error examples/python/session.py
    [ "$(grep -c '^GET http.* begins\.$' "$work/session.py/notices")" -eq 4 ] ||
        fail "session.py: messages: $(cat "$work/session.py/notices")"
}

check_sdd_session() { # check_sdd_session COMMAND
    local directory=$work/sdd-session
    check_session sdd-session "$@"
    grep -q '^cookie session=open for 127.0.0.1/$' "$directory/said" || fail "sdd-session: $(cat "$directory/said")"
    grep -q '^cookie seen=yes for 127.0.0.1/$' "$directory/again" || fail "sdd-session: $(cat "$directory/again")"
    [ "$(cut -d' ' -f1 "$directory/notices" | sort | uniq -c | tr -s ' \n' ' ')" = \
        " 3 finish 4 response 4 start 4 stop " ] || fail "sdd-session: notices: $(cat "$directory/notices")"
}
