"""Gates with a console: one in full use, and one that nobody has come to."""

import pytest
from backend import mud
from consoles import Console
from device import PRODUCTION, Device
from town import Town, settings

APP_ID = "ABCDEF12K4.org.example.mudproxy"


@pytest.fixture(scope="module")
def build_town(shared_gates, shared_backends, module_folder, pki, authority):
    """Makes the town of this file; `words` are what its people call themselves."""
    made = []

    def new_device(app_id=APP_ID):
        return Device(authority, app_id, aaguid=PRODUCTION)

    def make(words=None, **changes):
        console = Console(shared_gates, shared_backends(mud), **settings(module_folder, pki, **changes))
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
