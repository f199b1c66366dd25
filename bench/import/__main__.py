"""Measures an import end to end on the embedded default: ``python -m bench.import``.

Prints, all in one run: messages per second without embedding and extraction; how soon everything is found by words;
the background path (import, index, embed) beside the bare embedder on the same texts, in turns; memory; and, with
``--large``, the memory that counting and importing a file of that many gigabytes takes. Texts are drawn from ``--data``
(locomo.jsonl.gz, see bench/recall) or made up from a fixed seed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import tenuto
from tenuto.providers.embed import LocalEmbedder
from tenuto.recall.entry import embedding_texts
from tenuto.testing.fakes import FakeTokens

SYLLABLES = [
    "ka",
    "lo",
    "mi",
    "ren",
    "tas",
    "vel",
    "dor",
    "an",
    "pi",
    "su",
    "mar",
    "ten",
    "go",
    "li",
    "bra",
    "she",
    "ost",
    "um",
    "fi",
    "ne",
]


def texts(data: Path | None) -> list[str]:
    """Sentences of people's conversations, or made-up ones of the same length."""
    if data is not None:
        with gzip.open(data / "locomo.jsonl.gz", "rt", encoding="utf-8") as file:
            found = [turn["text"] for line in file for turn in json.loads(line)["turns"] if turn["text"].strip()]
        return found
    rng = random.Random(7)
    words = ["".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 4))) for _ in range(6000)]
    return [" ".join(rng.choice(words) for _ in range(rng.randint(4, 40))) + "." for _ in range(6000)]


def rows(count: int, said: list[str]) -> Iterator[str]:
    rng, at = random.Random(1), datetime(2019, 1, 1, tzinfo=UTC)
    for number in range(count):
        at += timedelta(seconds=rng.choice([20, 40, 60, 90, 600, 4000]))
        text = f"{said[number % len(said)]} ({number // len(said)})"
        role = "assistant" if number % 2 else "user"
        yield json.dumps(
            {"id": f"m{number}", "role": role, "content": text, "at": at.isoformat(), "thread": f"t{number // 60}"}
        )


def write(path: Path, count: int, said: list[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows(count, said):
            file.write(row + "\n")


def peak() -> float:
    """Most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def own() -> float:
    """Memory that is the process's own now, in MB: without the pages of the database file that are mapped into it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return peak()
    found = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
    return int(found.split()[1]) / 1024


def fast_path(folder: Path, count: int, said: list[str]) -> None:
    path = folder / "talk.jsonl"
    write(path, count, said)
    marks: list[float] = []
    with tenuto.open(folder / "fast.db", tokens=FakeTokens(), background=False) as store:
        ana = store.user("ana", channel="import")
        before, cpu, start = own(), time.process_time(), time.perf_counter()
        ana.import_file(path, extract=False, progress=lambda read, total, run: marks.append(own()))
        wall, used = time.perf_counter() - start, time.process_time() - cpu
        print(f"import of {count:,} messages without embedding and extraction")
        print(f"  {count / wall:,.0f} messages/s ({count / used:,.0f} per CPU second; load {os.getloadavg()[0]:.1f})")
        needle = next(iter(rows(count, said)))
        query = json.loads(needle)["content"]
        begun = time.perf_counter()
        hits = ana.recall(query, limit=5, kinds=["message"])
        found = time.perf_counter() - begun
        again = time.perf_counter()
        ana.recall(query, limit=5, kinds=["message"])
        print(f"  found by words after {wall + found:.1f} s in all (first search {found:.1f} s, then "
              f"{(time.perf_counter() - again) * 1e3:.0f} ms); right: {same(hits[0].text, query)}")  # fmt: skip
        middle = marks[len(marks) // 2] if marks else before
        print(f"  memory {before:.0f} MB before, {middle:.0f} at half, {marks[-1]:.0f} MB at the end of the import")
        print(f"  {(folder / 'fast.db').stat().st_size / count:,.0f} bytes on disk per message")


def same(left: str, right: str) -> bool:
    """The same sentence, whichever repetition of it."""
    return left.rpartition(" (")[0] == right.rpartition(" (")[0]


def with_vectors(folder: Path, count: int, said: list[str], rounds: int) -> None:
    """The whole path beside the bare embedder, in turns, so that both see the same machine."""
    embedder = LocalEmbedder()
    embedder.embed(["warm up"])
    bare, whole, bare_used, whole_used = 0.0, 0.0, 0.0, 0.0
    for number in range(rounds):
        path = folder / f"part{number}.jsonl"
        begin = number * count % len(said)
        write(path, count, said[begin:] + said[:begin])
        with tenuto.open(
            folder / f"part{number}.db", embedder=embedder, tokens=FakeTokens(), background=False
        ) as store:
            ana = store.user("ana", channel="import")
            start, cpu = time.perf_counter(), time.process_time()
            ana.import_file(path, extract=False)
            store.settle()
            whole, whole_used = whole + time.perf_counter() - start, whole_used + time.process_time() - cpu
            messages = ana.messages(limit=count)
            kept = [text for one in messages for text in embedding_texts(one, embedder.dimension)]
            assert store.unembedded() == 0 and len(kept) == count
            # Said twice is embedded once by one call, and twice by an import: only different texts can be compared.
            distinct = len(set(kept)) / count
        start, cpu = time.perf_counter(), time.process_time()
        embedder.embed(kept)
        bare, bare_used = bare + time.perf_counter() - start, bare_used + time.process_time() - cpu
    done = count * rounds
    print(f"end to end with embedding, {done:,} messages in {rounds} turns")
    print(
        f"  bare embedder {done / bare:,.0f}/s, import + index + embed {done / whole:,.0f}/s: ratio {bare / whole:.2f},"
        f" in processor time {bare_used / whole_used:.2f}"
        f" ({distinct:.1%} of the texts differ, load {os.getloadavg()[0]:.1f})"
    )


def large(folder: Path, gigabytes: float, said: list[str]) -> None:
    """A ChatGPT-like export of that size, counted, then imported: memory must not grow with it."""
    path, size, number = folder / "conversations.json", int(gigabytes * 1e9), 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while file.tell() < size:
            for _ in range(200):
                file.write(("," if number else "") + json.dumps(conversation(number, said)))
                number += 1
        file.write("]")
    with tenuto.open(folder / "large.db", tokens=FakeTokens(), background=False) as store:
        ana, megabytes = store.user("ana", channel="import"), path.stat().st_size / 1e6
        before, start = peak(), time.process_time()
        found = ana.estimate_import(path)
        used = time.process_time() - start
        print(f"a ChatGPT export of {megabytes / 1000:.2f} GB, {found.messages:,} messages")
        print(f"  dry run: {megabytes / used:.0f} MB per CPU second, peak memory {before:.0f} MB, then {peak():.0f} MB")
        marks, start = list[float](), time.process_time()
        done = ana.import_file(path, extract=False, progress=lambda read, total, run: marks.append(own()))
        used = time.process_time() - start
        print(f"  import: {done.messages / used:,.0f} messages per CPU second")
        quarter, end, most = marks[len(marks) // 4], marks[-1], max(marks)
        print(f"  own memory {quarter:.0f} MB at a quarter, {end:.0f} MB at the end, at most {most:.0f} MB")


def conversation(number: int, said: list[str]) -> dict[str, object]:
    nodes: dict[str, object] = {"root": {"message": None, "parent": None, "children": ["n0"]}}
    for step in range(40):
        content = {"content_type": "text", "parts": [said[(number * 40 + step) % len(said)] * 4]}
        author = {"role": "assistant" if step % 2 else "user"}
        message = {
            "id": f"{number}-{step}",
            "author": author,
            "create_time": 1.6e9 + number * 4000 + step,
            "content": content,
        }
        parent = f"n{step - 1}" if step else "root"
        nodes[f"n{step}"] = {"message": message, "parent": parent, "children": [f"n{step + 1}"] if step < 39 else []}
    return {"id": f"c{number}", "title": "talk", "mapping": nodes, "current_node": "n39"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.import", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--embed", type=int, default=1500, help="messages per turn of the comparison with the embedder")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--large", type=float, default=0.0, metavar="GB")
    parser.add_argument("--data", type=Path, default=os.environ.get("TENUTO_BENCH_DATA"))
    options = parser.parse_args()
    said = texts(Path(options.data) if options.data else None)
    with tempfile.TemporaryDirectory(prefix="tenuto-bench-") as folder:
        place = Path(folder)
        if options.large:
            large(place, options.large, said)
        if options.messages:
            fast_path(place, options.messages, said)
        if options.embed:
            with_vectors(place, options.embed, said, options.rounds)
    sys.stdout.flush()


main()
