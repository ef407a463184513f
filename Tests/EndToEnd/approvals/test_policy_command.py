"""`portcullis check --policy` and `explain approval`: what is wrong with a file, and what it asks of a request."""

import json

import pytest

CONFIGURATION, DATA_ERROR, USAGE = 78, 65, 64
POLICY = {
    "rules": [
        {"match": {"operation": "mud.*"}, "factors": ["operator"]},
        {"match": {"operation": "mud.promote", "target": {"realm": "prod*"}}, "quorum": 2},
    ]
}


@pytest.fixture
def policy(gates, folder):
    gate = gates(start=False)

    def run(*arguments, text=None, **changes):
        (folder / "policy.json").write_text(json.dumps(POLICY) if text is None else text)
        return gate.command(*arguments, **changes)

    return run


def explain(policy, operation, *target, **changes):
    arguments = [word for member in target for word in ("--target", member)]
    return policy("explain", "approval", "--operation", operation, *arguments, "--policy", "policy.json", **changes)


def test_a_good_file(policy):
    done = policy("check", "--policy", "policy.json")
    assert done.returncode == 0 and "2 rules, no DEFAULT" in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ["line 1", "the text ends too soon"]),
        ('{"rules": [{"match": {}, "leval": "bare"}]}', ["rule 1", "leval", "bare", "leave it out"]),
        ('{"DEFAULT": {"ttl_s": 301}}', ["DEFAULT", "ttl_s", "301", "from 1 to 300"]),
        ('{"rules": [{}, {"match": {}, "quorum": 0}]}', ["rule 1", "match", "rule 2", "quorum"]),
    ],
)
def test_all_that_is_wrong_is_told(policy, text, words):
    done = policy("check", "--policy", "policy.json", text=text)
    assert done.returncode == CONFIGURATION and not done.stdout
    assert all(word in done.stderr for word in words), done.stderr


def test_a_file_that_is_not_there(policy):
    assert policy("check", "--policy", "nowhere.json").returncode == CONFIGURATION


def test_what_a_request_takes(policy):
    done = explain(policy, "mud.promote", "realm=production")
    assert done.returncode == 0
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[:2] == ["rule 1  holds", "factors operator"]
    assert "factors device, operator  (rule 1, rule 2 by default)" in lines
    assert "quorum 2  (rule 2)" in lines
    elsewhere = explain(policy, "mud.promote", "realm=test").stdout
    assert "rule 2  does not hold: target realm is test, not prod*" in elsewhere
    assert "the request has no target realm" in explain(policy, "mud.promote").stdout


def test_a_refusal_has_a_status(policy):
    done = explain(policy, "web.deploy")
    assert done.returncode == DATA_ERROR and "policy_refused" in done.stdout


@pytest.mark.parametrize("target", [["realm"], ["realm=a", "realm=b"]])
def test_wrong_words(policy, target):
    assert explain(policy, "mud.promote", *target).returncode == USAGE


def test_without_a_policy(policy):
    assert policy("explain", "approval", "--operation", "x").returncode == CONFIGURATION
