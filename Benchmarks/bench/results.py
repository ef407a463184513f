"""Samples of all rounds, their medians and spread, and the verdicts of the table."""

import statistics


class Samples:
    """Measured numbers by row and contestant, with everything else that was seen in that round."""

    def __init__(self):
        self.rows = {}

    @classmethod
    def of(cls, summary):
        """Those that a summary was made of."""
        made = cls()
        for row, contestants in summary.items():
            made.rows[row] = {
                name: {"values": entry["values"], "details": entry["details"]}
                for name, entry in contestants.items()
            }
        return made

    def add(self, row, contestant, value, details=None):
        entry = self.rows.setdefault(row, {}).setdefault(contestant, {"values": [], "details": []})
        entry["values"].append(value)
        if details:
            entry["details"].append(details)

    def median(self, row, contestant):
        """None when the row, or the contestant in it, was not measured."""
        entry = self.rows.get(row, {}).get(contestant)
        return statistics.median(entry["values"]) if entry else None

    def summary(self):
        made = {}
        for row, contestants in self.rows.items():
            made[row] = {
                name: {
                    "median": statistics.median(entry["values"]),
                    "lowest": min(entry["values"]),
                    "highest": max(entry["values"]),
                    **entry,
                }
                for name, entry in contestants.items()
            }
        return made
