"""What is denied, over or only guessed is never kept as if it were so. The marks are made by hand."""

from tests.unit.marked import read


def contents(text: str) -> list[str]:
    return [one.content for one in read(text).candidates]


def test_what_is_denied_is_never_said_as_if_it_were_so():
    (found,) = read("{person:Toby} is not {diet.o.neg:vegan} after all").candidates
    assert found.content == "Toby is not vegan" and found.negated
    assert contents("I don't speak {lang.neg:Dutch}") == []


def test_a_guess_is_unconfirmed():
    assert contents("my doctor thinks I might have {cond:diabetes}") == ["Has diabetes (unconfirmed)"]
    assert contents("I have {cond:diabetes}") == ["Has diabetes"]
