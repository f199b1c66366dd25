"""One address, one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.errors import InputError
from tenuto.identity.addresses import normalise


@pytest.mark.parametrize(
    ("channel", "given", "region", "expected"),
    [
        ("sms", "+39 06 698 12345", None, "+390669812345"),
        ("imessage", "tel:+1 (650) 253-0000", None, "+16502530000"),
        ("sms", "06 698 12345", "IT", "+390669812345"),
        ("imessage", "Ana@iCloud.com", None, "ana@icloud.com"),
        ("email", "  Ana.B+news@Example.ORG ", None, "ana.b+news@example.org"),
        ("email", "mailto:josé@exämple.org", None, "josé@exämple.org"),
        ("web", "@AnaB", None, "anab"),
        ("terminal", "Ａna", None, "ana"),
    ],
)
def test_spellings(channel: str, given: str, region: str | None, expected: str) -> None:
    assert normalise(channel, given, region=region) == expected
    assert normalise(channel, expected) == expected, "a spelling that is right stays"


@pytest.mark.parametrize(
    ("channel", "given"),
    [
        ("sms", "06 698 12345"),
        ("sms", "+39"),
        ("sms", "hello"),
        ("email", "not an address"),
        ("email", "a@b@c"),
        ("email", "a@"),
        ("web", ""),
        ("web", "@"),
        ("web", "a\nb"),
        ("web", "x" * 300),
    ],
)
def test_what_is_no_address(channel: str, given: str) -> None:
    with pytest.raises(InputError) as error:
        normalise(channel, given)
    assert error.value.code == "address_invalid"


@given(st.sampled_from(["sms", "email", "web", "imessage"]), st.text(max_size=40))
def test_anything_is_an_address_or_a_clear_error(channel: str, text: str) -> None:
    try:
        once = normalise(channel, text)
    except InputError:
        return
    assert normalise(channel, once) == once
