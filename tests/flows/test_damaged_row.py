"""A row that cannot be read is named; the others are not in its way."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import tenuto
from tenuto.errors import StoreCorrupt
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(("column", "value"), [("body", b'{"content": 7}'), ("body", b"{"), ("role", "nobody")])
def test_a_damaged_row_is_named(tmp_path: Path, column: str, value: bytes | str) -> None:
    path = tmp_path / "tenuto.db"
    with tenuto.open(path, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False) as store:
        ana = store.user("ana")
        texts = ("I like tea.", "I like plums.", "I like rain.")
        said = [ana.observe(text, at=START + timedelta(hours=n)).message_id for n, text in enumerate(texts)]
        raw = apsw.Connection(str(path))
        raw.execute(f"UPDATE messages SET {column} = ? WHERE id = ?", (value, said[1]))
        raw.close()
        with pytest.raises(StoreCorrupt, match=str(said[1])):
            ana.messages()
        assert [one.content for one in ana.messages(limit=1)] == ["I like rain."]
