"""A picture of the people and things around a user: who is mentioned with whom.

Pure and repeatable: the places follow from the names and links alone (a spring model run for a fixed number of steps
from a circle), so the picture of yesterday is the picture of today until something changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import cos, hypot, pi, sin

from markupsafe import Markup

from tenuto.records.memory import Entity, Memory

WIDTH, HEIGHT = 720, 420
MOST = 28
STEPS = 260
YOU = "user:self"


def links(memories: Iterable[Memory], shown: Sequence[str]) -> Counter[tuple[str, str]]:
    """How often two shown entities stand in one memory; each also hangs on the user."""
    known, found = set(shown), Counter[tuple[str, str]]()
    for memory in memories:
        here = sorted(known.intersection(memory.entities))
        found.update(combinations(here, 2))
        found.update((YOU, one) for one in here)
    return found


def places(names: Sequence[str], pairs: Counter[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Where each name stands: linked ones near each other, all of them apart, the user in the middle."""
    ring = [
        (
            WIDTH / 2 + 190 * cos(2 * pi * n / max(len(names), 1)),
            HEIGHT / 2 + 150 * sin(2 * pi * n / max(len(names), 1)),
        )
        for n in range(len(names))
    ]
    at = {name: list(ring[n]) for n, name in enumerate(names)}
    at[YOU] = [WIDTH / 2, HEIGHT / 2]
    every = list(at)
    for step in range(STEPS):
        cool = 12.0 * (1 - step / STEPS)
        push = {name: [0.0, 0.0] for name in every}
        for one, other in combinations(every, 2):
            dx, dy = at[one][0] - at[other][0], at[one][1] - at[other][1]
            far = max(hypot(dx, dy), 1.0)
            force = 9000 / far**2 - (
                0.02 * (far - 120) * min(pairs.get((one, other), 0) + pairs.get((other, one), 0), 4)
            )
            for name, sign in ((one, 1), (other, -1)):
                push[name][0] += sign * force * dx / far
                push[name][1] += sign * force * dy / far
        for name in names:
            size = max(hypot(*push[name]), 0.01)
            at[name][0] = min(max(at[name][0] + push[name][0] / size * min(size, cool), 70), WIDTH - 70)
            at[name][1] = min(max(at[name][1] + push[name][1] / size * min(size, cool), 28), HEIGHT - 34)
    return {name: (place[0], place[1]) for name, place in at.items()}


def picture(entities: Sequence[Entity], memories: Sequence[Memory], base: str) -> Markup:
    """The graph as SVG; each node is a link to its card."""
    shown = sorted(entities, key=lambda one: (-one.mentions, one.id))[:MOST]
    if not shown:
        return Markup("")
    names = [one.id for one in shown]
    pairs = links(memories, names)
    at = places(names, pairs)
    parts = [
        Markup('<line class="edge w{}" x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}"/>').format(
            min(count, 3), *at[one], *at[other]
        )
        for (one, other), count in sorted(pairs.items())
    ]
    x, y = at[YOU]
    parts.append(
        Markup(
            '<g class="node you"><circle cx="{:.0f}" cy="{:.0f}" r="17"/><text x="{:.0f}" y="{:.0f}">you</text></g>'
        ).format(x, y, x, y + 4)
    )
    for one in shown:
        x, y = at[one.id]
        size = 7 + min(one.mentions, 12)
        parts.append(
            Markup(
                '<a href="{}/{}" class="node {}"><circle cx="{:.0f}" cy="{:.0f}" r="{}"/>'
                '<text x="{:.0f}" y="{:.0f}">{}</text></a>'
            ).format(base, one.id, one.type, x, y, size, x, y + size + 3, one.label[:22])
        )
    head = Markup(
        '<svg class="graph" viewBox="0 0 {} {}" role="group" aria-label="Who is mentioned with whom">'
    ).format(WIDTH, HEIGHT)
    return head + Markup("").join(parts) + Markup("</svg>")
