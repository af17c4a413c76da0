#!/usr/bin/env python3
"""session.py: downloads pictures one after the other, with what a session needs, and tells what it was told.

    session.py [-u USER:PASSWORD | -t TOKEN] [-l LOGIN_URL] [-b COOKIE_FILE] [-v] URL...

-u answers the server's challenge, -t sends a bearer token. -l fetches a page first, for the cookies that it sets;
-b keeps cookies from one run to the next. -v says on standard error what each transfer does. Then come the counts of
the downloader. Exit status 0: all worked.
"""

import argparse
import logging
import sys

import sdd


def main():
    parser = argparse.ArgumentParser(description="Downloads pictures one after the other, in a session.")
    parser.add_argument("-u", metavar="USER:PASSWORD", help="answers a challenge")
    parser.add_argument("-t", metavar="TOKEN", help="sends a bearer token")
    parser.add_argument("-l", metavar="LOGIN_URL", help="fetched first, for its cookies")
    parser.add_argument("-b", metavar="COOKIE_FILE", help="read at the beginning, written at the end")
    parser.add_argument("-v", action="store_true", help="tells what transfers do")
    parser.add_argument("url", nargs="+")
    arguments = parser.parse_args()
    if arguments.v:
        logging.basicConfig(level=logging.DEBUG, format="%(message)s")
    options = {"cookies": True}
    if arguments.u:  # for the server of each URL alone; one of the downloader would go to whatever server is asked
        user, _, password = arguments.u.partition(":")
        options["credential"] = sdd.Credential(username=user, password=password)
    elif arguments.t:
        options["credential"] = sdd.Credential(bearer_token=arguments.t)
    with sdd.Downloader(cookie_file=arguments.b) as downloader:
        if arguments.l:
            downloader.fetch_bytes_sync(arguments.l, cookies=True)
        for url in arguments.url:
            try:
                result = downloader.fetch_sync(url, **options)
            except sdd.Error as error:
                print(f"{url}: {error.name}, HTTP {error.http_status}", flush=True)
                continue
            print(f"{url}: {result.image.width} x {result.image.height}, HTTP {result.http_status}, "
                  f"{result.response.mime_type}, ETag {result.response.header('ETag') or 'none'}", flush=True)
        counts = downloader.statistics()
    print(f"{counts['requests']} requests, {counts['requests_failed']} failed, "
          f"{counts['images_decoded']} pictures, {counts['body_bytes']} bytes")
    return 1 if counts["requests_failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
