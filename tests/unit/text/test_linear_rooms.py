"""Text from outside is matched by RE2: the rooms that read it do not use :mod:`re`, and RE2 takes every pattern."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import re2

from tenuto.text import patterns

SOURCE = Path(__file__).parents[3] / "src" / "tenuto"
ROOMS = ("language", "ingest", "recall", "workflow", "text", "transfer", "lifecycle")
"""Where text of people, mails, files and models is read."""
ALLOWED = {
    "text/patterns.py": "only escapes a text that stands for itself",
    "text/words.py": "one class of characters after another: nothing to go back to; asked for every word of search",
    "transfer/parsing.py": "halves of surrogate pairs, which have no byte: at most two characters a match",
    "transfer/streams.py": "bytes of JSON strings: two bytes a match",
    "transfer/formats/sms.py": "bytes of XML escapes: at most sixteen bytes a match",
    "workflow/definition.py": "names of fields, which the operator writes and which must be ASCII",
}
CALLS = frozenset({"compile", "search", "match", "fullmatch", "findall", "sub", "split"})


def files() -> list[Path]:
    return sorted(path for room in ROOMS for path in (SOURCE / room).rglob("*.py"))


def uses_re(source: str) -> bool:
    """Whether a module imports :mod:`re`, or anything of it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(one.name in ("re", "regex", "sre_compile") for one in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module in ("re", "regex"):
            return True
    return False


def written(source: str) -> list[tuple[str, str]]:
    """The patterns that a module gives to RE2 in so many words, with their flags; a name in one stands as "x"."""
    found = []
    for node in ast.walk(ast.parse(source)):
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS
        if called and isinstance(node.func.value, ast.Name) and node.func.value.id == "patterns" and node.args:
            given = [_text(one) for one in (*node.args[1:], *(k.value for k in node.keywords if k.arg == "flags"))]
            flags = [one for one in given if one is not None and set(one) <= patterns.FLAGS]
            if (text := _text(node.args[0])) is not None:
                found.append((text, flags[-1] if flags else ""))
    return found


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return None


def test_the_rooms_that_read_text_from_outside_use_no_other_patterns() -> None:
    used = {path.relative_to(SOURCE).as_posix() for path in files() if uses_re(path.read_text(encoding="utf-8"))}
    assert used == set(ALLOWED), "use tenuto.text.patterns, or plain string work"


@pytest.mark.parametrize("source", ["import re", "from re import compile", "def f():\n    import re", "import os, re"])
def test_an_import_of_re_is_seen(source: str) -> None:
    assert uses_re(source)


def test_re2_takes_every_pattern() -> None:
    count = 0
    for path in files():
        for pattern, flags in written(path.read_text(encoding="utf-8")):
            patterns.compile(pattern, flags)
            count += 1
    assert count > 200


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(?<!a)b", r"(a)\1", r"(?>a)"])
def test_a_pattern_that_could_take_long_is_refused(pattern: str) -> None:
    assert written(f"x = patterns.compile({pattern!r}, 'i')") == [(pattern, "i")]
    with pytest.raises(re2.error):
        patterns.compile(pattern)


def test_what_stands_around_a_match_may_rule_it_out() -> None:
    word = patterns.compile(r"[a-z]+", not_after=r"[\d']", not_before=r"!| not\b")
    assert word.findall("one 2two 'three four! five not six nothing") == ["one", "not", "six", "nothing"]
    assert word.search("2two three", 2) is not None
    assert patterns.compile("b", not_after="^").findall("bab b") == ["b", "b"]
    assert word.match("2two", 1) is None


def test_names_with_signs_take_up_no_byte() -> None:
    """Otherwise names full of emoji would use up the bytes that patterns have for signs."""
    for code in range(0x1F300, 0x1F3FF):
        name = f"Ana{chr(code)}"
        assert patterns.search(patterns.escape(name), f"hello {name}!") is not None
