#!/bin/sh
# Builds Claws Mail with its own libravatar plugin, and the plugin after the port, and lets try.py compare the two. It
# needs what Claws Mail needs to be built, autoconf, automake, libtool, gettext, ed, Xvfb, and libsdd for pkg-config.
#
#     try.sh SOURCE_FOLDER WORK_FOLDER      the source of Claws Mail 4.3.1, as it was unpacked; what is built is kept
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 2 ] || [ ! -d "$1" ]; then
    echo "usage: try.sh SOURCE_FOLDER WORK_FOLDER" >&2
    exit 2
fi
pkg-config --print-errors --exists 'sdd >= 0.4.0'
mkdir -p "$2"
work=$(cd "$2" && pwd)
plugin=src/plugins/libravatar

# The program, with no other plugin and nothing optional but TLS.
if [ ! -e "$work/before/$plugin/.libs/libravatar.so" ]; then
    rm -rf "$work/before"
    cp -a "$1" "$work/before"
    cd "$work/before"
    without=
    for name in acpi_notifier address_keeper archive att_remover attachwarner bogofilter bsfilter clamd dillo fancy \
        fetchinfo gdata keyword_warner litehtml_viewer mailmbox managesieve newmail notification pdf_viewer perl \
        pgpcore pgpinline pgpmime python rssyl smime spam_report spamassassin tnef_parse vcalendar; do
        without="$without --disable-$name-plugin"
    done
    for name in compface dbus enchant jpilot ldap libetpan manual networkmanager startup-notification svg; do
        without="$without --disable-$name"
    done
    # shellcheck disable=SC2086 # words on purpose
    ./configure --enable-libravatar-plugin $without >"$work/before.log" 2>&1
    make -j2 >>"$work/before.log" 2>&1
fi

# The plugin after the port. All else is as it was built.
if [ ! -e "$work/after/$plugin/.libs/libravatar.so" ] || [ -n "$(find "$here" -newer "$work/after/stamp")" ]; then
    rm -rf "$work/after"
    cp -a "$work/before" "$work/after"
    cd "$work/after"
    "$here/apply.sh" .
    {
        autoreconf -fi
        ./config.status --recheck
        ./config.status
        make -C $plugin clean all
    } >"$work/after.log" 2>&1
    touch stamp
fi

LD_LIBRARY_PATH=$(pkg-config --variable=libdir sdd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec python3 -B "$here/try.py" "$work/before/src/claws-mail" "$work/before/$plugin/.libs/libravatar.so" \
    "$work/after/$plugin/.libs/libravatar.so"
