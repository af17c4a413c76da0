# Sourced by the tests of C and C++, whose $work is an empty folder: starts a server of pictures on 127.0.0.1, and sets
# `urls` to all that it has and `address` to its own.

# The server and its pictures do not use the package: they are built with the machine's own libraries.
env -u PKG_CONFIG_SYSROOT_DIR -u PKG_CONFIG_LIBDIR pkg-config --cflags --libs libjpeg libpng >"$work/flags"
gcc -std=c99 -O2 examples/server/make_pictures.c $(cat "$work/flags") -lm -o "$work/make_pictures"
gcc -std=c99 -O2 -pthread examples/server/static_server.c -o "$work/static_server"
mkdir "$work/pictures"
"$work/make_pictures" "$work/pictures"

# The server takes a free port and prints it. It ends with this script, which then closes its input.
coproc serve { exec "$work/static_server" "$work/pictures"; }
server=$serve_PID
read -r -t 60 _ address <&"${serve[0]}"
urls=()
for picture in "$work"/pictures/*; do
    urls+=("$address${picture##*/}")
done
