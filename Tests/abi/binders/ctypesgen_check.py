"""Uses ctypesgen's module `made`: a request succeeds."""

import ctypes

import made

errors = []


@made.sdd_result_fn
def completed(result, user_data):
    errors.append(result.contents.error)


request = made.sdd_download_request(ctypes.sizeof(made.sdd_download_request))
request.url = made.String(b"not a URL")
request.options = made.SDD_OPTION_BYTES_ONLY
request.completed = completed
status = made.sdd_status(-1)
assert made.sdd_downloader_submit(None, ctypes.byref(request), ctypes.byref(status)) != 0
assert status.value == made.SDD_OK
assert made.sdd_downloader_idle_wait(None, 30000) == made.SDD_OK
assert errors == [made.SDD_ERROR_INVALID_URL], errors
print("ok ctypesgen")
