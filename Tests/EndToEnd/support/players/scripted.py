"""A gate for clients of portcullis.v1 to be tried with: it keeps sessions as docs/sessions.md says, says what a test has it
say, and loses connections when it is told to. It admits everybody."""

import asyncio
import base64
import contextlib
import http
import json
import secrets
import ssl
import threading
import time

import websockets

from waiting import eventually, patience

SUBPROTOCOL = "portcullis.v1"


class Session:
    """What outlives connections. `taken` are the app's counted messages, `said` the gate's."""

    def __init__(self):
        self.ids, self.taken, self.said = [], [], []
        self.acknowledged = 0
        self.clients = []  # what the app has said of itself
        self.connection = None

    def text(self):
        """The input as the game would read it."""
        return b"".join(message for message in self.taken if isinstance(message, bytes))


class Attempt:
    """One upgrade, as it came."""

    def __init__(self, headers):
        self.headers = headers
        self.at = time.monotonic()
        self.nonce = headers.get("X-App-Assert-Nonce")
        self.resume = headers.get("Portcullis-Resume")
        client = headers.get("Portcullis-Client")
        self.client = json.loads(base64.urlsafe_b64decode(client + "=" * (-len(client) % 4))) if client else None


class ScriptedGate:
    def __init__(self, certificate, key, subprotocols=(SUBPROTOCOL,)):
        self.sessions, self.attempts, self.nonces = [], [], set()
        self.carried = 0  # connections that are not over: what came on one may still be on its way to `taken`
        self.refusals = []  # (status, code, fields), one for each upgrade from now on
        self.greets = True
        self.says_first = None  # instead of the greeting
        self.ready_to_cut = None  # called with each counted message of the app; true: cut instead of taking it
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._subprotocols = list(subprotocols)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._call(self._serve())
        self.port = self._server.sockets[0].getsockname()[1]

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(patience(60))

    async def _serve(self):
        return await websockets.serve(
            self._handle,
            "127.0.0.1",
            0,
            ssl=self._context,
            subprotocols=self._subprotocols or None,
            process_request=self._answer,
            ping_interval=None,
            max_size=None,
        )

    def stop(self):
        async def close():
            self._server.close()
            await self._server.wait_closed()

        self._call(close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(patience(60))
        self._loop.close()

    @property
    def url(self):
        return f"wss://localhost:{self.port}/"

    # ---- what a test has it do

    @property
    def session(self):
        return self.sessions[-1]

    def begun(self, count=1):
        """The session, once so many have begun."""
        eventually(lambda: len(self.sessions) >= count and self.session.connection, f"{count} session(s)")
        return self.session

    def say(self, message):
        """Bytes are text of the game; anything else is an event that counts."""
        self._call(self._say(message if isinstance(message, bytes) else json.dumps(message)))

    async def _say(self, message):
        self.session.said.append(message)
        if self.session.connection:
            with contextlib.suppress(websockets.ConnectionClosed):
                await self.session.connection.send(message)

    def tell(self, message):
        """An event that does not count."""
        self._call(self.session.connection.send(json.dumps(message)))

    def cut(self):
        """The connection is gone without a word."""

        async def abort():
            if self.session.connection:
                self.session.connection.transport.abort()

        self._call(abort())
        eventually(lambda: self.session.connection is None, "the end of the connection")

    def close(self, code, reason=""):
        """Nothing, when the app has gone already."""

        async def close():
            if self.session.connection:
                await self.session.connection.close(code, reason)

        self._call(close())

    def end(self, reason):
        self.say({"type": "ended", "reason": reason})
        self.close(1000)

    def forget(self):
        """No session can be resumed any more."""
        for session in self.sessions:
            session.ids = []

    # ---- the protocol

    async def _answer(self, path, headers):
        if path.partition("?")[0] == "/attest/challenge":
            nonce = secrets.token_hex(32)
            body = json.dumps({"nonce": nonce, "expires": int(time.time() + 60) * 1000}).encode()
            return http.HTTPStatus.OK, [("Content-Type", "application/json")], body
        self.attempts.append(Attempt(headers))
        if self.refusals:
            status, code, fields = self.refusals.pop(0)
            return http.HTTPStatus(status), [("Portcullis-Error", code), *fields], b""
        return None

    def _find(self, resume):
        """The session that is to be resumed, and after how many messages."""
        if resume:
            identifier, _, received = resume.partition(";received=")
            for session in self.sessions:
                if identifier in session.ids:
                    return session, int(received.removesuffix(";state"))
        return None, 0

    async def _handle(self, connection):
        self.carried += 1
        try:
            await self._carry(connection)
        finally:
            self.carried -= 1

    async def _carry(self, connection):
        if connection.subprotocol is None:
            return await connection.wait_closed()
        session, received = self._find(connection.request_headers.get("Portcullis-Resume"))
        resumed = session is not None
        if not resumed:
            session = Session()
            self.sessions.append(session)
        fresh = secrets.token_urlsafe(16)
        session.ids = session.ids[-1:] + [fresh]
        if not self.greets:
            return await connection.wait_closed()
        greeting = {"type": "session", "id": fresh, "resumed": resumed, "received": len(session.taken)}
        greeting |= {"resumeFor": 600, "maxMessage": 65536, "kept": True}
        greeting |= {"echo": False, "gmcp": False, "msdp": False}
        try:
            await connection.send(self.says_first or json.dumps(greeting))
            # Also what is said while this is sent.
            while received < len(session.said):
                await connection.send(session.said[received])
                received += 1
            session.connection = connection
            async for message in connection:
                session.ids = session.ids[-1:]
                if self.ready_to_cut and self.ready_to_cut():
                    connection.transport.abort()
                    break
                await self._take(session, connection, message)
        except websockets.ConnectionClosed:
            pass
        finally:
            if session.connection is connection:
                session.connection = None

    async def _take(self, session, connection, message):
        kind = json.loads(message)["type"] if isinstance(message, str) else None
        if kind == "ack":
            acknowledged = json.loads(message)["received"]
            assert session.acknowledged <= acknowledged <= len(session.said), message
            session.acknowledged = acknowledged
        elif kind == "client":
            session.clients.append(json.loads(message))
        else:
            session.taken.append(message)
            if len(session.taken) % 8 == 0:
                await connection.send(json.dumps({"type": "ack", "received": len(session.taken)}))
