"""Corpus lines as tensors, and the split into lines to learn from and lines to test with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from corpus import CLAUSES, VALUES, Line, LineError, read_file
from model import OWNERS, STATES
from tenuto.providers.reader_decode import find_words, last_words, word_tokens

CORPUS = Path(__file__).parent / "corpus"
BEFORE_TOKENS, MESSAGE_TOKENS = 48, 200
IGNORED = -100
START, END = 0, 2
TARGETS = 6


@dataclass(frozen=True)
class Example:
    ids: list[int]
    targets: np.ndarray
    """(tokens, 6): value tag, clause tag, owner and state of values, owner and state of clauses."""


@dataclass(frozen=True)
class Entry:
    author: str
    line: Line
    held_out: bool


def load_corpus() -> list[Entry]:
    """Every line that parses; one in ten, chosen by its text, is held out."""
    entries: list[Entry] = []
    for path in sorted(CORPUS.glob("*.tsv")):
        for _, line in read_file(path):
            if not isinstance(line, LineError):
                digest = hashlib.blake2b(line.text.encode(), digest_size=4).digest()
                entries.append(Entry(path.stem, line, int.from_bytes(digest) % 10 == 0))
    return entries


def make_example(line: Line, tokenizer: Tokenizer) -> Example:
    prefix = [START]
    if line.before and line.before.strip():
        said = tokenizer.encode(line.before, add_special_tokens=False)
        prefix = [START, *said.ids[last_words(line.before, said.offsets, BEFORE_TOKENS) :], END, END]
    encoding = tokenizer.encode(line.text, add_special_tokens=False)
    ids = encoding.ids[:MESSAGE_TOKENS]
    words = find_words(line.text)
    at = word_tokens(words, encoding.offsets[: len(ids)])
    targets = np.full((len(prefix) + len(ids) + 1, TARGETS), IGNORED, dtype=np.int64)
    rows = [len(prefix) + token for token in at]
    tags = word_targets(line, words[: len(at)])
    for row, tag in zip(reversed(rows), reversed(tags), strict=True):  # the first word of a token wins
        targets[row] = tag
    return Example([*prefix, *ids, END], targets)


def word_targets(line: Line, words: list[tuple[int, int]]) -> list[list[int]]:
    tags = [[0, 0, IGNORED, IGNORED, IGNORED, IGNORED] for _ in words]
    for span in line.spans:
        value = span.layer == "value"
        types = VALUES if value else CLAUSES
        column = 0 if value else 1
        first = True
        for tag, (start, end) in zip(tags, words, strict=True):
            if start < span.end and end > span.start:
                kind = types.index(span.type)
                tag[column] = 1 + kind + (0 if first else len(types))
                tag[2 + 2 * column] = OWNERS.index(span.owner)
                tag[3 + 2 * column] = STATES.index(span.state)
                first = False
    return tags


def collate(examples: list[Example]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    lengths = torch.tensor([len(example.ids) for example in examples])
    longest = int(lengths.max())
    ids = torch.ones(len(examples), longest, dtype=torch.long)
    targets = torch.full((len(examples), longest, TARGETS), IGNORED)
    for row, example in enumerate(examples):
        ids[row, : len(example.ids)] = torch.tensor(example.ids)
        targets[row, : len(example.ids)] = torch.from_numpy(example.targets)
    return ids, lengths, targets
