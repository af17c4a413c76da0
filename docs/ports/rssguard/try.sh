#!/bin/bash
# Shows articles and fetches icons with the classes of RSS Guard before and after the port, against a server that counts.
#
#     try.sh OLD_BUILD NEW_BUILD      build folders of CMake, configured with CMAKE_EXPORT_COMPILE_COMMANDS=ON, in which
#                                     the target "rssguard" (the library) is built
#
# Prints what both found and what both asked of the server, and "ok" for each thing that the port promises. Needs g++,
# python3 and ImageMagick. Writes only a temporary folder.
set -Eeuo pipefail
trap 'echo "not ok: line $LINENO: $BASH_COMMAND" >&2' ERR
[ $# -eq 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
old=$(realpath "$1") new=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d "${TMPDIR:-/tmp}/sdd-rssguard.XXXXXX")
server=
clean_up() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
export QT_QPA_PLATFORM=offscreen

# ---- pictures

mkdir "$work/pictures"
draw() { convert -size "$1" "xc:rgb($2)" "$work/pictures/$3"; }
draw 300x200 255,0,0 red.png
draw 120x80 0,200,0 green.jpg
draw 60x40 0,0,255 blue.gif
draw 50x50 0,200,200 cyan.bmp
draw 2000x500 200,200,0 wide.jpg
draw 32x32 255,0,255 magenta.ico
convert -size 300x200 xc:gray -seed 1 +noise Random -quality 90 "$work/whole.jpg"
head -c $(($(stat -c %s "$work/whole.jpg") * 9 / 10)) "$work/whole.jpg" >"$work/pictures/damaged.jpg" # the end is missing

mkfifo "$work/alive" "$work/said"
exec {alive}<>"$work/alive"
./server.py "$work/pictures" <&"$alive" >"$work/said" &
server=$!
exec {said}<"$work/said"
read -r -t 30 port <&"$said"
base=http://127.0.0.1:$port/

# ---- programs: compiled as the program's own main.cpp is

build() { # build SIDE BUILD_FOLDER
    python3 - "$2" >"$work/flags" <<'END'
import json, shlex, sys
commands = json.load(open(sys.argv[1] + "/compile_commands.json"))
words = shlex.split(next(c["command"] for c in commands if c["file"].endswith("/src/rssguard/main.cpp")))
kept = [word for word in words if word.startswith(("-D", "-I", "-std", "-f"))]
kept += [part for at, word in enumerate(words) if word == "-isystem" for part in words[at : at + 2]]
print("\0".join(kept), end="\0")
END
    local flags libraries
    mapfile -d '' flags <"$work/flags"
    read -r -a libraries <<<"$(pkg-config --libs Qt6Widgets Qt6Network)"
    g++ "${flags[@]}" try.cc -L"$2/src/librssguard" -lrssguard -Wl,-rpath,"$2/src/librssguard" \
        -Wl,--allow-shlib-undefined "${libraries[@]}" -o "$work/try_$1"
}
build old "$old"
build new "$new"

# run SIDE NAME WHAT [ARGUMENT]: runs it, with settings and a cache of the side's own, and keeps what it printed and what
# the server counted in SIDE.NAME.out and .counts
run() {
    local side=$1 name=$2 what=$3 status=0
    shift 3
    curl -fsS "${base}counts" >"$work/forgotten"
    env HOME="$work/$side" XDG_CONFIG_HOME="$work/$side/config" XDG_CACHE_HOME="$work/$side/cache" \
        XDG_RUNTIME_DIR="$work" timeout 200 "$work/try_$side" "$what" "$base" "$@" \
        >"$work/$side.$name.out" 2>"$work/$side.$name.err" || status=$?
    sleep 0.5 # the server notices connections that are gone
    curl -fsS "${base}counts" >"$work/$side.$name.counts"
    [ $status -eq 0 ] || { cat "$work/$side.$name".{out,err} >&2; echo "not ok: $side $name: status $status" >&2; exit 1; }
}
value() { awk -v name="$2" '$1 == name { found = $2 } END { print found + 0 }' "$work/$1.counts"; }
# tell NAME TEXT: what both sides counted
tell() {
    echo "-- $2"
    local side
    for side in old new; do printf '   %s: %s\n' "$side" "$(paste -sd, "$work/$side.$1.counts" | sed 's/,/, /g')"; done
}
expect() { # expect TEXT CONDITION...
    local text=$1
    shift
    if [ "$@" ]; then echo "ok: $text"; else echo "not ok: $text: $*" >&2; exit 1; fi
}

mkdir -p "$work"/{old,new}/{config,cache}
for side in old new; do
    run $side show show 1
    run $side restart show 1
    rm -rf "$work/$side/cache" && mkdir "$work/$side/cache"
    run $side windows show 3
    rm -rf "$work/$side/cache" && mkdir "$work/$side/cache"
    run $side again again
    run $side close close
    run $side change change
    run $side large large
    run $side icons icons
done

echo "-- the pictures of an article, in a window 600 wide"
sed 's/^/   /' "$work/new.show.out"
diff "$work/old.show.out" "$work/new.show.out"
echo "ok: old and new show the same pictures"
tell show "an article"
expect "several transfers at a time" "$(value new.show at_a_time)" -gt "$(value old.show at_a_time)"
tell restart "the same article in another process"
expect "pictures come from the disk; a damaged one is not kept there" "$(value new.restart requests)" -le 2
diff "$work/new.show.out" "$work/new.restart.out"
tell windows "the article in three windows at once"
expect "one transfer for all windows" "$(value new.windows requests)" -eq "$(value new.show requests)"
tell again "the article, another one, and the article again"
expect "only the damaged picture is transferred again" \
    "$(value new.again requests)" -eq $(($(value new.show requests) + 1))
for name in {old,new}.{close,change}; do mv "$work/$name.out" "$work/$name.counts"; done # counted before the program ended
tell close "a window that is closed while a picture arrives, two seconds later"
expect "the transfer ends with the window" "$(value new.close given_up)" -eq 1
tell change "another article that is shown while a picture arrives, two seconds later"
expect "the transfer ends with the article" "$(value new.change given_up)" -eq 1
tell large "a picture of 48 MiB"
sed 's/^/   new: /' "$work/new.large.out"
expect "a limit holds" "$(value new.large large_mib)" -lt "$(value old.large large_mib)"
tell icons "ten icons of feeds, twice, and one at its second location"
sed 's/^/   /' "$work/new.icons.out"
diff "$work/old.icons.out" "$work/new.icons.out"
expect "connections are used again" "$(value new.icons connections)" -lt "$(value old.icons connections)"
expect "icons are validated" "$(value new.icons not_modified)" -ge 10
