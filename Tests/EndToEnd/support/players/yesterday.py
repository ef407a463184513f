"""Days that a gate has had before it was started: written as its history's file (docs/console.md, "Console"), so that
pictures of the console show what an operator sees, and not a gate that has just begun."""

import math
import random
import struct
import time

CODES = ["assertion_rejected", "rate_limited", "nonce_invalid", "key_unknown", "origin_forbidden"]
HEAD, MINUTES = 2048, 1440
# In minutes before now: the machine was being upgraded.
DOWN = range(596, 634)


def checksum(data):
    """CRC-32C, a bit at a time."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def head(codes):
    text = b"pchist\r\n" + struct.pack("<III", 1, 68 + 4 * len(codes), len(codes)) + "\n".join(codes).encode()
    text = text.ljust(HEAD - 4, b"\0")
    return text + struct.pack("<I", checksum(text))


def place(begin, start, numbers, refusals):
    """`numbers`: players, admissions, registrations, bytes from players and from the game, microseconds."""
    text = struct.pack(f"<QQ6Q{len(refusals)}I", begin, start, *numbers, *refusals)
    return struct.pack("<I", checksum(text)) + text


def minute(ago, source):
    """An evening four hours ago, a night before it, and few who are still up."""
    evening = math.exp(-(((ago - 260) / 150) ** 2))
    noon = 0.45 * math.exp(-(((ago - 700) / 170) ** 2))
    night = 0.5 * math.exp(-(((ago - 1440) / 200) ** 2))
    players = 11 + 96 * (evening + noon + night) * source.uniform(0.96, 1.02)
    if ago in range(560, 596):
        # Not all of them are back yet.
        players *= 1 - (ago - 560) / 40
    admissions = max(0, round(source.gauss(players / 22, 0.8))) + (14 if ago in (594, 595) else 0)
    refusals = [int(source.random() < 0.05), 0, int(source.random() < 0.03), int(source.random() < 0.02), 0]
    if ago in range(330, 347):
        # Somebody tries keys.
        refusals[0], refusals[1] = source.randrange(4, 11), source.randrange(0, 30)
    lag = round(source.lognormvariate(6.6 + 0.009 * players, 0.15))
    sent = round(players * source.uniform(90, 140))
    return round(players), admissions, int(source.random() < 0.04), sent, sent * source.randrange(38, 52), lag, refusals


def write(path, now=None, days=2):
    """The days before `now`, in seconds; the last of them is a minute ago. The day before was a weaker one."""
    now = int((now or time.time()) * 1000)
    source = random.Random(4711)
    text = head(CODES)
    for ago in range(days * MINUTES - 2, 0, -1):
        players, admissions, registrations, sent, shown, lag, refusals = minute(ago % MINUTES, source)
        if ago >= MINUTES:
            players, sent, shown = (number * 7 // 10 for number in (players, sent, shown))
        if ago in DOWN:
            continue
        begin = now - (ago + 1) * 60_000
        start = begin + 20_000 if ago == DOWN.start - 1 else 0
        text += place(begin, start, (players, admissions, registrations, sent, shown, lag), refusals)
    path.write_bytes(text)
