#!/usr/bin/env python3
"""cached.py: stores pictures of files in a cache, and finds them again, in memory and on disk.

    cached.py DIRECTORY PICTURE...

A picture that the cache has already, from a run before or from another program, is not read again: the line says so.
Exit status 0: all worked.
"""

import os
import sys

import sdd


def show(cache, name):
    key = os.path.abspath(name)
    image = cache.get_sync(key)
    was_there = image is not None
    if not was_there:
        with open(name, "rb") as file:
            cache.put_sync(key, data=file.read())  # waits until it is on disk
        image = cache.get_sync(key)
    if image is None:  # removed meanwhile, by another program
        raise FileNotFoundError("not there any more")
    print(f"{name}: {image.width} x {image.height}, {'was there' if was_there else 'is new'}")


def main():
    if len(sys.argv) < 3:
        print("usage: cached.py DIRECTORY PICTURE...", file=sys.stderr)
        return 2
    failed = 0
    with sdd.Cache(directory=sys.argv[1]) as cache:
        for name in sys.argv[2:]:
            try:
                show(cache, name)
            except (OSError, sdd.Error) as error:
                failed += 1
                print(f"{name}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
