"""Charts as SVG, drawn here so that a page needs no script and no library to show them.

Pure: values in, markup out. Colour comes from classes in the style sheet, so light and dark are one picture; every
series also has its own dash, and every point says its value in a title, so colour is never the only difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil, floor

from markupsafe import Markup

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 96, 14, 26
LABEL_GAP = 15
AtTime = Callable[[datetime], float]
AtValue = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Series:
    """One line: its name and its points in order of time."""

    name: str
    points: Sequence[tuple[datetime, float]]


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """From quarter to quarter around the values, at least half a unit apart."""
    low, high = floor(min(values) * 4) / 4, ceil(max(values) * 4) / 4
    return (low, max(high, low + 0.5))


def lines(series: Sequence[Series], title: str) -> Markup:
    """Lines over time, each labelled at its end."""
    times = [at for one in series for at, _ in one.points]
    if not times:
        return Markup("")
    low, high = bounds([value for one in series for _, value in one.points])
    first, last = min(times), max(times)
    if first == last:
        first, last = first - timedelta(hours=1), last + timedelta(hours=1)
    span = (last - first).total_seconds()

    def x(at: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (at - first).total_seconds() / span

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - min(max(value, low), high)) / (high - low)

    parts = [_grid(low, high, y), _dates(first, last, x)]
    ends = _spread([y(one.points[-1][1]) if one.points else 0.0 for one in series])
    for number, one in enumerate(series, 1):
        if one.points:
            parts.append(_line(one, number, x, y, ends[number - 1]))
    return _svg(parts, WIDTH, HEIGHT, title)


def _line(one: Series, number: int, x: AtTime, y: AtValue, end: float) -> Markup:
    path = " ".join(f"{'M' if n == 0 else 'L'}{x(at):.1f} {y(value):.1f}" for n, (at, value) in enumerate(one.points))
    dots = Markup("").join(
        Markup(
            '<circle class="dot s{}" cx="{:.1f}" cy="{:.1f}" r="3"><title>{} {:%Y-%m-%d}: {:.2f}</title></circle>'
        ).format(number, x(at), y(value), one.name, at, value)
        for at, value in one.points
    )
    last_x = x(one.points[-1][0])
    label = Markup('<text class="label s{}" x="{:.1f}" y="{:.1f}">{}</text>').format(
        number, last_x + 9, end + 4, one.name
    )
    return Markup('<path class="line s{}" d="{}"/>').format(number, path) + dots + label


def _grid(low: float, high: float, y: AtValue) -> Markup:
    steps = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
    step = next((one for one in steps if (high - low) / one <= 4), (high - low) / 4)
    rows = [low + step * n for n in range(int((high - low) / step + 1e-9) + 1)]
    return Markup("").join(
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text class="tick" x="{}" y="{:.1f}">{}</text>'
        ).format(LEFT, WIDTH - RIGHT, y(value), y(value), LEFT - 8, y(value) + 4, f"{value:g}".replace("-", "−"))
        for value in rows
    )


def _dates(first: datetime, last: datetime, x: AtTime) -> Markup:
    days = max((last - first).days, 1)
    form = "%-d %b" if days < 400 else "%b %Y"
    marks = [first + (last - first) * step / 4 for step in range(5)]
    return Markup("").join(
        Markup('<text class="tick date" x="{:.1f}" y="{}">{}</text>').format(x(at), HEIGHT - 6, at.strftime(form))
        for at in marks
    )


def _spread(wanted: list[float]) -> list[float]:
    """Places for labels, as near as possible to where they belong, none over another."""
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    placed = list(wanted)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + LABEL_GAP)
    over = max(0.0, max(placed, default=0.0) - (HEIGHT - BOTTOM))
    return [place - over for place in placed]


def spark(values: Sequence[float | None], title: str, width: int = 160, height: int = 36) -> Markup:
    """A small line of values 0–1 without axes; gaps where nothing was measured."""
    step = (width - 8) / max(len(values) - 1, 1)
    parts: list[Markup] = [
        Markup('<line class="grid" x1="0" x2="{}" y1="{}" y2="{}"/>').format(width, height - 4, height - 4)
    ]
    path, pen = [], False
    for n, value in enumerate(values):
        if value is None:
            pen = False
            continue
        path.append(f"{'L' if pen else 'M'}{4 + n * step:.1f} {4 + (height - 8) * (1 - value):.1f}")
        pen = True
    parts.append(Markup('<path class="line s1" d="{}"/>').format(" ".join(path)))
    known = [(n, value) for n, value in enumerate(values) if value is not None]
    if known:
        n, value = known[-1]
        parts.append(
            Markup('<circle class="dot s1" cx="{:.1f}" cy="{:.1f}" r="3"/>').format(
                4 + n * step, 4 + (height - 8) * (1 - value)
            )
        )
    return _svg(parts, width, height, title, "spark")


def stack(parts: Sequence[tuple[str, int]], total: int, title: str) -> Markup:
    """One bar of shares, left to right; what is free stays empty."""
    place, drawn = 0.0, [Markup('<rect class="track" x="0" y="0" width="{}" height="18" rx="5"/>').format(WIDTH)]
    for number, (name, amount) in enumerate(parts):
        width = WIDTH * amount / max(total, 1)
        drawn.append(
            Markup(
                '<rect class="part p{}" x="{:.1f}" y="0" width="{:.1f}" height="18"><title>{}: {} tokens</title></rect>'
            ).format(number % 8, place, max(width - 1, 0.5), name, amount)
        )
        place += width
    return _svg(drawn, WIDTH, 18, title, "stack")


def bars(values: Sequence[tuple[datetime, float]], title: str, height: int = 150) -> Markup:
    """One bar a day, the days without one left empty, with the largest value at the side."""
    if not values:
        return Markup("")
    first, last = min(at for at, _ in values), max(at for at, _ in values)
    days, most = (last - first).days + 1, max(max(value for _, value in values), 1.0)
    room = (WIDTH - LEFT - 8) / max(days, 7)
    floor_y = height - BOTTOM
    parts = [
        Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(LEFT, WIDTH - 8, y, y)
        for y in (TOP, floor_y)
    ]
    for y, value in ((TOP, most), (floor_y, 0.0)):
        parts.append(Markup('<text class="tick" x="{}" y="{}">{}</text>').format(LEFT - 8, y + 4, _short(value)))
    for at, value in values:
        x, tall = LEFT + room * (at - first).days, (floor_y - TOP) * value / most
        parts.append(
            Markup(
                '<rect class="part p0" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2">'
                "<title>{:%-d %b %Y}: {:,.0f}</title></rect>"
            ).format(x + room * 0.15, floor_y - tall, room * 0.7, max(tall, 1.0), at, value)
        )
    for at in dict.fromkeys((first, last)):
        x = LEFT + room * ((at - first).days + 0.5)
        parts.append(Markup('<text class="tick date" x="{:.1f}" y="{}">{:%-d %b}</text>').format(x, height - 6, at))
    return _svg(parts, WIDTH, height, title)


def _short(value: float) -> str:
    """12,345 as 12k."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.0f}"


def meter(value: float, high: float = 10.0) -> Markup:
    """Importance as a small bar of ten."""
    width = 44 * min(max(value, 0.0), high) / high
    level = "high" if value >= 8 else "middle" if value >= 5 else "low"
    return Markup(
        '<svg class="meter {}" viewBox="0 0 44 6" width="44" height="6" role="img" aria-label="{:.1f} of 10">'
        '<rect class="track" width="44" height="6" rx="3"/><rect class="fill" width="{:.1f}" height="6" rx="3"/></svg>'
    ).format(level, value, width)


def _svg(parts: Sequence[Markup], width: int, height: int, title: str, kind: str = "chart") -> Markup:
    return (
        Markup('<svg class="{}" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(kind, width, height, title)
        + Markup("").join(parts)
        + Markup("</svg>")
    )
