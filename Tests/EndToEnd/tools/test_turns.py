"""The turns of several workers: judged with threads, as a lock belongs to whoever opened the file."""

import fcntl
import threading

import pytest

import turns
from waiting import eventually


@pytest.fixture(autouse=True)
def two_workers(monkeypatch, folder):
    """Locks of their own: this test has its own turn just now."""
    monkeypatch.setattr(turns, "WORKERS", 2)
    for name in ("DOOR", "HALL"):
        (folder / name).touch()
        monkeypatch.setattr(turns, name, folder / name)


def is_taken(path):
    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True


def test_who_wants_to_be_alone_waits_and_goes_before_those_who_come_later():
    seen = []

    def take(name, alone):
        with turns.turn(alone):
            seen.append(name)
            if alone:
                # Nobody comes in meanwhile, though somebody waits in the door.
                eventually(lambda: is_taken(turns.DOOR), "the next one in the door")
            seen.append(name)

    threads = [threading.Thread(target=take, args=one) for one in (("alone", True), ("late", False))]
    with turns.turn(alone=False):
        with turns.turn(alone=False):
            threads[0].start()
            eventually(lambda: is_taken(turns.DOOR), "one who waits to be alone")
            threads[1].start()
        assert seen == []
    for thread in threads:
        thread.join(60)
    assert seen == ["alone", "alone", "late", "late"]


def test_without_other_workers_there_is_nothing_to_wait_for(monkeypatch):
    monkeypatch.setattr(turns, "WORKERS", 1)
    with turns.turn(alone=True), turns.turn(alone=True):
        assert not is_taken(turns.HALL)


def test_the_files_that_are_said_to_take_longest_are_there():
    there = {path.stem for path in turns.FOLDER.rglob("test_*.py")}
    assert set(turns.LONGEST) <= there and len(set(turns.LONGEST)) == len(turns.LONGEST)
