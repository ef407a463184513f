"""A QR code in a terminal, seen as a camera sees it and read by zbar (Debian's zbar-tools)."""

import re
import shutil
import subprocess

READER = shutil.which("zbarimg")
BLOCKS = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}
# The colours of text and ground that the program sets, and the grey of a terminal that it sets none for.
SET = re.compile(r"\x1b\[38;5;16;48;5;231m([ ▀▄█]+)\x1b\[0m")
INK, PAPER, GREY = 0, 255, 128
SIZE = 4  # pixels of a module, each way


def picture(shown):
    """A portable graymap of the lines that are black and white; the rest of the screen is grey."""
    rows = []
    for line in shown.splitlines():
        match = SET.search(line)
        if not match:
            continue
        for half in (0, 1):
            rows.append([(PAPER, INK)[BLOCKS[block][half]] for block in match[1]])
    assert rows, f"no QR code in {shown!r}"
    width = max(map(len, rows)) + 4
    border = [[GREY] * width] * 2
    framed = border + [[GREY, GREY, *row, *[GREY] * (width - 2 - len(row))] for row in rows] + border
    pixels = bytes(value for row in framed for _ in range(SIZE) for value in row for _ in range(SIZE))
    return b"P5 %d %d 255\n" % (width * SIZE, len(framed) * SIZE) + pixels


def read(shown, folder):
    """What the code says."""
    path = folder / "screen.pgm"
    path.write_bytes(picture(shown))
    command = [READER, "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.removesuffix("\n")
