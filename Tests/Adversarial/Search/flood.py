"""`make adversarial`, its second half: what sessions that send the dearest messages take of a loop, and how long another
player waits meanwhile.

Five sessions send within `INPUT_RATE` for ten seconds, then two hundred send one message each at once. Exit status 1 where
a target is missed. It wants a machine that does nothing else, with two cores."""

import json
import pathlib
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = map(str, (HERE.parents[1] / "EndToEnd" / "support").iterdir())

import backend  # noqa: E402
from deflating import PLAIN, RSV1, DeflateSocket, deflate  # noqa: E402
from gate import Gate  # noqa: E402
from pki import PKI  # noqa: E402
from websocket import BINARY, TEXT, RawWebSocket, frame  # noqa: E402

LARGEST = 64 * 1024
SECONDS = 10
# Of a loop's time, and milliseconds.
SHARE, ECHO_P99, TURN, ECHO_AT_ONCE = 0.25, 15, 50, 60
# A message of 64 KiB costs 16 of the 20 allowances of a second.
PACE = 16 / 20


def filled(prefix, unit, suffix):
    parts, size, number = [prefix], len(prefix) + len(suffix), 0
    while size + len(part := unit.replace(b"#", b"%x" % number)) <= LARGEST:
        parts.append(part)
        size += len(part)
        number += 1
    return b"".join([*parts, suffix])


ACK = b'{"type":"ack","received":0,'
# The worst finds of the search, by the frames of Message.swift, and what was worst before they were mended.
MESSAGES = {
    "escaped names": filled(ACK, rb'"\n":1,', b'"z":1}'),
    "msdp objects": filled(b'{"type":"msdp","data":{"x":[', b'{"0":[0]},', b"0]}}"),
    "msdp names": filled(b'{"type":"msdp","data":{', '"#€":"\\n","#":"",'.encode(), b'"-":0}}'),
    "gmcp objects": filled(b'{"type":"gmcp","package":"A","data":[', b'{"0":0},', b"0]}"),
}
# Free, and sent as often as 4 KiB may be.
CLIENT = b'{"type":"client","gmcp":[' + b'"\\u0041",' * 400 + b'"A"]}'


class DeflatingApp(DeflateSocket):
    """One that speaks portcullis.v1."""

    def __init__(self, gate):
        fields = {"Sec-WebSocket-Extensions": PLAIN, "Sec-WebSocket-Protocol": "portcullis.v1"}
        RawWebSocket.__init__(self, gate, fields)


def loop_time(gate):
    """Seconds that the gate's loop has run, as the scheduler counts them."""
    for task in pathlib.Path(f"/proc/{gate.process.pid}/task").iterdir():
        if (task / "comm").read_text().startswith("loop-"):
            return int((task / "schedstat").read_text().split()[0]) / 1e9
    raise SystemExit("the gate has no loop")


class Typist(threading.Thread):
    """A line each 20 ms, which comes back; milliseconds of each."""

    def __init__(self, gate):
        super().__init__()
        self.session, self.trips, self.is_over = RawWebSocket(gate), [], False
        self.start()

    def run(self):
        due = time.monotonic()
        while not self.is_over:
            self.session.frame(BINARY, b"look\n")
            heard = b""
            while not heard.endswith(b"look\n"):
                heard += self.session.read_frame()[2]
            self.trips.append((time.monotonic() - due) * 1000)
            due = max(due + 0.02, time.monotonic())
            time.sleep(max(0, due - time.monotonic()))

    def finish(self):
        self.is_over = True
        self.join()
        self.session.close()
        return sorted(self.trips)


def steady(gate, message, pace):
    """Five sessions for some seconds: the loop's share, and the typist's p99."""
    packed = [frame(TEXT, deflate(message, level=9), reserved=RSV1), frame(TEXT, message)]
    apps = [DeflatingApp(gate) for _ in range(5)]
    typist = Typist(gate)
    begin, before = time.monotonic(), loop_time(gate)
    rounds = 0
    while time.monotonic() - begin < SECONDS:
        for app in apps:
            app.send(packed[rounds % 2])
        rounds += 1
        time.sleep(max(0, begin + rounds * pace - time.monotonic()))
    share = (loop_time(gate) - before) / (time.monotonic() - begin)
    trips = typist.finish()
    for app in apps:
        app.close()
    return share, trips[len(trips) * 99 // 100]


def at_once(gate, message):
    """Two hundred sessions, one message each: the longest turn, and the typist's worst."""
    packed = frame(TEXT, deflate(message, level=9), reserved=RSV1)
    apps = [DeflatingApp(gate) for _ in range(200)]
    typist = Typist(gate)
    time.sleep(0.2)
    for app in apps:
        app.send(packed)
    time.sleep(1)
    worst = typist.finish()[-1]
    for app in apps:
        app.close()
    (turns,) = json.loads(gate.command("stats", "--json").stdout)["turns"]
    return turns["maximumMicroseconds"] / 1000, worst


class Judge:
    """Prints what was measured, and keeps whether all is as it should be."""

    def __init__(self):
        self.is_good = True

    def row(self, name, first, first_most, second, second_most, form):
        good = first <= first_most and second <= second_most
        self.is_good &= good
        print(f"{name:<32} {form.format(first)} {second:8.1f} ms  {'' if good else 'MISSED'}", flush=True)


def main():
    """One gate for each message, so that its longest turn is that message's."""
    judge = Judge()
    with tempfile.TemporaryDirectory(prefix="portcullis-adversarial-") as name:
        folder = pathlib.Path(name)
        pki = PKI(folder)
        game = backend.Backend(backend.echo)

        def gate():
            made = Gate(
                folder,
                {
                    "BACKEND": game.address,
                    "TLS_CERT_PATH": pki.server_certificate,
                    "TLS_KEY_PATH": pki.server_key,
                    "REQUIRE_APP_AUTH": "false",
                    "ATTESTED_KEYS_PATH": folder / "keys.json",
                    "CONTROL_SOCKET": folder / "control.sock",
                    "WORKERS": 1,
                    "MAX_CONNECTIONS_PER_ADDRESS": 1000,
                    "HANDSHAKE_RATE": "10000/s",
                },
            )
            made.pki = pki
            made.start()
            return made

        print("five sessions within INPUT_RATE        loop   echo p99")
        for kind, message in [*MESSAGES.items(), ("descriptions of 4 KiB", CLIENT)]:
            made = gate()
            pace = 1 / 20 if message is CLIENT else PACE
            share, p99 = steady(made, message, pace)
            judge.row(kind, share, SHARE, p99, ECHO_P99, "{:8.1%}")
            made.stop()
        print("\ntwo hundred sessions at once   longest turn   echo")
        for kind, message in MESSAGES.items():
            made = gate()
            turn, worst = at_once(made, message)
            judge.row(kind, turn, TURN, worst, ECHO_AT_ONCE, "{:8.1f} ms")
            made.stop()
        game.stop()
    return 0 if judge.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
