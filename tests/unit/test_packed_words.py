"""The quick ways to the words of a text and to an id give exactly what the plain ways give."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tenuto.providers.system import RandomIds
from tenuto.recall.entry import entry_tokens, make_entry
from tenuto.testing.samples import memory, message
from tenuto.text import words

TEXTS = st.text(max_size=200) | st.text(st.sampled_from("abcXYZ019'’_-., \n\tdon's"), max_size=80)


@given(TEXTS, st.sampled_from([b"", b"k" * 32]))
def test_packed(text: str, key: bytes) -> None:
    assert words.packed(text, key) == words.pack(words.tokens(text), key)


@given(TEXTS | st.text(st.characters(max_codepoint=127), max_size=80))
def test_tokens_of_plain_text_are_those_of_any_text(text: str) -> None:
    plain = [word for word in words.words(text) if word not in words.STOP_WORDS]
    assert words.tokens(text) == [words._stem(word) for word in plain]


@given(TEXTS | st.text(st.characters(max_codepoint=127), max_size=80))
def test_distinct_tokens_are_the_tokens_in_no_order(text: str) -> None:
    assert words.distinct_tokens(text) == frozenset(words.tokens(text))


def test_a_text_with_too_many_words() -> None:
    text = "apples " * (words.MOST + 10)
    assert len(words.packed(text)) == 8 * words.MOST == len(words.pack(words.tokens(text)))
    text = " ".join(f"w{number}" for number in range(words.MOST + 10))
    assert len(words.distinct_tokens(text)) == words.MOST


@given(TEXTS.filter(str.strip), st.none() | st.text(min_size=1, max_size=20))
def test_entries(text: str, speaker: str | None) -> None:
    for record in (message(content=text, speaker=speaker), memory(content=text)):
        assert make_entry(record).tokens == words.pack(entry_tokens(record))


def test_ids_sort_by_time_and_keep_their_form() -> None:
    ids, start = RandomIds(), datetime(2026, 1, 1, tzinfo=UTC)
    made = [ids("msg", start + timedelta(microseconds=number // 3)) for number in range(1000)]
    assert made == sorted(made) and len(set(made)) == 1000
    assert all(len(one) == 26 and set(one[4:]) <= set("0123456789abcdefghjkmnpqrstvwxyz") for one in made)
