"""The speaker's own words, and where each sentence of them begins and ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.language.own_words import own_words
from tenuto.language.sentences import MOST, spans


def split(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in spans(text)]


def test_code_links_quotes_blobs_and_stage_directions_are_not_the_speakers_words():
    text = (
        "I like jazz.\n> I hate jazz\n```\nname = 'I live in Rome'\n```\nhttps://x.org/i-live-in-oslo\n"
        + "QUJD" * 20
        + "\n[shares a photo: my dog]\nOn Monday Bob wrote:\nI am Bob"
    )
    assert [part.strip() for part in own_words(text).split("\n") if part.strip()] == ["I like jazz."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. Patel gave me 3.5 mg. I took it.", ["Dr. Patel gave me 3.5 mg.", "I took it."]),
        ("Ich wohne hier. Und du?", ["Ich wohne hier.", "Und du?"]),
        ("¿Qué tal? Bien.", ["¿Qué tal?", "Bien."]),
        ("a\nb", ["a", "b"]),
        ("we left; they stayed", ["we left;", "they stayed"]),
        ("", []),
    ],
)
def test_sentences_end_where_they_end(text: str, parts: list[str]):
    assert split(text) == parts


@pytest.mark.parametrize(
    "text", ["a" * 65536, ". " * 30000, "😀" * 16000, "I like x. " * 6000, "\n" * 60000, "'" * 60000, "> " * 30000]
)
def test_work_is_bounded_on_large_messages(text: str):
    assert len(spans(own_words(text))) <= MOST


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_sentences_lie_in_order_inside_any_text(text: str):
    ends = 0
    for start, end in spans(text):
        assert ends <= start < end <= len(text)
        ends = end
