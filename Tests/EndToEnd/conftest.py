"""Fixtures of the end-to-end suite: the real binary between clients and a backend that nobody here wrote.

Run with `/usr/bin/python3 -m pytest Tests/EndToEnd`; PORTCULLIS_BIN names another binary than the release's.
"""

import asyncio
import inspect
import os
import pathlib
import shutil
import tempfile

import pytest

import browser
import faults
import neighbour
from backend import Backend, mud
from clients import App
from consoles import Console
from descriptor_store import DescriptorStore
from device import APP_ID, BUNDLE, DEVELOPMENT, PRODUCTION, TEAM, AttestationAuthority, Device
from evenings import Evening, KeptEvening
from gate import BINARY, SANITIZER, Gate
from phones import Households
from pki import PKI
from telnet_game import TelnetGame
from town import Town, settings
from turns import place, turn
from waiting import patience

# What a skipped test comes to.
pytest_plugins = ["obligation"]

COROUTINE_LIMIT = 120


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtest_protocol(item):
    """Outside of everything that looks at a test's time."""
    with turn(alone=item.get_closest_marker("alone") is not None):
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Tests may be coroutines."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def bounded():
        await asyncio.wait_for(pyfuncitem.obj(**arguments), patience(COROUTINE_LIMIT))

    asyncio.run(bounded())
    return True


def pytest_report_header():
    judged = f"with the {SANITIZER} sanitizer: bounds of memory are not judged" if SANITIZER else ""
    return [f"program: {BINARY}", *filter(None, [judged])]


def pytest_collection_modifyitems(items):
    """The longest files first; under a sanitizer, what its build cannot show is skipped with the reason."""
    items.sort(key=lambda item: place(item.path))
    for item in items if SANITIZER else []:
        for mark in item.iter_markers("unsanitized"):
            item.add_marker(pytest.mark.skip(reason=f"not with the {SANITIZER} sanitizer: {mark.args[0]}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows the end of its gates' logs."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for name in ("gates", "shared_gates"):
            for gate in getattr(item.funcargs.get(name), "made", []):
                report.sections.append((f"log of the gate on port {gate.port}", gate.log_tail(20)))


@pytest.fixture(scope="session")
def pki():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pki-"))
    yield PKI(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def authority(pki):
    made = AttestationAuthority()
    pki.attestation_root = pki.write("attestation-root.pem", made.root_pem())
    return made


@pytest.fixture(scope="session")
def shim(pki):
    return faults.build(pki.folder)


@pytest.fixture
def folder():
    """Short, as a UNIX socket's path must be."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="gate-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def module_folder():
    made = pathlib.Path(tempfile.mkdtemp(prefix="gate-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def fault(shim, folder):
    """The shim's control; give `**fault.environment` to the gate that is to obey it."""
    return faults.Faults(shim, folder / "shim-control")


class Backends:
    """Starts game servers, and stops them in the end."""

    def __init__(self):
        self.started = []

    def __call__(self, play=mud, **options):
        self.started.append(Backend(play, **options))
        return self.started[-1]

    def stop(self):
        for backend in self.started:
            backend.stop()


@pytest.fixture
def backends():
    every = Backends()
    yield every
    every.stop()


@pytest.fixture(scope="session")
def evennia():
    """A real game, the same for the whole run: it takes seconds to start."""
    if reason := neighbour.missing():
        pytest.skip(reason)
    game = neighbour.started()
    yield game
    game.stop()
    shutil.rmtree(game.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def chromium():
    """The same for the whole run."""
    if reason := browser.missing():
        pytest.skip(reason)
    made = browser.Browser()
    yield made
    made.stop()


@pytest.fixture
def window(chromium):
    """The operator's browser as if nobody had used it before, signed in nowhere."""
    chromium.begin()
    return chromium


@pytest.fixture
def backend(backends):
    return backends(mud)


class Gates:
    """Makes gates with the suite's usual environment; keywords change it, None removes a variable."""

    def __init__(self, folder, pki, fault=None):
        self.folder, self.pki, self.fault = folder, pki, fault
        self.made = []

    def __call__(self, backend=None, host="127.0.0.1", port=None, start=True, **changes):
        environment = {
            "BACKEND": getattr(backend, "address", backend) or "127.0.0.1:9",
            "TLS_CERT_PATH": self.pki.server_certificate,
            "TLS_KEY_PATH": self.pki.server_key,
            "APPATTEST_TEAM_ID": TEAM,
            "APPATTEST_BUNDLE_ID": BUNDLE,
            "APPATTEST_ROOT_CA_PATH": self.pki.attestation_root,
            "ATTESTED_KEYS_PATH": self.folder / "attested-keys.json",
            "CONTROL_SOCKET": self.folder / "control.sock",
            # As production refuses to stay root without being told.
            "RUN_AS": "root" if os.geteuid() == 0 else None,
            "LOG_FORMAT": "json",
            "CHALLENGE_RATE": "10000/s",
            "REGISTER_RATE": "10000/s",
            "HANDSHAKE_RATE": "10000/s",
            # Nor does what is under way end because the machine stands still.
            "TLS_HANDSHAKE_TIMEOUT": "60s",
            # A connection that a test keeps alive is there for its next request, however long the test takes.
            "HTTP_TIMEOUT": "200s",
            **changes,
        }
        gate = Gate(self.folder, environment, host, port)
        gate.pki = self.pki
        gate.app = App(gate)
        self.made.append(gate)
        return gate.start() if start else gate

    def finish(self):
        """Whatever still runs must be able to stop cleanly, once nothing is broken any more."""
        if self.fault:
            self.fault.heal()
        for gate in self.made:
            gate.app.close()
        for gate in self.made:
            if gate.running:
                gate.stop()
            elif gate.process is not None:
                gate.assert_no_crash(gate.process.returncode)


@pytest.fixture
def gates(folder, pki, authority, fault):
    every = Gates(folder, pki, fault)
    yield every
    every.finish()


@pytest.fixture
def development_home(gates, folder):
    """Makes gates with the operator and the program's phones: keywords change the gate's environment."""
    every = Households(gates, folder)
    yield every
    every.finish()


@pytest.fixture
def gate(gates, backend):
    """A gate in front of a MUD."""
    return gates(backend)


@pytest.fixture
def evenings(gates, new_device):
    """Makes evenings: keywords are the game's (`greet`, `answer`, `charset`) and the gate's environment."""
    made = []

    def make(greet=None, answer=None, charset="utf-8", receive_buffer=None, **changes):
        game = TelnetGame(greet, answer, charset, receive_buffer=receive_buffer)
        made.append(game)
        evening = Evening(gates, new_device, game, **changes)
        made.append(evening)
        return evening

    yield make
    for thing in reversed(made):
        thing.finish() if isinstance(thing, Evening) else thing.stop()


@pytest.fixture
def evening(evenings):
    return evenings()


@pytest.fixture
def timeless(evenings, fault):
    """An evening whose gate's clock stands still: what is over after half a second never is."""
    made = evenings(**fault.environment)
    fault.stand_still()
    return made


@pytest.fixture
def stores(folder):
    made = []

    def make(**options):
        made.append(DescriptorStore(folder, **options))
        return made[-1]

    yield make
    for store in made:
        store.finish()
        assert not store.faults, store.faults


@pytest.fixture
def kept_evenings(stores, gates, new_device):
    """Makes evenings with a store: keywords are the game's, the store's limit, and the gate's environment."""
    made = []

    def make(greet=None, answer=None, charset="utf-8", receive_buffer=None, limit=8192, **changes):
        game = TelnetGame(greet, answer, charset, receive_buffer=receive_buffer)
        evening = KeptEvening(gates, new_device, game, stores(limit=limit), **changes)
        made.append(evening)
        return evening

    yield make
    # A gate that stops waits two seconds for apps that do not answer.
    for evening in made:
        evening.finish()
    # And before their stores, so that what they say of their ends is heard.
    gates.finish()
    for evening in reversed(made):
        evening.game.stop()


@pytest.fixture
def kept(kept_evenings):
    return kept_evenings()


@pytest.fixture(scope="module")
def shared_backends():
    every = Backends()
    yield every
    every.stop()


@pytest.fixture(scope="module")
def shared_gates(module_folder, pki, authority):
    every = Gates(module_folder, pki)
    yield every
    every.finish()


@pytest.fixture
def new_device(authority):
    """Makes devices that no gate knows."""

    def make(app_id=APP_ID, development=False, **options):
        return Device(authority, app_id, aaguid=DEVELOPMENT if development else PRODUCTION, **options)

    return make


@pytest.fixture
def device(new_device):
    return new_device()


# ---- consoles: of a gate in full use, and of one that nobody has come to


@pytest.fixture(scope="module")
def build_town(shared_gates, shared_backends, module_folder, pki, authority):
    """Makes the town of this file; `words` are what its people call themselves, `prepare` gets the key file's path before
    there is one."""
    made = []

    def new_device(app_id=APP_ID):
        return Device(authority, app_id, aaguid=PRODUCTION)

    def make(words=None, prepare=None, **changes):
        place = module_folder / f"town-{len(made)}"
        place.mkdir()
        files = {"ATTESTED_KEYS_PATH": place / "keys.json", "CONTROL_SOCKET": place / "control.sock"}
        if prepare:
            prepare(files["ATTESTED_KEYS_PATH"])
        console = Console(shared_gates, shared_backends(mud), **settings(place, pki, **files, **changes))
        made.append(Town(console, pki, new_device, words))
        return made[-1]

    yield make
    for town in made:
        town.stop()


@pytest.fixture(scope="module")
def town(build_town):
    return build_town()


@pytest.fixture(scope="module")
def empty(module_folder, authority, shared_gates):
    """A gate without devices."""
    return Console(
        shared_gates,
        ATTESTED_KEYS_PATH=module_folder / "empty.json",
        CONTROL_SOCKET=module_folder / "empty.sock",
        ADMIN_TOKENS_PATH=module_folder / "empty-tokens.json",
    )


@pytest.fixture(scope="module")
def unvisited(module_folder, pki, authority, shared_gates):
    """A gate for devices, to which none has come."""
    place = module_folder / "unvisited"
    place.mkdir()
    files = {"ATTESTED_KEYS_PATH": place / "keys.json", "CONTROL_SOCKET": place / "control.sock"}
    return Console(shared_gates, **settings(place, pki, **files))
