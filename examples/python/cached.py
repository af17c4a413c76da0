#!/usr/bin/env python3
"""cached.py: stores a file's bytes in a cache, with a note of its own, and finds them again, in memory and on disk.

    cached.py DIRECTORY PICTURE...

A picture that the cache has already, from a run before or from another program, is not read again: the line says so.
Exit status 0: all worked.
"""

import argparse
import ctypes
import os
import sys

import sdd_ctypes as sdd
from sdd_ctypes import lib
from sdd_helpers import check


def make_bytes(data):
    return lib.sdd_bytes_create(data, len(data))


def store(cache, key, data, note):
    """Waits until it is on disk. Both bytes are retained by the cache as long as it needs them."""
    picture, extended = make_bytes(data), make_bytes(note)
    item = sdd.CacheItem(key=key, bytes=picture, extended=extended)
    try:
        check(lib.sdd_cache_put(cache, item, None))
    finally:
        lib.sdd_bytes_release(picture)
        lib.sdd_bytes_release(extended)


def look(cache, key):
    """The size of a picture and its note, or None: a miss."""
    image, data, extended = sdd.Image(), sdd.Bytes(), sdd.Bytes()
    query = sdd.Query(key=key, wants=sdd.WANT_BOTH)
    status = lib.sdd_cache_query(cache, query, image, data, extended, None)
    if status == sdd.ERROR_NOT_CACHED:
        return None
    check(status)
    note = ctypes.string_at(lib.sdd_bytes_data(extended), lib.sdd_bytes_size(extended)) if extended else b""
    found = lib.sdd_image_width(image), lib.sdd_image_height(image), note.decode()
    lib.sdd_image_release(image)
    lib.sdd_bytes_release(data)
    lib.sdd_bytes_release(extended)
    return found


def show(cache, name):
    key = os.fsencode(os.path.abspath(name))
    found, was_there = look(cache, key), True
    if found is None:
        with open(name, "rb") as file:
            store(cache, key, file.read(), f"stored by {os.path.basename(sys.argv[0])}".encode())
        found, was_there = look(cache, key), False
    if found is None:  # removed meanwhile, by another program
        raise RuntimeError("not there any more")
    width, height, note = found
    print(f"{name}: {width} x {height}, {note}, {'was there' if was_there else 'is new'}")


def main():
    parser = argparse.ArgumentParser(description="Stores pictures in a cache and finds them again.")
    parser.add_argument("directory")
    parser.add_argument("picture", nargs="+")
    arguments = parser.parse_args()
    cache, failed = sdd.Cache(), 0
    config = sdd.CacheConfig(directory=os.fsencode(arguments.directory))
    check(lib.sdd_cache_create(config, cache, None))
    for name in arguments.picture:
        try:
            show(cache, name)
        except (OSError, RuntimeError) as error:
            failed += 1
            print(f"{name}: {error}")
    check(lib.sdd_cache_destroy(cache))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
