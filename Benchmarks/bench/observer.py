"""Who looks at a gate all the time: a Prometheus that scrapes ten times a second, and a console that somebody has open.

A process of its own: `observer.py PORT TOKEN`. A line on standard input begins or ends the looking; the end is answered by
one JSON line with what was seen.
"""

import http.client
import json
import select
import sys
import time

# Seconds between two scrapes, and between two questions of the console's script (docs/console.md, "Console").
SCRAPES, CONSOLE = 0.1, 2.0


class Observer:
    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self.console = {"Authorization": f"Bearer {token}"}
        self.tag = None

    def begin(self):
        self.times, self.largest, self.asked, self.unchanged = [], 0, 0, 0
        self.started = self.next_scrape = self.next_question = time.monotonic()

    def end(self):
        seconds = time.monotonic() - self.started
        times = sorted(self.times)
        return {
            "seconds": seconds,
            "scrapes": len(times),
            "due": max(1, int(seconds / SCRAPES)),
            "bytes": self.largest,
            "p50_ms": times[len(times) // 2] * 1000,
            "slowest_ms": times[-1] * 1000,
            "asked": self.asked,
            "unchanged": self.unchanged,
        }

    def wait(self):
        """Seconds until something is due."""
        return max(0, min(self.next_scrape, self.next_question) - time.monotonic())

    def look(self):
        now = time.monotonic()
        if now >= self.next_scrape:
            started = time.monotonic()
            status, _, body = self.get("/metrics", {})
            self.times.append(time.monotonic() - started)
            if status != 200 or b"\nportcullis_" not in body or not body.endswith(b"\n"):
                raise SystemExit(f"/metrics: {status} {body[:200]!r}")
            self.largest = max(self.largest, len(body))
            # Nobody catches up with what was missed.
            self.next_scrape = max(self.next_scrape + SCRAPES, now)
        if now >= self.next_question:
            fields = {**self.console, "If-None-Match": self.tag} if self.tag else self.console
            status, tag, body = self.get("/api/overview", fields)
            if status not in (200, 304):
                raise SystemExit(f"/api/overview: {status} {body[:200]!r}")
            self.tag = tag or self.tag
            self.asked += 1
            self.unchanged += status == 304
            self.next_question = max(self.next_question + CONSOLE, now)

    def get(self, path, fields):
        self.connection.request("GET", path, headers=fields)
        response = self.connection.getresponse()
        return response.status, response.getheader("ETag"), response.read()


def main():
    observer = Observer(int(sys.argv[1]), sys.argv[2])
    # Unbuffered: what waits in a buffer is not seen by select.
    orders = open(0, "rb", buffering=0)
    is_looking = False
    while True:
        if not is_looking or select.select([orders], [], [], observer.wait())[0]:
            word = orders.readline().strip()
            if not word:
                return
            is_looking = word == b"begin"
            if is_looking:
                observer.begin()
                observer.look()
            else:
                print(json.dumps(observer.end()), flush=True)
        else:
            observer.look()


if __name__ == "__main__":
    main()
