"""The C interface of libsdd (sdd/sdd.h) for ctypes: what these examples use of it, and nothing on top.

`lib` is the library, its functions declared. SDD_LIBRARY in the environment names the file to load;
without it the dynamic loader looks for libsdd.so.0 in its usual places.
"""

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)

OK = 0
ERROR_CANCELLED = 2002
OPTION_PROGRESS_EVENTS = 1 << 25
DELIVERY_HOST = 1
EVENT_PROGRESS = 1
EVENT_COMPLETED = 2


class Timings(Structure):
    _fields_ = [("struct_size", c_size_t), ("queue_us", c_int64), ("name_lookup_us", c_int64),
                ("connect_us", c_int64), ("tls_us", c_int64), ("first_byte_us", c_int64),
                ("transfer_us", c_int64), ("decode_us", c_int64), ("total_us", c_int64)]


class Result(Structure):
    _fields_ = [("struct_size", c_size_t), ("token", c_uint64), ("url", c_char_p), ("image", c_void_p),
                ("bytes", c_void_p), ("error", c_int32), ("detail", c_int32), ("http_status", c_int32),
                ("curl_code", c_int32), ("system_error", c_int32), ("finished", c_int32),
                ("message", c_char_p), ("timings", POINTER(Timings))]


class Config(Structure):
    """sdd_downloader_config: all defaults, but for the fields given by name."""

    _fields_ = [("struct_size", c_size_t), ("delivery", c_int32), ("max_concurrent_downloads", c_int32),
                ("download_timeout_ms", c_int64), ("max_body_bytes", c_int64), ("max_pixels", c_int64),
                ("max_redirects", c_int32), ("decode_threads", c_int32), ("allow_file_urls", c_int32),
                ("reserved", c_int32), ("ca_file", c_char_p), ("ca_path", c_char_p),
                ("on_thread_start", c_void_p), ("on_thread_stop", c_void_p), ("thread_user_data", c_void_p)]

    def __init__(self, **fields):
        super().__init__(ctypes.sizeof(Config), **fields)


class Event(Structure):
    _fields_ = [("struct_size", c_size_t), ("token", c_uint64), ("user_data", c_void_p), ("kind", c_int32),
                ("error", c_int32), ("image", c_void_p), ("bytes", c_void_p), ("received_bytes", c_int64),
                ("expected_bytes", c_int64), ("result", POINTER(Result))]


# ctypes takes the GIL for a callback, on whichever thread it comes. Keep a reference to the callback
# object for as long as the library may call it.
Completed = CFUNCTYPE(None, POINTER(Result), c_void_p)
Progress = CFUNCTYPE(None, c_uint64, c_int64, c_int64, c_char_p, c_void_p)

# CDLL, not PyDLL: the GIL is released during every call, so that a call that waits lets callbacks run.
lib = ctypes.CDLL(os.environ.get("SDD_LIBRARY", "libsdd.so.0"))


def _declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments


_declare("sdd_version", c_uint32)
_declare("sdd_version_string", c_char_p)
_declare("sdd_status_name", c_char_p, c_int32)
_declare("sdd_status_message", c_char_p, c_int32)
_declare("sdd_image_retain", c_void_p, c_void_p)
_declare("sdd_image_release", None, c_void_p)
_declare("sdd_image_width", c_int32, c_void_p)
_declare("sdd_image_height", c_int32, c_void_p)
_declare("sdd_image_stride", c_size_t, c_void_p)
_declare("sdd_image_pixels", c_void_p, c_void_p)
_declare("sdd_bytes_release", None, c_void_p)
_declare("sdd_bytes_size", c_size_t, c_void_p)
_declare("sdd_downloader_create", c_int32, POINTER(Config), POINTER(c_void_p))
_declare("sdd_downloader_destroy", c_int32, c_void_p)
_declare("sdd_set_header", c_int32, c_void_p, c_char_p, c_char_p)
_declare("sdd_download", c_uint64, c_void_p, c_char_p, c_uint64, Progress, Completed, c_void_p)
_declare("sdd_cancel", c_int32, c_void_p, c_uint64)
_declare("sdd_wait_idle", c_int32, c_void_p, c_int64)
_declare("sdd_event_fd", c_int32, c_void_p)
_declare("sdd_drain", c_int32, c_void_p, POINTER(Event), c_size_t, POINTER(c_size_t))


def status_name(status):
    """The spelling of a status: "SDD_ERROR_TLS" for 3003."""
    return lib.sdd_status_name(status).decode()


def check(status):
    """Raises RuntimeError if a call did not give SDD_OK."""
    if status != OK:
        raise RuntimeError(f"{status_name(status)}: {lib.sdd_status_message(status).decode()}")


def pixels(image):
    """The pixels of a borrowed or owned image, as rows of sdd_image_stride() bytes, without a copy.

    They may be read only while a reference to the image is held.
    """
    size = lib.sdd_image_stride(image) * lib.sdd_image_height(image)
    array = (ctypes.c_uint8 * size).from_address(lib.sdd_image_pixels(image))
    return memoryview(array).cast("B").toreadonly()
