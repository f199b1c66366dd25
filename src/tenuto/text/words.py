"""The words that search sees, the same on every engine.

Text is normalised (NFKC, case-folded, accents kept apart), split at anything that is neither letter nor digit, English
stop words (question words included) are dropped, the rest is stemmed; digits and names stay. Scripts without spaces
(Chinese, Japanese, Korean, Thai …) become overlapping pairs of characters. Each token is then hashed to 64 bits: an
engine stores numbers, and with a key (encryption at rest) those numbers tell nothing about the words.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from sys import byteorder
from threading import local

import Stemmer

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_CLITIC = re.compile(r"['’](?:s|d|m|ll|re|ve|t)$")
_APART = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or code == ord("'") else ord(" ") for code in range(128)
).ljust(256)
"""What stands for each ASCII character where a text is split: itself in lower case in a word, a space elsewhere."""
LONGEST = 64
"""Characters of one token; longer runs (base64, hashes) are cut."""
MOST = 4096
"""Tokens of one text."""
KNOWN = 1 << 16
"""Words whose tokens are known without being worked out again."""

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been before being below between
    both but by can cannot could couldn d did didn do does doesn doing don down during each else ever few for from
    further get gets getting go goes going gonna got had hadn has hasn have haven having he her here hers herself him
    himself his how however i if im in into is isn it its itself ive just let ll m may me might mine more most much my
    myself no nor not now of off oh ok okay on once only or other our ours ourselves out over own please quite rather re
    really s same she should shouldn since so some such t than thank thanks that the their theirs them themselves then
    there these they thing things this those through to too u under until up upon us ve very was wasn we were weren what
    whatever when where whether which while who whom whose why will with won would wouldn yeah yes yet you your yours
    yourself yourselves tell told know
    """.split()  # noqa: SIM905
)

_thread = local()


def words(text: str) -> list[str]:
    """Normalised words and character pairs, stop words included, unstemmed, in order."""
    found: list[str] = []
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = match.group()
        if _UNSPACED.search(word):
            found.extend(_pairs(word))
        else:
            found.append(_CLITIC.sub("", word).replace("’", "'")[:LONGEST])
    return found


def tokens(text: str) -> list[str]:
    """What is indexed and searched: stemmed, without stop words."""
    if text.isascii():
        return list(filter(None, map(_TOKENS.__getitem__, _split(text))))[:MOST]
    kept = [word for word in words(text) if word not in STOP_WORDS][:MOST]
    return [_stem(word) for word in kept]


def distinct_tokens(text: str) -> frozenset[str]:
    """``frozenset(tokens(text))``, without the list where the text is plain and cannot hold too many."""
    if text.isascii() and len(text) <= MOST and "'" not in text:
        parts = text.encode().translate(_APART).decode().split()
        return frozenset(filter(None, map(_TOKENS.__getitem__, parts)))
    return frozenset(tokens(text))


def pack(found: Iterable[str], key: bytes = b"") -> bytes:
    """Token hashes as unsigned 64-bit little-endian numbers."""
    numbers = array("Q", (token_hash(token, key) for token in found))
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def packed(text: str, key: bytes = b"") -> bytes:
    """``pack(tokens(text), key)``, a few times faster where the text is plain ASCII: one look-up per word."""
    if not text.isascii():
        return pack(tokens(text), key)
    found = [hash for word in _split(text) if (hash := _word_hash(word, key)) is not None]
    numbers = array("Q", found[:MOST])
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _split(text: str) -> list[str]:
    """The words of ASCII text in lower case: several times faster than the pattern, which only apostrophes need."""
    parts = text.encode().translate(_APART).decode().split()
    if "'" not in text:
        return parts
    return [word for part in parts for word in (_WORD.findall(part) if "'" in part else (part,))]


class _Tokens(dict[str, str]):
    """ASCII words as they are indexed, each worked out once: the quickest look-up there is. A stop word is nothing."""

    def __missing__(self, word: str) -> str:
        if len(self) >= KNOWN:
            self.clear()
        bare = _CLITIC.sub("", word)[:LONGEST]
        token = self[word] = "" if bare in STOP_WORDS else _stem(bare)
        return token


_TOKENS = _Tokens()


@lru_cache(maxsize=KNOWN)
def _word_hash(word: str, key: bytes) -> int | None:
    """The hash of an ASCII word as it is indexed, or ``None`` for a stop word."""
    token = _TOKENS[word]
    return token_hash(token, key) if token else None


@lru_cache(maxsize=KNOWN)
def token_hash(token: str, key: bytes = b"") -> int:
    """The number that stands for a token; keyed where content is encrypted."""
    return int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest(), "little")


@lru_cache(maxsize=KNOWN)
def _stem(word: str) -> str:
    if not hasattr(_thread, "stemmer"):
        _thread.stemmer = Stemmer.Stemmer("english")
    return str(_thread.stemmer.stemWord(word))


def _pairs(word: str) -> list[str]:
    """Overlapping pairs of an unspaced run; Latin letters or digits inside it stay whole."""
    found: list[str] = []
    position = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > position:
            found.append(word[position : run.start()][:LONGEST])
        chars = run.group()
        found.extend(chars[i : i + 2] for i in range(len(chars) - 1)) if len(chars) > 1 else found.append(chars)
        position = run.end()
    if position < len(word):
        found.append(word[position:][:LONGEST])
    return found
