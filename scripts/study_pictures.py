"""Pictures of docs/studies as SVG: bars in groups, and curves. Plain text, no library."""
import collections
import math

import study_tables

WIDTH = 780
# Colours that people with any colour vision tell apart (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#4d4d4d", "#999999")
TEXT = 'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12" fill="#222"'


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def text(x, y, words, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {TEXT}{extra}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour="#ddd", width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def picture(title, height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        text(16, 24, title, extra=' font-weight="bold"'),
        *parts,
        "</svg>",
    ]) + "\n"


class Logarithmic:
    """Maps values between two powers of `base` onto pixels."""

    def __init__(self, least, most, first, last, base=10):
        self.base = base
        self.low = math.floor(math.log(least, base) + 1e-9)
        self.high = max(math.ceil(math.log(most, base) - 1e-9), self.low + 1)
        self.first, self.last = first, last

    def __call__(self, value):
        part = (math.log(value, self.base) - self.low) / (self.high - self.low)
        return self.first + part * (self.last - self.first)

    def ticks(self):
        return [self.base**power for power in range(self.low, self.high + 1)]


def bars(title, groups):
    """Groups are (name, [(variant, speed)]). A variant has one colour in all groups, vendors' libraries are grey."""
    speeds = [speed for _, group in groups for _, speed in group]
    colour_of = {}
    for _, group in groups:
        for name, _ in group:
            colour_of.setdefault(name, None)
    own = [name for name in colour_of if not study_tables.is_vendor(name) and name != "vendor"]
    for name in colour_of:
        colour_of[name] = COLOURS[own.index(name) % 7] if name in own else COLOURS[7]

    top, left, right, bar, gap = 44, 150, WIDTH - 80, 16, 34
    height = top + sum(gap + bar * len(group) for _, group in groups) + 40
    scale = Logarithmic(min(speeds), max(speeds), left, right)
    parts = []
    for tick in scale.ticks():
        parts.append(line(scale(tick), top, scale(tick), height - 32))
        parts.append(text(scale(tick), height - 16, f"{tick:g}", "middle"))
    y = top
    for name, group in groups:
        parts.append(text(16, y + 20, name, extra=' font-style="italic"'))
        y += gap - 6
        for variant, speed in group:
            parts.append(text(left - 8, y + bar - 4, variant, "end"))
            parts.append(f'<rect x="{left}" y="{y + 2}" width="{max(scale(speed) - left, 1):.1f}" height="{bar - 4}" '
                         f'fill="{colour_of[variant]}"/>')
            parts.append(text(scale(speed) + 6, y + bar - 4, study_tables.number(speed)))
            y += bar
        y += 6
    return picture(title, height, parts)


# A line through (x, y) points; curves with the same `colour` number have the same colour.
Curve = collections.namedtuple("Curve", "name points colour dashes")


def device_groups(result, records):
    """For bars(): a group for each device with its records, slowest first."""
    groups = []
    for entry in result["devices"]:
        found = [(r["variant"], r["gflops"]) for r in records if r["device"] == entry["id"] and r["gflops"]]
        if found:
            groups.append((f"{entry['id']}: {entry['name']}", sorted(found, key=lambda bar: bar[1])))
    return groups


def curves(title, series, across_name, base_up, tick_up):
    """Both axes logarithmic, across by powers of 2. `tick_up` writes a value of the vertical one."""
    points = [point for curve in series for point in curve.points]
    height, top, bottom, left, right = 460, 50, 410, 70, WIDTH - 250
    across = Logarithmic(min(p[0] for p in points), max(p[0] for p in points), left, right, 2)
    up = Logarithmic(min(p[1] for p in points), max(p[1] for p in points), bottom, top, base_up)
    parts = []
    for tick in across.ticks():
        parts.append(line(across(tick), top, across(tick), bottom))
        parts.append(text(across(tick), bottom + 18, f"{tick:g}", "middle"))
    for tick in up.ticks():
        parts.append(line(left, up(tick), right, up(tick)))
        parts.append(text(left - 8, up(tick) + 4, tick_up(tick), "end"))
    parts.append(text((left + right) / 2, bottom + 38, across_name, "middle"))
    labels = []
    for curve in series:
        colour = COLOURS[curve.colour % len(COLOURS)]
        dashes = f' stroke-dasharray="{curve.dashes}"' if curve.dashes else ""
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in sorted(curve.points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        labels.append([up(max(curve.points)[1]), curve.name, colour])
    # Names stand where their curves end, moved apart where they would cover each other.
    labels.sort()
    for i in range(1, len(labels)):
        labels[i][0] = max(labels[i][0], labels[i - 1][0] + 15)
    for y, name, colour in labels:
        parts.append(text(right + 10, y + 4, name).replace("#222", colour))
    return picture(title, height, parts)
