"""Uses SWIG's module `sdd_swig`: structs have their fields, and calls that wait and fail say why."""

import sdd_swig as sdd

request = sdd.sdd_download_request()
request.url = "not a URL"
request.options = sdd.SDD_OPTION_BYTES_ONLY
assert request.url == "not a URL" and request.options == sdd.SDD_OPTION_BYTES_ONLY
assert sdd.sdd_version_string() == sdd.SDD_VERSION_STRING
assert sdd.sdd_get(None, "not a URL", 0, -1, None, None, None) == sdd.SDD_ERROR_INVALID_URL
assert sdd.sdd_downloader_submit_wait(None, request, -1, None) == sdd.SDD_ERROR_INVALID_ARGUMENT  # struct_size is 0
failure = sdd.sdd_failure()
assert sdd.sdd_last_error(failure) == failure.status == sdd.SDD_ERROR_INVALID_ARGUMENT and failure.message
assert sdd.sdd_downloader_idle_wait(None, 30000) == sdd.SDD_OK
assert sdd.sdd_status_name(sdd.SDD_ERROR_INVALID_URL) == "SDD_ERROR_INVALID_URL"
print("ok SWIG")
