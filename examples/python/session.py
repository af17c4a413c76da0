#!/usr/bin/env python3
"""session.py: downloads pictures one after the other, with what a session needs, and tells what it was told.

    session.py [-u USER:PASSWORD | -t TOKEN] [-l LOGIN_URL] [-b COOKIE_FILE] [-v] URL...

-u answers the server's challenge, -t sends a bearer token. -l fetches a page first, for the cookies that it sets;
-b keeps cookies from one run to the next. -v says on standard error what each transfer does. Then come the
cookies and the counts of the downloader. Exit status 0: all worked.
"""

import argparse
import ctypes
import sys

import sdd_ctypes as sdd
from sdd_ctypes import lib
from sdd_helpers import check, cookies, get, headers, status_name

KINDS = {sdd.EVENT_START: "start", sdd.EVENT_RESPONSE: "response", sdd.EVENT_FINISH: "finish", sdd.EVENT_STOP: "stop"}


@sdd.ObserverFn
def observer(notice, user_data):
    """Hears of every transfer, on the library's thread for callbacks."""
    notice = notice.contents
    print(f"{KINDS[notice.kind]} {(notice.url or b'').decode()} {notice.http_status}", file=sys.stderr, flush=True)


@sdd.CompletedFn
def completed(result, user_data):
    """What is lent to a callback, it reads before it returns."""
    result = result.contents
    if result.error != sdd.OK:
        print(f"{result.url.decode()}: {status_name(result.error)}, HTTP {result.http_status}", flush=True)
        return
    fields = {name.lower(): value for name, value in headers(result.response)}
    print(f"{result.url.decode()}: {lib.sdd_image_width(result.image)} x {lib.sdd_image_height(result.image)}, "
          f"HTTP {result.http_status}, {lib.sdd_response_mime_type(result.response).decode()}, "
          f"ETag {fields.get('etag', 'none')}", flush=True)


def credential_of(arguments):
    if arguments.u:
        user, _, password = arguments.u.partition(":")
        return sdd.Credential(username=user.encode(), password=password.encode())
    if arguments.t:
        return sdd.Credential(bearer_token=arguments.t.encode())
    return None


def download(downloader, url, credential):
    request = sdd.DownloadRequest(url=url.encode(), options=sdd.OPTION_HANDLE_COOKIES, completed=completed)
    if credential:  # for this URL's server alone; one in the config would go to whatever server is asked
        request.credential = ctypes.pointer(credential)
    status = ctypes.c_int32()
    if lib.sdd_downloader_submit(downloader, request, status) == 0:
        check(status.value)
    check(lib.sdd_wait_idle(downloader, -1))


def run(downloader, arguments):
    """Says whether all worked."""
    if arguments.v:
        check(lib.sdd_downloader_set_observer(downloader, observer, None, sdd.UserDataFreeFn()))
    if arguments.l:
        get(arguments.l, downloader, sdd.OPTION_HANDLE_COOKIES)
    credential = credential_of(arguments)
    for url in arguments.url:
        download(downloader, url, credential)

    for cookie in cookies(downloader):
        print(f"cookie {cookie['name']}={cookie['value']} for {cookie['domain']}{cookie['path']}")
    statistics = sdd.Statistics()
    check(lib.sdd_downloader_get_statistics(downloader, statistics))
    print(f"{statistics.requests} requests, {statistics.requests_failed} failed, "
          f"{statistics.images_decoded} pictures, {statistics.body_bytes} bytes")
    return statistics.requests_failed == 0


def main():
    parser = argparse.ArgumentParser(description="Downloads pictures one after the other, in a session.")
    parser.add_argument("-u", metavar="USER:PASSWORD", help="answers a challenge")
    parser.add_argument("-t", metavar="TOKEN", help="sends a bearer token")
    parser.add_argument("-l", metavar="LOGIN_URL", help="fetched first, for its cookies")
    parser.add_argument("-b", metavar="COOKIE_FILE", help="read at the beginning, written at the end")
    parser.add_argument("-v", action="store_true", help="tells what transfers do")
    parser.add_argument("url", nargs="+")
    arguments = parser.parse_args()
    network = sdd.NetworkOptions(cookie_file=arguments.b.encode() if arguments.b else None)
    config = sdd.DownloaderConfig(network=ctypes.pointer(network))
    downloader = sdd.Downloader()
    check(lib.sdd_downloader_create(config, downloader))
    try:
        return 0 if run(downloader, arguments) else 1
    finally:
        check(lib.sdd_downloader_destroy(downloader))  # writes the cookies


if __name__ == "__main__":
    sys.exit(main())
