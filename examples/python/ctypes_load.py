#!/usr/bin/env python3
"""ctypes_load.py: loads pictures with ctypes alone, for a Python without the package sdd, or another language's FFI.

    ctypes_load.py URL...

Prints the size of each, or why there is none. SDD_LIBRARY in the environment names the library, if it is not installed.
Exit status 0: all worked.
"""

import ctypes
import os
import sys
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p


class Failure(ctypes.Structure):
    """sdd_failure in sdd/error.h, which never changes."""

    _fields_ = [("status", c_int32), ("error_class", c_int32), ("stage", c_int32), ("detail", c_int32),
                ("http_status", c_int32), ("curl_code", c_int32), ("system_error", c_int32), ("retryable", c_int32),
                ("message", c_char_p), ("reserved", c_int64 * 3)]


class Result(ctypes.Structure):
    """The beginning of sdd_result in sdd/result.h. Later versions only add fields behind it."""

    _fields_ = [("struct_size", c_size_t), ("token", c_uint64), ("url", c_char_p), ("failure", Failure),
                ("image", c_void_p), ("bytes", c_void_p)]


ResultFn = CFUNCTYPE(None, POINTER(Result), c_void_p)

# CDLL lets go of Python's lock during each call, so that a call that waits lets callbacks run.
lib = ctypes.CDLL(os.environ.get("SDD_LIBRARY", "libsdd.so.0"))


def declare(name, result, *parameters):
    """Without its types ctypes takes every number for an int, and cuts pointers and 64-bit numbers."""
    function = getattr(lib, name)
    function.restype, function.argtypes = result, parameters


# A pointer to an object or a function that is None is NULL: here for the shared loader, and for no progress.
declare("sdd_load", c_uint64, c_void_p, c_char_p, c_uint64, c_void_p, ResultFn, c_void_p)
declare("sdd_downloader_idle_wait", c_int32, c_void_p, c_int64)
declare("sdd_cache_flush_wait", c_int32, c_void_p, c_int64)
declare("sdd_last_error_message", c_char_p)
for call in "sdd_image_width", "sdd_image_height":
    declare(call, c_int32, c_void_p)

failed = []


# The library calls this object on a thread of its own, so it must live until the last load has ended. The result, with
# its texts and its image, is lent until the callback returns; sdd_image_retain() keeps an image longer, until
# sdd_image_release().
@ResultFn
def completed(pointer, user_data):
    result = pointer.contents
    url = result.url.decode()
    if result.failure.status != 0:  # SDD_OK
        failed.append(url)
        print(f"{url}: {result.failure.message.decode()}")
    else:
        print(f"{url}: {lib.sdd_image_width(result.image)} x {lib.sdd_image_height(result.image)}")


def main():
    for url in sys.argv[1:]:
        if lib.sdd_load(None, url.encode(), 0, None, completed, None) == 0:
            sys.exit(lib.sdd_last_error_message().decode())
    # Both wait; the pictures are then on disk for the next run.
    if lib.sdd_downloader_idle_wait(None, -1) != 0 or lib.sdd_cache_flush_wait(None, -1) != 0:
        sys.exit(lib.sdd_last_error_message().decode())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
