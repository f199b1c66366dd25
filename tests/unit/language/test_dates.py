"""What a marked time means, in every language that is read."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.language.dates import LONGEST, in_english, resolve

AT = datetime(2026, 5, 13, 14, 0, tzinfo=UTC)
"""A Wednesday."""


def when(language: str, text: str, sentence: str | None = None, **more) -> str | None:
    found = resolve(text, sentence or text, AT, more.pop("zone", None), language, **more)
    return found and f"{found.relation} {found.text}"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "tomorrow", "at 14 May 2026"),
        ("en", "on 3 March 2025", "at 3 March 2025"),
        ("en", "since 2019", "since 2019"),
        ("en", "last month", "at April 2026"),
        ("en", "in June", "at June 2026"),
        ("en", "by Friday", "by 15 May 2026"),
        ("en", "Friday at 10:40", "at 15 May 2026, 10:40"),
        ("en", "the second of June", "at 2 June 2026"),
        ("de", "morgen", "at 14. Mai 2026"),
        ("de", "übermorgen", "at 15. Mai 2026"),
        ("de", "seit März", "since März 2026"),
        ("de", "seit drei Jahren", "since 2023"),
        ("de", "vor drei Wochen", "at 20. April 2026 bis 26. April 2026"),
        ("de", "am 2. Juni", "at 2. Juni 2026"),
        ("de", "am 2.6.", "at 2. Juni 2026"),
        ("de", "bis Freitag", "until 15. Mai 2026"),
        ("de", "nächsten Montag", "at 18. Mai 2026"),
        ("es", "mañana", "at 14 de mayo de 2026"),
        ("es", "hace dos semanas", "at 27 de abril de 2026 al 3 de mayo de 2026"),
        ("es", "desde hace tres años", "since 2023"),
        ("es", "el lunes que viene", "at 18 de mayo de 2026"),
        ("es", "el 2 de junio", "at 2 de junio de 2026"),
        ("es", "desde 2019", "since 2019"),
        ("fr", "demain", "at 14 mai 2026"),
        ("fr", "il y a deux jours", "at 11 mai 2026"),
        ("fr", "lundi prochain", "at 18 mai 2026"),
        ("fr", "le 2 juin", "at 2 juin 2026"),
        ("fr", "depuis mars", "since mars 2026"),
        ("fr", "depuis deux ans", "since 2024"),
        ("pt", "amanhã", "at 14 de maio de 2026"),
        ("pt", "há três dias", "at 10 de maio de 2026"),
        ("pt", "segunda-feira que vem", "at 18 de maio de 2026"),
        ("pt", "2 de junho", "at 2 de junho de 2026"),
        ("pt", "desde 2019", "since 2019"),
    ],
)
def test_times_of_each_language(language: str, text: str, expected: str):
    assert when(language, text) == expected


@pytest.mark.parametrize(
    ("language", "sentence", "text", "relation"),
    [
        ("en", "I have lived here since March", "March", "since"),
        ("en", "it has to be in by Friday", "Friday", "by"),
        ("de", "das muss bis Freitag fertig sein", "Freitag", "until"),
        ("es", "vivo aquí desde marzo", "marzo", "since"),
        ("fr", "il habite là depuis mars", "mars", "since"),
        ("pt", "moro aqui desde março", "março", "since"),
    ],
)
def test_the_word_before_tells_how_it_is_meant(language: str, sentence: str, text: str, relation: str):
    found = resolve(text, sentence, AT, None, language)
    assert found is not None and found.relation == relation


def test_what_is_told_as_past_lies_behind_and_what_is_planned_ahead():
    assert when("en", "in March", "we got married in March") == "at March 2026"
    assert when("en", "in March", ahead=True) == "at March 2027"
    assert when("en", "on Friday", "I saw her on Friday") == "at 8 May 2026"
    assert when("en", "on Friday", ahead=True) == "at 15 May 2026"


def test_what_has_lasted_for_years_began_then():
    assert when("en", "for three years", "I have lived here for three years") == "since 2023"
    assert when("en", "for three years", "I want to go there for three years") is None


def test_a_day_without_a_month_is_the_coming_one():
    assert when("en", "the 16th") == "at 16 May 2026"
    assert when("en", "the 4th") == "at 4 June 2026"
    assert when("en", "the 31st") == "at 31 May 2026"
    assert when("en", "till the 31st") == "until 31 May 2026"


def test_the_users_zone_tells_which_day_it_is():
    late = datetime(2026, 5, 13, 2, 0, tzinfo=UTC)
    found = resolve("gestern", "gestern", late, ZoneInfo("America/Lima"), "de")
    assert found is not None and found.text == "11. Mai 2026"


@pytest.mark.parametrize("text", ["blue", "Anna", "", "many", "los", "der"])
def test_what_is_no_time_has_no_date(text: str):
    assert all(when(language, text) is None for language in ("en", "de", "es", "fr", "pt"))


@given(st.text(max_size=300), st.sampled_from(["en", "de", "es", "fr", "pt"]))
def test_any_stretch_can_be_asked_for(text: str, language: str):
    found = resolve(text, text, AT, None, language)
    assert found is None or found.start <= found.end
    assert len(in_english(text[:LONGEST], language)) <= 40 * (LONGEST + 1)


@pytest.mark.parametrize(
    ("language", "sentence", "text", "year"),
    [
        ("es", "me separé de Martín en enero", "en enero", 2026),
        ("es", "nos vamos a mudar en enero", "en enero", 2027),
        ("de", "ich bin im Februar umgezogen", "im Februar", 2026),
        ("de", "wir ziehen im Februar um", "im Februar", 2027),
        ("fr", "on a déménagé en mars", "en mars", 2026),
        ("pt", "ela morreu em fevereiro", "em fevereiro", 2026),
        ("pt", "vou casar em fevereiro", "em fevereiro", 2027),
    ],
)
def test_what_is_told_as_past_lies_behind(language: str, sentence: str, text: str, year: int):
    found = resolve(text, sentence, AT, None, language)
    assert found is not None and found.start.year == year
