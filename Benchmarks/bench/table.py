"""The table of verdicts in Benchmarks/README.md: what results.json says, between two markers."""

BEGIN, END = "<!-- verdicts:begin -->", "<!-- verdicts:end -->"


def number(value):
    """Three digits that matter, without exponents."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def bound(value, line):
    if value is None:
        return ""
    return ("≥ " if line["at_least"] else "≤ ") + number(value)


def markdown(results):
    """Where it was measured, and a row for each verdict."""
    machine = results["machine"]
    peers = "; ".join(f"{name} {version}" for name, version in sorted(results["versions"].items()))
    rows = [
        f"Measured on {machine['cores']} cores of {machine['processor']}, Linux {machine['kernel']}, with {peers}.",
        "",
        "| row | what | value | must | aim | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for line in results["verdicts"]:
        unit = "" if line["unit"] == "×" else f" {line['unit']}"
        cells = [
            line["row"],
            line["measure"],
            number(line["value"]) + unit,
            bound(line["must"], line),
            bound(line["aim"], line),
            line["verdict"].replace("-", "–"),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def between(text):
    """What stands before the table, the table, and what stands behind it."""
    before, begin, rest = text.partition(BEGIN + "\n")
    table, end, behind = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there are no lines {BEGIN} and {END}")
    return before + begin, table.strip("\n") + "\n", end + behind


def write_table(results, path):
    before, _, behind = between(path.read_text())
    path.write_text(before + "\n" + markdown(results) + "\n" + behind)
