"""Every public verb shows an example, and every example runs."""

import doctest
import inspect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import tenuto
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tenuto.workflow.definition import define

NOW = datetime(2026, 5, 13, 9, 0, tzinfo=UTC)
PARTS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False, "clock": lambda: NOW}


class Activity(BaseModel):
    language: str | None = None


def verbs(face: type) -> Iterator[tuple[str, str]]:
    """The public names of a class, each with the example in its docstring."""
    for name, member in vars(face).items():
        if not name.startswith("_"):
            text = inspect.getdoc(member.fget if isinstance(member, property) else member) or ""
            yield name, "".join(one.source for one in doctest.DocTestParser().get_examples(text))


ALL = [(face.__name__, *verb) for face in (tenuto.UserMemory, tenuto.Tenuto) for verb in verbs(face)]


@pytest.fixture
def names(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What the examples speak of, ready to be used."""
    chat = tmp_path / "chat.txt"
    chat.write_text("[13.05.26, 08:00:00] Ana: I live in Porto\n[13.05.26, 08:01:00] Ben: Nice\n", encoding="utf-8")
    codes: list[str] = []
    activity = define("activity", Activity)
    with (
        tenuto.open("memory:", **PARTS) as store,
        tenuto.open(tmp_path / "sealed.db", keys=f"file:{tmp_path}/keys", **PARTS) as sealed,
    ):
        ana = store.user("ana", persona="coach")
        sealed.user("ana").observe("A word.")
        receipt = ana.observe("I must call the plumber tomorrow. My brother Tom lives in Oslo, my sister Zoe in Rome.")
        store.settle()
        kept = {name: ana.remember(text).memory for name, text in TEXTS.items()}
        forgotten = ana.forget(ana.remember("Plays the lute").memory.id)
        yield {
            **kept, "ana": ana, "store": store, "sealed": sealed, "receipt": receipt, "forgotten": forgotten,
            "message": ana.messages()[-1], "now": NOW, "yesterday": NOW - timedelta(days=1),
            "last_year": NOW - timedelta(days=365), "timedelta": timedelta, "Envelope": tenuto.Envelope,
            "folder": tmp_path, "chat": chat, "activity": activity, "codes": codes,
            "send": lambda delivery: codes.append(delivery.code),
        }  # fmt: skip


TEXTS = {"memory": "Lives in Porto since March", "waiting": "Sings in a choir"}
LINK = 'ana.link("email", "ana@example.org", send)\ncode = codes[-1]\n'
PLAN = (
    'store.identify("sms", "+15550100").observe("Hello.")\n'
    'ana.link("sms", "+15550100", send, merge=True)\ncode = codes[-1]\n'
)
TWO = 'entity, duplicate = ana.entities(type="person")[:2]\n'
BEFORE = {
    "verify_erasure": "proof = ana.erase(memory=memory.id)",
    "complete": "todo = ana.todos()[0]",
    "cancel": "todo = ana.todos()[0]",
    "entity": TWO,
    "merge": TWO,
    "unmerge": TWO + "merged = ana.merge(duplicate.id, into=entity.id)",
    "vouch": 'brought = ana.import_file(chat, format="whatsapp", me="Ana")',
    "confirm_link": LINK,
    "unlink": LINK
    + 'ana.confirm_link("email", "ana@example.org", code)\n'
    + LINK.replace("ana@", "a.b@")
    + 'ana.confirm_link("email", "a.b@example.org", codes[-1])',
    "merge_plan": PLAN,
    "merge_user": PLAN + 'plan = ana.merge_plan("sms", "+15550100", code)',
    "unmerge_user": PLAN + 'joined = ana.merge_user(ana.merge_plan("sms", "+15550100", code))',
    "workflow_of": "draft = ana.workflow(activity)",
    "revoke_key": 'key, secret = store.create_key("website", scope="app")',
    "verify_audit": "head = store.audit_head()",
}
"""What has to be done before an example makes sense."""


@pytest.mark.parametrize(("face", "verb", "example"), ALL, ids=[f"{face}.{verb}" for face, verb, _ in ALL])
def test_a_verb_has_an_example_and_it_runs(face: str, verb: str, example: str, names: dict[str, Any]):
    assert example, f"{face}.{verb} has no example in its docstring"
    exec(BEFORE.get(verb, ""), names)
    exec(example, names)
