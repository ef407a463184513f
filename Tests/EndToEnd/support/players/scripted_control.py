"""A control socket that answers a command as a test wants, in the place of a running gate's."""

import json
import os
import socket
import threading


class ScriptedControl:
    """`answers` maps a verb of the registry to what is made of its arguments: a result, or a `Refused`."""

    def __init__(self, path, answers):
        self.answers = answers
        self.asked = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        os.chmod(path, 0o600)
        self._socket.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer, peer.makefile("rwb") as stream:
                for line in stream:
                    request = json.loads(line)
                    assert request["command"] == "registry", request
                    verb, arguments = request["verb"], request["arguments"]
                    self.asked.append((verb, arguments))
                    result = self.answers[verb](arguments)
                    if isinstance(result, Refused):
                        answer = {"error": {"code": result.code, "message": result.message}}
                    else:
                        answer = {"answer": "registry", "result": result}
                    stream.write(json.dumps(answer).encode() + b"\n")
                    stream.flush()

    def count(self, verb):
        return sum(1 for asked, _ in self.asked if asked == verb)

    def close(self):
        # An accept that waits returns with an error.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)


class Refused:
    def __init__(self, code, message):
        self.code, self.message = code, message
