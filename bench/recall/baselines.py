"""The simple methods beside us in the same run: on the text alone, and summed."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tenuto.text import words

K1, B = 1.2, 0.75


class Simple:
    """One conversation, turn by turn, for BM25 and cosine without any of our additions."""

    def __init__(self, turns, embedder) -> None:
        self.turns = turns
        self.vectors = embedder.embed([turn.text for turn in turns])
        self._text = _Bm25([words.tokens(turn.text) for turn in turns])
        self._dated = _Bm25(
            [
                words.tokens(f"{turn.name or ''} {turn.at:%A} {turn.at.day} {turn.at:%B} {turn.at.year} {turn.text}")
                for turn in turns
            ]
        )
        self._named = embedder.embed([f"{turn.name}: {turn.text}" if turn.name else turn.text for turn in turns])

    def rankings(self, query: str, vector, until: int) -> dict[str, list[int]]:
        """Turn numbers, best first, by method, among the first ``until`` turns."""
        tokens = list(dict.fromkeys(words.tokens(query)))
        text, dated = self._text.scores(tokens, until), self._dated.scores(tokens, until)
        cosine, named = self.vectors[:until] @ vector, self._named[:until] @ vector
        fused = 1 / (60 + _ranks(text)) + 1 / (60 + _ranks(cosine))
        scores = {
            "BM25, text": text,
            "MiniLM, text": cosine,
            "rank fusion of the two": fused,
            "z sum, speaker and date": _z(dated) + _z(named),
        }
        return {name: np.argsort(-score, kind="stable").tolist() for name, score in scores.items()}


class _Bm25:
    def __init__(self, documents: list[list[str]]) -> None:
        self._lengths = np.array([len(document) for document in documents], float)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, document in enumerate(documents):
            for token, count in Counter(document).items():
                self._postings.setdefault(token, []).append((number, count))

    def scores(self, tokens: list[str], until: int) -> np.ndarray:
        total = np.zeros(until)
        mean = self._lengths[:until].mean()
        for token in tokens:
            found = np.array([pair for pair in self._postings.get(token, ()) if pair[0] < until])
            if len(found):
                rows, counts = found[:, 0], found[:, 1]
                idf = np.log1p((until - len(rows) + 0.5) / (len(rows) + 0.5))
                total[rows] += idf * counts * (K1 + 1) / (counts + K1 * (1 - B + B * self._lengths[rows] / mean))
        return total


def _ranks(scores: np.ndarray) -> np.ndarray:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _z(scores: np.ndarray) -> np.ndarray:
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else np.zeros_like(scores)
