"""What a caller says about a memory by hand is kept, filtered by, exported, and read by the gate; on every store."""

from __future__ import annotations

from pathlib import Path

import pytest

import tenuto
from tenuto.errors import InputError
from tenuto.records.memory import Domain, Epistemic, Sensitivity, TimeScope
from tests.flows.world import WordEmbedder

GIVEN = {
    "sensitivity": "high", "time_scope": "historical", "epistemic": "co_created", "valence": -0.4, "arousal": 0.7,
    "salience": 0.9,
}  # fmt: skip


def opened(url: str):
    return tenuto.open(url, background=False, embedder=WordEmbedder())


def test_metadata_is_kept_filtered_edited_and_exported(store_url: str, tmp_path: Path) -> None:
    with opened(store_url) as store:
        ana = store.user("ana")
        kept = ana.remember("Lost the bakery in the flood", **GIVEN).memory
        other = ana.remember("Plays the cello badly", salience=0.2).memory
        expected = (Sensitivity.HIGH, TimeScope.HISTORICAL, Epistemic.CO_CREATED, -0.4, 0.7, 9.0)
        fields = ("sensitivity", "time_scope", "epistemic", "valence", "arousal", "importance")
        assert tuple(getattr(kept, name) for name in fields) == expected
        for name in ("sensitivity", "time_scope", "epistemic"):
            assert [one.id for one in ana.memories(**{name: GIVEN[name]})] == [kept.id]
        assert kept.id in {hit.id for hit in ana.recall("the bakery in the flood")}, "sensitivity hides nothing"
        assert [one.id for one in ana.memories(valence=(-1, -0.2))] == [kept.id]
        assert [one.id for one in ana.memories(salience=(0, 0.5))] == [other.id]
        assert [one.id for one in ana.memories(arousal=(0.5, 1.0), limit=1)] == [kept.id]
        edited = ana.edit(other.id, sensitivity="medium", time_scope="momentary", salience=0.5, valence=0.3)
        assert (edited.sensitivity, edited.time_scope, edited.importance, edited.valence) == (
            Sensitivity.MEDIUM, TimeScope.MOMENTARY, 5.0, 0.3
        )  # fmt: skip
        ana.export(tmp_path / "ana.jsonl")
    with tenuto.open("memory:", background=False, embedder=WordEmbedder()) as second:
        second.user("ana").import_file(tmp_path / "ana.jsonl", vouch=True)
        (again,) = second.user("ana").memories(sensitivity="high")
        assert tuple(getattr(again, name) for name in fields) == expected


@pytest.mark.parametrize("wrong", [{"sensitivity": "secret"}, {"valence": 2}, {"salience": 0.3, "importance": 3}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with opened("memory:") as store, pytest.raises(InputError):
        store.user("ana").remember("Plays the cello", **wrong)


def test_the_relationship_and_the_persona_have_memories(store_url: str) -> None:
    with opened(store_url) as store:
        ana = store.user("ana", persona="coach")
        ritual = ana.remember("We end every Friday with one good thing", domain="relational", kind="ritual").memory
        learnt = ana.remember("Learnt to stop giving lists", domain="agent", private=True).memory
        assert (ritual.domain, learnt.domain, learnt.persona) == (Domain.RELATIONAL, Domain.AGENT, "coach")
        assert [one.id for one in ana.memories(domain="relational")] == [ritual.id]
        assert store.user("ana", persona="cook").memories(domain="agent") == []
        assert ritual.id in {hit.id for hit in ana.recall("what do we do every Friday", domain="relational")}


def test_a_memory_with_conditions_is_used_only_where_they_hold(store_url: str) -> None:
    with opened(store_url) as store:
        ana = store.user("ana")
        money = ana.remember(
            "Owes her brother 4000 euros", retrieval_conditions="when money or debts come up", salience=0.9
        ).memory
        gift = ana.remember("Gets a telescope for her birthday", do_not_use_when="Ana is present, presents").memory
        hits = {hit.id: hit for hit in ana.recall("money she owes her brother")}
        assert "as its condition is met: when money or debts come up" in hits[money.id].why.rule
        assert money.id not in {hit.id for hit in ana.recall("her brother and his euros")}
        hits = {hit.id: hit for hit in ana.recall("telescope on her birthday")}
        assert "and not when: Ana is present" in hits[gift.id].why.rule
        assert gift.id not in {hit.id for hit in ana.recall("birthday presents, a telescope")}
        shown = {item.id for block in ana.context("Hello, how are you?").blocks for item in block.items}
        assert not {money.id, gift.id} & shown, "nothing with conditions stands there unasked"
        assert {money.id, gift.id} <= {one.id for one in ana.memories()}, "the person sees all of it"
        ana.edit(money.id, retrieval_conditions=None)
        assert money.id in {hit.id for hit in ana.recall("her brother and his euros")}


def test_what_not_to_do_reaches_the_model(store_url: str) -> None:
    with opened(store_url) as store:
        ana = store.user("ana")
        ana.remember("Her father drank", should_not_do="joke about drinking")
        assert "Do not: joke about drinking" in ana.context("What shall we cook?").stable
