"""Uses the preprocessed header with cffi, without a compiler: structs have their size, and a request succeeds.

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
    errors.append(result.error)


request = ffi.new("sdd_download_request *")
request.struct_size = ffi.sizeof("sdd_download_request")
url = ffi.new("char[]", b"not a URL")
request.url = url
request.options = lib.SDD_OPTION_BYTES_ONLY
request.completed = completed
status = ffi.new("sdd_status *")
assert lib.sdd_downloader_submit(ffi.NULL, request, status) != 0 and status[0] == lib.SDD_OK
assert lib.sdd_downloader_idle_wait(ffi.NULL, 30000) == lib.SDD_OK
assert errors == [lib.SDD_ERROR_INVALID_URL], errors
assert ffi.string(lib.sdd_version_string()).count(b".") == 2
print("ok cffi")
