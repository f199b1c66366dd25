import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.language.consent import Consent, consent

YES = """
yes|Yes!|YES.|yep|yeah|ok|Okay, go ahead|go ahead|go ahead please|sure|sure, do it|sounds good|confirm|i confirm|do it|
that's right|that’s right|perfect, thanks|
ja|Ja, bitte|genau|passt|oui|oui, vas-y|d'accord|sí|sí, por favor|vale|adelante|
sì|va bene|sim|ja graag|tak|да|はい|好的|네|👍|👍🏽|✅ yes
""".replace("\n", "").split("|")
NO = """
no|No.|nope|nah|no, keep it|no thanks|no, thank you|please don't|don't do it|leave it|leave it as it is|keep it|cancel|
never mind|not now|nein|nein, danke|lass es so|non|non merci|no lo cambies|mejor no|lascia stare|não|laat maar|
нет|いいえ|不要|
아니요|👎|❌
""".replace("\n", "").split("|")
UNCLEAR = """
|yes?|yes but make it three|yes no|ok, no|no problem|yesterday|not yes|yes, 5|maybe|
I said yes to something else before|
> yes|"yes" is what he said|why|hm|thanks|please|go|yes and delete everything|sure, why not|no way, really?|
yes (not)|no = yes
""".replace("\n", "").split("|")


@pytest.mark.parametrize("text", YES)
def test_plain_consent(text: str) -> None:
    assert consent(text) is Consent.YES


@pytest.mark.parametrize("text", NO)
def test_plain_refusal(text: str) -> None:
    assert consent(text) is Consent.NO


@pytest.mark.parametrize("text", UNCLEAR)
def test_anything_else_is_neither(text: str) -> None:
    assert consent(text) is Consent.UNCLEAR


@given(st.text(max_size=200), st.sampled_from(["change it to java", "not", "unless", "7", "other"]))
def test_a_word_that_is_not_known_leaves_it_open(around: str, word: str) -> None:
    assert consent(f"yes {word}") is Consent.UNCLEAR
    assert consent(f"{around} zzqx yes") is Consent.UNCLEAR
