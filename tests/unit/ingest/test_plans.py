"""A plan holds from its day on; an age of then is none of now; each pet is what it is."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.marked import MarkedReader, marked, read

import tenuto
from tenuto.language.render import as_now
from tenuto.testing.fakes import FakeEmbedder, FakeTokens


@pytest.mark.parametrize(
    ("plan", "now"),
    [
        ("Will work as a baker at Crumb (1 October 2026)", "Works as a baker at Crumb since 1 October 2026"),
        ("Will work at Crumb", "Works at Crumb"),
        ("Tom (brother) is moving to Ghent (30 March 2026)", "Tom (brother) lives in Ghent since 30 March 2026"),
        ("Wird als Koch bei Krume arbeiten (1. Oktober 2026)", "Arbeitet als Koch bei Krume seit 1. Oktober 2026"),
        ("Va a trabajar en Miga (1 de octubre de 2026)", "Trabaja en Miga desde 1 de octubre de 2026"),
        ("Likes baking", None),
    ],
)
def test_a_plan_is_told_as_what_is_so(plan: str, now: str | None):
    assert as_now(plan) == now


def test_what_was_planned_for_a_day_holds_from_that_day_on():
    clock = [datetime(2026, 9, 1, 9, tzinfo=UTC)]
    reader = MarkedReader(
        "I'm a {job:nurse} at {employer:Harbourside}.",
        "I start as {job.plan:head nurse} at {employer.plan:the Rescue Centre} {when:on 1 October}.",
    )
    parts = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "reader": reader, "background": False}
    with tenuto.open("memory:", clock=lambda: clock[0], **parts) as store:
        ana = store.user("ana")
        said = [
            "I'm a nurse at Harbourside.",
            "I start as head nurse at the Rescue Centre on 1 October.",
            "Good morning!",
        ]
        for text, days in zip(said, (10, 10, 20), strict=True):
            ana.observe(text)
            store.settle()
            clock[0] += timedelta(days=days)
        jobs = {one.content for one in ana.memories() if "ork" in one.content}
        assert jobs == {"Works as a nurse at Harbourside", *(one for one in jobs if one.startswith("Will"))}
        ana.observe("Good evening!")
        store.settle()
        [job] = [one for one in ana.memories() if "ork" in one.content]
        assert job.content == "Works as head nurse at the Rescue Centre since 1 October 2026"
        assert any("Harbourside" in version.content for version in ana.history(job.id))


@pytest.mark.parametrize("text", ["coeliac, diagnosed at {age:19}", "I've played since I was {age:6}"])
def test_an_age_of_then_is_not_the_age_of_now(text: str):
    assert read(text).candidates == ()


def test_each_pet_is_what_it_is():
    found = read("{pet:Miso} is a grumpy old {animal:tabby} and {pet:Pickle} is a {animal:greyhound}").candidates
    assert [one.content for one in found] == ["Has a tabby called Miso", "Has a greyhound called Pickle"]


def test_a_medicine_that_was_started_last_week_goes_on():
    [found] = read("I started on {med:levothyroxine} {dose:50 mcg} {when:last week}").candidates
    assert "since" in found.content


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (("I take {med:keppra} {dose:500 mg}.", "The specialist rang: she ups the {med.o:keppra} to {dose.o:750 mg}."),
         ["Takes keppra 750 mg"]),
        (("My {rel:cousin} {person:Lena} is {cond.o:pregnant}.", "{person:Lena} had her baby on Sunday."), []),
        (("My {rel:cousin} {person:Lena} is {cond.o:pregnant}.", "{person:Lena} had her scan on Sunday."),
         ["Lena (cousin) is pregnant"]),
    ],
)  # fmt: skip
def test_a_new_dose_and_a_birth_retire_what_was(said: tuple[str, str], left: list[str]):
    clock = [datetime(2026, 2, 1, 9, tzinfo=UTC)]
    parts = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "reader": MarkedReader(*said), "background": False}
    with tenuto.open("memory:", clock=lambda: clock[0], **parts) as store:
        ana = store.user("ana")
        for text in said:
            ana.observe(marked(text)[0])
            store.settle()
            clock[0] += timedelta(days=9)
        assert [one.content for one in ana.memories() if one.attribute != "relation"] == left
