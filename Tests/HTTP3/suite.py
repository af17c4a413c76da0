"""Runs the cases of cases.py with a hostile HTTP/3 server, a good one of HTTP/2, and the client program.

    python3 -m HTTP3.suite CLIENT CERTIFICATE [NAME...]

NAME: only cases whose names contain one of them; -NAME: none of these.

It checks the verdict on the hostile request, and by which version of HTTP a good response came; that the other server's
response came meanwhile; that the next responses of both servers are good, one of them a picture; how much memory the
client took; that a flood was cut off by the client, and not ended by the server; and that the downloader could be
destroyed.
"""

import concurrent.futures
import logging
import os
import sys
import threading
import time

import HTTP2.server
from HTTP2.client import Client, is_right
from HTTP2.server import GOOD_BODY
from HTTP2.verdicts import judge
from HTTP3.cases import CASES, JOINED, PICTURE, TRIAL
from HTTP3.server import Server
from HTTP3.stories import STORIES, lead

LONG = os.environ.get("SDD_TEST_LONG") == "1"
# Cases that run at a time.
JOBS = int(os.environ.get("SDD_TEST_JOBS", 4))


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
        status = client.finish()
        if status != 0:
            wrong.append(f"the client ended with {status}")
        server.close()
        other.close()
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
    client.tell("memory")
    memory = client.number("memory")
    if memory is None or memory > case.memory:
        wrong.append(f"{memory} KiB of memory")
    client.tell("destroy")
    if client.number("destroyed") is None:
        wrong.append("the downloader was not destroyed")
    return wrong


def tell(story, program, certificate):
    client = Client(program)
    try:
        return story(client, certificate)
    finally:
        client.finish()


def report(name, wrong, end=None):
    if wrong:
        print(f"not ok {name}", *wrong, sep="\n    ", flush=True)
    elif os.environ.get("SDD_TEST_VERBOSE"):
        shown = ("error", "detail", "curl", "version", "bytes", "unproven", "message")
        print(f"ok {name}:", *[end[key] for key in shown] if end else [], flush=True)
    return bool(wrong)


def main():
    program, certificate, *names = sys.argv[1:]
    wanted, unwanted = [name for name in names if name[0] != "-"], [name[1:] for name in names if name[0] == "-"]
    chosen = [case for case in CASES if not wanted or any(name in case.name for name in wanted)]
    chosen = [case for case in chosen if not any(name in case.name for name in unwanted)]
    if not LONG and not names:
        # Each flood takes more than a second, so one of two positions is enough.
        chosen = [case for case in chosen if not (case.group == "flood" and case.place == JOINED)]
    stories = [story for story in STORIES if not names or any(name in story.__name__ for name in wanted)]
    # aioquic says there what the cases do on purpose.
    logging.disable()
    begun = time.monotonic()
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for case, future in [(case, pool.submit(run, case, program, certificate)) for case in chosen]:
            failures += report(case.name, future.result(), case.settings.get("said"))
        for story, future in [(story, pool.submit(tell, story, program, certificate)) for story in stories]:
            failures += report(story.__name__, future.result())
    seconds = time.monotonic() - begun
    print(f"{len(chosen)} hostile servers of HTTP/3, {len(stories)} stories, {failures} wrong, {seconds:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
