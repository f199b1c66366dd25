"""Word lists of the user's own."""

import pytest

from tenuto.errors import SettingError
from tenuto.language.lexicon import lexicons


@pytest.mark.parametrize("bad", ["nonsense", 'name = 1\nterms = ["x"]', 'name = "x"\nterms = ["y"]\nimportance = 11'])
def test_a_lexicon_that_makes_no_sense_is_refused(tmp_path, bad: str):
    path = tmp_path / "bad.toml"
    path.write_text(bad, encoding="utf-8")
    with pytest.raises(SettingError):
        lexicons(str(path))


def test_a_lexicon_finds_its_terms(tmp_path):
    path = tmp_path / "sailing.toml"
    path.write_text('name = "sailing"\nimportance = 9\nterms = ["regatta"]\n', encoding="utf-8")
    sailing = next(one for one in lexicons(str(path)) if one.name == "sailing")
    assert sailing.found("won the regatta") and not sailing.found("won the race")
