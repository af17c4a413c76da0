"""What the suites of hostile servers share beside the client and the verdicts: which cases run, how, and what is said."""

import concurrent.futures
import os

from HTTP2.client import Client

LONG = os.environ.get("SDD_TEST_LONG") == "1"
# Cases that run at a time.
JOBS = int(os.environ.get("SDD_TEST_JOBS", 4))


def choose(cases, stories, names, may_be_left_out):
    """Returns the cases whose names contain one of the names, and of -NAME none; and such stories. Without names, those
    that may be left out are, unless the run is to be long."""
    wanted, unwanted = [name for name in names if name[0] != "-"], [name[1:] for name in names if name[0] == "-"]
    chosen = [case for case in cases if not wanted or any(name in case.name for name in wanted)]
    chosen = [case for case in chosen if not any(name in case.name for name in unwanted)]
    if not LONG and not names:
        chosen = [case for case in chosen if not may_be_left_out(case)]
    return chosen, [story for story in stories if not names or any(name in story.__name__ for name in wanted)]


def run_all(run, cases, stories, program, certificate, shown):
    """Runs cases and stories, and returns how many are wrong. Of a good case it shows what `shown` says, if it is asked."""
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for case, future in [(case, pool.submit(run, case, program, certificate)) for case in cases]:
            failures += report(case.name, future.result(), shown(case))
        for story, future in [(story, pool.submit(tell, story, program, certificate)) for story in stories]:
            failures += report(story.__name__, future.result())
    return failures


def tell(story, program, certificate):
    client = Client(program)
    try:
        return story(client, certificate)
    finally:
        client.finish()


def report(name, wrong, shown=""):
    if wrong:
        print(f"not ok {name}", *wrong, sep="\n    ", flush=True)
    elif os.environ.get("SDD_TEST_VERBOSE"):
        print(f"ok {name}: {shown}", flush=True)
    return bool(wrong)


def finish(client, servers, wrong):
    """Ends a case."""
    status = client.finish()
    if status != 0:
        wrong.append(f"the client ended with {status}")
    for server in servers:
        server.close()


def check_end(client, most_memory, wrong):
    """Asks for the memory that the client took, and has it destroy its downloader."""
    client.tell("memory")
    memory = client.number("memory")
    if memory is None or memory > most_memory:
        wrong.append(f"{memory} KiB of memory")
    client.tell("destroy")
    if client.number("destroyed") is None:
        wrong.append("the downloader was not destroyed")
