#!/usr/bin/env python3
"""Runs the tests of this folder in several processes, each with a fault server of its own: most tests only wait.

    Tests/Tool/side_by_side.py [-n PROCESSES] [NAME...]     only tests whose ids contain one of NAME

Prints what unittest prints, and the longest tests. Fails if a test fails, or if there is none.
"""
import argparse
import io
import json
import os
import subprocess
import sys
import threading
import time
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
LONGEST = 5


def all_tests(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from all_tests(item)
        else:
            yield item


def work():
    """Tells the ids of all tests, then runs each whose id arrives on standard input, and tells its outcome."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what tests print does not mix with the outcomes
    tests = {test.id(): test for test in all_tests(unittest.defaultTestLoader.discover(FOLDER, "test_*.py"))}
    print(json.dumps(list(tests)), file=out, flush=True)
    for line in sys.stdin:
        report, began = io.StringIO(), time.monotonic()
        result = unittest.TextTestRunner(stream=report, verbosity=0).run(tests[line.strip()])
        print(json.dumps({"good": result.wasSuccessful(), "skipped": [reason for _, reason in result.skipped],
                          "report": report.getvalue(), "seconds": time.monotonic() - began}), file=out, flush=True)


class Worker:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.ids = json.loads(self.process.stdout.readline())

    def run(self, test):
        """Runs a test, and gives its outcome."""
        print(test, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that ran {test} has ended")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def run(names, processes):
    workers = [Worker() for _ in range(processes)]
    waiting = [test for test in workers[0].ids if not names or any(name in test for name in names)]
    outcomes, began, lock = {}, time.monotonic(), threading.Lock()

    def serve(worker):
        while True:
            with lock:
                if not waiting:
                    break
                test = waiting.pop(0)
            try:
                outcome = worker.run(test)
            except (RuntimeError, OSError) as error:
                outcome = {"good": False, "skipped": [], "report": f"{test}: {error}\n", "seconds": 0}
                worker = Worker()
            with lock:
                outcomes[test] = outcome
                print("s" if outcome["skipped"] else "." if outcome["good"] else "F", end="", flush=True)
        worker.end()

    threads = [threading.Thread(target=serve, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=1)
    parser.add_argument("--work", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if arguments.work:
        return work()
    outcomes, seconds = run(arguments.names, arguments.n)
    print()
    failed = [test for test, outcome in outcomes.items() if not outcome["good"]]
    for test in failed:
        print(outcomes[test]["report"])
    slowest = sorted(outcomes, key=lambda test: -outcomes[test]["seconds"])[:LONGEST]
    print("longest:", ", ".join(f"{test.rpartition('.')[2]} {outcomes[test]['seconds']:.1f} s" for test in slowest))
    skipped = sum(bool(outcome["skipped"]) for outcome in outcomes.values())
    print(f"Ran {len(outcomes)} tests in {seconds:.1f} s, {arguments.n} side by side: {len(failed)} failed, {skipped} skipped")
    for test in failed:
        print("failed:", test)
    sys.exit(bool(failed) or not outcomes)


main()
