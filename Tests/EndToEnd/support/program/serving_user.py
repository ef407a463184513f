"""Whom a gate that root has started becomes in the tests, and a place that is his."""

import contextlib
import os
import pathlib
import pwd
import shutil
import tempfile

NOBODY = pwd.getpwnam("nobody")


def give(*paths):
    """Makes him the owner."""
    for path in paths:
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)


@contextlib.contextmanager
def place_of_nobody(pki):
    """A folder on a path that everybody may enter, with certificates that only he may read."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="run-as-", dir="/tmp"))
    made.chmod(0o711)
    for name, source in [
        ("server.pem", pki.server_certificate), ("key.pem", pki.server_key), ("root.pem", pki.attestation_root),
    ]:  # fmt: skip
        shutil.copyfile(source, made / name)
        (made / name).chmod(0o600)
        give(made / name)
    yield made
    shutil.rmtree(made)


def settings_of(place, **changes):
    """With all that is written in its `store`."""
    return {
        "RUN_AS": "nobody",
        "ATTESTED_KEYS_PATH": place / "store" / "attested-keys.json",
        "CONTROL_SOCKET": place / "store" / "control.sock",
        "TLS_CERT_PATH": place / "server.pem",
        "TLS_KEY_PATH": place / "key.pem",
        "APPATTEST_ROOT_CA_PATH": place / "root.pem",
        **changes,
    }
