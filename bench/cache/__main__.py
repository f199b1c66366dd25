"""How much of a session's input would a provider's prompt cache serve?

    python -m bench.cache --data DIR            (or TENUTO_BENCH_DATA; see --help)

Real sessions are replayed turn by turn on top of everything that was said before them. Each turn builds the request
that would be sent, and its longest common prefix with the request of the turn before is what a prefix cache would
serve. Three ways to put memory into a prompt, with the same store, the same recall and the same recent messages:

    tenuto   the context as Tenuto builds it (stable text, turns, this turn's notes, message)
    proxy    the same behind the memory proxy: the client replays the session itself
    naive    what recall finds goes into the system prompt of each turn; the last 30 messages follow

``exact`` counts every common token. ``OpenAI`` counts as OpenAI does: only prefixes of at least 1,024 tokens, in steps
of 128. Between two turns the background work is done, so summaries and memories change as they do in life.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean

import tenuto
from tenuto.records.context import Context

WHERE = """No data. Give --data DIR or set TENUTO_BENCH_DATA to a folder with locomo.jsonl.gz: one conversation a line,
{id, speakers, turns: [{tid, sess, date, speaker, text}]}, made from github.com/snap-research/locomo (CC BY-NC 4.0)."""
PERSONA = "You are an old friend. You are warm and brief, and you remember."
LEAST, STEP = 1024, 128


@dataclass
class Share:
    """Tokens sent and tokens that a cache would have served."""

    sent: int = 0
    exact: int = 0
    stepped: int = 0
    before: str = ""

    def add(self, text: str, count) -> None:
        common = text[: common_length(self.before, text)]
        served = count(common) if common else 0
        self.sent += count(text)
        self.exact += served
        self.stepped += served // STEP * STEP if served >= LEAST else 0
        self.before = text


def common_length(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def conversations(folder: Path) -> Iterator[dict]:
    with gzip.open(folder / "locomo.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def moment(text: str) -> datetime:
    found = re.fullmatch(r"(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)", text.strip())
    assert found, text
    hour = int(found[1]) % 12 + (12 if found[3] == "pm" else 0)
    day = datetime.strptime(f"{found[4]} {found[5]} {found[6]}", "%d %B %Y")
    return day.replace(hour=hour, minute=int(found[2]), tzinfo=UTC)


def as_text(messages: list[dict]) -> str:
    return "".join(f"<{m['role']}>\n{m['content']}\n" for m in messages)


def naive(ana, message: str, window: list[dict]) -> list[dict]:
    hits = ana.recall(message, limit=12)
    known = "\n".join(f"- [{hit.at:%Y-%m-%d}] {hit.text}" for hit in hits)
    system = f"{PERSONA}\n\nWhat you remember:\n{known}"
    return [{"role": "system", "content": system}, *window[-30:], {"role": "user", "content": message}]


def behind_proxy(context: Context, said: list[dict]) -> list[dict]:
    return [{"role": "system", "content": context.stable}, *said, {"role": "user", "content": context.merged or ""}]


def replay(conversation: dict, turns: int) -> tuple[dict[str, Share], int, set[str]]:
    """One conversation: everything before its longest later session is kept first, then that session, turn by turn."""
    sessions: dict[int, list[dict]] = {}
    for turn in conversation["turns"]:
        sessions.setdefault(turn["sess"], []).append(turn)
    user = conversation["speakers"][0]
    spoken = {number: sum(turn["speaker"] == user for turn in said) for number, said in sessions.items()}
    longest = max((min(spoken[number], turns), number) for number in sessions if number > min(sessions))[1]
    now = [moment(sessions[min(sessions)][0]["date"])]
    shares = {"tenuto": Share(), "proxy": Share(), "naive": Share()}
    with tempfile.TemporaryDirectory() as folder:
        store = tenuto.open(f"{folder}/bench.db", clock=lambda: now[0], background=False)
        ana = store.user("ana", persona="friend")
        for number in sorted(n for n in sessions if n < longest):
            now[0] = moment(sessions[number][0]["date"])
            for turn in sessions[number]:
                now[0] += timedelta(seconds=30)
                ana.observe(turn["text"], role="user" if turn["speaker"] == user else "assistant")
            now[0] += timedelta(hours=1)
            store.settle()
        count, said, done, texts = store.deps.tokens.count, [], 0, set()
        now[0] = moment(sessions[longest][0]["date"])
        store.settle()
        for turn in sessions[longest]:
            now[0] += timedelta(seconds=30)
            role = "user" if turn["speaker"] == user else "assistant"
            if role == "user":
                if done == turns:
                    break
                done += 1
                context = ana.context(turn["text"], persona_text=PERSONA)
                apart = ana.context(turn["text"], persona_text=PERSONA, replay=False)
                texts.add(context.stable)
                shares["tenuto"].add(as_text(context.messages), count)
                shares["proxy"].add(as_text(behind_proxy(apart, said)), count)
                shares["naive"].add(as_text(naive(ana, turn["text"], said)), count)
            ana.observe(turn["text"], role=role)
            said.append({"role": role, "content": turn["text"]})
            store.settle()
        store.close()
    return shares, done, texts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cache", description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"), help="folder with locomo.jsonl.gz")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--conversations", type=int, default=10)
    given = parser.parse_args()
    if not given.data or not (Path(given.data) / "locomo.jsonl.gz").exists():
        sys.exit(WHERE)
    rows: dict[str, list[Share]] = {"tenuto": [], "proxy": [], "naive": []}
    print(f"{'conversation':14}{'turns':>6}{'stable texts':>14}  share of input tokens served (exact)")
    for conversation in list(conversations(Path(given.data)))[: given.conversations]:
        shares, turns, texts = replay(conversation, given.turns)
        for name, share in shares.items():
            rows[name].append(share)
        shown = "  ".join(f"{name} {share.exact / share.sent:6.1%}" for name, share in shares.items())
        print(f"{conversation['id']:14}{turns:>6}{len(texts):>14}  {shown}", flush=True)
    print(f"\n{'':10}{'tokens sent per session':>26}{'exact':>10}{'OpenAI':>10}{'tokens paid in full':>22}")
    for name, found in rows.items():
        sent = mean(share.sent for share in found)
        exact, stepped = (
            sum(getattr(s, part) for s in found) / sum(s.sent for s in found) for part in ("exact", "stepped")
        )
        print(f"{name:10}{sent:>26,.0f}{exact:>10.1%}{stepped:>10.1%}{sent * (1 - exact):>22,.0f}")


if __name__ == "__main__":
    main()
