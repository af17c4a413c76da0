"""Runs the cases of cases.py with a hostile HTTP/3 server, a good one of HTTP/2, and the client program.

    python3 -m HTTP3.suite CLIENT CERTIFICATE [NAME...]

NAME: only cases whose names contain one of them; -NAME: none of these.

It checks the verdict on the hostile request, and by which version of HTTP a good response came; that the other server's
response came meanwhile; that the next responses of both servers are good, one of them a picture; how much memory the
client took; that a flood was cut off by the client, and not ended by the server; and that the downloader could be
destroyed.
"""

import logging
import os
import sys
import threading
import time

import HTTP2.server
from HTTP2.client import Client, is_right
from HTTP2.running import LONG, check_end, choose, finish, run_all
from HTTP2.server import GOOD_BODY
from HTTP2.verdicts import judge
from HTTP3.cases import CASES, JOINED, PICTURE, TRIAL
from HTTP3.server import Server
from HTTP3.stories import STORIES, lead


def make_server(case, certificate):
    options = dict(case.server)
    if "own_certificate" in options:
        options["own_certificate"] = os.path.join(os.path.dirname(certificate), options["own_certificate"])
    return Server(certificate, case.script, case.hostile, longest_flood=60 if LONG else 20, **options)


def run(case, program, certificate):
    """Returns a list of faults."""
    wrong = []
    server = make_server(case, certificate)
    begins = server.flood_began if case.group == "flood" else ready
    other = HTTP2.server.Server(certificate, lambda c, s: (c.wait(begins, 5), HTTP2.server.good(c, s)))
    client = Client(program)
    try:
        wrong += lead(case.place, client, server, case.config) or _run(case, client, server, other)
    except BrokenPipeError:
        wrong.append("the client has gone")
    finally:
        finish(client, (server, other), wrong)
    return wrong


ready = threading.Event()
ready.set()


def _run(case, client, server, other):
    wrong = []
    if case.is_held and case.place == TRIAL:
        server.tcp.may_serve.clear()
    server.is_hostile = True
    tags = [f"hostile{number}" for number in range(case.in_flight)]
    for tag in tags:
        client.tell(f"get {tag} {server.url('/' + tag)} {case.options}")
    client.tell(f"get beside {other.url('/beside')}")
    beside = client.end("beside")
    if beside is None or not is_right(beside, GOOD_BODY):
        wrong.append(f"the good answer beside it: {beside}")
    for tag in tags:
        end = client.end(tag)
        case.settings["said"] = end
        said = judge(case, end, server)
        if said:
            wrong.append(f"{tag}: {said}")
        elif end["error"] == "SDD_OK" and int(end["version"]) not in case.by:
            wrong.append(f"{tag}: good by the version {end['version']}")
        elif case.fields is not None and int(end["fields"]) != case.fields:
            wrong.append(f"{tag}: {end['fields']} header fields")
    if server.outlasted.is_set():
        wrong.append("the flood lasted until it ended by itself")
    if case.requests and server.requests not in case.requests:
        wrong.append(f"the server saw {server.requests} requests, not one of {case.requests}")
    if any(end["attempts"] != "1" for end in client.ends.values()):
        wrong.append("more than one attempt was counted")
    server.is_hostile = False
    server.tcp.body = PICTURE
    client.tell(f"get after {other.url('/after')}")
    client.tell(f"get next {server.url('/next')} picture")
    after, following = client.end("after"), client.end("next")
    if after is None or not is_right(after, GOOD_BODY):
        wrong.append(f"the good answer 'after': {after}")
    if following is None or following["error"] != "SDD_OK" or following["image"] != "1":
        wrong.append(f"the good picture: {following}")
    check_end(client, case.memory, wrong)
    return wrong


def said_of(case):
    """What is shown of the end of a good case."""
    end = case.settings.get("said") or {}
    return {key: end.get(key) for key in ("error", "detail", "curl", "version", "bytes", "unproven", "message")}


def main():
    program, certificate, *names = sys.argv[1:]
    # Each flood takes more than a second, so one of two positions is enough.
    chosen, stories = choose(CASES, STORIES, names, lambda case: case.group == "flood" and case.place == JOINED)
    # aioquic says there what the cases do on purpose.
    logging.disable()
    begun = time.monotonic()
    failures = run_all(run, chosen, stories, program, certificate, said_of)
    seconds = time.monotonic() - begun
    print(f"{len(chosen)} hostile servers of HTTP/3, {len(stories)} stories, {failures} wrong, {seconds:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
