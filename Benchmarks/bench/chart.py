"""The chart: one panel a row, one bar a contestant, as an SVG file that reads in light and dark."""

from xml.sax.saxutils import escape

ORDER = ("portcullis", "floor", "haproxy", "nginx", "node", "websockify")
PANELS = (
    ("a", "Memory of an idle session", "KiB"),
    ("b fixed", "CPU of a 64-byte message, 20,000 a second", "µs"),
    ("b closed", "CPU of a 64-byte message, closed loop", "µs"),
    ("c", "CPU of a megabyte from the game", "µs"),
    ("d p50", "Added latency, median", "µs"),
    ("d p99", "Added latency, 99th percentile", "µs"),
    ("e", "CPU of an admission", "µs"),
)
WIDTH, LEFT, BAR, GAP, HEAD, FOOT = 760, 110, 18, 6, 34, 14
ROOM = WIDTH - LEFT - 110

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .bar { fill: #8c959f } .portcullis { fill: #0969da } .floor { fill: #d0d7de }
  .spread { stroke: #57606a; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .floor { fill: #484f58 } .spread { stroke: #c9d1d9 }
  }
"""


def bar(name, entry, unit, scale, y):
    """Name, bar up to the median, a line from the lowest to the highest round, and the number. A bar that
    would leave the panel is cut, as its number shows."""
    length = min(max(entry["median"], 0) * scale, ROOM)
    kind = f"bar {name}" if name in ("portcullis", "floor") else "bar"
    middle = y + BAR / 2
    parts = [
        f'<text x="{LEFT - 8}" y="{middle + 5}" text-anchor="end">{escape(name)}</text>',
        f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>',
    ]
    lowest, highest = (min(max(entry[key], 0) * scale, ROOM) for key in ("lowest", "highest"))
    if highest > lowest:
        line = f'x1="{LEFT + lowest:.1f}" x2="{LEFT + highest:.1f}" y1="{middle}" y2="{middle}"'
        parts.append(f'<line class="spread" {line}/>')
    after = LEFT + max(length, highest) + 8
    digits = 0 if entry["median"] >= 100 else 1
    parts.append(f'<text x="{after:.1f}" y="{middle + 5}">{entry["median"]:,.{digits}f} {unit}</text>')
    return parts


def panel(title, unit, contestants, y):
    """The panel's parts, and where the next one begins."""
    names = [name for name in ORDER if name in contestants]
    # One that is many times the others would leave them without a length.
    others = sorted(contestants[name]["highest"] for name in names)
    widest = min(others[-1], 2.5 * others[len(others) // 2])
    parts = [f'<text class="title" x="{LEFT}" y="{y + 18}">{escape(title)}</text>']
    y += HEAD - 6
    for name in names:
        parts += bar(name, contestants[name], unit, ROOM / widest if widest > 0 else 0, y)
        y += BAR + GAP
    return parts, y + FOOT


def write_chart(summary, path):
    """What was measured of `PANELS`; less is better in all of them."""
    parts, y = [], 8
    for row, title, unit in PANELS:
        if row in summary:
            more, y = panel(title, unit, summary[row], y)
            parts += more
    if not parts:
        return
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}">'
    path.write_text("\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n")
