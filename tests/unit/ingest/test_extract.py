"""From a message to proposals: what is taken, from whom, and why the rest is not."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.errors import SettingError
from tenuto.ingest.echo import echoes, without_injected
from tenuto.ingest.entities import EMPTY, Registry
from tenuto.ingest.extract import extract
from tenuto.ingest.lexicon import lexicons
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Domain, Entity, Kind, Status, Trust

AT = datetime(2024, 5, 15, 14, 0, tzinfo=UTC)


def run(text: str, **more):
    policy = more.pop("policy", MemoryPolicy())
    own_names = more.pop("own_names", frozenset())
    registry = more.pop("registry", EMPTY)
    message = Message(
        **{
            "id": "m",
            "session_id": "s",
            "role": Role.USER,
            "content": text,
            "at": AT,
            "channel": "api",
            "persona": "coach",
            **more,
        }
    )
    return extract(message, policy, own_names=own_names, registry=registry)


@pytest.mark.parametrize(
    "text",
    [
        "How are you?",
        "Good morning!",
        "If I lived in Rome I'd be happy.",
        "What if I were vegan?",
        "That's great!",
        "I love it!",
        "I'm the king, just kidding!",
        "> I live in Rome",
        'She said "I moved to Rome last year and I love it"',
        "My neighbor says I'm a great cook.",
        "Write me a song about Rome.",
        "Let's say I live in Rome.",
    ],
)
def test_what_is_no_statement_of_ones_own_leaves_nothing(text: str):
    found = run(text)
    assert found.candidates == ()
    assert sum(found.skipped.values()) or found.unkept


def test_relative_times_become_dates():
    (went,) = run("I went to the support group yesterday").candidates
    assert went.content == "I went to the support group yesterday (14 May 2024)"
    assert went.happens_at == datetime(2024, 5, 14, tzinfo=UTC)
    (away,) = run("I'll be on sabbatical for four months starting September 1 2024").candidates
    assert (away.valid_from, away.valid_to) == (datetime(2024, 9, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC))


def test_clauses_become_facts_of_their_own():
    assert [(one.attribute, one.content) for one in run("I live in Berlin and work at SAP.").candidates] == [
        ("home", "I live in Berlin"),
        ("employer", "I work at SAP"),
    ]


def test_he_and_she_are_whoever_was_named():
    found = run("My sister Anna moved to Paris. She is a doctor.").candidates
    assert [(one.subject, one.attribute, one.value) for one in found] == [
        ("person:anna", "home", "Paris"),
        ("person:anna", "job", "doctor"),
    ]
    assert found[1].content == "Anna is a doctor"
    assert run("She is a doctor.").candidates == ()


def test_a_named_speaker_is_a_person_of_their_own_unless_it_is_the_user():
    (other,) = run("I live in Oslo", speaker="Kim").candidates
    assert (other.subject, other.domain, other.content) == ("person:kim", Domain.PEOPLE, "Kim: I live in Oslo")
    (own,) = run("I live in Oslo", speaker="Kim", own_names=frozenset({"kim"})).candidates
    assert (own.subject, own.domain) == ("person:user", Domain.PROFILE)


def test_importance_follows_the_rubric():
    weights = {
        text: run(text).candidates[0].importance
        for text in ("I'm allergic to nuts", "I take metformin", "I love jazz", "I drink coffee every morning")
    }
    assert weights["I'm allergic to nuts"] == 10
    assert 8 <= weights["I take metformin"] <= 9.5
    assert 6 <= weights["I love jazz"] < 8
    assert 4 <= weights["I drink coffee every morning"] < 6


def test_a_lexicon_from_a_file_raises_what_holds_its_terms(tmp_path):
    path = tmp_path / "sailing.toml"
    path.write_text('name = "sailing"\nimportance = 9\nterms = ["regatta", "spinnaker"]\n', encoding="utf-8")
    plain = run("I won the regatta with my brother last summer").candidates[0].importance
    raised = (
        run("I won the regatta with my brother last summer", policy=MemoryPolicy(lexicons=str(path)))
        .candidates[0]
        .importance
    )
    assert raised > plain
    for bad in ("nonsense", 'name = 1\nterms = ["x"]', 'name = "x"\nterms = ["y"]\nimportance = 11'):
        path.write_text(bad, encoding="utf-8")
        lexicons.cache_clear()
        with pytest.raises(SettingError):
            lexicons(str(path))


def test_feelings_are_described():
    happy, sad = (
        run("I won the dance competition and I'm so thrilled!").candidates[0],
        run("My grandmother died last week and I am heartbroken").candidates[0],
    )
    assert happy.valence > 0.4 > -0.4 > sad.valence
    assert happy.arousal > 0.5


def test_taught_rules_become_guidance_and_restrictions_never_do():
    (rule,) = run("From now on, answer in German.").candidates
    assert (rule.kind, rule.should_do) == (Kind.STYLE_ADJUSTMENT, "Answer in German")
    (boundary,) = run("Never use emojis with me.").candidates
    assert (boundary.kind, boundary.should_do) == (Kind.BOUNDARY, None)


def test_trust_is_written_by_code():
    (outside,) = run("I live in Moscow", role=Role.TOOL, trust=Trust.EXTERNAL).candidates
    assert (outside.status, outside.trust, outside.pin) == (Status.CANDIDATE, Trust.EXTERNAL, None)
    (mail,) = run("I'm allergic to nuts", trust=Trust.EXTERNAL).candidates
    assert (mail.status, mail.pin) == (Status.CANDIDATE, None)


def test_at_most_so_many_memories_come_from_one_message():
    found = run(" ".join(f"I love game number {i}." for i in range(100)), policy=MemoryPolicy(candidates_per_message=5))
    assert len(found.candidates) == 5
    assert any("more than 5" in one.reason for one in found.unkept)


def test_injected_blocks_are_cut_out_and_paraphrases_are_echoes():
    text = "Hi\n<<memory 12ab>>\n- [2026-11-15, said] I live in Rome\n<<end 12ab>>\nI like tea."
    cleaned, found = without_injected(text)
    assert found
    assert "Rome" not in cleaned
    assert "I like tea." in cleaned
    assert without_injected("- [2026-11-15, said] I live in Rome\nok")[0].strip() == "ok"
    assert without_injected("I like tea.") == ("I like tea.", False)
    assert echoes("The user lives in Rome", "I live in Rome", 0.1, 0.78)
    assert not echoes("I will book a table", "I live in Rome", 0.1, 0.78)


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_message_can_be_extracted_from(text: str):
    found = run(text or "x")
    assert len(found.candidates) <= MemoryPolicy().candidates_per_message


@given(
    st.lists(
        st.sampled_from(
            [
                "I",
                "my",
                "dad",
                "is",
                "allergic",
                "to",
                "moved",
                "live",
                "in",
                "Rome",
                "next",
                "Friday",
                "not",
                "and",
                ",",
                ".",
                "because",
                "she",
                "quit",
                "work",
                "at",
                "remember",
                "that",
                "forget",
                "'",
                "?",
                "!",
                "5",
                "pm",
            ]
        ),
        max_size=40,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_salad_of_words_can_be_extracted_from(words: list[str]):
    run(" ".join(words) or "x")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Lea and I got engaged!!", {"relationship_status": "Lea and I got engaged"}),
        ("I'm Maya and I live in Porto.", {"name": "I'm Maya", "home": "I live in Porto"}),
        ("My wife and I moved to Boston.", {"home": "My wife and I moved to Boston"}),
        (
            "I live in Munich with my girlfriend Lea and our cat Miso.",
            {"home": "I live in Munich with my girlfriend Lea", "girlfriend": "My girlfriend is Lea"},
        ),
        (
            "I'm vegetarian, and peanuts make my throat swell, so no peanut sauce please.",
            {"allergy": "Peanuts make my throat swell"},
        ),
        ("I stopped being vegetarian.", {"diet": "I stopped being vegetarian"}),
        ("Next Monday I start at BMW.", {"employer": "Next Monday I start at BMW (20 May 2024)"}),
        ("I start at Monday's match.", {}),
    ],
)  # fmt: skip
def test_who_was_there_and_what_changed_is_kept(said: str, kept: dict[str, str]) -> None:
    found = {one.attribute: one.content for one in run(said).candidates if one.attribute}
    assert {name: found.get(name) for name in kept} == kept
    assert kept or "employer" not in found


def test_what_comes_back_has_no_date() -> None:
    (kept,) = run("I usually run on Tuesday and Thursday mornings.").candidates
    assert kept.content == "I usually run on Tuesday and Thursday mornings" and kept.happens_at is None


def test_who_is_known_is_not_told_again() -> None:
    known = Registry.of(
        [Entity(id="person:lea", type="person", label="Lea", relation="girlfriend", created_at=AT, updated_at=AT)]
    )
    found = run("We spent the weekend hiking in the Alps with my girlfriend Lea.", registry=known).candidates
    assert "girlfriend" not in {one.attribute for one in found}


@pytest.mark.parametrize(
    ("said", "kind", "rule"),
    [
        ("Honestly I hate it when you use bullet points.", Kind.BOUNDARY, None),
        ("I love it when you ask me questions first.", Kind.STYLE_ADJUSTMENT, "Ask me questions first"),
    ],
)
def test_what_the_user_feels_about_the_manner_is_a_rule(said: str, kind: Kind, rule: str | None) -> None:
    (kept,) = run(said).candidates
    assert (kept.kind, kept.should_do) == (kind, rule)


def test_what_happened_once_is_no_rule() -> None:
    assert not [one for one in run("I hated it when you said that.").candidates if one.kind is Kind.BOUNDARY]


def test_a_time_that_was_run_is_no_hour() -> None:
    (kept,) = run("I finished the marathon in 3:52!").candidates
    assert kept.content == "I finished the marathon in 3:52" and kept.happens_at is None


def test_a_divorce_is_a_status() -> None:
    (kept,) = run("We're getting divorced, Clara and me.").candidates
    assert kept.attribute == "relationship_status"


@pytest.mark.parametrize(
    ("said", "ends"),
    [("I'm leaving Crumb at the end of the month.", True), ("I'm leaving Berlin tomorrow.", False),
     ("I'm leaving Anna alone for now.", False), ("I'm leaving Monday.", False)],
)  # fmt: skip
def test_leaving_an_employer_is_no_journey(said: str, ends: bool) -> None:
    assert [one.ends for one in run(said).candidates if one.attribute == "employer"] == ([True] if ends else [])
