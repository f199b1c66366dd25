"""Train the tagger: `PYTHONPATH=src python training/reader/train.py BASE OUT [--layers 8] [--epochs 5] …`.

BASE is what vocabulary.py wrote, or the folder of a pack: then training goes on from its weights. OUT gets last.pt
after every epoch (a stopped training goes on from there) and at the end scores.txt, measured on lines that were held
out. With --all nothing is held out: for the model that ships. Workers are processes of one thread each that read
different lines and average their weights every few steps: on a shared machine they wait less than threads would.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import distributed, multiprocessing, nn
from torch.nn import functional

from augment import Augmenter
from corpus import CLAUSES, VALUES, Line
from data import BEFORE_TOKENS, IGNORED, MESSAGE_TOKENS, Entry, Example, collate, load_corpus, make_example
from model import SIZES, Tagger, load_encoder
from score import Score
from tenuto.providers.reader_decode import Labels, decode, find_words, word_tokens
from warm import read_pack

LABELS = Labels("training", VALUES, CLAUSES, BEFORE_TOKENS, MESSAGE_TOKENS, {}, {})
EAGER = {"allergy": 2.0, "reaction": 1.3, "med": 1.3, "cond": 1.3, "limit": 1.3, "sos": 1.5, "blood": 1.5}
"""Life-critical types count more: missing one is worse than asking once too often."""
VALUE_WEIGHTS = torch.tensor([1.0, *2 * [EAGER.get(kind, 1.0) for kind in VALUES]])
RARE = torch.tensor([1.0, 2.5, 2.5, 2.5])
"""What is over, planned or denied is rare, and matters."""
WEIGHTS = (1.0, 1.0, 0.4, 0.4, 0.4, 0.4)
TOKENS_PER_BATCH = 384
"""Small: what is short here is steps, not lines."""
AVERAGE_EVERY = 32


def losses(numbers: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    for column, part in enumerate(torch.split(numbers, SIZES, dim=-1)):
        wanted = targets[..., column].reshape(-1)
        if (wanted != IGNORED).any():
            flat = part.reshape(-1, part.shape[-1])
            weights = {0: VALUE_WEIGHTS, 3: RARE, 5: RARE}.get(column)
            loss = functional.cross_entropy(flat, wanted, weights, ignore_index=IGNORED)
            total = total + WEIGHTS[column] * loss
    return total


def batches(examples: list[Example], chance: random.Random) -> list[list[Example]]:
    """Examples of like length together, about as many tokens in each batch, in any order."""
    order = sorted(examples, key=lambda example: len(example.ids) + chance.random() * 6)
    made: list[list[Example]] = [[]]
    for example in order:
        if made[-1] and (len(made[-1]) + 1) * len(example.ids) > TOKENS_PER_BATCH:
            made.append([])
        made[-1].append(example)
    chance.shuffle(made)
    return made


def predict(tagger: Tagger, lines: list[Line], tokenizer: Tokenizer) -> list[list]:
    tagger.eval()
    found = []
    with torch.no_grad():
        for line in lines:
            example = make_example(line, tokenizer)
            ids, lengths, _ = collate([example])
            numbers = tagger(ids, lengths)[0].numpy()
            encoding = tokenizer.encode(line.text, add_special_tokens=False)
            offsets = encoding.offsets[:MESSAGE_TOKENS]
            words = find_words(line.text)
            at = word_tokens(words, offsets)
            shift = len(example.ids) - len(offsets) - 1
            found.append(decode(line.text, words[: len(at)], numbers[[shift + place for place in at]], LABELS))
    return found


def evaluate(tagger: Tagger, entries: list[Entry], tokenizer: Tokenizer) -> Score:
    score = Score()
    for entry, marks in zip(entries, predict(tagger, [e.line for e in entries], tokenizer), strict=True):
        score.add(entry.line, marks, entry.author)
    return score


def make_optimizer(tagger: Tagger, encoder_rate: float, head_rate: float, frozen: int) -> torch.optim.Optimizer:
    """The words' vectors stay as they are: a name that the corpus never had is read like one that it had."""
    tagger.encoder.word.weight.requires_grad_(False)
    tagger.encoder.pos.weight.requires_grad_(False)
    for part in (tagger.encoder.ln, *tagger.encoder.layers[:frozen]):
        part.requires_grad_(False)
    encoder = [p for p in tagger.encoder.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in encoder if p.ndim > 1], "lr": encoder_rate, "weight_decay": 0.01},
        {"params": [p for p in encoder if p.ndim == 1], "lr": encoder_rate, "weight_decay": 0.0},
        {"params": list(tagger.head.parameters()), "lr": head_rate, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups)


def split(options: argparse.Namespace) -> tuple[list[Entry], list[Entry]]:
    """Lines to learn from, and lines to test with."""
    entries = load_corpus()
    left_out = options.leave_out.split(",") if options.leave_out else []
    held = [entry for entry in entries if entry.author in left_out or (entry.held_out and not left_out)]
    if options.all:
        return entries, held
    return [entry for entry in entries if not entry.held_out and entry.author not in left_out], held


def sample(entries: list[Entry], shares: str, chance: random.Random) -> list[Line]:
    """All lines, or of some files a share only: `de=0.5,fr=0.5` for those that the weights know already."""
    share = {author: float(part) for author, part in (pair.split("=") for pair in shares.split(",") if pair)}
    return [entry.line for entry in entries if chance.random() < share.get(entry.author, 1.0)]


def rate(progress: float) -> float:
    """Up within the first twentieth, then down in a line."""
    return min(progress / 0.05 + 0.02, max(0.02, (1 - progress) / 0.95))


def start(options: argparse.Namespace, tokenizer: Tokenizer) -> tuple[Tagger, list[int]]:
    """The tagger with the weights to begin from, and the layers of the encoder that it has."""
    base = Path(options.base)
    if (base / "model.onnx").exists():
        state, layers = read_pack(base / "model.onnx")
        tagger = Tagger(tokenizer.get_vocab_size(), layers)
        tagger.load_state_dict(state)
        return tagger, list(range(layers))
    which = [int(part) for part in options.which.split(",")] if options.which else list(range(options.layers))
    tagger = Tagger(tokenizer.get_vocab_size(), len(which))
    load_encoder(tagger.encoder, base / "base.npz", which)
    return tagger, which


def train(rank: int, options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    out = Path(options.out)
    if options.workers > 1:
        meeting = f"file://{out.resolve()}/meeting"
        distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=options.workers)
    tokenizer = Tokenizer.from_file(str(Path(options.base) / "tokenizer.json"))
    tagger, which = start(options, tokenizer)
    if options.start:
        tagger.load_state_dict(torch.load(Path(options.start) / "last.pt")["tagger"])
    optimizer = make_optimizer(tagger, options.rate, options.head_rate, options.frozen)
    first = 0
    checkpoint = out / "last.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint)
        tagger.load_state_dict(state["tagger"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
    seen, held = split(options)
    for epoch in range(first, options.epochs):
        began = time.monotonic()
        lines = sample(seen, options.share, random.Random(options.seed * 1000 + epoch))
        loss = run_epoch(tagger, optimizer, lines, tokenizer, epoch, rank, options)
        if rank == 0:
            state = {"tagger": tagger.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1}
            torch.save({**state, "which": which}, out / "new.pt")
            (out / "new.pt").replace(checkpoint)
            with (out / "log.txt").open("a") as log:
                print(
                    f"epoch {epoch + 1}: {len(lines)} lines, loss {loss:.3f}, {time.monotonic() - began:.0f} s",
                    file=log,
                )
    if rank == 0:
        score = evaluate(tagger, held, tokenizer)
        (out / "scores.txt").write_text(score.table(sorted({entry.author for entry in seen + held})) + "\n")


def run_epoch(
    tagger: Tagger,
    optimizer: torch.optim.Optimizer,
    lines: list[Line],
    tokenizer: Tokenizer,
    epoch: int,
    rank: int,
    options: argparse.Namespace,
) -> float:
    """Once over the lines, varied anew; the mean loss of this worker, which reads its part of the batches."""
    seed = options.seed * 1000 + epoch
    varied = [make_example(line, tokenizer) for line in Augmenter(lines, seed).vary_all(lines)]
    made = batches(varied, random.Random(seed))
    made = made[rank :: options.workers][: len(made) // options.workers]
    torch.manual_seed(seed + 500 * rank)
    peaks = [options.rate, options.rate, options.head_rate]
    tagger.train()
    total = 0.0
    for step, batch in enumerate(made):
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = peak * rate((epoch + step / len(made)) / options.epochs)
        ids, lengths, targets = collate(batch)
        loss = losses(tagger(ids, lengths), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        if options.workers > 1 and (step % AVERAGE_EVERY == AVERAGE_EVERY - 1 or step == len(made) - 1):
            average(tagger, options.workers)
        if step % 25 == 0 and rank == 0:
            print(f"epoch {epoch + 1}, step {step} of {len(made)}, loss {total / (step + 1):.3f}", flush=True)
    return total / len(made)


def average(tagger: Tagger, workers: int) -> None:
    """The same weights for all workers: the mean of theirs."""
    trained = [parameter for parameter in tagger.parameters() if parameter.requires_grad]
    with torch.no_grad():
        flat = nn.utils.parameters_to_vector(trained)
        distributed.all_reduce(flat)
        nn.utils.vector_to_parameters(flat / workers, trained)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("base")
    parser.add_argument("out")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--which", help="layers by number, instead of the first ones")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--head-rate", type=float, default=1e-3, help="less when the weights are a pack's")
    parser.add_argument("--frozen", type=int, default=2, help="first layers that stay as they are")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leave-out", help="files, with commas, to train without and to test with")
    parser.add_argument("--share", default="", help="how much of a file an epoch reads: de=0.5,fr=0.5")
    parser.add_argument("--start", help="another run whose weights to start from")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    Path(options.out).mkdir(parents=True, exist_ok=True)
    (Path(options.out) / "meeting").unlink(missing_ok=True)
    if options.workers == 1:
        train(0, options)
    else:
        multiprocessing.spawn(train, args=(options,), nprocs=options.workers)


if __name__ == "__main__":
    main()
