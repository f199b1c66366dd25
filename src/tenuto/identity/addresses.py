"""Addresses in one spelling: two ways to write the same phone number, mailbox or handle are the same address.

Phone numbers become E.164, which needs a region for numbers in national form; mailboxes are validated and lower-cased
(tags such as ``+news`` stay: they may be different people); handles lose case, outer marks and compatibility forms.
"""

from __future__ import annotations

import unicodedata
from importlib import import_module
from types import ModuleType

from tenuto.errors import InputError, SettingError

PHONES = ("sms", "imessage", "whatsapp", "phone", "signal")
LONGEST = 254


def normalise(channel: str, address: str, *, region: str | None = None) -> str:
    """The one spelling of an address on a channel. ``region`` is a country such as ``IT`` for national numbers."""
    given = address.strip()
    if not given or len(given) > LONGEST or any(unicodedata.category(char) == "Cc" for char in given):
        raise InputError(f"{address!r} is not an address.", code="address_invalid")
    if channel == "email" or (channel in PHONES and "@" in given):
        return _mailbox(given.removeprefix("mailto:"))
    if channel in PHONES:
        return _phone(given.removeprefix("tel:"), region)
    return _handle(given)


def _mailbox(address: str) -> str:
    library = _library("email_validator")
    try:
        found = library.validate_email(address, check_deliverability=False, allow_quoted_local=True)
    except library.EmailNotValidError as error:
        raise InputError(f"{address!r} is not an e-mail address: {error}", code="address_invalid") from None
    return str(found.normalized).lower()


def _phone(address: str, region: str | None) -> str:
    library = _library("phonenumbers")
    try:
        number = library.parse(address, region)
    except library.NumberParseException as error:
        hint = (
            "" if region or address.startswith("+") else " Write it with its country, such as +39…, or give a region."
        )
        raise InputError(f"{address!r} is not a phone number: {error}.{hint}", code="address_invalid") from None
    if not library.is_possible_number(number):
        raise InputError(f"{address!r} is not a phone number that can exist.", code="address_invalid")
    return str(library.format_number(number, library.PhoneNumberFormat.E164))


def _handle(address: str) -> str:
    handle = unicodedata.normalize("NFKC", address).casefold().strip().lstrip("@")
    if not handle:
        raise InputError(f"{address!r} is not a handle.", code="address_invalid")
    return handle


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise SettingError(f"Addresses need {name}: pip install 'tenuto[channels]'.") from None
