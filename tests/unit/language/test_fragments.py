"""What is only a piece of a statement."""

import pytest

from tenuto.language.fragments import is_fragment


@pytest.mark.parametrize("said", ["12 a week", "An hour and a half", "Wednesday to Friday", "On Sundays at 5"])
def test_pieces(said: str):
    assert is_fragment(said, "en")


@pytest.mark.parametrize("said", ["the rent is 480 each", "A nurse comes on Mondays", "every Sunday I bake bread"])
def test_statements(said: str):
    assert not is_fragment(said, "en")


def test_in_other_languages_only_times_are_pieces():
    assert is_fragment("Los martes y jueves"[4:10], "es")
    assert not is_fragment("Los martes voy a natación", "es")
