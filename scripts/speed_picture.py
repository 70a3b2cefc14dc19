"""The README's picture: how many times as fast as other libraries the defaults are, operator by operator and device by
device. SVG as plain text; an opaque ground of its own in both colour schemes, so that it can be read on any page."""
import math

import speed_records
import study_pictures

# (where in a dark scheme the colour is another one) light, dark.
SCHEME = {"ground": ("#ffffff", "#0d1117"), "frame": ("#d0d7de", "#30363d"), "words": ("#1f2328", "#e6edf3"),
          "faint": ("#59636e", "#9198a1"), "rule": ("#d8dee4", "#2b3138"), "one": ("#1f2328", "#e6edf3")}
# For hardware, in the order of the places; Okabe and Ito's, which people with any colour vision tell apart.
COLOURS = ("#0072b2", "#56b4e9", "#d55e00", "#e69f00", "#009e73", "#cc79a7")
WIDTH, LEFT, RIGHT, ROW, GAP, TOP = 790, 260, 560, 22, 30, 66
LEAST, MOST = 0.5, 128


def style():
    def rules(which):
        return "".join(f".{name}{{{'stroke' if name in ('rule', 'one') else 'fill'}:{colours[which]}}}"
                       for name, colours in SCHEME.items() if name not in ("ground", "frame")) + (
            f".ground{{fill:{SCHEME['ground'][which]};stroke:{SCHEME['frame'][which]}}}")
    return f"<style>{rules(0)}@media (prefers-color-scheme: dark){{{rules(1)}}}</style>"


def text(x, y, words, kind="words", anchor="start", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}" font-size="13" '
            f'font-family="DejaVu Sans, Verdana, sans-serif"{extra}>{study_pictures.escape(words)}</text>')


def across(ratio):
    held = min(max(ratio, LEAST), MOST)
    return LEFT + (RIGHT - LEFT) * math.log(held / LEAST) / math.log(MOST / LEAST)


def groups(comparisons):
    """[(operator, [(place, libraries, ratios)])] of what belongs in the README."""
    found = {}
    for entry in comparisons:
        if speed_records.is_for_everyone(entry):
            found.setdefault(entry.operator, {}).setdefault(entry.place, []).append(entry)
    return [(operator, [(place, " or ".join(sorted({entry.rival for entry in entries})),
                         [entry.speed for entry in entries]) for place, entries in places.items()])
            for operator, places in found.items()]


def mean(ratios):
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def row(y, colour, place, libraries, ratios):
    middle, least, most = mean(ratios), min(ratios), max(ratios)
    begin, end = sorted((across(1), across(middle)))
    parts = [text(LEFT - 12, y + 15, place, anchor="end")]
    parts.append(f'<rect x="{begin:.1f}" y="{y + 3}" width="{max(end - begin, 1):.1f}" height="{ROW - 7}" rx="2" fill="{colour}"/>')
    centre = y + ROW / 2 - 0.5
    parts.append(f'<line x1="{across(least):.1f}" y1="{centre}" x2="{across(most):.1f}" y2="{centre}" class="one" stroke-width="1.5"/>')
    for ratio in ratios:
        parts.append(f'<circle cx="{across(ratio):.1f}" cy="{centre}" r="2.4" class="words"/>')
    parts.append(text(RIGHT + 14, y + 15, f"{middle:.2f}", extra=' font-weight="bold"'))
    parts.append(text(RIGHT + 62, y + 15, f"x {libraries}", "faint"))
    return parts


def picture(comparisons):
    shown = groups(comparisons)
    places = list(dict.fromkeys(place for _, rows in shown for place, _, _ in rows))
    height = TOP + sum(GAP + ROW * len(rows) for _, rows in shown) + 46
    title = "Speed over other libraries, float32"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{title}</title>", style(),
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6" class="ground"/>',
        text(18, 28, title, extra=' font-weight="bold"'),
        text(18, 48, "What is taken by default over the fastest other library; a point is a problem, a bar their geometric mean.",
             "faint"),
    ]
    bottom = height - 40
    tick = LEAST
    while tick <= MOST:
        kind = 'class="one" stroke-width="1.5"' if tick == 1 else 'class="rule"'
        parts.append(f'<line x1="{across(tick):.1f}" y1="{TOP}" x2="{across(tick):.1f}" y2="{bottom}" {kind}/>')
        parts.append(text(across(tick), bottom + 18, f"{tick:g}x", "faint", "middle"))
        tick *= 2
    parts.append(text(across(1) - 8, height - 6, "slower", "faint", "end"))
    parts.append(text(across(1) + 8, height - 6, "faster", "faint"))
    y = TOP
    for operator, rows in shown:
        parts.append(text(18, y + 20, operator, extra=' font-weight="bold"'))
        y += GAP - 4
        for place, libraries, ratios in rows:
            parts += row(y, COLOURS[places.index(place) % len(COLOURS)], place, libraries, ratios)
            y += ROW
        y += 4
    return "\n".join([*parts, "</svg>"]) + "\n"
