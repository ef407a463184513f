"""What a start makes of what it was left: whose session may stay; slots, stores and names that are not as they should be."""

import datetime
import json
import os
import socket
import time

import pytest

from evenings import Evening
from faults import AFTER_READ, BEFORE_READ
from pki import now, pem
from sessions import Refused
from slot_file import COLD, HEADER, HOT, MAGIC, SLOT, TRIALS, VERSION, SlotFile
from waiting import LONG, eventually, patience


def slots_of(kept):
    return SlotFile(kept.store.descriptor("slot"))


def index_of(kept, seat):
    """Which slot has this seat's leg."""
    index = kept.store.slot_of(seat.port)
    assert index is not None, "no leg in the store"
    return index


def plays_on(kept, player, seat, text="still here"):
    kept.back_after_a_kill(player)
    player.line(text)
    eventually(lambda: seat.lines[-1:] == [text], "the line at the game")


def warnings(gate):
    return [event for event in gate.events() if event.get("level") in ("warning", "error")]


# ---- whose session may stay


def revoke(kept, device):
    done = kept.gate.command("keys", "revoke", device.key_id_b64)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", ["kill", "restart"])
def test_a_key_that_was_revoked_between_two_processes(kept, how):
    """Its leg ends before anybody is served."""
    player, seat = kept.seated()
    other, other_seat = kept.seated()
    kept.kill() if how == "kill" else kept.store.end()
    kept._away(crashed=how == "kill")
    revoke(kept, player.device)
    kept.store.start()
    # READY is said behind it: only the game, which sees it in a thread of its own, may take a while.
    assert kept.store.legs() == 1
    seat.gone()
    with pytest.raises(Refused):
        player.connect()
    assert kept.back(other)["resumed"] and not other_seat.ended.is_set()


def test_a_key_that_is_revoked_after_a_restart(kept):
    player, seat = kept.seated()
    kept.restart()
    revoke(kept, player.device)
    seat.gone()
    eventually(lambda: kept.store.legs() == 0, "no leg in the store")


def test_ids_alone_are_good_as_long_as_they_are_enough(kept_evenings):
    evening = kept_evenings(REQUIRE_APP_AUTH="false")
    player, seat = evening.seated(device=False)
    evening.kill_and_start()
    plays_on(evening, player, seat)
    evening.kill()
    evening.gate.environment["REQUIRE_APP_AUTH"] = "true"
    evening.store.start()
    seat.gone()
    assert evening.store.legs() == 0
    with pytest.raises(Refused):
        player.connect()


def test_a_client_certificate_is_good_as_long_as_it_is_taken(kept_evenings, pki):
    evening = kept_evenings(ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca)
    player, seat = evening.seated(device=False, certificate=pki.good_client)
    attested, attested_seat = evening.seated()
    evening.kill_and_start()
    plays_on(evening, player, seat)
    evening.kill()
    evening.gate.environment |= {"ALLOW_MTLS_FALLBACK": "false", "MTLS_CLIENT_CA_PATH": None}
    evening.store.start()
    seat.gone()
    plays_on(evening, attested, attested_seat)


@pytest.mark.parametrize("stays", [False, True], ids=["another", "one-more"])
def test_a_client_certificate_is_good_under_its_authority(kept_evenings, pki, stays):
    """Another CA has never vouched for it; a second one beside its own takes nothing from it."""
    evening = kept_evenings(ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca)
    player, seat = evening.seated(device=False, certificate=pki.good_client)
    attested, attested_seat = evening.seated()
    evening.kill()
    authorities = [pki.foreign_authority] + [pki.client_authority] * stays
    others = pki.write(f"client-cas-{stays}.pem", b"".join(pem(authority.certificate) for authority in authorities))
    evening.gate.environment["MTLS_CLIENT_CA_PATH"] = others
    evening.store.start()
    if stays:
        plays_on(evening, player, seat)
    else:
        seat.gone()
        assert evening.store.legs() == 1
    plays_on(evening, attested, attested_seat)


def test_a_client_certificate_is_good_until_it_ends(kept_evenings, fault, pki):
    """Whoever came back by a new one of the same key stays for as long as that is good."""

    def certificate(stem, hours, key=None):
        ends = now() + datetime.timedelta(hours=hours)
        issued = pki.client_authority.issue("player", pki.client_purpose, ends=ends, key=key)
        return pki.pair(stem, issued), issued[1]

    evening = kept_evenings(ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca, **fault.environment)
    (short, _), (renewed, key) = certificate("client-short", 5), certificate("client-before", 5)
    over, over_seat = evening.seated(device=False, certificate=short)
    player, seat = evening.seated(device=False, certificate=renewed)
    player.lose()
    player.certificate, _ = certificate("client-renewed", 20, key)
    evening.back(player)
    evening.kill()
    fault.realtime_offset += 10 * 3600 * 10**9
    evening.store.start()
    over_seat.gone()
    assert evening.store.legs() == 1
    plays_on(evening, player, seat)


def test_a_key_store_that_does_not_know_the_key(kept, folder):
    """As after a restored backup."""
    player, seat = kept.seated()
    kept.kill()
    for path in folder.glob("attested-keys*"):
        path.unlink()
    kept.store.start()
    seat.gone()
    assert kept.store.legs() == 0


def test_an_app_that_is_not_let_in_any_more(kept):
    player, seat = kept.seated()
    kept.kill()
    kept.gate.environment["APPATTEST_BUNDLE_ID"] = "org.example.other"
    kept.store.start()
    seat.gone()
    assert kept.store.legs() == 0


def test_sessions_that_are_not_resumed_any_more(kept):
    """SESSION_RESUME_FOR=0: nobody could come back to them."""
    player, seat = kept.seated()
    kept.kill()
    kept.gate.environment["SESSION_RESUME_FOR"] = "0"
    kept.store.start()
    seat.gone()
    eventually(lambda: kept.store.legs() == 0, "no leg in the store")


# ---- how many


def test_no_more_are_kept_than_may_be(kept_evenings):
    evening = kept_evenings(HOT_RESTART_MAX_SESSIONS="2")
    first, second = evening.seated(), evening.seated()
    third = evening.seated(is_kept=False)
    assert evening.store.legs() == 2
    evening.kill_and_start()
    third[1].gone()
    assert third[0].connect()["resumed"] is False
    for player, seat in (first, second):
        plays_on(evening, player, seat)
    # One that ends makes room.
    first[0].close()
    first[1].gone()
    eventually(lambda: evening.store.legs() == 1, "one leg in the store")
    fourth = eventually(lambda: kept_one(evening), "room for another one")
    evening.kill_and_start()
    plays_on(evening, *fourth)


def kept_one(evening):
    """A player and a seat; None if this one is not kept: the gate has its slot back a moment after the store has let go."""
    player, seat = Evening.seated(evening)
    if player.sessions[-1]["kept"]:
        evening.stored(seat)
        return player, seat
    player.close()
    return None


def test_a_lower_bound_than_before(kept_evenings):
    evening = kept_evenings(HOT_RESTART_MAX_SESSIONS="5")
    players = [evening.seated() for _ in range(5)]
    evening.kill()
    evening.gate.environment["HOT_RESTART_MAX_SESSIONS"] = "2"
    evening.store.start()
    # Nobody who was kept has to go for it.
    for player, seat in players:
        plays_on(evening, player, seat)
    evening.seated(is_kept=False)


def test_a_store_with_little_room(kept_evenings):
    """FileDescriptorStoreMax= below what is wanted: what it would drop is not said to be kept."""
    evening = kept_evenings(limit=6)
    outcomes = []
    for number in range(6):
        player = evening.player()
        outcomes.append((player, evening.game.seat(number)))
    kept_ones = [pair for pair in outcomes if pair[0].sessions[-1]["kept"]]
    assert 1 <= len(kept_ones) <= 4
    eventually(lambda: evening.store.legs() == len(kept_ones), "legs in the store")
    assert evening.store.dropped == 0
    evening.kill_and_start()
    for player, seat in kept_ones:
        plays_on(evening, player, seat)


# ---- slots


@pytest.mark.parametrize("copies", [(0,), (1,)])
def test_one_of_two_copies_is_enough(kept, copies):
    """Whichever is spoilt: the other says how it was then or a moment before."""
    player, seat = kept.seated()
    player.line("one")
    seat.heard_lines(1)
    player.until_handled()
    kept.kill()
    slots = slots_of(kept)
    for copy in copies:
        slots.spoil(slots.taken()[0], HOT[copy] + 7)
    kept.store.start()
    session = player.connect()
    if session["resumed"]:
        player.line("two")
        eventually(lambda: seat.lines[-1:] == ["two"], "the second line")
        lines = seat.lines
        assert lines == ["one", "two"] or session.get("doubt") or lines == ["one", "one", "two"]
    assert kept.gate.running


@pytest.mark.parametrize("words", [(HOT[0], HOT[1]), (HOT[0] + 5, HOT[1] + 5), (COLD[0], COLD[1]), (0,)])
def test_a_slot_that_does_not_check_is_closed_and_no_other(kept, words):
    players = [kept.seated() for _ in range(3)]
    kept.kill()
    spoilt = index_of(kept, players[1][1])
    slots_of(kept).spoil(spoilt, *words)
    kept.store.start()
    players[1][1].gone()
    eventually(lambda: kept.store.legs() == 2, "two legs in the store")
    assert players[1][0].connect()["resumed"] is False
    for player, seat in (players[0], players[2]):
        plays_on(kept, player, seat)


@pytest.mark.parametrize("place, value", [(VERSION, 99), (VERSION, 0), (MAGIC, 1), (2, 5), (2, 2**63)])
def test_slots_of_an_unknown_layout_are_said_and_closed(kept, place, value):
    """As after a step back to a program that is too old: it starts, says so, and closes what it cannot read."""
    player, seat = kept.seated()
    kept.kill()
    slots_of(kept).write(place, value)
    known = len(warnings(kept.gate))
    kept.store.start()
    seat.gone()
    assert kept.store.legs() == 0 and kept.store.names()["slot"] == 1
    eventually(lambda: warnings(kept.gate)[known:], f"a warning: {kept.gate.log_tail()}")
    assert player.connect()["resumed"] is False
    # From here on all is as on a first start.
    eventually(lambda: kept.store.legs() == 1, "a leg in the store")
    kept.kill_and_start()
    kept.back_after_a_kill(player)


def test_noise_in_every_word_of_a_slot(kept):
    """Whatever stands there, the gate starts and the others play on."""
    stays, stays_seat = kept.seated()
    for turn in range(6):
        player, seat = kept.seated()
        kept.kill()
        index = index_of(kept, seat)
        slots = slots_of(kept)
        slots.spoil(index, *range(turn, 128, 6))
        kept.store.start()
        plays_on(kept, stays, stays_seat, f"turn {turn}")
        player.connect()
        player.close()
        eventually(lambda: kept.store.legs() == 1, "one leg in the store")


# ---- a store that is not as it should be


def test_a_leg_without_a_slot_and_a_slot_without_a_leg(kept):
    players = [kept.seated() for _ in range(3)]
    kept.kill()
    kept.store.drop(next(name for name in kept.store.names() if int(name[1:], 36) == index_of(kept, players[0][1])
                         and name.startswith("s") and name != "slot"))  # fmt: skip
    one, other = socket.socketpair()
    kept.store.put("szz0", one.detach())
    kept.store.start()
    players[0][1].gone()
    other.settimeout(patience(LONG))
    assert other.recv(1) == b""  # nobody knows whose it was
    other.close()
    assert kept.store.legs() == 2
    assert players[0][0].connect()["resumed"] is False
    for player, seat in players[1:]:
        plays_on(kept, player, seat)


def test_legs_whose_slots_are_gone(kept):
    player, seat = kept.seated()
    kept.kill()
    kept.store.drop("slot")
    kept.store.start()
    seat.gone()
    assert kept.store.legs() == 0
    assert player.connect()["resumed"] is False


def test_names_that_nobody_knows(kept):
    player, seat = kept.seated()
    kept.kill()
    for name in ("stored", "hello", "s-1", "lzzzzz"):
        one, other = socket.socketpair()
        kept.store.put(name, one.detach())
        other.close()
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        kept.store.put("l7", os.dup(stranger.fileno()))
    kept.store.start()
    plays_on(kept, player, seat)
    eventually(
        lambda: not {"stored", "hello", "s-1", "lzzzzz", "l7"} & set(kept.store.names()), "they are gone"
    )


def test_a_leg_that_is_no_connection(kept):
    """A descriptor of another kind under the name of a leg."""
    player, seat = kept.seated()
    other, other_seat = kept.seated()
    kept.kill()
    name = next(
        entry.name
        for entry in kept.store.stored
        if entry.name.startswith("s")
        and entry.name != "slot"
        and int(entry.name[1:], 36) == index_of(kept, seat)
    )
    kept.store.drop(name)
    kept.store.put(name, os.open("/dev/null", os.O_RDONLY))
    kept.store.start()
    seat.gone()
    plays_on(kept, other, other_seat)
    assert player.connect()["resumed"] is False


def test_the_variables_are_not_passed_on_and_no_descriptor_is_left(kept):
    """What the start was given is its own, and close-on-exec."""
    kept.seated()
    kept.kill_and_start()
    pid = kept.gate.process.pid
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            with open(f"/proc/{pid}/fdinfo/{number}") as info:
                flags = next(int(line.split()[1], 8) for line in info if line.startswith("flags:"))
        except FileNotFoundError:
            continue
        assert int(number) <= 2 or flags & os.O_CLOEXEC, number


def test_nothing_is_promised_before_the_manager_has_it(kept):
    """The first who comes waits for its word, a second at most; nobody else waits, nobody is promised anything, and nobody is
    lost either where the manager does read in the end."""
    with kept.store.deaf():
        players = []
        for number in range(3):
            started = time.monotonic()
            players.append((kept.player(), kept.game.seat(number)))
            assert players[-1][0].sessions[-1]["kept"] is False
            assert time.monotonic() - started < patience(2 if number == 0 else 1)
        # The last one's leg is on its way to the manager, who has not read it: without that it would be lost.
        kept.rested()
        kept.kill()
    kept.store.start()
    for player, seat in players:
        plays_on(kept, player, seat)


def test_what_is_promised_is_in_the_store(kept):
    for number in range(20):
        player = kept.player()
        assert player.sessions[-1]["kept"] is True
        # As the manager's own thread has left it: nothing more is read for this.
        assert sum(entry.name.startswith("s0") for entry in list(kept.store.stored)) == number + 1


def test_players_do_not_wait_for_a_manager_that_hears_nothing(kept):
    player, seat = kept.seated()
    with kept.store.deaf():
        others = []
        for number in range(20):
            other = kept.player()
            others.append((other, kept.game.seat(number + 1)))
            player.line(str(number))
            seat.heard_lines(number + 1)
    eventually(lambda: kept.store.legs() >= 1, "legs in the store")
    # What was said to be kept and could be told by then is there.
    known = {index_of(kept, s) for _, s in [(player, seat)]}
    kept.kill_and_start()
    plays_on(kept, player, seat)
    assert known


def test_a_manager_that_is_gone(kept):
    player, seat = kept.seated()
    kept.store.lose_socket()
    other = kept.player()
    other.line("hello")
    kept.game.seat(1).heard_lines(1)
    player.line("hello")
    seat.heard_lines(1)
    other.close()
    kept.game.seat(1).gone()
    assert kept.gate.running


def test_a_leg_that_ended_while_the_manager_was_deaf(kept):
    """Its name is another one's later: the store must not have two of it."""
    player, seat = kept.seated()
    with kept.store.deaf():
        player.close()
        seat.gone()
        following = kept.player()
        later = kept.game.seat(1)
    eventually(lambda: kept.store.legs() == 1, "one leg in the store")
    kept.stored(later)
    kept.kill_and_start()
    plays_on(kept, following, later)


# ---- deaths at the start


def test_kills_from_outside_cost_nobody(kept):
    """However often, and however early."""
    player, seat = kept.seated()
    kept.kill()
    for number in range(8):
        kept.gate.launch()
        if number % 2:
            eventually(lambda: kept.store.ready_at() is not None, "ready")
        kept.store.kill()
    kept.store.start()
    plays_on(kept, player, seat)


def test_the_slot_that_three_starts_died_on_is_dropped(kept_evenings, fault):
    """Each dies at the first event of this session; the others stay."""
    evening = kept_evenings(WORKERS="1", **fault.environment)
    players = [evening.seated() for _ in range(3)]
    evening.kill()
    fatal, fatal_seat = players[1]
    for number in range(3):
        fault.hold_leg(evening.game.port, BEFORE_READ)
        fatal_seat.say(f"boom {number}\r\n")
        evening.gate.launch()
        eventually(lambda: fault.legs_held == 1, "the first event")
        evening.store.kill()
        fault.let_legs_go()
    evening._away(crashed=True)
    evening.store.start()
    fatal_seat.gone()
    assert evening.store.legs() == 2
    eventually(
        lambda: any("slot" in json.dumps(event) or "session" in json.dumps(event) for event in warnings(evening.gate)),
        "a warning of it",
    )
    for player, seat in (players[0], players[2]):
        plays_on(evening, player, seat)


def test_starts_that_die_and_die_end_empty(kept_evenings, fault):
    """The fourth in a row has another one to die on, and the one behind it begins with nobody."""
    evening = kept_evenings(WORKERS="1", **fault.environment)
    players = [evening.seated() for _ in range(6)]
    evening.kill()
    deaths = 0
    for number in range(8):
        fault.hold_leg(evening.game.port, BEFORE_READ)
        for _, seat in players:
            if not seat.ended.is_set():
                seat.say(f"boom {number}\r\n")
        evening.gate.launch()
        eventually(lambda: fault.legs_held == 1 or evening.store.ready_at(), "an event or a start")
        if not any(not seat.ended.is_set() for _, seat in players):
            break
        eventually(lambda: fault.legs_held == 1 or evening.store.legs() == 0, "an event or nobody left")
        if evening.store.legs() == 0:
            break
        evening.store.kill()
        deaths += 1
        fault.let_legs_go()
    fault.let_legs_go()
    assert deaths == 4
    evening._away(crashed=True)
    for player, seat in players:
        seat.gone()
    assert players[0][0].connect()["resumed"] is False


def test_a_start_that_serves_for_long_enough_is_over(kept_evenings, fault):
    """Deaths with half a minute of service before each are no row, though the first event is what each dies of."""
    evening = kept_evenings(WORKERS="1", SESSION_RESUME_FOR="10h", **fault.environment)
    player, seat = evening.seated()
    evening.kill()
    deaths = HEADER + slots_of(evening).taken()[0] * SLOT + TRIALS

    def is_good():
        # Bit by bit: whoever counts the half minute may not have begun.
        fault.jump(1)
        return slots_of(evening).word(deaths) == 0

    for number in range(5):
        evening.store.start()
        eventually(is_good, "what died before counts no more")
        # Read, or it would be there at once for the next start.
        fault.hold_leg(evening.game.port, AFTER_READ)
        seat.say(f"boom {number}\r\n")
        eventually(lambda: fault.legs_held == 1, "the first event")
        evening.store.kill()
        fault.let_legs_go()
    evening._away(crashed=True)
    evening.store.start()
    plays_on(evening, player, seat)
