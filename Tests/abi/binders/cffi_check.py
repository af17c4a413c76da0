"""Uses the preprocessed header with cffi, without a compiler: structs have their size, and requests end.

    python3 cffi_check.py HEADER_TEXT LIBRARY
"""

import sys

from cffi import FFI

ffi = FFI()
ffi.cdef(open(sys.argv[1], encoding="utf-8").read())
lib = ffi.dlopen(sys.argv[2])
errors = []


@ffi.callback("sdd_result_fn")
def completed(result, user_data):
    errors.append(result.failure.status)


request = ffi.new("sdd_download_request *")
request.struct_size = ffi.sizeof("sdd_download_request")
url = ffi.new("char[]", b"not a URL")
request.url = url
request.options = lib.SDD_OPTION_BYTES_ONLY
given = ffi.new("sdd_result **")
assert lib.sdd_downloader_submit_wait(ffi.NULL, request, 30000, given) == lib.SDD_ERROR_INVALID_URL
assert given[0].failure.detail == lib.SDD_DETAIL_URL_MALFORMED and ffi.string(given[0].failure.message)
lib.sdd_result_release(given[0])
request.completed = completed
assert lib.sdd_downloader_submit(ffi.NULL, request) != 0
assert lib.sdd_downloader_idle_wait(ffi.NULL, 30000) == lib.SDD_OK
assert errors == [lib.SDD_ERROR_INVALID_URL], errors
assert ffi.string(lib.sdd_version_string()).count(b".") == 2
print("ok cffi")
