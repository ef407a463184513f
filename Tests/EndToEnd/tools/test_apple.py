"""What runs on Apple's systems, and cannot be run here, compiles for iOS 15: the client (for macOS 12 too), the example,
the pages' Swift.

`scripts/apple-check` says how. Each thing that it is to find is shown to it once, broken.
"""

import re
import shutil
import subprocess

import pytest

from documents import ROOT, blocks, pages

CHECK = ROOT / "scripts" / "apple-check"
STUBS = ROOT / "Tests" / "Kit" / "AppleStubs"
CLIENT = ROOT / "Sources" / "Phone" / "PortcullisClient"
# iOS, module, name: one of an app's whole window, to be found by everybody who has an iPhone.
ROW = re.compile(r"(\d+)\.(\d+) +(\w+) +(\S.*)")

pytestmark = [
    pytest.mark.skipif(not shutil.which("swiftc"), reason="swiftc is not in PATH"),
    pytest.mark.long("Swift's own modules for two of Apple's systems are made first"),
]


def check(*arguments):
    return subprocess.run([CHECK, *map(str, arguments)], capture_output=True, text=True)


def words(done):
    return done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def modules():
    """Swift's own modules for iOS are made here, if `make apple-modules` has not; that takes half a minute."""
    done = check("symbols")
    assert done.returncode == 0, words(done)
    return done.stdout


def test_the_client_and_its_adapters_compile_for_ios_15_and_macos_12_in_both_language_modes():
    done = check("client")
    assert done.returncode == 0, words(done)


@pytest.mark.parametrize("system", ["iOS", "macOS"])
def test_what_one_of_the_systems_alone_does_not_have_is_found(system, folder):
    source = folder / "Broken.swift"
    source.write_text(f"#if os({system})\nlet broken = nothing\n#endif\n")
    done = check("client", "--also", source)
    assert done.returncode != 0 and "cannot find 'nothing' in scope" in words(done), words(done)


BROKEN = {
    "a name that nobody has": ("URLSessionTransport().requests()", "has no member 'requests'"),
    "a label that Apple's call has not": (
        'try await DCAppAttestService.shared.attestKey("", hash: Data())', "incorrect argument label"),
    "what iOS 15 has not": (
        "try await Task.sleep(for: .seconds(1))", "'sleep(for:tolerance:clock:)' is only available in iOS 16"),
    "a race": (
        "let request = NSMutableData(); Task { request.change() }; request.change()", "risks causing data races"),
    "a warning": ("let unused = 1", "never used"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_wrong_with_an_adapter_is_found(kind, folder):
    statement, complaint = BROKEN[kind]
    source = folder / "Broken.swift"
    source.write_text(
        "internal import DeviceCheck\ninternal import Foundation\n"
        "private final class NSMutableData { func change() {} }\n"
        f"func broken() async throws {{\n  {statement}\n}}\n")
    done = check("client", "--also", source)
    assert done.returncode != 0 and complaint in words(done), words(done)


def test_a_delegates_method_under_another_name_is_found(folder):
    """On Apple's systems it would compile, and never be called."""
    source = folder / "Broken.swift"
    source.write_text(
        "internal import Foundation\nfinal class Deaf: NSObject, URLSessionDelegate, URLSessionTaskDelegate {\n"
        "  func urlSession(_ session: URLSession, task: URLSessionTask, didComplete error: (any Error)?) {}\n}\n")
    done = check("client", "--also", source)
    assert done.returncode != 0 and "does not conform to protocol 'URLSessionTaskDelegate'" in words(done), words(done)


def test_the_adapters_are_small():
    """The tests run them over fakes alone: what they decide is elsewhere."""
    lines = [
        line for path in (CLIENT / "Apple").glob("*.swift") for line in path.read_text().splitlines()
        if line.strip() and not line.strip().startswith("//")]
    assert 100 < len(lines) < 450, "of code, without comments and empty lines"


# ---- the table of what iOS has to have


def test_each_name_of_the_client_and_the_stubs_is_in_the_table(modules):
    assert modules == (STUBS / "symbols.txt").read_text(), "scripts/apple-check symbols --write, and look at what changed"


def test_nothing_in_the_table_is_newer_than_ios_15():
    rows = [ROW.fullmatch(line) for line in (STUBS / "symbols.txt").read_text().splitlines()]
    assert len(rows) > 100 and all(rows)
    assert [row[0] for row in rows if (int(row[1]), int(row[2])) > (15, 0)] == []
    names = {row[4] for row in rows}
    assert {"DCAppAttestService.attestKey(_:clientDataHash:)", "sleep(nanoseconds:)"} <= names


# ---- apps


def test_the_example_compiles_for_ios_15_in_both_language_modes():
    done = check("source", *sorted((ROOT / "Examples").rglob("*.swift")))
    assert done.returncode == 0, words(done)


def test_what_is_wrong_with_an_app_is_found(folder):
    source = folder / "Broken.swift"
    source.write_text("import PortcullisClient\nfunc broken(_ session: GameSession) { session.send(1) }\n")
    done = check("source", source)
    assert done.returncode != 0 and "cannot convert value of type 'Int'" in words(done), words(done)


SCREEN = """
@MainActor final class Screen {
  var isSecret = false
  var onLine: (String) throws -> Void = { _ in }
  func append(_ text: String) {}
  func show(_ state: GameState) {}
}
"""


@pytest.mark.parametrize("page", ["README.md", "docs/app.md"])
def test_the_listing_for_app_developers_compiles(page, folder):
    """With the screen that it shows things on."""
    listings = [block.text for block in blocks(pages()[page]) if block.fence == "swift"]
    assert len(listings) == (1 if page == "README.md" else 2)
    if page == "README.md":
        assert len(listings[0].splitlines()) <= 10
    for listing in listings:
        source = folder / "Listing.swift"
        source.write_text(f"import Foundation\n{listing}{SCREEN if 'Screen' in listing else ''}")
        done = check("source", source)
        assert done.returncode == 0, words(done)


# ---- documentation


def test_every_public_name_is_documented_and_every_link_leads_somewhere(folder):
    if not shutil.which("docc"):
        pytest.skip("docc is not in PATH")
    done = check("documents", folder / "site")
    assert done.returncode == 0, words(done)
    assert (folder / "site" / "data" / "documentation" / "portcullisclient.json").exists()
