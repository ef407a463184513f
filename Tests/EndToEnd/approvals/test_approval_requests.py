"""Approvals over HTTPS, as a game and a phone of other makers send them: each form, each status and code of
docs/protocol-devices.md, "Devices", and the attacks that need no more than a request."""

import base64
import json
import time
import uuid
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pytest
from approvers import add_service, approval_settings, body, phone_of, request, result
from clients import assert_refusal
from phones import ask

RULES = {
    "rules": [
        {"match": {"operation": "promote"}, "level": "bare", "ttl_s": 120},
        {"match": {"operation": "plain"}, "level": "bare", "match_digits": 0},
        {"match": {"operation": "lend"}, "level": "bare", "lease": {"ttl_s": 60, "uses": 2}},
        {"match": {"operation": "two"}, "level": "bare", "quorum": 2},
        {"match": {"operation": "better"}},
        {"match": {"operation": "near"}, "level": "bare", "presence": True},
        {"match": {"operation": "both"}, "level": "bare", "factors": ["device", "operator"]},
    ]
}


@pytest.fixture
def gate(gates, folder, fault):
    return gates(**approval_settings(folder, RULES, **fault.environment))


@pytest.fixture
def service(gate):
    return add_service(gate)


@pytest.fixture
def phone(gate):
    return phone_of(gate)


def test_from_the_question_to_the_result(gate, service, phone):
    asked = request(gate, service)
    assert set(asked) == {"id", "match_code", "expires_at"}
    assert str(uuid.UUID(asked["id"])) == asked["id"] and len(asked["match_code"]) == 2
    assert 0 < asked["expires_at"] - time.time() <= 121
    reply = phone.get("/approvals?after=&wait=25", phone.token)
    assert set(reply.json) == {"items", "cursor"}
    (item,) = reply.json["items"]
    assert set(item) == {"id", "summary", "match_digits", "created_at", "expires_at"}
    assert (item["id"], item["match_digits"], item["expires_at"]) == (asked["id"], 2, asked["expires_at"])
    assert "=" not in item["summary"]
    summary = json.loads(base64.urlsafe_b64decode(item["summary"] + "=="))
    assert summary == {
        "v": 1,
        "operation": "promote",
        "target": {"player": "gandalf"},
        "text": "Gandalf becomes a wizard.",
        "requester": {"id": "saruman", "name": "Saruman"},
        "service": "mud",
        "subject": "anna",
        "policy": {"level": "bare", "uv": "app", "quorum": 1, "factors": ["device"]},
        "created_at": item["created_at"],
    }
    pending = result(gate, service, asked)
    assert (pending["state"], pending["votes"]) == ("pending", []) and "decided_at" not in pending
    voted = phone.vote(item, "approve", asked["match_code"])
    assert voted.status == 200 and voted.json == {"state": "approved", "votes_needed": 0}
    found = result(gate, service, asked)
    assert set(found) == {
        *("id", "server_id", "state", "summary", "created_at", "expires_at", "decided_at", "votes")
    }
    assert (found["state"], found["server_id"]) == ("approved", str(phone.server))
    (vote,) = found["votes"]
    assert set(vote) == {
        *("device_id", "public_key", "decision", "match_code", "issued_at", "level", "uv", "signature")
    }
    assert (vote["device_id"], vote["decision"], vote["match_code"]) == (phone.id, "approve", asked["match_code"])
    assert (vote["level"], vote["uv"]) == ("bare", "app") and "=" not in vote["signature"] + vote["public_key"]
    (gate.folder / "result.json").write_text(json.dumps(found))
    assert gate.command("verify", "result.json").returncode == 0
    assert phone.items() == []
    assert_refusal(phone.vote(item, "deny"), 409, "not_pending")
    assert_refusal(ask(gate, "DELETE", f"/approvals/{asked['id']}", token=service), 409, "not_pending")


def test_a_vote_for_anything_else_is_none(gate, service, phone, fault):
    """For another request, device, server, decision, code, summary, time, or by another key."""
    fault.stand_still()
    asked, other = request(gate, service), request(gate, service, requester={"id": "else"})
    items = {item["id"]: item for item in phone.items()}
    item, second = items[asked["id"]], items[other["id"]]
    code = asked["match_code"]
    good = phone.decision(item, "approve", code)
    stranger = phone_of(gate)
    path = f"/approvals/{item['id']}/decision"

    def refused(document, status, code, token=phone.token):
        assert_refusal(phone.post(path, document, token), status, code)

    for document in [
        phone.decision(second, "approve", code),
        phone.decision(item, "deny", code) | {"decision": "approve"},
        good | {"match_code": "99" if code != "99" else "98"},
        good | {"issued_at": good["issued_at"] - 1},
        good | {"signature": phone.key.sign(b"")},
        phone.decision(item, "approve", code, signer=phone.key),
        phone.decision(item, "approve", code, signer=stranger.approval),
        phone.decision({**item, "expires_at": item["expires_at"] + 1}, "approve", code),
        phone.decision({**item, "summary": second["summary"]}, "approve", code),
    ]:
        refused(document, 401, "signature_rejected")
    server, phone.server = phone.server, uuid.uuid4()
    refused(phone.decision(item, "approve", code), 401, "signature_rejected")
    phone.server = server
    refused(good, 401, "token_rejected", stranger.token)
    assert_refusal(phone.post(f"/approvals/{uuid.uuid4()}/decision", good, phone.token), 404, "not_found")
    for skew in (-301, 301):
        reply = phone.vote(item, "approve", code, at=int(fault.now()) + skew)
        assert (reply.status, reply.code) == (400, "clock_skewed")
        assert set(reply.json["error"]) == {"code", "message", "step", "time"}
        assert reply.json["error"]["time"] == int(fault.now())
    # Nothing of this was a try.
    assert phone.post(path, good, phone.token).json["state"] == "approved"


def test_three_wrong_codes_under_good_signatures_deny(gate, service, phone):
    asked = request(gate, service)
    (item,) = phone.items()
    wrong = "00" if asked["match_code"] != "00" else "01"
    for code in (wrong, "", wrong):
        assert_refusal(phone.vote(item, "approve", code), 403, "code_rejected")
    assert_refusal(phone.vote(item, "approve", asked["match_code"]), 409, "not_pending")
    assert result(gate, service, asked)["state"] == "denied"


def test_who_denies_needs_no_code(gate, service, phone):
    asked = request(gate, service)
    (item,) = phone.items()
    assert phone.vote(item, "deny").json == {"state": "denied", "votes_needed": 0}
    assert result(gate, service, asked)["votes"][0]["match_code"] == ""


def test_a_report_bars_the_requester(gate, service, phone):
    asked = request(gate, service)
    assert phone.vote(phone.items()[0], "report").json["state"] == "reported"
    assert result(gate, service, asked)["state"] == "reported"
    again = ask(gate, "POST", "/approvals", body(), service)
    assert_refusal(again, 403, "requester_barred")
    assert request(gate, service, requester={"id": "radagast"})
    listed = json.loads(gate.command("approvals", "list", "--barred", "--json").stdout)
    assert [(bar["service"], bar["requester"], bar["subject"]) for bar in listed] == [("mud", "saruman", "anna")]
    lift = ("approvals", "unbar", "--service", "mud", "--requester", "saruman", "--subject", "anna")
    assert gate.command(*lift).returncode == 0
    request(gate, service)


@pytest.mark.parametrize(
    "changes",
    [
        {"operation": ...},
        {"target": ...},
        {"text": ...},
        {"requester": ...},
        {"operation": None},
        {"operation": ""},
        {"operation": "x" * 129},
        {"target": {"a": None}},
        {"target": {"a": 1}},
        {"target": ["a"]},
        {"text": None},
        {"text": 7},
        {"text": "a\u202eb"},
        {"text": "a\u0007b"},
        {"text": "a\u200bb"},
        {"text": "a\ud800b"},
        {"text": "x" * 9000},
        {"target": {"a\u2066": "b"}},
        {"subject": None},
        {"subject": ""},
        {"subject": "a\nb"},
        {"requester": {}},
        {"requester": {"id": None}},
        {"requester": {"id": "a", "name": None}},
        {"requester": "saruman"},
        {"policy": None},
        {"policy": {"quorum": None}},
        {"policy": {"quorum": 0}},
        {"policy": {"level": "best"}},
        {"policy": {"match_digits": 1}},
        {"policy": {"match_digits": 7}},
        {"lease": None},
        {"lease": {}},
        {"lease": {"ttl_s": 0, "uses": 1}},
        {"lease": {"ttl_s": 1.5, "uses": 1}},
        {"idempotency_key": None},
        {"idempotency_key": 1},
    ],
    ids=str,
)
def test_forms(shared_gate, changes):
    gate, service = shared_gate
    assert_refusal(ask(gate, "POST", "/approvals", body(**changes), service), 400, "bad_request")


def test_what_is_no_form_at_all(shared_gate):
    gate, service = shared_gate

    def post(text, kind="application/json"):
        fields = {"Authorization": f"Bearer {service}", "Content-Type": kind}
        return gate.app.request("POST", "/approvals", text, fields)

    text = json.dumps(body())
    for wrong in [
        "",
        "[]",
        "null",
        text[:-1],
        text + "x",
        text[:-1] + ', "text": "again"}',
        text[:-1] + ', "x": {"a": 1, "a": 2}}',
        '{"a":' * 40 + "1" + "}" * 40,
    ]:
        assert_refusal(post(wrong), 400, "bad_request")
    assert_refusal(post(text, "text/plain"), 415, "unsupported_media_type")
    assert_refusal(post(text + " " * 70_000), 413, "content_too_large")
    # Members that nobody knows are nobody's business.
    assert_refusal(post(text[:-1] + ', "x": {"y": [1.5e3, true]}}'), 409, "no_device")


@pytest.fixture(scope="module")
def shared_gate(shared_gates, module_folder):
    gate = shared_gates(**approval_settings(module_folder, RULES))
    return gate, add_service(gate)


def test_who_may_ask(gate, phone):
    service = add_service(gate, "web", "approvals", "--subjects", "b*")
    reader = add_service(gate, "reader", "devices.read")
    for token in (None, "x" * 43, phone.token):
        reply = ask(gate, "POST", "/approvals", body(), token)
        assert_refusal(reply, 401, "token_rejected")
        assert reply.header("WWW-Authenticate").startswith("Bearer")
    basic = gate.app.request("GET", "/device/self", None, {"Authorization": "Basic eDp5"})
    assert_refusal(basic, 401, "token_rejected")
    assert_refusal(ask(gate, "POST", "/approvals", body(), reader), 403, "scope_missing")
    assert_refusal(ask(gate, "POST", "/approvals", body(), service), 403, "scope_missing")
    assert_refusal(ask(gate, "POST", "/approvals", body("unheard"), add_service(gate)), 403, "policy_refused")


def test_what_is_anothers_is_not_there(gate, service, phone):
    asked = request(gate, service)
    other = add_service(gate, "web", "approvals,pairings,codes,presence,devices.read")
    path = f"/approvals/{asked['id']}"
    for method in ("GET", "DELETE"):
        assert_refusal(ask(gate, method, path, token=other), 404, "not_found")
        assert_refusal(ask(gate, method, f"/approvals/{uuid.uuid4()}", token=service), 404, "not_found")
    stranger = phone_of(gate, "bert")
    assert stranger.items() == []
    assert_refusal(stranger.vote(phone.items()[0], "deny"), 404, "not_found")
    cancelled = ask(gate, "DELETE", path, token=service)
    assert cancelled.status == 200 and result(gate, service, asked)["state"] == "cancelled"


def test_who_may_look_may_not_decide(gate, service, phone):
    """The phone is bare, and the rule asks for an app that was attested."""
    assert_refusal(ask(gate, "POST", "/approvals", body("better"), service), 409, "no_device")
    keyless = phone_of(gate, "carl", has_approval_key=False)
    assert keyless.get("/device/self", keyless.token).json["uv"] == "none"
    assert_refusal(ask(gate, "POST", "/approvals", body(subject="carl"), service), 409, "no_device")


def test_what_a_phone_alone_cannot_give(gate, service, phone):
    """A rule that wants it near, and one that wants an operator of whom there is none."""
    asked = request(gate, service, "near")
    near = phone.vote(phone.items()[0], "approve", asked["match_code"])
    assert_refusal(near, 403, "presence_required")
    assert_refusal(ask(gate, "POST", "/approvals", body("both"), service), 409, "no_device")


def test_two_polls_of_a_phone_wait_and_a_third_does_not(gate, phone, fault):
    fault.stand_still()
    with ThreadPoolExecutor(3) as threads:
        polls = [threads.submit(phone.items, "?wait=25") for _ in range(3)]
        answered, waiting = wait(polls, return_when=FIRST_COMPLETED)
        assert [poll.result() for poll in answered] == [[]] and len(waiting) == 2
        asked = request(gate, add_service(gate))
        assert [[item["id"] for item in poll.result()] for poll in waiting] == [[asked["id"]]] * 2


def test_nobody_approves_himself(gate, service, phone):
    refused = ask(gate, "POST", "/approvals", body(requester={"id": "anna"}), service)
    assert_refusal(refused, 409, "no_device")
    assert_refusal(ask(gate, "POST", "/approvals", body(subject=...), service), 400, "bad_request")


def test_two_phones_have_to_agree(gate, service, phone):
    assert_refusal(ask(gate, "POST", "/approvals", body("two"), service), 409, "no_device")
    second = phone_of(gate)
    asked = request(gate, service, "two")
    assert phone.vote(phone.items()[0], "approve", asked["match_code"]).json == {
        "state": "pending",
        "votes_needed": 1,
    }
    item = second.items()[0]
    again = phone.vote(item, "approve", asked["match_code"])
    assert_refusal(again, 409, "already_voted")
    gate.command("devices", "revoke", phone.id)
    assert result(gate, service, asked)["state"] == "cancelled"
    assert_refusal(second.vote(item, "approve", asked["match_code"]), 409, "not_pending")


def test_two_are_open_of_a_service_and_others_have_their_place(gate, service, phone):
    """Whomever it says that it asks for; and whoever has none of the phone's five places gets one beside them."""
    for number in range(2):
        request(gate, service, requester={"id": f"r{number}"})
    third = ask(gate, "POST", "/approvals", body(requester={"id": "r2"}), service)
    assert_refusal(third, 429, "too_many_open")
    assert third.json["error"]["step"] == "approval_open_of_service"
    web, shop, door = (add_service(gate, name) for name in ("web", "shop", "door"))
    for token in (web, web, shop):
        request(gate, token)
    second = ask(gate, "POST", "/approvals", body(requester={"id": "else"}), shop)
    assert_refusal(second, 429, "too_many_open")
    assert second.json["error"]["step"] == "approval_open_for_device"
    request(gate, door)
    assert len(phone.items()) == 6


def test_three_reports_bar_the_service(gate, service, phone):
    for number in range(3):
        asked = request(gate, service, requester={"id": f"nag{number}"})
        assert phone.vote(phone.items()[0], "report").json["state"] == "reported", asked
    refused = ask(gate, "POST", "/approvals", body(requester={"id": "nag9"}), service)
    assert_refusal(refused, 403, "requester_barred")
    assert refused.json["error"]["step"] == "approval_bar_of_service"
    gate.event(event="service_barred", level="warning", service="mud", reports="3")
    assert json.loads(gate.command("services", "list", "--json").stdout)[0]["barred_for"] == 1
    bars = json.loads(gate.command("approvals", "list", "--barred", "--json").stdout)
    assert [bar.get("requester") for bar in bars].count(None) == 1 and len(bars) == 4
    lift = ("approvals", "unbar", "--service", "mud", "--subject", "anna")
    assert gate.command(*lift).returncode == 0
    # Who looks like one that was reported is that one.
    for name in ("nag1", "nag1 ", "Nag1"):
        again = ask(gate, "POST", "/approvals", body(requester={"id": name}), service)
        assert_refusal(again, 403, "requester_barred")
    request(gate, service, requester={"id": "nag9"})


def test_a_service_that_leaves_too_much(gates, folder, fault):
    """Asked for and taken back, again and again."""
    gate = gates(**approval_settings(folder, RULES, SERVICE_STORE_PER_DAY="1MiB", **fault.environment))
    service, other = add_service(gate), add_service(gate, "web")
    phone_of(gate)
    fault.stand_still()
    for count in range(200):
        asked = ask(gate, "POST", "/approvals", body(text="x" * 7000), service)
        if asked.status == 429:
            break
        assert ask(gate, "DELETE", f"/approvals/{asked.json['id']}", token=service).status == 200
    assert_refusal(asked, 429, "quota_exceeded")
    assert 100 < count < 120 and 1 <= int(asked.header("Retry-After")) < 900
    assert asked.json["error"]["step"] == "service_bytes_per_day"
    request(gate, other)
    assert (folder / "devices.db").stat().st_size < 4 << 20
    gate.event(event="refused", code="quota_exceeded", step="service_bytes_per_day")


@pytest.mark.parametrize(
    "document, step, field",
    [
        (body(target=...), "target", "target"),
        (body(target={"player": 7}), "target", "target"),
        (body(requester="saruman"), "requester", "requester"),
        (body(text="two\nlines"), "summary_character", "text"),
        (body(target={"player": "gan\u00addalf"}), "summary_character", "target"),
        (body(requester={"id": "s", "name": "sa\u3164ruman"}), "summary_character", "requester"),
    ],
)
def test_a_service_hears_what_is_wrong(gate, service, phone, document, step, field):
    refused = ask(gate, "POST", "/approvals", document, service)
    assert_refusal(refused, 400, "bad_request")
    assert (refused.json["error"]["step"], refused.json["error"]["field"]) == (step, field)


def test_strangers_hear_the_code_alone(gates, folder, fault):
    """In production; whoever has the token of a service is none, and its developer reads the answer."""
    production = {"PORTCULLIS_ENV": "production", "APPATTEST_ROOT_CA_PATH": None}
    gate = gates(**approval_settings(folder, RULES, **production, **fault.environment))
    service = add_service(gate)
    told = ask(gate, "POST", "/approvals", body(target=...), service)
    assert_refusal(told, 400, "bad_request")
    assert told.json["error"] == {
        "code": "bad_request",
        "message": "The request is malformed.",
        "step": "target",
        "field": "target",
    }
    for refused in (
        ask(gate, "POST", "/approvals", body(target=...), "A" * 43),
        ask(gate, "POST", "/device/token", {"device_id": 7}),
        ask(gate, "POST", "/attest/register", {"keyId": "AAAA"}),
        gate.app.request("GET", "/nothing"),
    ):
        assert refused.status >= 400 and set(refused.json["error"]) == {"code", "message"}, refused
    # Beside the code the scheme of what is asked there.
    unknown = phone_of(gate).ask_token(nonce="0" * 64)
    assert_refusal(unknown, 401, "nonce_invalid")
    assert unknown.header("WWW-Authenticate") == "DeviceKey"


def test_two_scopes_that_approve_themselves(gate):
    """Nothing is refused: a game pairs its players' phones and asks them. Where nothing vouches for a phone, it is said."""
    both = gate.command("services", "add", "both", "--scopes", "approvals,pairings")
    assert both.returncode == 0 and len(both.stdout.strip()) == 43 and "bare" in both.stderr
    one = gate.command("services", "add", "one", "--scopes", "approvals")
    assert one.returncode == 0 and one.stderr == ""
    checked = gate.command("check", "--policy", "approvals.json")
    assert checked.returncode == 0 and "rule 1" in checked.stderr and "bare" in checked.stderr


def test_a_name_that_is_taken_or_looks_so(gate, service):
    taken = gate.command("services", "add", "mud", "--scopes", "approvals")
    assert taken.returncode == 64
    assert "there is a service mud already: `portcullis services rotate mud` gives it a new token" in taken.stderr
    alike = gate.command("services", "add", "Mud", "--scopes", "approvals")
    assert alike.returncode == 64 and "looks like mud" in alike.stderr


def test_an_idempotency_key_is_one_request(gate, service, phone):
    asked = request(gate, service, idempotency_key="k1")
    assert request(gate, service, idempotency_key="k1") == asked
    other = ask(gate, "POST", "/approvals", body(idempotency_key="k1", text="Else."), service)
    assert_refusal(other, 409, "idempotency_conflict")
    assert len(phone.items()) == 1


def test_a_lease_is_used_as_often_as_it_says(gate, service, phone):
    refused = ask(gate, "POST", "/approvals", body(lease={"ttl_s": 60, "uses": 1}), service)
    assert_refusal(refused, 403, "policy_refused")
    assert "lease" not in result(gate, service, request(gate, service, "lend"))
    asked = request(gate, service, "lend", lease={"ttl_s": 600, "uses": 9}, text="Twice.")
    assert len(asked["match_code"]) == 4
    item = next(item for item in phone.items() if item["id"] == asked["id"])
    summary = json.loads(base64.urlsafe_b64decode(item["summary"] + "=="))
    assert summary["lease"] == {"ttl_s": 60, "uses": 2}
    phone.vote(item, "approve", asked["match_code"])
    lease = result(gate, service, asked)["lease"]
    assert set(lease) == {"id", "expires_at", "uses_left"} and lease["uses_left"] == 2
    path = f"/leases/{lease['id']}"

    def use(name, token=service, **changes):
        document = {"operation": "lend", "target": {"player": "gandalf"}, "use_id": name, **changes}
        return ask(gate, "POST", f"{path}/use", document, token)

    other = add_service(gate, "web")
    assert_refusal(use("u", other), 404, "not_found")
    assert_refusal(use("u", target={"player": "sauron"}), 403, "lease_mismatch")
    assert_refusal(use("u", operation="promote"), 403, "lease_mismatch")
    assert_refusal(use(None), 400, "bad_request")
    assert use("a").json == {"uses_left": 1} and use("b").json == {"uses_left": 0}
    assert_refusal(use("c"), 409, "lease_exhausted")
    assert use("a").json == {"uses_left": 1}
    assert_refusal(ask(gate, "DELETE", path, token=other), 404, "not_found")
    assert ask(gate, "DELETE", path, token=service).status == 200
    assert_refusal(use("d"), 409, "lease_ended")
    assert use("b").json == {"uses_left": 0}


def test_long_polls_and_cursors(gate, service, phone, fault):
    # Whoever waits now has no end.
    fault.stand_still()
    assert phone.items("?wait=0") == [] and phone.items("?after=nobody_gave~this.-") == []
    for query in ("?wait=x", "?wait=-1", "?wait=", "?wait=1&wait=1", "?after=a%00"):
        assert_refusal(phone.get(f"/approvals{query}", phone.token), 400, "bad_request")
    asked = request(gate, service)
    first = phone.get("/approvals?wait=99", phone.token).json
    assert [item["id"] for item in first["items"]] == [asked["id"]]
    assert isinstance(first["cursor"], str) and len(first["cursor"]) <= 64
    second = phone.get(f"/approvals?after={first['cursor']}", phone.token).json
    assert second["items"] == [] and second["cursor"] == first["cursor"]
    assert len(phone.items(f"?after={'9' * 64}")) == 1


def test_traces(gate, service, phone):
    own = gate.app.request(
        "GET", "/device/self", None, {"Authorization": f"Bearer {phone.token}", "X-Trace-Id": "a-b.c_1"}
    )
    assert own.header("Portcullis-Trace") == "a-b.c_1"
    for sent in ("x" * 65, "a b", "{}"):
        reply = gate.app.request("GET", "/.well-known/jwks.json", None, {"X-Trace-Id": sent})
        made = reply.header("Portcullis-Trace")
        assert made and made != sent and len(made) <= 64
    assert ask(gate, "POST", "/approvals", {}, "x").header("Portcullis-Trace")


def test_paths_and_methods(shared_gate):
    gate, service = shared_gate
    some = uuid.uuid4()
    for method, path in [
        ("GET", "/device/enroll"),
        ("PUT", "/approvals"),
        ("POST", "/device/self"),
        ("DELETE", "/.well-known/jwks.json"),
        ("GET", f"/approvals/{some}/decision"),
        ("POST", f"/leases/{some}"),
        ("GET", "/pair"),
    ]:
        reply = ask(gate, method, path, token=service)
        assert_refusal(reply, 405, "method_not_allowed")
    for path in [
        *("/device/", "/device/x", "/device/self/", "/approvals/", f"/approvals/{some}/x", "/pair/x"),
        *(f"/approvals/{str(some).upper()}", "/leases/", "/auth/otp/x", "/presence/"),
    ]:
        reply = ask(gate, "POST", path, {}, service)
        assert reply.status == 404, (path, reply)
