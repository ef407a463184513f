"""The table of malformed and ambiguous requests in strictness.jsonl, which the Swift tests read too.

A row is one JSON object a line; other lines are for people. Its members:

- `name`, and `source`, the document that asks for the verdict or describes the attack;
- `send`: the bytes as code points up to U+00FF, with `⟨3×text⟩` for repetitions, `⟨upgrade⟩` for the four
  fields of a WebSocket upgrade and `⟨upgrade without Name⟩` for the other three;
- `expect`: the answers in order, each `status`, `status code` or `status code, no body`;
- `bytewise`: the same where it has to differ when the bytes come one by one: an interim answer, or one that
  goes out before the bytes that would have changed it;
- `keeps`: whether the next request on the connection is answered as if nothing had been;
- `upgrade`: the last request is a WebSocket's, well-formed, to be judged by who asks: nothing may follow it;
- `rule`: the rule that RequestParser names, in rows where it is the parser that refuses.
"""

import json
import pathlib
import re

from clients import UPGRADE

LATIN_1 = "latin-1"


class Row:
    def __init__(self, members):
        self.name, self.source = members["name"], members["source"]
        self.data = expanded(members["send"]).encode(LATIN_1)
        self.keeps, self.is_upgrade = members["keeps"], members.get("upgrade", False)
        self.expected = [Answer(text) for text in members["expect"]]
        self.expected_bytewise = [Answer(text) for text in members.get("bytewise", members["expect"])]


class Answer:
    def __init__(self, text):
        words, _, suffix = text.partition(", ")
        status, _, self.code = words.partition(" ")
        self.status, self.has_body = int(status), suffix != "no body"


def expanded(text):
    return re.sub("⟨(.*?)⟩", lambda match: macro(match[1]), text, flags=re.DOTALL)


def macro(text):
    if text.startswith("upgrade"):
        left_out = text.removeprefix("upgrade").removeprefix(" without ")
        return "".join(f"{field}\r\n" for field in UPGRADE if field.partition(":")[0] != left_out)
    count, _, repeated = text.partition("×")
    return repeated * int(count)


def read_rows():
    path = pathlib.Path(__file__).with_name("strictness.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Row(json.loads(line)) for line in lines if line.startswith("{")]
