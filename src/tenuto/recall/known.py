"""Is anything kept that a query is about? Nothing is an answer, too.

    support = the best text's (cosine − floor) / (anchor − floor) + ⅓ · share of the query's words that it holds
              − ½ · share of the query's words that were never said
              + 0.05 for each word of the query from the fifth to the twelfth
    known   = support ≥ 0.22 among much, −0.25 among little    each word weighed by how rare it is

``floor`` and ``anchor`` belong to the encoder: below the one a vector says nothing, from the other on a query names a
thing. The best of many unrelated texts is nearer than the best of a few, and a word that was never said among thousands
of messages tells more than among ten: both numbers move with the logarithm of what is kept, up to ``MUCH``. A long
query says much that no one text says, so that what answers it is less near. ``bench.recall.never`` measures it with
questions about things that were never said: those that the numbers were set by, and others.
"""

from __future__ import annotations

import math

import numpy as np

from tenuto.policy import Calibration
from tenuto.recall.index import Bools, Floats, Places, View
from tenuto.recall.lexical import living_postings
from tenuto.recall.match import Signals
from tenuto.recall.segments import Hashes

NEEDED, NEEDED_AMONG_LITTLE = 0.22, -0.25
HELD = 1 / 3
NEVER_SAID = 1 / 2
LONGER, FEW_WORDS, MANY_WORDS = 0.05, 4, 12
"""What each word beyond a few, up to many, makes a query easier to answer."""
MUCH = 600
"""Entries that are much."""
LOOKED_AT = 50
"""How many of the best are asked for the words of the query."""
FAINT = 0.5
"""So far below the floor, in the same unit, a text without a word of the query is no candidate."""


def faint(model: Calibration) -> float:
    """The cosine below which a text that shares no word with the query is not worth showing."""
    return model.floor - FAINT * (model.anchor - model.floor)


def known(view: View, tokens: Hashes, signals: Signals, allowed: Bools, model: Calibration) -> bool:
    """Whether some row that may be found is about what the query asks."""
    if not len(signals.touched):
        return False
    grown = min(1.0, math.log1p(view.alive) / math.log1p(MUCH))
    needed = NEEDED * grown + NEEDED_AMONG_LITTLE * (1 - grown)
    needed -= LONGER * (min(max(len(tokens), FEW_WORDS), MANY_WORDS) - FEW_WORDS)
    nearest = int(np.where(allowed, signals.cosine, -1).argmax())
    rows = np.append(signals.pool(LOOKED_AT), nearest)
    near = (signals.cosine[rows] - model.floor) / (model.anchor - model.floor)
    if near[-1] - NEVER_SAID * grown >= needed:
        return True
    held, never = _words(view, tokens, rows)
    return float((near + HELD * held).max()) - NEVER_SAID * grown * never >= needed


def _words(view: View, tokens: Hashes, rows: Places) -> tuple[Floats, float]:
    """The share of the query's words that each of some rows holds, and the share that no text has."""
    held, never, total = np.zeros(len(rows), np.float32), 0.0, 0.0
    for said, _ in living_postings(view, tokens):
        rare = math.log1p((view.alive - len(said) + 0.5) / (len(said) + 0.5))
        total += rare
        if not len(said):
            never += rare
            continue
        places = np.minimum(np.searchsorted(said, rows), len(said) - 1)
        held += np.float32(rare) * (said[places] == rows)
    return (held / np.float32(total), never / total) if total else (held, 1.0)
