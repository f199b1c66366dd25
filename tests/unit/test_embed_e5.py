"""The multilingual pack: what stands without its weights, and (long: 127 MB to build) what it finds with them."""

import sys

import numpy as np
import pytest

import tenuto
from tenuto.errors import SettingError
from tenuto.providers.embed import LocalEmbedder
from tenuto.providers.embed_e5 import MultilingualE5


def test_without_the_pack_its_name_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tenuto_e5", None)
    with pytest.raises(SettingError, match="install tenuto-e5"):
        tenuto.open("memory:", embedder="e5-multilingual")


def test_an_unknown_embedder_is_told_the_known_ones():
    with pytest.raises(SettingError, match="'minilm', 'e5-multilingual'"):
        tenuto.open("memory:", embedder="word2vec")


def test_minilm_has_a_name():
    with tenuto.open("memory:", embedder="minilm") as store:
        store.user("ana").observe("My dad is allergic to penicillin.")


@pytest.mark.long
def test_the_same_statement_in_five_languages_is_closer_than_another():
    embedder = LocalEmbedder(MultilingualE5(), remember=0)
    said = [
        "My father is allergic to penicillin.",
        "Mein Vater ist gegen Penicillin allergisch.",
        "Mi padre es alérgico a la penicilina.",
        "Mon père est allergique à la pénicilline.",
        "Meu pai é alérgico à penicilina.",
    ]
    others = ["We drove to the lake on Sunday.", "Die Sitzung wurde verschoben.", "Compré un sofá nuevo."]
    rows, far = embedder.embed(said), embedder.embed(others)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert (rows @ rows.T).min() > (rows @ far.T).max()
    question = embedder.embed(["Which antibiotics must my dad not take?"], query=True)
    assert (question @ rows.T).min() > (question @ far.T).max()
    assert not np.array_equal(embedder.embed(said[:1], query=True), rows[:1])
