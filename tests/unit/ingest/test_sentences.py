"""Which sentences are the speaker's own statements, and which are anything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.ingest.sentences import LONGEST, MOST, Speech, own_words, read, split


@pytest.mark.parametrize(
    ("text", "speech"),
    [
        ("I work at a bakery.", Speech.STATEMENT),
        ("Lost my job yesterday.", Speech.STATEMENT),
        ("I live in Austin, right?", Speech.STATEMENT),
        ("Hey Mel, I bought a car.", Speech.STATEMENT),
        ("Where do you live?", Speech.QUESTION),
        ("do you like it", Speech.QUESTION),
        ("Is penicillin safe", Speech.QUESTION),
        ("Write me a poem.", Speech.REQUEST),
        ("Could you help me please", Speech.QUESTION),
        ("If I were rich I'd buy a boat.", Speech.HYPOTHETICAL),
        ("I wish I had a dog.", Speech.HYPOTHETICAL),
        ("Suppose my name is Bob.", Speech.HYPOTHETICAL),
        ("Good morning!", Speech.GREETING),
        ("That's so cool!", Speech.REACTION),
        ("I'm so happy for you!", Speech.REACTION),
        ("I'm allergic to Mondays lol", Speech.JOKE),
        ("I'm the queen, just kidding!", Speech.JOKE),
        ('She said "I moved to Rome and hate it"', Speech.QUOTATION),
    ],
)
def test_the_class_of_a_sentence(text: str, speech: Speech):
    assert read(text)[-1].speech is speech, read(text)


def test_a_joke_marker_takes_back_the_sentence_before_it():
    assert [one.speech for one in read("I work at NASA. Just kidding!")] == [Speech.JOKE, Speech.JOKE]


def test_other_peoples_words_are_marked():
    (sentence,) = read("My neighbor says I should move to Spain.")
    assert sentence.reported_by == "My neighbor"
    assert read("I say it every day: I love tea.")[0].reported_by is None


def test_code_links_quotes_blobs_and_stage_directions_are_not_the_speakers_words():
    text = (
        "I like jazz.\n> I hate jazz\n```\nname = 'I live in Rome'\n```\nhttps://x.org/i-live-in-oslo\n"
        + "QUJD" * 20
        + "\n[shares a photo: my dog]\nOn Monday Bob wrote:\nI am Bob"
    )
    assert [part.strip() for part in own_words(text).split("\n") if part.strip()] == ["I like jazz."]


def test_abbreviations_and_decimals_do_not_end_a_sentence():
    assert split("Dr. Patel gave me 3.5 mg. I took it.") == ["Dr. Patel gave me 3.5 mg.", "I took it."]


@pytest.mark.parametrize(
    "text", ["a" * 65536, ". " * 30000, "😀" * 16000, "I like x. " * 6000, "\n" * 60000, "'" * 60000, "> " * 30000]
)
def test_work_is_bounded_on_large_messages(text: str):
    found = read(text)
    assert len(found) <= MOST
    assert all(len(one.text) <= LONGEST for one in found)


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_can_be_read(text: str):
    for one in read(text):
        assert one.speech in Speech
