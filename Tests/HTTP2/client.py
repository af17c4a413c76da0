"""The client program as the suites see it: commands, and the ends of requests."""

import re
import subprocess
import threading

# Verdicts need only some limit, because a machine under load is slow.
PATIENCE = 120


def fnv(body):
    """Returns the hash that the client computes. It is slow, so of long bodies only the size is compared."""
    value = 1469598103934665603
    for byte in body:
        value = (value ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


class Client:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines, self.ends = [], {}
        self.changed = threading.Condition()
        self.is_over = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                words = line.rstrip("\n")
                if words.startswith("end "):
                    end = dict(re.findall(r"(\w+)=(\S*)", words.split(" message=")[0]))
                    end["message"] = words.split(" message=", 1)[1]
                    self.ends[words.split()[1]] = end
                else:
                    self.lines.append(words)
                self.changed.notify_all()
        with self.changed:
            self.is_over = True
            self.changed.notify_all()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _wait(self, condition):
        with self.changed:
            self.changed.wait_for(lambda: self.is_over or condition(), PATIENCE)
            return condition()

    def end(self, tag):
        self._wait(lambda: tag in self.ends)
        return self.ends.get(tag)

    def number(self, word):
        """Returns the number of the client's answer "WORD NUMBER"."""
        def found():
            return next((line for line in self.lines if line.startswith(word + " ")), None)
        self._wait(found)
        line = found()
        if line is None:
            return None
        self.lines.remove(line)
        return int(line.split()[1])

    def finish(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it did not end"


def is_right(end, body):
    right = end["error"] == "SDD_OK" and int(end["bytes"]) == len(body)
    return right and (len(body) > 100000 or end["sum"] == fnv(body))
