"""The evaluation data, read from a directory that the caller names. Nothing of it is part of the project.

LoCoMo (CC BY-NC 4.0), RealMem (Apache-2.0) and BEAM are public; each line of ``locomo.jsonl.gz``,
``realmem-1to5.jsonl.gz`` and ``beam-dev.jsonl.gz`` is one conversation:
``{id, turns: [{tid, sess, date, speaker, text}], questions: [{qid, q, cat, ev, evs, before?}]}``.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dateutil import parser

MISSING = """{path} was not found.
Give the directory with --data DIR or TENUTO_BENCH_DATA. It holds, one conversation per line,
  locomo.jsonl.gz         from the LoCoMo repository (snap-research/locomo, locomo10.json)
  realmem-1to5.jsonl.gz   from the RealMem repository (five personas, 256k)
  beam-dev.jsonl.gz       from the BEAM repository (eight conversations of 500,000 tokens)
  supersession.jsonl      125 cases: {{id, family, propositions: [{{text, asserted_at, session}}], questions}}
with the fields that bench/recall/data.py names."""


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    session: int
    speaker: str
    text: str
    at: datetime

    @property
    def role(self) -> str:
        return "assistant" if self.speaker == "Assistant" else "user"

    @property
    def name(self) -> str | None:
        """The speaker's name, where the chat has names."""
        return None if self.speaker in ("Assistant", "User") else self.speaker


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    category: str
    turns: frozenset[str]
    sessions: frozenset[int]
    before: int | None = None
    """Only sessions before this one may be searched."""


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    turns: list[Turn]
    questions: list[Question] = field(default_factory=list)


def locomo(directory: Path) -> list[Conversation]:
    """Ten chats of two people; questions without a label that names a turn are left out."""
    found = []
    for line in _lines(directory / "locomo.jsonl.gz"):
        conversation = _conversation(line)
        known = {turn.id for turn in conversation.turns}
        for raw in line["questions"]:
            turns = frozenset(raw["ev"] or ()) & known
            if turns:
                sessions = frozenset(turn.session for turn in conversation.turns if turn.id in turns)
                conversation.questions.append(Question(raw["qid"], raw["q"], str(raw["cat"]), turns, sessions))
        found.append(conversation)
    return found


def realmem(directory: Path) -> list[Conversation]:
    """Five people with an assistant; questions stand inside the stream."""
    found = []
    for line in _lines(directory / "realmem-1to5.jsonl.gz"):
        conversation = _conversation(line)
        for raw in line["questions"]:
            if raw["evs"]:
                sessions = frozenset(raw["evs"])
                conversation.questions.append(
                    Question(raw["qid"], raw["q"], raw["cat"], frozenset(), sessions, raw["before"])
                )
        found.append(conversation)
    return found


def beam(directory: Path) -> list[Conversation]:
    """People with an assistant that answers at length; sessions are numbered in the order in which they were held."""
    found = []
    for line in _lines(directory / "beam-dev.jsonl.gz"):
        order = {name: number for number, name in enumerate(dict.fromkeys(raw["sess"] for raw in line["turns"]))}
        turns, begun = [], {}
        for raw in line["turns"]:
            if not raw["text"].strip():
                continue
            session = order[raw["sess"]]
            if session not in begun:
                latest = turns[-1].at + timedelta(hours=1) if turns else datetime.min.replace(tzinfo=UTC)
                begun[session] = max(_moment(raw["date"]), latest)
            at = max(begun[session], turns[-1].at + timedelta(seconds=20) if turns else begun[session])
            turns.append(Turn(raw["tid"], session, raw["speaker"].capitalize(), raw["text"], at))
        known = {turn.id for turn in turns}
        questions = [
            Question(raw["qid"], raw["q"], raw["cat"], evidence, frozenset(order[one] for one in raw["evs"]))
            for raw in line["questions"]
            if (evidence := frozenset(raw["ev"]) & known)
        ]
        found.append(Conversation(line["id"], turns, questions))
    return found


def supersession(directory: Path) -> list[dict]:
    path = directory / "supersession.jsonl"
    if not path.exists():
        raise SystemExit(MISSING.format(path=path))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _lines(path: Path) -> list[dict]:
    if not path.exists():
        raise SystemExit(MISSING.format(path=path))
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _conversation(line: dict) -> Conversation:
    turns: list[Turn] = []
    for raw in line["turns"]:
        if not raw["text"].strip():
            continue
        inside = sum(1 for turn in turns[-200:] if turn.session == raw["sess"])
        at = _moment(raw["date"]) + timedelta(seconds=20 * inside, hours=_hour(turns, raw))
        turns.append(Turn(raw["tid"], raw["sess"], raw["speaker"], raw["text"], at))
    return Conversation(line["id"], turns)


def _hour(turns: list[Turn], raw: dict) -> int:
    """Days without an hour: sessions of one day lie an hour apart, as sessions close after half an hour."""
    if ":" in raw["date"]:
        return 0
    day = _moment(raw["date"]).date()
    earlier = {turn.session for turn in turns[-400:] if turn.at.date() == day and turn.session != raw["sess"]}
    return 8 + len(earlier)


def _moment(date: str) -> datetime:
    plain = re.sub(r"\(.*?\)", "", date).replace(" on ", " ")
    return parser.parse(plain).replace(tzinfo=UTC)
