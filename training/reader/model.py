"""The tagger in torch: the encoder of multilingual-e5-small (or some of its layers) and one linear layer on top."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from corpus import CLAUSES, VALUES

HIDDEN, HEADS, FEED, POSITIONS = 384, 12, 1536, 512
EPSILON = 1e-12
OWNERS = ("self", "other")
STATES = ("now", "end", "plan", "neg")
SIZES = (1 + 2 * len(VALUES), 1 + 2 * len(CLAUSES), len(OWNERS), len(STATES), len(OWNERS), len(STATES))
"""Value tags, clause tags, owner and state of values, owner and state of clauses."""


class Layer(nn.Module):
    def __init__(self, drop: float) -> None:
        super().__init__()
        self.q = nn.Linear(HIDDEN, HIDDEN)
        self.k = nn.Linear(HIDDEN, HIDDEN)
        self.v = nn.Linear(HIDDEN, HIDDEN)
        self.ao = nn.Linear(HIDDEN, HIDDEN)
        self.aln = nn.LayerNorm(HIDDEN, EPSILON)
        self.fi = nn.Linear(HIDDEN, FEED)
        self.fo = nn.Linear(FEED, HIDDEN)
        self.oln = nn.LayerNorm(HIDDEN, EPSILON)
        self.drop = nn.Dropout(drop)
        self.rate = drop

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        rows, length, _ = x.shape

        def heads(y: torch.Tensor) -> torch.Tensor:
            return y.view(rows, length, HEADS, HIDDEN // HEADS).transpose(1, 2)

        seen = functional.scaled_dot_product_attention(
            heads(self.q(x)), heads(self.k(x)), heads(self.v(x)), attn_mask=mask
        )
        x = self.aln(x + self.drop(self.ao(seen.transpose(1, 2).reshape(rows, length, HIDDEN))))
        return self.oln(x + self.drop(self.fo(functional.gelu(self.fi(x)))))


class Encoder(nn.Module):
    def __init__(self, words: int, layers: int, drop: float = 0.1) -> None:
        super().__init__()
        self.word = nn.Embedding(words, HIDDEN)
        self.pos = nn.Embedding(POSITIONS, HIDDEN)
        self.ln = nn.LayerNorm(HIDDEN, EPSILON)
        self.layers = nn.ModuleList(Layer(drop) for _ in range(layers))
        self.drop = nn.Dropout(drop)

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        at = torch.arange(ids.shape[1])
        mask = (at[None] < lengths[:, None])[:, None, None]
        x = self.drop(self.ln(self.word(ids) + self.pos(at)))
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Tagger(nn.Module):
    def __init__(self, words: int, layers: int, drop: float = 0.1) -> None:
        super().__init__()
        self.encoder = Encoder(words, layers, drop)
        self.drop = nn.Dropout(drop)
        self.head = nn.Linear(HIDDEN, sum(SIZES))

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return self.head(self.drop(self.encoder(ids, lengths)))


def load_encoder(encoder: Encoder, path: Path, which: list[int]) -> None:
    """Put the decoded weights in: the layers of ``which``, in order. The type row is added to every position."""
    arrays = np.load(path)

    def put(parameter: torch.Tensor, name: str) -> None:
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(arrays[name]))

    put(encoder.word.weight, "emb.word")
    with torch.no_grad():
        encoder.pos.weight.copy_(torch.from_numpy(arrays["emb.pos"] + arrays["emb.type"][0]))
    put(encoder.ln.weight, "emb.ln.w")
    put(encoder.ln.bias, "emb.ln.b")
    for layer, number in zip(encoder.layers, which, strict=True):
        for name in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"):
            part = getattr(layer, name)
            put(part.weight, f"l{number}.{name}.w")
            put(part.bias, f"l{number}.{name}.b")
