"""Two years of somebody's talk, made up by a seeded generator: the same seed says the same things."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

PEOPLE = ["Maya", "Tom", "Priya", "Dr. Okafor", "my dad", "my sister", "Lena", "Mr. Braun"]
PLACES = ["Austin", "Lisbon", "the office", "the pool", "Trondheim", "the clinic", "the library"]
THINGS = ["the dashboard redesign", "my thesis", "the garden", "swimming", "the piano", "the kitchen", "my knee"]
FEELINGS = [
    "I feel happy about it.",
    "I am stressed.",
    "It was wonderful.",
    "I am tired and a bit sad.",
    "I am proud.",
    "",
]
SAID = [
    "I met {person} at {place} and we talked about {thing}.",
    "I finished a part of {thing} today.",
    "{person} told me that {thing} will take {number} weeks.",
    "I still need to call {person} about {thing}.",
    "I decided to go to {place} with {person} next month.",
    "I prefer working on {thing} in the morning.",
    "Should I give up on {thing}?",
    "I will send {number} pages to {person} tomorrow.",
    "Nothing special happened.",
    "{person} is allergic to peanuts, remember that.",
]
ANSWERED = [
    "That sounds like a good day. What did {person} say?",
    "Have you considered another way to do {thing}?",
    "I will ask you about {thing} on Friday.",
    "You're right, {thing} matters to you.",
    "Thanks for telling me.",
]


def days(seed: int, start: datetime, count: int, scale: float = 1.0) -> Iterator[list[tuple[datetime, str, str]]]:
    """For each day a list of (time, role, text): some days silent, some with two sessions, a few very long."""
    random = Random(seed)
    for day in range(count):
        said: list[tuple[datetime, str, str]] = []
        if random.random() >= 0.12:
            for _ in range(1 + (random.random() < 0.2)):
                at = start + timedelta(days=day, hours=random.uniform(0, 14))
                turns = 60 if random.random() < 0.01 else max(1, round(random.choice((2, 3, 4, 6, 8)) * scale))
                for turn in range(turns):
                    said.append((at, "user" if turn % 2 == 0 else "assistant", line(random, turn % 2 == 0, day)))
                    at += timedelta(minutes=random.uniform(0.2, 6))
        yield sorted(said, key=lambda one: one[0])


def line(random: Random, by_user: bool, day: int) -> str:
    parts = {
        "person": random.choice(PEOPLE),
        "place": random.choice(PLACES),
        "thing": random.choice(THINGS),
        "number": random.randint(2, 40),
    }
    if not by_user:
        return random.choice(ANSWERED).format(**parts)
    return f"{random.choice(SAID).format(**parts)} {random.choice(FEELINGS)}".strip() + (
        f" That was day {day}." if random.random() < 0.2 else ""
    )
