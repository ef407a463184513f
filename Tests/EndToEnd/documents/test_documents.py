"""What the documents name is there: pages and headings behind links, tests, refusal codes, commands, targets."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from documents import FENCES, ROOT, anchors, blocks, headings, links, pages

PAGES = pages()


def rows(page, heading):
    """The rows of the table below a heading, as lists of cells."""
    level, section = re.search(rf"\n(##+) {re.escape(heading)}\n(.*)", PAGES[page], re.DOTALL).groups()
    section = re.split(rf"\n#{{2,{len(level)}}} ", section)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


# ---- links


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    broken = []
    for target in links(PAGES[page]):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        place, _, anchor = target.partition("#")
        path = (ROOT / page).parent / place if place else ROOT / page
        name = str(path.resolve().relative_to(ROOT))
        if not path.exists() or anchor and (name not in PAGES or anchor not in anchors(PAGES[name])):
            broken.append(target)
    assert not broken


def test_every_page_is_linked_and_says_whom_it_is_for():
    for page, text in PAGES.items():
        # The pages of decisions have a table of their own.
        if page.startswith("docs/") and not re.match(r"docs/decisions/\d{4}-", page):
            assert f"({page})" in PAGES["README.md"], page
            assert re.match(r"# .+\n\n\*For (?:[^*]|\n)+\*\n", text), page


def test_headings_stand_apart():
    for page, text in PAGES.items():
        lines = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines()
        glued = [line for before, line in zip(lines, lines[1:]) if line.startswith("#") and before.strip()]
        assert not glued, page


def test_threads_have_the_niceness_that_is_told():
    """What is behind the loops; other threads are behind nobody, or have a number of their own."""
    (behind,) = re.findall(r"behindLoops: Int32 = (\d+)", (ROOT / "Sources/Base/System/Threads/Thread.swift").read_text())
    decisions = {page[15:19]: text for page, text in PAGES.items() if page.startswith("docs/decisions/")}
    assert f"has the least priority ({behind})" in decisions["0042"]
    assert f"have niceness {behind}, slices" in decisions["0020"]


def test_the_readers_of_links_themselves():
    page = "# A `b`: c_d\n\n## Same\n\n```sh\n# no heading\n[no](link)\n```\n## Same\n[a](x.md#y), `[b](z)` ![c](d.svg)\n"
    assert list(anchors(page)) == ["a-b-c_d", "same", "same-1"]
    assert list(links(page)) == ["x.md#y", "d.svg"]
    assert [block.fence for block in blocks(page)] == ["sh"]


def test_comments_cite_sections_that_exist():
    """`docs/page.md, "Heading"`, wherever it stands; a comment may go on in the next line."""
    seen = 0
    folders = ["Sources", "Tests", "Benchmarks", "config", "scripts"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in [*files, ROOT / "Makefile", ROOT / "Package.swift", ROOT / "Dockerfile"]:
        # What Python keeps of modules is written by whoever runs them.
        if "__pycache__" in path.parts:
            continue
        if path.name.startswith("test_documents") or path.suffix in {".svg", ".der"}:
            continue
        text = re.sub(r"\n\s*(?:///?|#|\*|\.\\\")? ?", " ", path.read_text(errors="replace"))
        for page, heading in re.findall(r'\b(docs/(?:decisions/)?[\w-]+\.md)(?:, "([^"]+)")?', text):
            assert page in PAGES, (path, page)
            assert not heading or heading in headings(PAGES[page]), (path, page, heading)
            seen += 1
    assert seen > 0


def test_every_test_is_in_the_tables_of_tests():
    """Files end to end beside their folder, and folders of Swift tests."""
    listed, folder = set(), None
    for row in rows("Tests/README.md", "End to end"):
        folder = row[0].strip("`/") or folder
        listed |= {(folder, name) for name in re.findall(r"`(test_\w+\.py)`", row[1])}
    there = {(path.parent.name, path.name) for path in (ROOT / "Tests" / "EndToEnd").rglob("test_*.py")}
    assert listed == there
    folders = {path.name for path in (ROOT / "Tests" / "Unit").rglob("*Tests") if path.is_dir()}
    told = {name for row in rows("Tests/README.md", "Swift tests, one folder a module") for name in re.findall(r"`(\w+Tests)`", row[0])}
    assert told == folders


# ---- evidence


def test_every_attack_names_tests_that_exist():
    files = {path.name for path in (ROOT / "Tests").rglob("*Tests.swift")}
    functions = set()
    for path in (ROOT / "Tests" / "EndToEnd").rglob("test_*.py"):
        functions |= set(re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE))
    table = rows("docs/security.md", "Attacks")
    assert len(table) >= 15
    for attack, _, evidence in table:
        names = re.findall(r"`([^`]+)`", evidence)
        assert names, attack
        unknown = [name for name in names if name not in files | functions]
        assert not unknown, (attack, unknown)


def refusal_codes():
    """Every code with its status, from where the gate has them."""
    source = (ROOT / "Sources" / "Wire" / "PortcullisProtocol" / "RefusalCode.swift").read_text()
    cases = re.findall(r'^  case (\w+)(?: = "(\w+)")?$', source, re.MULTILINE)
    assert len(cases) >= 20
    switch = source.split("var statusCode")[1].split("var sentence")[0]
    statuses = {
        name: status
        for names, status in re.findall(r"case ((?:\.\w+,?\s*)+):\s+(\d{3})", switch)
        for name in re.findall(r"\w+", names)
    }
    return {text or name: statuses[name] for name, text in cases}


def test_a_day_with_a_phone_expects_what_the_gate_says():
    """Its 25 steps, and events and codes that exist."""
    text = PAGES["docs/phone-day.md"]
    assert re.findall(r"^\| (\d+) \|", text, re.M) == [str(step) for step in range(1, 26)]
    assert set(re.findall(r"event=(\w+)", text)) <= set(events_of_the_code())
    known = set(refusal_codes()) | {row[0].strip("`") for row in rows("docs/errors.md", "Codes of devices")}
    assert set(re.findall(r"code=(\w+)", text)) <= known


def test_every_refusal_code_has_one_row():
    """With its status, and something to do for the app and for the operator."""
    table = rows("docs/errors.md", "Codes")
    told = {row[0].strip("`"): row[1] for row in table if len(row) == 5 and row[0].startswith("`")}
    assert sorted(row[0].strip("`") for row in table if row[0].startswith("`")) == sorted(refusal_codes())
    assert told == refusal_codes()
    assert all(all(row) for row in table if len(row) == 5)


def test_every_step_of_an_android_key_is_told():
    source = (ROOT / "Sources" / "Trust" / "AndroidKey" / "AndroidKeyRejection.swift").read_text()
    enumeration = source.split("package var rule")[0]
    steps = {text or case for case, text in re.findall(r'^  case (\w+)(?: = "(\w+)")?$', enumeration, re.M)}
    assert len(steps) >= 30
    table = rows("docs/android.md", "Steps of a key attestation")
    assert {step for row in table for step in re.findall(r"`(\w+)`", row[0])} == steps


@pytest.mark.parametrize(("name", "heading"), [("Attestation", "Attestation"), ("Assertion", "Assertion")])
def test_every_step_is_in_its_table(name, heading):
    source = (ROOT / "Sources" / "Trust" / "AppAttest" / name / f"{name}Error.swift").read_text()
    enumeration = source.split(f"enum {name}Step")[1].split("\n}\n")[0]
    steps = [text or case for case, text in re.findall(r'^  case (\w+)(?: = "([\w.]+)")?$', enumeration, re.M)]
    assert len(steps) >= 10
    told = [step for row in rows("docs/app-attest.md", heading) for step in re.findall(r"`([^`]+)`", row[0])]
    assert told == steps, "the table follows the order of the steps"


@pytest.mark.parametrize(
    ("source", "name", "heading"),
    [("Program/Vectors/DeviceSteps", "MessageStep", "Steps of messages"), ("Wire/PortcullisProtocol/Encodings/JSONTree", "CanonicalJSONError", "Summaries")],
)
def test_every_step_of_devices_is_in_its_table(source, name, heading):
    text = (ROOT / "Sources" / f"{source}.swift").read_text()
    enumeration = text.split(f"enum {name}")[1].split("\n}\n")[0]
    steps = [word or case for case, word in re.findall(r'^  case (\w+)(?: = "(\w+)")?$', enumeration, re.MULTILINE)]
    assert len(steps) >= 10
    assert [row[0].strip("`") for row in rows("docs/devices-messages.md", heading)] == steps


def test_every_message_of_devices_is_in_its_table_once():
    source = (ROOT / "Sources" / "Wire" / "PortcullisProtocol" / "Devices" / "DeviceMessage.swift").read_text()
    enumeration = source.split("enum Domain")[1].split("package var text")[0]
    cases = [case.strip() for line in re.findall(r"^    case (.+)$", enumeration, re.MULTILINE) for case in line.split(",")]
    names = [re.sub(r'^\w+ = "(.+)"$', r"\1", case) for case in cases]
    assert len(names) >= 10
    # The gate's own, which no phone makes.
    names.remove("audit-head")
    # The tables of steps below it have two columns.
    told = [row[0].strip("`") for row in rows("docs/devices-messages.md", "Messages") if len(row) == 3]
    assert told == names, "in the enumeration's order"


@pytest.mark.parametrize(
    ("source", "name", "heading"),
    [
        ("AndroidKey/AndroidKeyRejection", "AndroidKeyRejection", "Steps of a key attestation"),
        ("PlayIntegrity/PlayRejection", "PlayRejection", "Steps of a Play token"),
    ],
)
def test_every_step_of_android_says_what_to_do(source, name, heading):
    text = (ROOT / "Sources" / "Trust" / f"{source}.swift").read_text()
    enumeration = text.split(f"enum {name}")[1].split("\n}\n")[0]
    steps = [word or case for case, word in re.findall(r'^  case (\w+)(?: = "(\w+)")?$', enumeration, re.MULTILINE)]
    assert len(steps) >= 20
    told = [step for row in rows("docs/android.md", heading) for step in re.findall(r"`(\w+)`", row[0])]
    assert sorted(told) == sorted(steps)


def test_every_step_of_a_play_token_says_what_to_do():
    text = (ROOT / "Sources" / "Trust" / "PlayIntegrity" / "PlayRejection.swift").read_text()
    enumeration = text.split("enum PlayRejection")[1].split("\n}\n")[0]
    steps = [word or case for case, word in re.findall(r'^  case (\w+)(?: = "(\w+)")?$', enumeration, re.MULTILINE)]
    assert len(steps) >= 20
    told = [step for row in rows("docs/android.md", "Steps of a Play token") for step in re.findall(r"`([^`]+)`", row[0])]
    assert sorted(told) == sorted(steps)


def swift(*folders):
    """The text of each source file below these folders of `Sources`."""
    for folder in folders:
        for path in sorted((ROOT / "Sources" / folder).rglob("*.swift")):
            yield path.read_text()


def test_what_counts_is_told():
    """An app that counts otherwise loses its session."""
    source = (ROOT / "Sources" / "Phone" / "PortcullisClient" / "Machine" / "GateText.swift").read_text()
    uncounted = re.search(r"isCounted =\n +switch kind \{\n +case (.+): false\n", source)[1]
    row = next(row for row in rows("docs/sessions.md", "Counting") if row[0] == "from the gate")
    told = re.findall(r"`(\w+)`", row[2])
    assert sorted(told) == sorted(re.findall(r"\.(\w+)", uncounted))


# Events whose name or level is worked out, and is no word beside the call.
WORKED_OUT = {
    "draining", "restarting", "certificate_expires", "certificate_not_yet_valid", "certificate_expired", "sqlite",
}


def events_of_the_code():
    """Each event of the log with the levels that it is written at."""
    levels = "debug|info|notice|warning|error|critical"
    found = {}
    for text in swift("Base/Logs", "Gate", "Operate", "Program/portcullis"):
        calls = re.findall(rf'\b[lL]og(?:ger)?(?:\(label: "\w+"\))?\??\.({levels})\(\s*"(\w+)"', text)
        calls += re.findall(rf'\bwrite\(\.({levels}), "(\w+)"', text)
        decisions = re.findall(r'\blog\.decision\(\s*"(\w+)", code: [^,]+(?:, level: \.(\w+))?', text)
        for level, event in calls + [(level or "info", event) for event, level in decisions]:
            found.setdefault(event, set()).add(level)
    return found


def test_every_event_is_told_with_its_level():
    """A cell of levels has one for all events beside it, or one for each; `;` stands between groups of both."""
    told = {}
    for names, levels, _ in [row for row in rows("docs/logs.md", "Events") if len(row) == 3]:
        groups = levels.split(";")
        for number, group in enumerate(names.split(";") if len(groups) > 1 else [names]):
            words = re.findall(r"`(\w+)`", group)
            those = [level.strip() for level in groups[number].split(",")]
            assert len(those) in (1, len(words)) or words == ["sqlite"], names
            told |= dict(zip(words, those * len(words) if len(those) == 1 else those))
    found = events_of_the_code()
    assert len(found) >= 60
    assert set(told) - set(found) == WORKED_OUT
    assert {event: {told.get(event)} for event in found} == found
    everything = "".join(swift("Gate", "Operate", "Program/portcullis"))
    assert all(f'"{event}"' in everything for event in WORKED_OUT)


def steps_of_the_gate():
    steps = set()
    for text in swift("Gate", "Operate/Admin/Serving"):
        for pattern in (
            r'\bstep"?: "(\w+)"', r'\brefuse\(\.\w+, "(\w+)"', r'\bturnedAway\(\w+, reason: "(\w+)"',
            r'case \w+ = "((?:nonce|tls|admin)_\w+)"', r'case \.dropped: "(\w+)"',
            r'case \.\w+(?:, \.\w+)*: "(regist\w+_timeout)"',
        ):
            steps |= set(re.findall(pattern, text))
        # Words that are made from causes and limits.
        for enumeration in re.findall(r"\n(?:package )?enum (?:HandshakeCause|ProxyHeaderFailure|RateLimit)\b.*?\n}\n", text, re.S):
            steps |= set(re.findall(r'\bcase \.\w+: "(\w+)"', enumeration)) - {"registry"}
    headers = (ROOT / "Sources/Wire/SessionWire/UpgradeHeaders.swift").read_text()
    steps |= set(re.findall(r'case \w+ = "(\w+_header)"', headers))
    assert len(steps) >= 60
    return steps


def steps_of_the_wire():
    """The rules of HTTP, of an upgrade, of WebSocket and of messages, which the log names by their words."""
    enumerations = [
        ("HTTPWire/RequestRefusal", "Rule"), ("HTTPWire/ChunkedDecoder", "Violation"), ("HTTPWire/DeviceQuery", "Malformed"),
        ("WebSocketWire/UpgradeRequest", "UpgradeRefusal"), ("WebSocketWire/WebSocketViolation", "WebSocketViolation"),
        ("ProxyProtocol/ForwardedFor", "Malformed"), ("SessionWire/AppMessage", "MalformedMessage"),
    ]
    steps = set()
    for place, name in enumerations:
        source = (ROOT / "Sources" / "Wire" / f"{place}.swift").read_text()
        enumeration = source.split(f"enum {name}:")[1].split("{", 1)[1].split(" var ")[0]
        found = re.findall(r'^ +case `?(\w+)`?(?: = "(\w+)")?$', enumeration, re.MULTILINE)
        assert found, place
        steps |= {word or case for case, word in found}
    return steps


def steps_of_the_registry():
    steps = set()
    for text in swift("Trust/Registry"):
        for pattern in (
            r'(?:\brefused|RegistryRefusal)\(\s*(?:[^()"]*, )?"(\w+)"', r'\brequireTimely\([^()]*, "(\w+)"', r'return "(approval_\w+)"',
            r'\brequire\(\s*\w+(?:\.\w+)*, of: [^"]*"(\w+)"\)', r': "(approval_\w+)"', r'\? "(approval_\w+)"', r', step \?\? "(\w+)"',
            r'\brequire\([^()"]*, [^"()]*, "(\w+_signature)"\)',
        ):
            steps |= set(re.findall(pattern, text))
    return steps


def test_every_step_has_one_row():
    told = [
        step
        for heading in ("Steps", "Steps of HTTP and WebSocket", "Steps of the registry")
        for row in rows("docs/errors.md", heading)
        for step in re.findall(r"`([a-z]\w+)`", row[0])
    ]
    assert sorted(told) == sorted(steps_of_the_gate() | steps_of_the_wire() | steps_of_the_registry())


def test_every_step_of_a_proxy_header_is_told():
    source = (ROOT / "Sources" / "Wire" / "ProxyProtocol" / "ProxyHeader.swift").read_text()
    enumeration = source.split("enum ProxyHeaderViolation")[1]
    steps = [word or case for case, word in re.findall(r'^  case (\w+)(?: = "(\w+)")?$', enumeration, re.MULTILINE)]
    told = re.search(r"one of these after `proxy_header_`: ([^.]+)\.", PAGES["docs/errors.md"])[1]
    assert re.findall(r"`(\w+)`", told) == steps


def test_every_event_of_the_audit_is_told_once():
    events = {event for text in swift("Trust/Registry") for event in re.findall(r'static let \w+ = Self\("(\w+)"\)', text)}
    assert len(events) >= 50
    told = [event for row in rows("docs/devices-operating.md", "Events of the audit") for event in re.findall(r"`(\w+)`", row[0])]
    assert sorted(told) == sorted(events)


def test_the_modules_that_call_c_are_told():
    """Strict memory safety has each such call say `unsafe`."""
    modules = set()
    for path in (ROOT / "Sources").rglob("*.swift"):
        code = re.sub(r"//.*", "", path.read_text())
        if re.search(r"\bunsafe\b(?! *[:=,)])", code):
            modules.add(path.relative_to(ROOT / "Sources").parts[1])
    told = re.search(r"\*\*C is called in few modules\*\*:(.*?)\. Every C handle", PAGES["docs/architecture.md"], re.DOTALL)[1]
    assert set(re.findall(r"`([\w-]+)`", told)) == modules


def test_the_folders_of_the_commands_are_told():
    row = next(row for row in rows("docs/architecture.md", "Modules") if row[0] == "`portcullis`")
    folders = {path.name for path in (ROOT / "Sources" / "Program" / "portcullis").iterdir() if path.is_dir()}
    assert set(re.findall(r"`(\w+)`", row[1])) == folders


# ---- code blocks


@pytest.mark.parametrize("page", PAGES)
def test_fences_are_known_and_what_is_shown_is_well_formed(page):
    for block in blocks(PAGES[page]):
        assert block.fence in FENCES, (page, block.line, block.fence)
        if block.fence in {"sh", "sh shown"}:
            checked = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True)
            assert checked.returncode == 0 and not checked.stderr, (page, block.line, checked.stderr)
        if block.fence == "json":
            json.loads(block.text)
        if block.fence == "python":
            compile(block.text, f"{page}:{block.line}", "exec")


def test_the_apps_listing_can_be_parsed(folder):
    compiler = shutil.which("swiftc")
    if not compiler:
        pytest.skip("swiftc is not in PATH")
    listings = [block for text in PAGES.values() for block in blocks(text) if block.fence == "swift"]
    assert listings
    for number, block in enumerate(listings):
        source = folder / f"listing-{number}.swift"
        source.write_text(block.text)
        parsed = subprocess.run([compiler, "-frontend", "-parse", source], capture_output=True, text=True)
        assert parsed.returncode == 0, parsed.stderr


def test_targets_of_make_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page, text in PAGES.items():
        shown = [block.text for block in blocks(text) if block.fence.startswith("sh")]
        for line in "".join(shown).splitlines():
            if match := re.match(r"(?:sudo )?make((?: +[a-z-]+)+)", line.partition("#")[0]):
                unknown = set(match[1].split()) - targets
                assert not unknown, (page, line)


def planned(target, **environment):
    """What make would run."""
    command = ["make", "--dry-run", "--no-print-directory", target]
    # Whoever runs these tests may be make, with variables of its own.
    environment = {"PATH": os.environ["PATH"]} | environment
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def test_ci_builds_the_package_as_whoever_has_cloned_it():
    """`swift build -c release` and nothing else, but for where it builds; and a package that depends on this one."""
    plain = ["swift", "build", "-c", "release", "--scratch-path"]
    ci = planned("test", CI="true")
    (folder,) = [line[-1] for line in ci if line[:-1] == plain]
    assert folder.startswith(".build-")
    assert any("scripts/dependent-test" in line for line in ci)
    # Not while somebody waits.
    assert not [line for line in planned("test") if line[:-1] == plain]


def test_clean_removes_every_folder_that_is_built_in():
    built = set(re.findall(r"\.build(?:-[a-z]+)?\b", (ROOT / "Makefile").read_text()))
    (removed,) = [line[2:] for line in planned("clean") if line[:2] == ["rm", "-rf"]]
    assert built == set(removed)


# ---- what scripts write, and what they look at


@pytest.mark.parametrize(
    "command", [("decision-index", "--check"), ("module-picture", "--check"), ("doc-check",)], ids=lambda command: command[0]
)
def test_what_scripts_write_is_as_they_would_write_it(command):
    """The table of decisions, the modules of docs/architecture.md; and each module has its page."""
    command = [sys.executable, ROOT / "scripts" / command[0], *command[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def copied(folder):
    """What these scripts read, as a tree of its own that a test may break."""
    for name in ["scripts", "docs", "Sources"]:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    shutil.copy(ROOT / "Package.swift", folder)

    def run(script, *arguments):
        command = [sys.executable, folder / "scripts" / script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    return folder, run


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_new_decision_gets_a_number(copied):
    root, run = copied
    decisions = root / "docs" / "decisions"
    last = max(decisions.glob("0*.md"))
    number = f"{int(last.name[:4]) + 1:04}"
    new = decisions / "NEXT-one-more.md"
    # It supersedes nothing, whatever the last one does.
    text = re.sub(r"\| accepted, supersedes [^|]*\|", "| accepted |", last.read_text())
    new.write_text(text.replace(f"| {last.name[:4]} |", "| NEXT |"))
    edit(root / "docs" / "security.md", "\n\n", "\n\n[Why](decisions/NEXT-one-more.md)\n\n")
    assert "docs/decisions/NEXT-one-more.md has no number yet" in run("decision-index", "--check")[1]
    assert run("decision-index") == (0, "")
    assert f"\n| {number} | 20" in (decisions / f"{number}-one-more.md").read_text()
    assert f"[Why](decisions/{number}-one-more.md)" in (root / "docs" / "security.md").read_text()
    assert f"({number}-one-more.md)" in (decisions / "README.md").read_text()
    assert run("decision-index", "--check") == (0, "")


def test_a_decision_that_is_wrong_is_named(copied):
    root, run = copied
    decisions = root / "docs" / "decisions"
    (old,) = decisions.glob("0018-*.md")
    superseded = old.read_text()
    edit(old, re.search(r"superseded by \S+", superseded)[0], "accepted")
    assert "do not both say that the one supersedes the other" in run("decision-index", "--check")[1]
    edit(old, "accepted", "good")
    assert 'a state that scripts/decision-index does not know: "good"' in run("decision-index", "--check")[1]
    old.write_text(superseded.replace("| 0018 |", "| 18 |"))
    assert "does not begin as scripts/decision-index says" in run("decision-index", "--check")[1]
    old.unlink()
    assert "are not 0001 and so on" in run("decision-index", "--check")[1]


def test_the_picture_follows_the_manifest(copied):
    root, run = copied
    page = root / "docs" / "architecture.md"
    edit(root / "Package.swift", 'Module("JSON", in: .base, ["Bytes"])', 'Module("JSON", in: .base, ["Charsets"])')
    assert run("module-picture", "--check")[0] == 1
    assert run("module-picture") == (0, "")
    assert "| `JSON` | `Charsets` |" in page.read_text()
    assert run("module-picture", "--check") == (0, "")
    edit(root / "Package.swift", 'Module("JSON", in: .base', 'Module(named: "JSON", in: .base')
    assert "a form that scripts/manifest.py does not know" in run("module-picture", "--check")[1]


def test_a_module_without_its_page_is_named(copied):
    root, run = copied
    page = root / "Sources" / "Base" / "JSON" / "JSON.docc" / "JSON.md"
    edit(page, "``JSONReader``", "``JSONReeder``")
    (page.parent / "More.md").write_text("# More\n")
    folder = page.parent.relative_to(root)
    assert run("doc-check")[1].splitlines() == [
        f"{folder}/JSON.md names ``JSONReeder``, which the module does not declare",
        f"{folder}/JSON.md does not name More.md beside it",
    ]
    edit(page, "## Topics", "## Types")
    assert f"{folder}/JSON.md has another form" in run("doc-check")[1]
    page.parent.rename(page.parent.with_name("Jason.docc"))
    assert f"{folder}/JSON.md is missing" in run("doc-check")[1]
    assert "JSON/Jason.docc is the catalog of no module" in run("doc-check")[1]


def test_the_version_is_the_same_wherever_it_stands():
    """That of the changelog's newest release; the example of docs/running.md is compared with what the program prints."""
    (version, date), *_ = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\S+)$", PAGES["CHANGELOG.md"], re.MULTILINE)
    assert "\n## [Unreleased]\n" in PAGES["CHANGELOG.md"].split(f"## [{version}]")[0]
    program = (ROOT / "Sources" / "Operate" / "Prompt" / "Version.swift").read_text()
    assert re.search(r'static let text = "(.+)"', program)[1] == version
    assert re.search(r'notBefore = UnixTime\(timestamp: "([^T]+)T', program)[1] <= date
    assert f"\n  version: {version}\n" in (ROOT / "docs" / "openapi.yaml").read_text()
    assert (ROOT / "packaging" / "debian" / "changelog").read_text().startswith(f"portcullis ({version}-")
    assert f"\nVersion {version.rpartition('.')[0]}, for Linux" in PAGES["README.md"]
