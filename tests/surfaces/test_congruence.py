"""The same scenarios on the library and over HTTP give the same results, values and errors alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

import tenuto
from tenuto.providers.system import CountingIds
from tenuto.records.base import evolve, to_plain
from tenuto.records.channel import Envelope
from tenuto.surfaces.client import connect
from tenuto.surfaces.http.app import create_app
from tenuto.testing.fakes import FakeClock
from tenuto.workflow import Field, define
from tests.surfaces.kit import make_store

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


TRIP = define(
    "trip",
    {
        "type": "object",
        "properties": {"destination": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["destination", "days"],
    },
    fields={"destination": Field(hard=True), "days": Field()},
)


class World:
    """A library's store and a server's, with clocks and ids that agree."""

    def __init__(self) -> None:
        self.clock = FakeClock(START)
        self.local = make_store(clock=self.clock, ids=CountingIds())
        self.behind = make_store(clock=self.clock, ids=CountingIds())
        _, secret = self.behind.create_key("k", scope="admin")
        self.local.create_key("k", scope="admin")
        for store in (self.local, self.behind):
            store.define(TRIP)
        self._client = TestClient(create_app(self.behind, hosts=["testserver"]))
        self._client.__enter__()
        self.remote = connect("http://testserver", secret, transport=_Through(self._client), sleep=lambda _: None)

    def both(self, scenario: Callable[[Any, FakeClock], Any]) -> tuple[Any, Any]:
        now = self.clock.now
        first = _outcome(scenario, self.local, self.clock)
        self.clock.now = now
        return first, _outcome(scenario, self.remote, self.clock)

    def close(self) -> None:
        self._client.__exit__(None, None, None)
        self.local.close()
        self.behind.close()


class _Through(httpx.BaseTransport):
    """httpx over the test client."""

    def __init__(self, client: TestClient) -> None:
        self._client = client

    def handle_request(self, request: Any) -> Any:
        response = self._client.request(
            request.method, str(request.url), content=request.read(), headers=dict(request.headers)
        )
        return httpx.Response(response.status_code, headers=response.headers, content=response.content)


def _outcome(scenario: Callable[[Any, FakeClock], Any], store: Any, clock: FakeClock) -> Any:
    try:
        return ("value", _flat(scenario(store, clock)))
    except tenuto.TenutoError as error:
        return ("error", type(error).__name__, error.code)


def _flat(value: Any) -> Any:
    if isinstance(value, tenuto.records.context.Context):
        return {name: getattr(value, name) for name in ("messages", "stable", "volatile", "tokens", "blocks")}
    if isinstance(value, (list, tuple)):
        return [_flat(one) for one in value]
    if isinstance(value, dict):
        return {name: _flat(one) for name, one in value.items()}
    return to_plain(value) if hasattr(value, "__dataclass_fields__") else value


TALK = [
    "My dad is allergic to penicillin.", "I moved to Lisbon in May.", "Remind me to call Mia on Friday.",
    "I feel a bit low today.", "My sister Mia loves climbing.", "The doctor changed his dose to 500 mg.",
]  # fmt: skip


def talk(store: Any, clock: FakeClock) -> Any:
    ana = store.user("ana", persona="coach", channel="imessage")
    receipts = []
    for n, text in enumerate(TALK):
        receipts.append(ana.observe(text, id=f"m{n}", at=clock.advance(minutes=1)))
        receipts.append(ana.observe("I hear you.", role="assistant", thinking="…", at=clock.advance(minutes=1)))
    return receipts


def talk_and(scenario: Callable[[Any, FakeClock], Any]) -> Callable[[Any, FakeClock], Any]:
    def run(store: Any, clock: FakeClock) -> Any:
        talk(store, clock)
        store.settle()
        return scenario(store.user("ana", persona="coach", channel="imessage"), clock)

    return run


def repeated(ana: Any, clock: FakeClock) -> Any:
    return [ana.observe(TALK[0], id="m0"), len(ana.messages())]


def paged(ana: Any, clock: FakeClock) -> Any:
    found, cursor = [], None
    while True:
        page = ana.page("messages", limit=5, cursor=cursor, order="seq")
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


def closed(ana: Any, clock: FakeClock) -> Any:
    clock.advance(minutes=5)
    return [ana.close_session(), ana.close_session(), ana.sessions(), ana.summaries(), ana.key_points()]


def kept(ana: Any, clock: FakeClock) -> Any:
    made = ana.remember("Allergic to penicillin", pin=True, importance=9)
    clock.advance(minutes=1)
    steps = [made, ana.remember("I live in Porto"), ana.remember("I live in Braga")]
    edited = ana.edit(made.memory.id, content="Badly allergic to penicillin", should_do="Ask about antibiotics")
    steps += [
        edited,
        ana.unpin(made.memory.id),
        ana.pin(made.memory.id, kind="concept"),
        ana.allow(made.memory.id, "no"),
    ]
    steps += [
        ana.confirm(made.memory.id),
        ana.forget(made.memory.id, reason="wrong"),
        ana.memories(),
        ana.memories(status="*"),
    ]
    steps += [
        ana.restore(made.memory.id),
        ana.history(made.memory.id),
        ana.memory(made.memory.id),
        ana.memories(pinned=True),
    ]
    return steps


def doing(ana: Any, clock: FakeClock) -> Any:
    found = ana.todos(status="*")
    return [found, [ana.complete(one.id) for one in found if one.status == "open"], ana.wins(), ana.todos()]


def people(ana: Any, clock: FakeClock) -> Any:
    ana.remember("My brother Tom lives in Leeds")
    ana.remember("Thomas is my brother")
    known = [one.id for one in ana.entities(type="person")]
    cards = [ana.entity(id) for id in known]
    merged = ana.merge(known[0], known[1]) if len(known) > 1 else None
    undone = ana.unmerge(merged.id) if merged else None
    ana.record_outcome("python", "loops", True, START, id="o1")
    steps = [ana.imports(), ana.identities(), ana.user_merges(), ana.workflows(), ana.events(limit=3)]
    return [steps, known, cards, merged, undone, ana.merges(status="*"), ana.entities(limit=2)]


def switches(ana: Any, clock: FakeClock) -> Any:
    rules = {"purge_text": 86400, "channels": {"email": {"purge_text": None, "all": True}}, "domains": {"project": 60}}
    return [
        ana.outreach(), ana.outreach(on=True), ana.outreach(made=True), ana.trajectory(on=False),
        ana.trajectory(on=True),
        ana.state(), ana.state_history(), ana.session_state(), ana.retention(), ana.set_retention(rules),
        ana.set_retention(None),
    ]  # fmt: skip


def recalled_with_options(ana: Any, clock: FakeClock) -> Any:
    """Each option alone: a refusal on both sides would be no agreement worth having."""
    options: list[dict[str, Any]] = [
        {"passages": True}, {"valence": -0.5}, {"arousal": 0.9}, {"persona": "coach"}, {"kinds": "message"},
        {"kinds": ["memory", "todo"]}, {"profile": "decayed"}, {"since": START, "until": START + timedelta(hours=1)},
        {"domain": "people"}, {"kind": "fact"}, {"entity": "person:dad"}, {"status": "active"},
        {"channel": "imessage"}, {"session": "none"}, {"source": "conversation"}, {"role": "user"},
        {"speaker": "Ana"}, {"outside": True}, {"held": True},
    ]  # fmt: skip
    found = [ana.recall("penicillin", limit=5, **option) for option in options]
    assert any(hit.passage for hit in found[0])
    return found


def context_with_options(ana: Any, clock: FakeClock) -> Any:
    options: list[dict[str, Any]] = [
        {"replay": False}, {"replay": False, "sent": [TALK[0]]}, {"persona_text": "You are a coach."},
        {"session": "s"}, {"refresh": True}, {"budget": 4000},
    ]  # fmt: skip
    return [ana.context("Which antibiotics are safe?", **option) for option in options]


def purged(ana: Any, clock: FakeClock) -> Any:
    ana.set_retention({"purge_text": 60})
    clock.advance(days=3)
    return [ana.purge(dry_run=True), ana.purge(), ana.messages(), ana.curate(dry_run=True), ana.curate()]


def audited(ana: Any, clock: FakeClock) -> Any:
    """Who did it differs, and so do hashes: a server's actor is a key."""
    ana.recall("tea")
    listed = [(one.verb, one.changed, one.removed) for one in ana.audit(limit=5) if "replays" not in one.changed]
    report = ana.verify_audit()
    return [listed, report.problems, report.chains]


def erased(ana: Any, clock: FakeClock) -> Any:
    proof = ana.erase()
    erased = {name: count for name, count in proof.erased.items() if name != "replays"}
    return [erased, proof.left, len(proof.user), ana.verify_erasure(proof), ana.stats(), ana.messages()]


def erased_in_part(ana: Any, clock: FakeClock) -> Any:
    proof = ana.erase(message="m0")
    looked = ana.undo("conversation", START + timedelta(minutes=8), preview=True)
    done = ana.undo("conversation", START + timedelta(minutes=8))
    return [proof.erased, proof.left, proof.part, ana.verify_erasure(proof), looked, done, ana.messages()]


def typed(ana: Any, clock: FakeClock) -> Any:
    work = ana.workflow("trip", "w1", given={"days": 3})
    steps = [work.id, work.state, work.spec, work.missing, work.send("destination: Lisbon", id="t1")]
    steps += [work.send("destination: Lisbon", id="t1").duplicate, work.set(days=4), work.set(destination="Porto")]
    steps += [work.pending, work.block, work.confirm(), work.spec, work.set(destination="Faro"), work.refuse()]
    steps += [work.produce({"plan": ["fly"]}), work.submit({"paid": None}), work.artifacts("submission")]
    steps += [[one.state_after for one in work.trace()], [one["intent"] for one in work.stream(limit=2)]]
    again = ana.workflow_of("w1")
    ana.record_outcome("python", "loops", True, START, id="o1")
    return [*steps, again.record, again.build(), ana.workflows(), ana.learner("python"), ana.learner("x", at=START)]


def at_hand(ana: Any, clock: FakeClock) -> Any:
    ana.working.set("place", "in the car")
    ana.working.set("mood", {"high": 1})
    ana.working.set("mood", None)
    said = [{k: v for k, v in one.items() if k != "at"} for one in ana.working.messages()]
    return [said, ana.working.channel, ana.working.variables, ana.model_keys.list(), ana.model_keys.remove("openai")]


def moved(store: Any, clock: FakeClock) -> Any:
    """Everything out, and into another user; and a chat of another program."""
    with tempfile.TemporaryDirectory() as folder:
        chat = Path(folder) / "chat.jsonl"
        chat.write_text('{"role": "user", "text": "I have a dog called Rex.", "at": "2026-02-01T10:00:00Z"}\n')
        ana, ben = store.user("ana"), store.user("ben")
        guess = ana.estimate_import(chat)
        done = ana.import_file(chat, vouch=True)
        store.settle()
        written = ana.export(Path(folder) / "ana.jsonl")
        back = ben.import_file(Path(folder) / "ana.jsonl")
        plain = [guess.messages, guess.oldest, done.status, done.vouched_at is not None, back.status]
        counted = {name: count for name, count in written.items() if name not in ("events", "replays")}
        return [plain, counted, [one.content for one in ben.messages()], len(ana.imports())]


def linked(store: Any, clock: FakeClock) -> Any:
    """Two addresses of one person, and two accounts that become one and part again."""
    ana = store.identify("email", "Ana@Example.org")
    ana.observe("I live in Lisbon.")
    phone = store.identify("imessage", "+351 912 345 678")
    phone.observe("My sister is called Mia.")
    store.settle()
    carried: list[Any] = []
    sent = ana.link("sms", "+351 913 333 333", carried.append)
    steps = [sent.purpose, sent.expires_at, ana.confirm_link("sms", "+351 913 333 333", carried[0].code)]
    ana.link("imessage", "+351 912 345 678", carried.append, merge=True)
    plan = ana.merge_plan("imessage", "+351 912 345 678", carried[1].code)
    merged = ana.merge_user(plan)
    joined = [one.content for one in ana.messages()]
    apart = ana.unmerge_user(merged.id)
    return [*steps, plan.counts, plan.conflicts, merged.status, joined, apart.status, ana.messages(), ana.identities()]


def operated(store: Any, clock: FakeClock) -> Any:
    key, _ = store.create_key("phone", scope="user", user="ana", lifetime=timedelta(days=1))
    receipt = store.receive(Envelope(channel="email", address="mia@example.org", text="Hello", external_id="e1"))
    again = store.receive(Envelope(channel="email", address="mia@example.org", text="Hello", external_id="e1"))
    known = [evolve(one, digest="") for one in (key, *store.keys(user="ana"), store.revoke_key(key.id))]
    store.user("ana").observe("I like tea")
    job = store.jobs(user="ana")[0]
    steps = [store.cancel_job(job.id).status, store.retry_job(job.id).status, store.check(), store.unembedded()]
    found = [(one["what"], one["ok"]) for one in store.examine()]
    return [known, receipt.act, again.act, again.id == receipt.id, steps, found, store.curate("ana", dry_run=True)]


SCENARIOS: dict[str, Callable[[Any, FakeClock], Any]] = {
    "observe": talk,
    "observe again": talk_and(repeated),
    "recall": talk_and(lambda ana, clock: ana.recall("penicillin allergy", limit=3)),
    "recall with filters": talk_and(lambda ana, clock: ana.recall("Mia", kinds=["message"], since=START, role="user")),
    "context": talk_and(lambda ana, clock: ana.context("Which antibiotics are safe for dad?", budget=3000)),
    "messages": talk_and(lambda ana, clock: ana.messages(limit=5)),
    "pages": talk_and(paged),
    "one message": talk_and(lambda ana, clock: ana.get("messages", ana.messages()[0].id)),
    "sessions": talk_and(closed),
    "stats": talk_and(lambda ana, clock: ana.stats()),
    "receipt": talk_and(lambda ana, clock: [ana.receipt(ana.observe("hello").id), ana.receipt("none")]),
    "summarise": talk_and(lambda ana, clock: ana.summarise(START, START + timedelta(days=1))),
    "memories": talk_and(kept),
    "todos": talk_and(doing),
    "people": talk_and(people),
    "workflow": talk_and(typed),
    "at hand": talk_and(at_hand),
    "export and import": moved,
    "accounts": linked,
    "operator": operated,
    "error: unknown workflow": lambda store, clock: store.user("ana").workflow("none"),
    "error: no such workflow": lambda store, clock: store.user("ana").workflow_of("none"),
    "error: wrong code": lambda store, clock: [
        store.user("ana").observe("hi"), store.user("ana").confirm_link("email", "a@example.org", "000000")
    ],
    "error: no such job": lambda store, clock: store.retry_job("job_x"),
    "error: no such key": lambda store, clock: store.revoke_key("key_x"),
    "error: export kind": lambda store, clock: [store.user("ana").observe("hi"), store.user("ana").export("x.doc")],
    "error: forget nothing": lambda store, clock: store.user("ana").forget("mem_x"),
    "error: restore what is there": talk_and(lambda ana, clock: ana.restore(ana.remember("I like tea").memory.id)),
    "error: edit": talk_and(lambda ana, clock: ana.edit(ana.remember("I like tea").memory.id, importance=11)),
    "error: merge with itself": lambda store, clock: store.user("ana").merge("person:a", "person:a"),
    "switches": talk_and(switches),
    "purge": talk_and(purged),
    "audit": talk_and(audited),
    "erase a part": talk_and(erased_in_part),
    "error: erase two parts": talk_and(lambda ana, clock: ana.erase(message="m0", source="x")),
    "error: erase what is not there": talk_and(lambda ana, clock: ana.erase(memory="mem_x")),
    "erase": talk_and(erased),
    "users": lambda store, clock: [store.user("b").observe("hi"), store.user("a/ü").observe("hi"), store.users()],
    "error: empty text": lambda store, clock: store.user("ana").observe(" "),
    "error: long text": lambda store, clock: store.user("ana").observe("x" * 70_000),
    "error: other text for an id": lambda store, clock: [
        store.user("ana").observe("one", id="1"), store.user("ana").observe("two", id="1")
    ],
    "every option of recall": talk_and(recalled_with_options),
    "every option of context": talk_and(context_with_options),
    "recall of every persona": lambda store, clock: [
        talk(store, clock), store.settle(), store.user("ana").recall("penicillin", persona="*")
    ],
    "error: budget": talk_and(lambda ana, clock: ana.context("hello", budget=30)),
    "error: no such memory": lambda store, clock: store.user("ana").get("memories", "mem_x"),
    "error: summary of nothing": lambda store, clock: store.user("ana").summarise("msg_a", "msg_b"),
    "error: retention": lambda store, clock: store.user("ana").set_retention({"colour": 1}),
    "error: filter": talk_and(lambda ana, clock: ana.recall("x", status="nice")),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_on_both(name: str) -> None:
    world = World()
    try:
        local, remote = world.both(SCENARIOS[name])
        assert remote == local
        assert (local[0] == "error") == name.startswith("error"), local
    finally:
        world.close()
