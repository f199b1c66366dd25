"""Names of medicines: brand and substance are one."""

import pytest

from tenuto.language.medicines import is_medicine, substance_of


@pytest.mark.parametrize(
    ("one", "other"),
    [("Eliquis", "apixaban"), ("Coumadin", "warfarin"), ("Ventolin", "salbutamol"), ("metformina", "Metformin")],
)
def test_two_names_of_one_substance(one: str, other: str):
    assert substance_of(one) == substance_of(other) is not None


@pytest.mark.parametrize("name", ["losartán", "amoxicilina", "omeprazol", "Paracetamol", "Jardiance", "bisoprolol"])
def test_names_in_other_languages(name: str):
    assert is_medicine(name)


@pytest.mark.parametrize(
    "word", ["olly", "Kevin", "Halpin", "river", "vitamin", "omdat", "Spain", "work", "water", "today"]
)
def test_what_is_no_medicine(word: str):
    assert not is_medicine(word)
