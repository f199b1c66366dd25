"""Patterns for text from outside: what they see, and that no text makes them slow."""

from __future__ import annotations

import re
import time

import pytest
import re2

from tenuto.text import patterns


def test_positions_and_groups_are_those_of_the_text():
    text = "Søren und Zoë – “café”"
    found = patterns.compile(r"(?P<who>zoe) – “(?P<what>\w+)”(?P<more>!)?", "i").search(text)
    assert found is not None and found["who"] == "Zoë" and found["what"] == "café"
    assert text[slice(*found.span("what"))] == "café"
    assert not found.has("more") and found["more"] == "" and found.groups() == ("Zoë", "café", "")


@pytest.mark.parametrize("word", ["señor", "için", "Straße", "Łódź", "Ольга", "東京都", "naïve", "x́y", "٣٤"])
def test_words_of_every_script_are_whole(word):
    text = f"a {word}, b"
    assert patterns.compile(r"\w+").findall(text) == ["a", word.split("́")[0], *word.split("́")[1:], "b"]
    assert patterns.compile(r"\b(?:or|in|i|e|ve)\b").search(text) is None


def test_a_sign_that_is_named_is_only_itself():
    dash, dots = patterns.compile("[-–—]"), patterns.compile("…")
    assert dash.findall("a-b–c—d…e・f") == ["-", "–", "—"]
    assert dots.findall("a-b–c—d…e・f") == ["…"]


def test_replacing_and_splitting():
    assert patterns.compile(r"\s+").sub(" ", "a \u2003\u00a0 b\n\nc") == "a b c"
    assert patterns.compile(r"\d+").sub(lambda one: f"<{one[0]}>", "1 und 22", count=1) == "<1> und 22"
    assert patterns.compile(r",\s*").split("é, è,ê") == ["é", "è", "ê"]
    assert patterns.compile(r"x").sub("-", "nothing") == "nothing"
    assert patterns.compile(r"^> ?(.*)$", "m").findall("> a\nb\n>c") == ["a", "c"]
    assert patterns.compile(r"b.c\Z", "s").search("ab\nc").span() == (1, 4)


@pytest.mark.parametrize("text", ["plain text, 12 of it", "ganz schön; ümläute — überall!", "\ud800 half a pair"])
@pytest.mark.parametrize("pattern", [r"\w+", r"\b\w", r"[^\w\s]+", r"\d+|\s", r"(?:p|g|T)\w*"])
def test_it_finds_what_the_standard_library_finds(pattern, text):
    assert patterns.compile(pattern).findall(text) == re.findall(pattern, text)


@pytest.mark.parametrize("pattern", [r"(?=a)", r"(?!a)b", r"(?<=a)b", r"(?<!a)b", r"(a)\1", r"(?>a+)", r"a{5000}"])
def test_what_cannot_be_matched_in_linear_time_is_refused(pattern):
    with pytest.raises(re2.error):
        patterns.compile(pattern)


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="range"):
        patterns.compile("[a-zà-ÿ]")
    with pytest.raises(ValueError, match="flags"):
        patterns.compile("a", "x")


def test_what_runs_away_in_the_standard_library_does_not_here():
    text = "a" * 60 + "b"
    started = time.perf_counter()
    assert patterns.compile(r"^(?:a+)+$").search(text) is None
    assert patterns.compile(r"^(?:a|a)*c").search(text) is None
    assert time.perf_counter() - started < 1
