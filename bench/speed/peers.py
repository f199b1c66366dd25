"""What one would use instead, beside us: same machine, same vectors, same turns, same questions, top 10.

The peers live in an environment of their own that this script makes (``pip install mem0ai chromadb langgraph``); the
project never depends on them. Every party gets its vectors from a table, so that nobody's time holds an embedding:
chromadb takes them as arguments, LangGraph's store through its embedding function, mem0 through an OpenAI-compatible
endpoint on this machine (its ``add(infer=False)``, so that no model is asked).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tenuto
from bench.recall import data, measures
from bench.recall.run import POLICY
from tenuto.text import words

PACKAGES = {"mem0": ["mem0ai==2.2.1"], "chromadb": ["chromadb==1.5.9"], "langgraph": ["langgraph"]}
QUESTIONS = 200


class Table:
    """An embedder that looks vectors up."""

    def __init__(self, local, known: dict[str, np.ndarray]) -> None:
        self.model, self.dimension, self.calibration = local.model, local.dimension, local.calibration
        self.known = known

    def embed(self, texts, *, query: bool = False):
        return np.stack([self.known[text] for text in texts])


def compare(directory: Path | None, environment: Path, local) -> None:
    if directory is None:
        raise SystemExit(data.MISSING.format(path="The evaluation data"))
    conversation = data.locomo(directory)[0]
    questions = [one for one in conversation.questions if one.category != "5"][:QUESTIONS]
    texts = list(dict.fromkeys([turn.text for turn in conversation.turns] + [one.text for one in questions]))
    known = dict(zip(texts, local.embed(texts), strict=True))
    print(f"  {len(conversation.turns)} turns, {len(questions)} questions")
    print(f"  {'':14}{'writes/s':>10}{'wall p50':>10}{'p95':>8}{'processor p50':>15}{'p95':>8}{'R@10':>8}")
    _show("tenuto", ours(conversation, questions, Table(local, known)))
    _show("grep", grep(conversation, questions))
    with tempfile.TemporaryDirectory() as scratch:
        given = Path(scratch) / "given.json"
        given.write_text(
            json.dumps(
                {
                    "turns": [{"id": turn.id, "text": turn.text} for turn in conversation.turns],
                    "questions": [{"text": one.text, "wanted": sorted(one.turns)} for one in questions],
                    "vectors": {text: vector.tolist() for text, vector in known.items()},
                    "scratch": scratch,
                }
            )
        )
        for peer, packages in PACKAGES.items():
            try:
                python = _python(environment / peer, packages)
                script = Path(__file__).parent / "peer.py"
                done = subprocess.run([python, script, peer, given], capture_output=True, text=True, timeout=900)
            except (subprocess.SubprocessError, OSError) as error:
                print(f"  {peer:14}could not be run: {error}")
                continue
            line = done.stdout.strip().splitlines()[-1:] or [""]
            if done.returncode or not line[0].startswith("{"):
                print(f"  {peer:14}could not be run: {done.stderr.strip().splitlines()[-1:]}")
                continue
            _show(peer, json.loads(line[0]))


def _show(name: str, found: dict) -> None:
    wall, busy = (np.percentile(times, (50, 95)) for times in (found["times"], found["busy"]))
    times = f"{wall[0]:10.2f}{wall[1]:8.2f}{busy[0]:15.2f}{busy[1]:8.2f}"
    print(f"  {name:14}{found['writes']:10.0f}{times}{found['recall']:8.1f}", flush=True)


def ours(conversation, questions, table: Table) -> dict:
    """Observe every turn (durable), settle, recall; the vector job is part of the writing."""
    with tempfile.TemporaryDirectory() as directory:
        store = tenuto.open(Path(directory) / "side.db", embedder=table, background=False, policy=POLICY)
        user = store.user("side")
        start = time.perf_counter()
        for turn in conversation.turns:
            user.observe(turn.text, speaker=turn.name, at=turn.at, id=turn.id)
        written = len(conversation.turns) / (time.perf_counter() - start)
        user.recall(questions[0].text)
        store.reembed()
        user.recall(questions[0].text)
        times, busy, tally = [], [], measures.Tally()
        for question in questions:
            start, used = time.perf_counter(), time.process_time()
            hits = user.recall(question.text, limit=10, kinds=["message"])
            times.append(1000 * (time.perf_counter() - start))
            busy.append(1000 * (time.process_time() - used))
            tally.add(measures.by_turn([hit.message_id for hit in hits], question.turns))
        store.close()
    return {"writes": written, "times": times, "busy": busy, "recall": tally.mean("R@10")}


def grep(conversation, questions) -> dict:
    """The floor: turns in order, the ones that hold most of the question's words first."""
    held = [(turn.id, turn.text.casefold()) for turn in conversation.turns]
    times, busy, tally = [], [], measures.Tally()
    for question in questions:
        start, used = time.perf_counter(), time.process_time()
        wanted = [word for word in dict.fromkeys(words.words(question.text)) if word not in words.STOP_WORDS]
        scores = [(-sum(word in text for word in wanted), number) for number, (_, text) in enumerate(held)]
        found = [held[number][0] for _, number in sorted(scores)[:10]]
        times.append(1000 * (time.perf_counter() - start))
        busy.append(1000 * (time.process_time() - used))
        tally.add(measures.by_turn(found, question.turns))
    return {"writes": float("inf"), "times": times, "busy": busy, "recall": tally.mean("R@10")}


def _python(place: Path, packages: list[str]) -> Path:
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True, capture_output=True)
    marker = place / "installed"
    if not marker.exists():
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True, capture_output=True, timeout=1800)
        marker.touch()
    return python
