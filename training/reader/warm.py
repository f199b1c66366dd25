"""The weights of a shipped pack back as floats, so that training goes on where it ended: no second beginning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from model import HIDDEN

NORMS = ("aln", "oln")
LINEAR = ("ao", "fi", "fo")


def read_pack(path: Path) -> tuple[dict[str, torch.Tensor], int]:
    """The tagger's state from a ``model.onnx`` of export.py, and how many layers it has."""
    graph = onnx.load(path).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    layers = sum(name.endswith(".qkv.w") for name in stored)
    state = {
        "encoder.word.weight": stored["word"].astype(np.float32) * stored["word.scale"],
        "encoder.pos.weight": stored["pos"],
        "encoder.ln.weight": stored["emb.ln.w"],
        "encoder.ln.bias": stored["emb.ln.b"],
        "head.weight": stored["head.w"].T,
        "head.bias": stored["head.b"],
    }
    for number in range(layers):
        state |= _layer(stored, f"l{number}.", f"encoder.layers.{number}.")
    return {name: torch.tensor(np.ascontiguousarray(array)) for name, array in state.items()}, layers


def _layer(stored: dict[str, np.ndarray], name: str, key: str) -> dict[str, np.ndarray]:
    both, shift = _weight(stored, f"{name}qkv"), stored[f"{name}qkv.b"]
    state: dict[str, np.ndarray] = {}
    for place, part in enumerate("qkv"):
        rows = slice(place * HIDDEN, (place + 1) * HIDDEN)
        state |= {f"{key}{part}.weight": both[rows], f"{key}{part}.bias": shift[rows]}
    for part in LINEAR:
        state |= {f"{key}{part}.weight": _weight(stored, name + part), f"{key}{part}.bias": stored[f"{name}{part}.b"]}
    for part in NORMS:
        state |= {f"{key}{part}.weight": stored[f"{name}{part}.w"], f"{key}{part}.bias": stored[f"{name}{part}.b"]}
    return state


def _weight(stored: dict[str, np.ndarray], name: str) -> np.ndarray:
    """One scale for each output; stored with the outputs last."""
    small: np.ndarray = stored[f"{name}.w"].astype(np.float32)
    return (small * stored[f"{name}.scale"]).T
