"""Cases of hostile servers, and the verdict on the end of a hostile request."""

import time
from dataclasses import dataclass, field

from HTTP2.client import PATIENCE, is_right
from HTTP2.server import GOOD_BODY

# Verdicts, see `judge`.
GOOD, TOLD, FAILS, FLOOD = "good", "told", "fails", "flood"
CUT = "SDD_ERROR_TRUNCATED_BODY"
LOST = "SDD_ERROR_CONNECTION_LOST"
RULES = "SDD_ERROR_PROTOCOL"
TIMEOUT = "SDD_ERROR_TIMEOUT"
HEADERS = "SDD_ERROR_HEADERS_TOO_LARGE"
BROKEN = (CUT, LOST, RULES)

FLOOD_DETAIL = 300701


@dataclass
class Case:
    name: str
    script: object
    verdicts: tuple
    body: bytes = GOOD_BODY
    errors: tuple = ()
    detail: int | None = None
    hostile: int = 1
    greeting: bytes | None = None
    options: str = ""
    config: str = ""
    # Numbers of requests of which the server must have seen one at the end of the hostile request; (): not checked.
    requests: tuple = ()
    # The number of fields in the header of a response that is taken; None: not checked.
    fields: int | None = None
    reads_body: bool = False
    group: str = ""
    in_flight: int = 1
    memory: int = 96 << 10
    settings: dict = field(default_factory=dict)


def reads_no_more(server):
    """Whether the client has cut the flood off or reads no more of it: it does not read a connection that no transfer
    uses, and once the system's buffers are full the server can send nothing."""
    end = time.monotonic() + PATIENCE
    unchanged, before = 0, -1
    while time.monotonic() < end:
        if server.was_cut_off.wait(0.5):
            return True
        if server.outlasted.is_set():
            return False
        unchanged = unchanged + 1 if server.flooded == before else 0
        before = server.flooded
        if unchanged == 10:
            return True
    return False


def judge(case, end, server):
    """Returns the fault in the end of the hostile request, or None."""
    if end is None:
        return "never ended"
    failed = end["error"] != "SDD_OK"
    if failed and not end["message"]:
        return "an error without a message"
    if failed and end["unproven"] != "0":
        return "an error is marked as a body without a proven end"
    if FLOOD in case.verdicts and failed and int(end["detail"]) == FLOOD_DETAIL:
        return None if server.was_cut_off.wait(PATIENCE) else "the flood was not cut off"
    if failed and FAILS in case.verdicts:
        if case.errors and end["error"] not in case.errors:
            return f"ended with {end['error']}: {end['message']}"
        if case.detail is not None and int(end["detail"]) != case.detail:
            return f"ended with the detail {end['detail']}: {end['message']}"
        return None
    if failed:
        return f"failed with {end['error']} ({end['detail']}): {end['message']}"
    if case.fields is not None and int(end["fields"]) != case.fields:
        return f"{end['fields']} header fields arrived, not {case.fields}"
    if GOOD in case.verdicts and end["unproven"] == "0" and is_right(end, case.body):
        return None
    if TOLD in case.verdicts and end["unproven"] == "1":
        is_flood = case.group == "flood"
        return "the flood was not cut off" if is_flood and not reads_no_more(server) else None
    return f"accepted as good with {end['bytes']} bytes, unproven={end['unproven']}"
