"""Names and places of many countries, from PyPI `faker`: for keeping their pieces, and for putting them into slots."""

from __future__ import annotations

import functools
from importlib import import_module

WORLD = (
    "en_US en_GB en_IN en_IE en_NZ de_DE de_AT de_CH es_ES es_MX es_AR es_CO fr_FR fr_CH fr_CA pt_BR pt_PT it_IT pl_PL "
    "nl_NL sv_SE da_DK no_NO fi_FI tr_TR vi_VN ro_RO hu_HU cs_CZ hr_HR sl_SI id_ID"
).split()
SPOKEN = {
    "en": ("en_US", "en_GB", "en_IN", "en_IE", "en_NZ"),
    "de": ("de_DE", "de_AT", "de_CH"),
    "es": ("es_ES", "es_MX", "es_AR", "es_CO"),
    "fr": ("fr_FR", "fr_CH", "fr_CA"),
    "pt": ("pt_BR", "pt_PT"),
}


def _provided(kind: str, locale: str, *attributes: str) -> set[str]:
    try:
        provider = import_module(f"faker.providers.{kind}.{locale}").Provider
    except ImportError:
        return set()
    found: set[str] = set()
    for attribute in attributes:
        for entry in getattr(provider, attribute, ()) or ():
            name = entry if isinstance(entry, str) else entry[0] if isinstance(entry, tuple) else ""
            if 2 <= len(name) <= 24 and "{" not in name:
                found.add(name.strip())
    return found


@functools.cache
def first_names(locale: str) -> list[str]:
    return sorted(_provided("person", locale, "first_names", "first_names_male", "first_names_female"))


@functools.cache
def last_names(locale: str) -> list[str]:
    return sorted(_provided("person", locale, "last_names", "last_names_male", "last_names_female"))


@functools.cache
def cities(locale: str) -> list[str]:
    return sorted(_provided("address", locale, "cities", "city_names", "states", "cantons", "municipalities"))


def everything() -> list[str]:
    return sorted({name for locale in WORLD for part in (first_names, last_names, cities) for name in part(locale)})
