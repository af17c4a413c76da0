"""Uses ctypesgen's module `made`: requests end."""

import ctypes

import made

errors = []


@made.sdd_result_fn
def completed(result, user_data):
    errors.append(result.contents.failure.status)


request = made.sdd_download_request(ctypes.sizeof(made.sdd_download_request))
request.url = made.String(b"not a URL")
request.options = made.SDD_OPTION_BYTES_ONLY
given = ctypes.POINTER(made.sdd_result)()
assert made.sdd_downloader_submit_wait(None, ctypes.byref(request), 30000, ctypes.byref(given)) == made.SDD_ERROR_INVALID_URL
assert given.contents.failure.detail == made.SDD_DETAIL_URL_MALFORMED
made.sdd_result_release(given)
request.completed = completed
assert made.sdd_downloader_submit(None, ctypes.byref(request)) != 0
assert made.sdd_downloader_idle_wait(None, 30000) == made.SDD_OK
assert errors == [made.SDD_ERROR_INVALID_URL], errors
print("ok ctypesgen")
