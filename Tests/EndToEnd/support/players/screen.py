"""What a person sees of a terminal: the cells of its window after all that a program has written, and no line more."""

import re

STEP = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|\x1b([78])|([\r\n])|(.)", re.DOTALL)
# Black on white, as the program sets it for a QR code.
CODE = "38;5;16;48;5;231"


class Screen:
    def __init__(self, shown, columns, rows):
        self.columns, self.rows = columns, rows
        # Of each row: column to (character, whether it has the colours of a code).
        self.cells = [{} for _ in range(rows)]
        self.row = self.column = 0
        self.kept = (0, 0)
        colours = ""
        for arguments, letter, place, end, character in STEP.findall(shown):
            if letter == "m":
                colours = "" if arguments in ("", "0") else arguments
            elif letter == "A":
                self.row = max(0, self.row - int(arguments or 1))
            elif letter == "K":
                self.cells[self.row] = {at: cell for at, cell in self.cells[self.row].items() if at < self.column}
            elif place == "7":
                self.kept = (self.row, self.column)
            elif place == "8":
                self.row, self.column = self.kept
            elif end == "\r":
                self.column = 0
            elif end == "\n":
                self._down()
            elif character:
                if self.column == columns:
                    self.column = 0
                    self._down()
                self.cells[self.row][self.column] = (character, colours == CODE)
                self.column += 1
            else:
                raise AssertionError(f"this screen does not know {arguments!r} {letter!r}")

    def _down(self):
        if self.row == self.rows - 1:
            self.cells = [*self.cells[1:], {}]
        else:
            self.row += 1

    def text(self, row):
        return "".join(self.cells[row].get(column, (" ", False))[0] for column in range(self.columns)).rstrip()

    @property
    def lines(self):
        return [self.text(row) for row in range(self.rows)]

    def code(self):
        """The part of the window that has a code's colours, as the program's own lines of it."""
        drawn = ["".join(cell[0] for _, cell in sorted(row.items()) if cell[1]) for row in self.cells]
        return "\n".join(f"\x1b[{CODE}m{line}\x1b[0m" for line in drawn if line)
