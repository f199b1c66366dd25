"""Who keeps a key of their own pays for what is asked on their behalf, also while nobody waits for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import tenuto
from tenuto.facade.job_handlers import HANDLERS
from tenuto.facade.store import Tenuto
from tenuto.facade.worker import COSTLY
from tenuto.ports import Answer
from tenuto.privacy.keys import FixedKeys
from tenuto.records.conversation import SummaryKind
from tenuto.testing.fakes import FakeClock

TOLD = "My sister Marta lives in Porto and she is allergic to penicillin."


@dataclass
class Metered:
    """A model that remembers with whose key it was asked, and says nothing of use."""

    name: str = "metered"
    key: str = "operator"
    asked: list[str] = field(default_factory=list)
    key_provider: str = "openai"

    def complete(self, *, system: str, user: str, schema=None, max_tokens: int = 1024) -> Answer:
        self.asked.append(self.key)
        return Answer(text="{}", model=self.name)

    def with_key(self, key: str) -> Metered:
        return replace(self, key=key)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: FakeClock, model: Metered | None) -> Tenuto:
    monkeypatch.setenv("TENUTO_MODEL_KEYS", f"file:{tmp_path / 'seals'}")
    return tenuto.open(tmp_path / "own.db", background=False, model=model, clock=clock)


def talked(store: Tenuto, user: str, clock: FakeClock) -> None:
    """A session that is extracted from and summarised in the background."""
    person = store.user(user)
    for text in (TOLD, "I start my new job in Lisbon on Monday.", "Good night."):
        person.observe(text)
    person.close_session()
    store.settle()


def test_background_work_is_paid_by_whoever_keeps_a_key(tmp_path, monkeypatch, clock):
    model = Metered()
    with opened(tmp_path, monkeypatch, clock, model) as store:
        store.user("ana").model_keys.set("openai", "sk-of-ana")
        talked(store, "ana", clock)
        assert set(model.asked) == {"sk-of-ana"}
        assert len(model.asked) >= 2, "extracted from, and summarised"
        model.asked.clear()
        store.user("ana").model_keys.remove("openai")
        talked(store, "ana", clock)
        assert set(model.asked) == {"operator"}


def test_a_key_for_another_vendor_goes_to_that_vendor_alone(tmp_path, monkeypatch, clock):
    model = Metered()
    with opened(tmp_path, monkeypatch, clock, model) as store:
        store.user("ana").model_keys.set("anthropic", "sk-of-ana")
        talked(store, "ana", clock)
        assert set(model.asked) == {"operator"}


def test_without_a_key_of_the_operator_a_persons_own_is_enough(tmp_path, monkeypatch, clock):
    model = Metered()
    with opened(tmp_path, monkeypatch, clock, None) as plain:
        store = Tenuto(replace(plain.deps, unpaid_model=model), background=False)
        store.user("ana").model_keys.set("openai", "sk-of-ana")
        talked(store, "ana", clock)
        talked(store, "ben", clock)
        assert set(model.asked) == {"sk-of-ana"}
        kept = [summary.made_by for summary in store.user("ben").summaries(kind=SummaryKind.SESSION)]
        assert kept == ["rules"], "without any key the rules do the work"


def test_a_key_that_does_not_open_asks_nobody_and_loses_nothing(tmp_path, monkeypatch, clock, caplog):
    model = Metered()
    with opened(tmp_path, monkeypatch, clock, model) as plain:
        plain.user("ana").model_keys.set("openai", "sk-of-ana")
        store = Tenuto(replace(plain.deps, model_key_seals=FixedKeys(bytes(32))), background=False)
        talked(store, "ana", clock)
        assert model.asked == []
        assert any("penicillin" in memory.content for memory in store.user("ana").memories())
        assert "key_unreadable" in caplog.text
        assert "sk-of-ana" not in caplog.text


def test_what_a_person_asks_for_at_once_is_paid_alike(tmp_path, monkeypatch, clock):
    model = Metered()
    with opened(tmp_path, monkeypatch, clock, model) as store:
        ana = store.user("ana")
        ana.model_keys.set("openai", "sk-of-ana")
        first = ana.observe(TOLD)
        last = ana.observe("I start my new job in Lisbon on Monday.")
        ana.summarise(first.message_id, last.message_id)
        assert model.asked == ["sk-of-ana"]


def test_every_kind_of_job_that_may_ask_a_model_knows_who_pays():
    assert {kind for kind, handler in HANDLERS.items() if handler.__qualname__.startswith("paid.")} == COSTLY
