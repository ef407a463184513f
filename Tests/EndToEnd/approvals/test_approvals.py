"""Approvals over HTTPS, with phones whose messages are made here: what is asked, decided, used, and tried on them."""

import base64
import concurrent.futures
import json
import signal
import threading
import time
import uuid

import pytest
from approvers import DECISIONS, add_service, approval_settings
from clients import App, assert_refusal
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from handset import Handset
from phones import base64url, encode, sha256
from waiting import eventually

pytestmark = pytest.mark.quick

POLICY = {
    "rules": [
        {"match": {"operation": "promote"}, "level": "bare", "lease": {"ttl_s": 600, "uses": 5}},
        {"match": {"operation": "two"}, "level": "bare", "quorum": 2},
        {"match": {"operation": "open"}, "level": "bare", "match_digits": 0, "lease": {"ttl_s": 600, "uses": 1}},
        {"match": {"operation": "attested"}},
        {"match": {"operation": "pay"}, "level": "bare", "match_digits": 0},
        {"match": {"operation": "pay", "target": {"realm": "prod"}}, "level": "hardware_attested"},
    ]
}


@pytest.fixture
def gate(gates, folder, fault):
    return gates(**approval_settings(folder, POLICY, **fault.environment))


def add(gate, name, *more):
    return Service(gate, add_service(gate, name, "approvals", *more))


@pytest.fixture
def service(gate):
    return add(gate, "mud")


@pytest.fixture
def phone(gate):
    return Phone(gate)


class Client:
    """Requests over a connection of the thread's own."""

    def __init__(self, gate):
        self.gate, self.own = gate, threading.local()

    def request(self, method, path, document=None, token=None):
        if not hasattr(self.own, "app"):
            self.own.app = App(self.gate)
        headers = {"Authorization": f"Bearer {token}"}
        body = None
        if document is not None:
            headers["Content-Type"] = "application/json"
            body = document if isinstance(document, str) else json.dumps(document)
        return self.own.app.request(method, path, body, headers)


class Service(Client):
    def __init__(self, gate, token):
        super().__init__(gate)
        self.token = token

    def ask(self, operation="promote", requester="saruman", **changes):
        document = {
            "operation": operation,
            "target": {"player": "gandalf"},
            "text": "Gandalf becomes a wizard.",
            "subject": "anna",
            "requester": {"id": requester},
            **changes,
        }
        return self.request("POST", "/approvals", document, self.token)

    def asked(self, operation="promote", requester=None, **changes):
        reply = self.ask(operation, requester or str(uuid.uuid4()), **changes)
        assert reply.status == 201, reply
        return reply.json

    def result(self, asked, wait=None):
        query = f"?wait={wait}" if wait else ""
        return self.request("GET", f"/approvals/{asked['id']}{query}", token=self.token)

    def state(self, asked):
        return self.result(asked).json["state"]

    def use(self, lease, use_id, operation="promote", target=None):
        document = {"operation": operation, "target": target or {"player": "gandalf"}, "use_id": use_id}
        return self.request("POST", f"/leases/{lease}/use", document, self.token)


class Phone(Client):
    """An active device of anna's, or of somebody else's."""

    def __init__(self, gate, subject="anna", has_approval_key=True):
        super().__init__(gate)
        self.handset = Handset(gate, has_approval_key=has_approval_key)
        self.handset.enroll()
        done = gate.command("devices", "confirm", self.handset.id, "--subject", subject)
        assert done.returncode == 0, done.stderr
        self.id, self.token = self.handset.id, self.handset.token
        self.server = self.handset.server

    def list(self, after=None, wait=None):
        query = "&".join(f"{name}={value}" for name, value in [("after", after), ("wait", wait)] if value)
        reply = self.request("GET", "/approvals" + (f"?{query}" if query else ""), token=self.token)
        assert reply.status == 200, reply
        return reply.json

    def item(self, asked):
        (found,) = [item for item in self.list()["items"] if item["id"] == asked["id"]]
        return found

    def body(self, item, decision="approve", code="", sign=None, signed=None):
        """The body of a vote on an item of the list; `signed` is what is signed in the place of what is sent."""
        number = DECISIONS[decision]
        issued_at = int(time.time())
        fields = {
            "server": self.server.bytes,
            "request": uuid.UUID(item["id"]).bytes,
            "device": uuid.UUID(self.id).bytes,
            "decision": number,
            "summary": sha256(from_base64url(item["summary"])),
            "code": code.encode(),
            "issued_at": issued_at.to_bytes(8, "big"),
            "expires_at": item["expires_at"].to_bytes(8, "big"),
            **(signed or {}),
        }
        document = {
            "device_id": self.id,
            "decision": decision,
            "issued_at": issued_at,
            "signature": (sign or self.handset.approval).sign(encode("approval", *fields.values())),
        }
        return document | ({"match_code": code} if code else {})

    def send(self, asked, body, token=None):
        return self.request("POST", f"/approvals/{asked['id']}/decision", body, token or self.token)

    def vote(self, asked, decision="approve", code=None, item=None, **changes):
        if code is None:
            code = asked.get("match_code", "") if decision == "approve" else ""
        return self.send(asked, self.body(item or self.item(asked), decision, code, **changes))


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def at_once(*works):
    """All of them on threads of their own, started together."""
    barrier = threading.Barrier(len(works))

    def run(work):
        barrier.wait()
        return work()

    with concurrent.futures.ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


# ---- the way of a request


def test_a_phone_that_may_see_and_not_decide(gate, service, phone):
    """It has no key that asks a person."""
    viewer = Phone(gate, has_approval_key=False)
    asked = service.asked()
    voted = viewer.vote(asked, item=viewer.item(asked), sign=viewer.handset.key)
    assert_refusal(voted, 403, "level_too_low")
    assert service.state(asked) == "pending"
    assert phone.vote(asked).json["state"] == "approved"


def test_64_polls_of_a_service_wait(gate, service, phone, fault):
    """Those beyond are answered at once, with how it stands."""
    fault.stand_still()
    asked = service.asked()

    def poll():
        # A service's queue holds 64 as well: where the registry has not come to them yet, the next one is to come again.
        while (reply := service.result(asked, 25)).status == 503:
            assert_refusal(reply, 503, "overloaded")
        return reply

    with concurrent.futures.ThreadPoolExecutor(66) as pool:
        polls = [pool.submit(poll) for _ in range(66)]
        eventually(lambda: sum(poll.done() for poll in polls) == 2, "all but two wait")
        early = [poll for poll in polls if poll.done()]
        assert [poll.result().json["state"] for poll in early] == ["pending"] * 2
        assert phone.vote(asked).json["state"] == "approved"
        assert [poll.result().json["state"] for poll in polls if poll not in early] == ["approved"] * 64


def test_an_approval_from_the_curl_to_the_proof(gate, service, phone, folder, fault):
    # Whoever waits does so until there is something to hear.
    fault.stand_still()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        heard = pool.submit(phone.list, wait=25)
        asked = service.asked(lease={"ttl_s": 60, "uses": 2})
        (item,) = heard.result()["items"]
        assert item["id"] == asked["id"] and item["match_digits"] == len(asked["match_code"]) == 4
        shown = json.loads(from_base64url(item["summary"]))
        assert (shown["operation"], shown["target"], shown["service"]) == ("promote", {"player": "gandalf"}, "mud")
        assert "match_code" not in json.dumps(item)

        waiting = pool.submit(service.result, asked, 25)
        voted = phone.vote(asked, item=item)
        assert voted.json == {"state": "approved", "votes_needed": 0}
        result = waiting.result().json
    assert result["state"] == "approved" and result["server_id"] == str(phone.server)

    (vote,) = result["votes"]
    key = serialization.load_der_public_key(from_base64url(vote["public_key"]))
    message = encode(
        "approval", phone.server.bytes, uuid.UUID(result["id"]).bytes, uuid.UUID(vote["device_id"]).bytes, b"\x01",
        sha256(from_base64url(result["summary"])), vote["match_code"].encode(),
        vote["issued_at"].to_bytes(8, "big"), result["expires_at"].to_bytes(8, "big"),
    )  # fmt: skip
    key.verify(from_base64url(vote["signature"]), message, ec.ECDSA(hashes.SHA256()))

    (folder / "result.json").write_text(json.dumps(result))
    assert gate.command("verify", "--approved", "result.json").returncode == 0
    former = gate.command("verify", "approval", "--approved", "result.json")
    assert former.returncode == 0 and former.stderr == "portcullis: verify approval is now: portcullis verify\n", former
    other = gate.command("verify", "--keys", "keys.json", "result.json")
    assert other.returncode == 64 and "--keys is not for the result of a request for an approval" in other.stderr
    (folder / "forged.json").write_text(json.dumps(result | {"expires_at": result["expires_at"] - 1}))
    forged = gate.command("verify", "forged.json")
    assert forged.returncode == 1 and "signature" in forged.stdout

    lease = result["lease"]["id"]
    assert [service.use(lease, use).json for use in ("a", "b", "a")] == [
        {"uses_left": 1}, {"uses_left": 0}, {"uses_left": 1},
    ]  # fmt: skip
    assert_refusal(service.use(lease, "c"), 409, "lease_exhausted")
    assert_refusal(service.use(lease, "d", operation="demote"), 403, "lease_mismatch")
    assert_refusal(service.use(lease, "d", target={"player": "sauron"}), 403, "lease_mismatch")


def test_a_report_bars_until_an_operator_lifts_it(gate, service, phone):
    asked = service.asked(requester="wormtongue")
    assert phone.vote(asked, "report").json["state"] == "reported"
    assert_refusal(service.ask(requester="wormtongue"), 403, "requester_barred")
    listed = gate.command("approvals", "list", "--barred", "--json")
    (bar,) = json.loads(listed.stdout)
    assert (bar["service"], bar["requester"], bar["subject"]) == ("mud", "wormtongue", "anna")
    lift = ("approvals", "unbar", "--service", "mud", "--requester", "wormtongue", "--subject", "anna")
    assert gate.command(*lift).returncode == 0
    assert gate.command(*lift).returncode == 65
    assert service.ask(requester="wormtongue").status == 201


def test_forms(service, phone):
    asked = service.asked()
    body = phone.body(phone.item(asked), code=asked["match_code"])
    for change in [
        {"decision": "maybe"}, {"decision": None}, {"device_id": "x"}, {"issued_at": "1"}, {"issued_at": -1},
        {"signature": "!"}, {"match_code": "1"}, {"match_code": 12}, {"signature": None},
    ]:  # fmt: skip
        assert_refusal(phone.send(asked, body | change), 400, "bad_request")
    skewed = phone.body(phone.item(asked), code=asked["match_code"])
    skewed["issued_at"] -= 400
    refused = phone.send(asked, skewed)
    assert (refused.status, refused.code) == (400, "clock_skewed")
    assert abs(refused.json["error"]["time"] - time.time()) < 120
    for change in [
        {"target": {"player": 1}}, {"target": []}, {"text": None}, {"requester": {}}, {"subject": ""},
        {"text": "a\u202eb"}, {"operation": "a\nb"}, {"lease": {"ttl_s": 0, "uses": 1}}, {"policy": {"quorum": 0}},
    ]:  # fmt: skip
        assert_refusal(service.ask(**change), 400, "bad_request")
    twice = '{"operation":"promote","operation":"open","target":{},"text":"x","requester":{"id":"a"}}'
    assert_refusal(service.request("POST", "/approvals", twice, service.token), 400, "bad_request")


def test_the_same_key_is_the_same_request(service, phone):
    first, again = (service.ask(requester="r", idempotency_key="k") for _ in range(2))
    assert first.json == again.json and again.status == 201
    assert len(phone.list()["items"]) == 1
    assert_refusal(service.ask(requester="r", idempotency_key="k", text="x"), 409, "idempotency_conflict")


def test_policies(service, phone):
    assert_refusal(service.ask("unheard-of"), 403, "policy_refused")
    # Nobody's phone has that level.
    assert_refusal(service.ask("attested"), 409, "no_device")
    assert_refusal(service.ask("two", requester="r"), 409, "no_device")
    assert service.ask("pay", "a", target={"realm": "test"}).status == 201
    assert_refusal(service.ask("pay", "b", target={"realm": "prod"}), 409, "no_device")
    # A policy is not evaded by leaving a member out.
    assert_refusal(service.ask("pay", "b", target={}), 409, "no_device")
    assert_refusal(service.ask("pay", "b", target={"Realm": "test"}), 409, "no_device")
    assert_refusal(service.ask(requester="anna"), 409, "no_device")


def test_how_many_may_be_open(service, phone):
    for _ in range(2):
        service.asked(requester="r")
    assert_refusal(service.ask(requester="r"), 429, "too_many_open")
    # The phone's share of this service is used up, whomever it asks for.
    assert_refusal(service.ask(requester="other"), 429, "too_many_open")
    assert len(phone.list()["items"]) == 2


# ---- what is tried


@pytest.mark.parametrize("what", ["server", "request", "device", "decision", "code", "summary", "expires_at"])
def test_an_approval_replayed_for_something_else(service, phone, what):
    asked, other = service.asked(), service.asked()
    item = phone.item(asked)
    instead = {
        "server": uuid.uuid4().bytes,
        "request": uuid.UUID(other["id"]).bytes,
        "device": uuid.uuid4().bytes,
        "decision": b"\x02",
        "code": b"99" if asked["match_code"] != "99" else b"98",
        "summary": sha256(from_base64url(phone.item(other)["summary"]) + b" "),
        "expires_at": (item["expires_at"] + 1).to_bytes(8, "big"),
    }
    body = phone.body(item, code=asked["match_code"], signed={what: instead[what]})
    assert_refusal(phone.send(asked, body), 401, "signature_rejected")
    assert service.state(asked) == "pending"
    assert phone.vote(asked).json["state"] == "approved"


def test_a_stolen_token_decides_nothing(gate, service, phone):
    thief = Phone(gate, "gollum")
    asked = service.asked()
    item = phone.item(asked)
    body = phone.body(item, code=asked["match_code"], sign=thief.handset.approval)
    assert_refusal(phone.send(asked, body), 401, "signature_rejected")
    body = phone.body(item, code=asked["match_code"], sign=phone.handset.key)
    assert_refusal(phone.send(asked, body), 401, "signature_rejected")
    assert_refusal(thief.send(asked, thief.body(item, code=asked["match_code"])), 404, "not_found")
    assert_refusal(thief.send(asked, thief.body(item), token=phone.token), 401, "token_rejected")
    assert_refusal(phone.request("GET", "/approvals", token="x"), 401, "token_rejected")
    assert service.state(asked) == "pending"


def test_a_stolen_service_token_sees_nothing_of_others(gate, service, phone):
    thief = add(gate, "web", "--subjects", "web-*")
    asked = service.asked("open", lease={"ttl_s": 60, "uses": 1})
    assert phone.vote(asked).status == 200
    lease = service.result(asked).json["lease"]["id"]
    assert_refusal(thief.ask(), 403, "scope_missing")
    assert_refusal(thief.result(asked), 404, "not_found")
    assert_refusal(thief.use(lease, "a", "open"), 404, "not_found")
    assert_refusal(thief.request("DELETE", f"/leases/{lease}", token=thief.token), 404, "not_found")
    assert_refusal(thief.request("DELETE", f"/approvals/{asked['id']}", token=thief.token), 404, "not_found")
    assert gate.command("services", "rotate", "mud").returncode == 0
    assert_refusal(service.use(lease, "a", "open"), 401, "token_rejected")


def test_wrong_codes_by_brute_force(service, phone):
    asked = service.asked()
    item = phone.item(asked)
    right = asked["match_code"]
    unsigned = phone.body(item, code="00" if right != "00" else "01", signed={"summary": bytes(32)})
    for _ in range(5):
        assert_refusal(phone.send(asked, unsigned), 401, "signature_rejected")
    guesses = [f"{number:02d}" for number in range(100) if f"{number:02d}" != right]
    for guess in guesses[:3]:
        assert_refusal(phone.vote(asked, code=guess, item=item), 403, "code_rejected")
    assert_refusal(phone.vote(asked, item=item), 409, "not_pending")
    assert service.state(asked) == "denied"


def test_votes_racing(gate, service, phone):
    """One decides, all others hear that it is decided; whatever the service hears then stays so."""
    phones = [phone] + [Phone(gate) for _ in range(3)]
    for _ in range(4):
        asked = service.asked()
        decisions = ["approve", "deny", "approve", "deny"]
        items = [voter.item(asked) for voter in phones]
        replies = at_once(
            *(
                lambda voter=voter, decision=decision, item=item: voter.vote(asked, decision, item=item)
                for voter, decision, item in zip(phones, decisions, items, strict=True)
            )
        )
        (won,) = [reply.json["state"] for reply in replies if reply.status == 200]
        assert [reply.code for reply in replies if reply.status != 200] == ["not_pending"] * 3
        result = service.result(asked).json
        assert result["state"] == won and len(result["votes"]) == 1


def test_a_vote_racing_a_revocation(gate, service, phone):
    """Either the vote was first, and its lease has ended with the device; or it was refused."""
    for _ in range(3):
        voter = Phone(gate)
        asked = service.asked("open", lease={"ttl_s": 60, "uses": 1})
        item = voter.item(asked)
        voted, revoked = at_once(
            lambda voter=voter, asked=asked, item=item: voter.vote(asked, item=item),
            lambda voter=voter: gate.command("devices", "revoke", voter.id),
        )
        assert revoked.returncode == 0, revoked.stderr
        result = service.result(asked).json
        if voted.status == 200:
            assert result["state"] == "approved"
            assert_refusal(service.use(result["lease"]["id"], "a", "open"), 409, "lease_ended")
        else:
            assert_refusal(voted, 401, "token_rejected")
            assert result["state"] == "pending" and not result["votes"]
            # The other phone has places for two of one service, and one that none of the phones could see would end.
            assert service.request("DELETE", f"/approvals/{asked['id']}", token=service.token).status == 200
        assert_refusal(voter.request("GET", "/approvals", token=voter.token), 401, "token_rejected")


def test_nobody_is_left_to_approve(gate, service, phone, fault):
    fault.stand_still()
    other = Phone(gate)
    asked = service.asked("two")
    assert phone.vote(asked).json == {"state": "pending", "votes_needed": 1}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(service.result, asked, 25)
        assert gate.command("devices", "revoke", other.id).returncode == 0
        result = waiting.result().json
    assert (result["state"], result["reason"]) == ("cancelled", "no_device")


def test_a_lease_used_twice_at_once(service, phone):
    asked = service.asked("open", lease={"ttl_s": 60, "uses": 1})
    assert phone.vote(asked).status == 200
    lease = service.result(asked).json["lease"]["id"]
    replies = at_once(*(lambda use=use: service.use(lease, f"use-{use}", "open") for use in range(8)))
    assert sorted(reply.status for reply in replies) == [200] + [409] * 7
    assert {reply.code for reply in replies if reply.status == 409} == {"lease_exhausted"}


def test_what_was_answered_holds_after_a_kill(gate, service, phone):
    approved = service.asked("open", lease={"ttl_s": 600, "uses": 1})
    assert phone.vote(approved).status == 200
    lease = service.result(approved).json["lease"]["id"]
    assert service.use(lease, "once", "open").json == {"uses_left": 0}
    denied, open_ = service.asked(), service.asked()
    assert phone.vote(denied, "deny").status == 200
    gate.kill()
    gate.start()
    service.own, phone.own = threading.local(), threading.local()
    assert [service.state(asked) for asked in (approved, denied, open_)] == ["approved", "denied", "pending"]
    assert service.use(lease, "once", "open").json == {"uses_left": 0}
    assert_refusal(service.use(lease, "twice", "open"), 409, "lease_exhausted")
    assert phone.vote(open_).json["state"] == "approved"


def test_a_service_takes_its_request_back(service, phone):
    asked = service.asked()
    done = service.request("DELETE", f"/approvals/{asked['id']}", token=service.token)
    assert done.status == 200 and done.json["state"] == "cancelled"
    assert phone.list()["items"] == []
    assert_refusal(
        service.request("DELETE", f"/approvals/{asked['id']}", token=service.token), 409, "not_pending"
    )


def test_a_reload_changes_what_is_asked_of_new_requests(gate, service, phone, folder):
    before = service.asked("open")
    (folder / "approvals.json").write_text(json.dumps({"DEFAULT": {"level": "hardware_attested"}}))
    gate.signal(signal.SIGHUP)
    eventually(lambda: service.ask("open", str(uuid.uuid4())).code == "no_device", "the new policy holds")
    assert phone.vote(before).json["state"] == "approved"


def test_tokens_of_nobody(service, phone):
    for token in ("", "x", "a.b.c", base64url(bytes(32))):
        assert_refusal(service.request("GET", f"/approvals/{uuid.uuid4()}", token=token), 401, "token_rejected")
    # A service's where a device's belongs, and the other way round.
    assert_refusal(service.request("POST", "/approvals", {}, phone.token), 401, "token_rejected")
