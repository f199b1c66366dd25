"""Records show themselves in one line, and safely in a notebook."""

from datetime import UTC, datetime

from tenuto.records.memory import Domain, Kind, Memory

AT = datetime(2026, 3, 1, tzinfo=UTC)


def memory(content: str) -> Memory:
    return Memory(id="mem_1", content=content, domain=Domain.PROFILE, kind=Kind.FACT, created_at=AT, updated_at=AT)


def test_a_memory_fits_one_line():
    assert repr(memory("Likes tea")) == "<Memory mem_1 active Likes tea>"
    long = repr(memory("Likes\n" + "very " * 400 + "much tea"))
    assert len(long) < 120 and "\n" not in long and long.endswith("…>")


def test_a_notebook_shows_text_as_text():
    assert "<script>" not in memory("<script>alert(1)</script>")._repr_html_()
