"""Write the pack's files from a checkpoint: `PYTHONPATH=src python training/reader/export.py BASE RUN OUT --name NAME`.

RUN may be several, with commas, each a training's folder or a pack's: then their weights are averaged. OUT gets
model.onnx (int8), tokenizer.json and labels.json. Prints sizes, hashes and how well the int8 model does on the
lines that were held out, with the runtime that ships.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import torch

from corpus import CLAUSES, VALUES
from data import BEFORE_TOKENS, MESSAGE_TOKENS
from encoder import build
from score import chosen, score_pack
from warm import read_pack

PARTS = ("q", "k", "v", "ao", "aln", "fi", "fo", "oln")


def arrays_of(state: dict[str, torch.Tensor], layers: int) -> dict[str, np.ndarray]:
    """The tagger's weights under the container's names."""
    named = {"emb.word": "word.weight", "emb.pos": "pos.weight", "emb.ln.w": "ln.weight", "emb.ln.b": "ln.bias"}
    for number in range(layers):
        for part in PARTS:
            named[f"l{number}.{part}.w"] = f"layers.{number}.{part}.weight"
            named[f"l{number}.{part}.b"] = f"layers.{number}.{part}.bias"
    return {name: state[f"encoder.{key}"].numpy() for name, key in named.items()}


def mean_of(runs: list[Path]) -> tuple[dict[str, torch.Tensor], int]:
    """The mean of the weights of several runs of one training, and how many layers they have."""
    states: list[dict[str, torch.Tensor]] = []
    layers = 0
    for run in runs:
        if (run / "last.pt").exists():
            checkpoint = torch.load(run / "last.pt", map_location="cpu")
            state, layers = checkpoint["tagger"], len(checkpoint["which"])
        else:
            state, layers = read_pack(run / "model.onnx")
        states.append(state)
    return {name: sum(state[name] for state in states) / len(states) for name in states[0]}, layers


def export(options: argparse.Namespace) -> None:
    state, layers = mean_of([Path(run) for run in options.run.split(",")])
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    head = (state["head.weight"].numpy(), state["head.bias"].numpy())
    onnx.save(build(arrays_of(state, layers), list(range(layers)), head=head), out / "model.onnx")
    shutil.copy(Path(options.base) / "tokenizer.json", out / "tokenizer.json")
    settings = json.loads(Path(options.settings).read_text()) if options.settings else {}
    labels = {
        "model": options.name,
        "values": VALUES,
        "clauses": CLAUSES,
        "before_tokens": BEFORE_TOKENS,
        "message_tokens": MESSAGE_TOKENS,
        "bias": settings.get("bias", {}),
        "threshold": settings.get("threshold", {}),
    }
    (out / "labels.json").write_text(json.dumps(labels, indent=1) + "\n")
    for path in sorted(out.glob("*")):
        print(path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("base")
    parser.add_argument("run")
    parser.add_argument("out")
    parser.add_argument("--name", required=True)
    parser.add_argument("--files", nargs="*", default=[], help="files to measure with, instead of the lines held out")
    parser.add_argument("--settings", help="a JSON file with bias and threshold by type")
    options = parser.parse_args()
    export(options)
    print(score_pack(Path(options.out), chosen(options.files)).table())


if __name__ == "__main__":
    main()
