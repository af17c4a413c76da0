"""What the examples put on top of sdd_ctypes.py: exceptions; pixels, header fields and cookies as Python has them."""

import ctypes

import sdd_ctypes as sdd
from sdd_ctypes import lib


def status_name(status):
    """The spelling of a status: "SDD_ERROR_TLS" for 3003."""
    return lib.sdd_status_name(status).decode()


def check(status):
    """Raises RuntimeError if the call just made did not give SDD_OK, with its sentence on why."""
    if status != sdd.OK:
        raise RuntimeError(f"{status_name(status)}: {lib.sdd_last_error_message().decode()}")


def pixels(image):
    """The pixels of a borrowed or owned image, as rows of sdd_image_stride() bytes, without a copy.

    They may be read only while a reference to the image is held.
    """
    array = (ctypes.c_uint8 * lib.sdd_image_pixels_size(image)).from_address(lib.sdd_image_pixels(image))
    return memoryview(array).cast("B").toreadonly()


def headers(response):
    """The header fields of a borrowed response, as pairs of text; none for None."""
    name, value = ctypes.c_char_p(), ctypes.c_char_p()
    fields = []
    while lib.sdd_response_header_at(response, len(fields), name, value) == sdd.OK:
        fields.append((name.value.decode("latin-1"), value.value.decode("latin-1")))
    return fields


def cookies(downloader):
    """The cookies of a downloader, as dictionaries."""
    handle, cookie, found = sdd.Cookies(), sdd.Cookie(), []
    check(lib.sdd_downloader_get_cookies(downloader, handle))
    while lib.sdd_cookies_at(handle, len(found), cookie) == sdd.OK:
        found.append({"name": cookie.name.decode(), "value": cookie.value.decode(), "domain": cookie.domain.decode(),
                      "path": cookie.path.decode(), "expires": cookie.expires, "secure": bool(cookie.secure)})
    lib.sdd_cookies_release(handle)
    return found


def get(url, downloader=None, options=0, timeout_ms=-1):
    """Downloads the body of one URL, and waits for it."""
    handle = sdd.Bytes()
    check(lib.sdd_get(downloader, url.encode(), options | sdd.OPTION_BYTES_ONLY, timeout_ms, None, handle, None))
    try:
        return ctypes.string_at(lib.sdd_bytes_data(handle), lib.sdd_bytes_size(handle)) if handle else b""
    finally:
        lib.sdd_bytes_release(handle)
