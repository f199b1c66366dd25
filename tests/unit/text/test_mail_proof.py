"""Who sent a mail: only an aligned pass of a known server proves it, and whatever a sender can write proves nothing."""

import pytest

from tenuto.text.mail_proof import proven

SERVERS = ("mx.home.example",)
GOOD = [
    "mx.home.example; dmarc=pass header.from=example.org",
    "MX.Home.Example 1; spf=fail smtp.mailfrom=x.example; dkim=pass (2048-bit key) header.d=example.org header.s=s1",
    "mx.home.example; dkim=pass header.i=@example.org",
    "mx.home.example; spf=pass smtp.mailfrom=bounce@example.org",
    "mx.home.example (a comment); dmarc=pass (p=reject) header.from=Example.ORG.",
]
BAD = [
    "",
    "mx.home.example",
    "mx.home.example; none",
    "mx.home.example; dmarc=none header.from=example.org",
    "mx.home.example; dmarc=fail header.from=example.org",
    "mx.home.example; dmarc=temperror header.from=example.org",
    "mx.home.example; spf=softfail smtp.mailfrom=example.org",
    "mx.home.example; spf=neutral smtp.mailfrom=example.org; dkim=none",
    "mx.home.example; dmarc=pass",
    "mx.home.example; dmarc=pass header.from=evil.example",
    "mx.home.example; dkim=pass header.d=evil.example",
    "mx.home.example; dkim=pass header.d=org",
    "mx.home.example; dkim=pass header.d=notexample.org",
    "mx.home.example; dkim=pass header.d=mail.example.org",
    "mx.home.example; spf=pass smtp.mailfrom=ana@example.org.evil.example",
    "mx.home.example; spf=pass smtp.helo=example.org",
    "mx.evil.example; dmarc=pass header.from=example.org",
    "mx.home.example.evil.example; dmarc=pass header.from=example.org",
    "x mx.home.example; dmarc=pass header.from=example.org",
    "mx.home.example; spf=fail (dmarc=pass header.from=example.org) smtp.mailfrom=evil.example",
    "mx.home.example; spf=fail smtp.mailfrom=(; dmarc=pass header.from=example.org;)evil.example",
    'mx.home.example; spf=fail smtp.mailfrom="; dmarc=pass header.from=example.org;"@evil.example',
    'mx.home.example; spf=fail smtp.mailfrom="a\\"; dmarc=pass header.from=example.org; x"',
    "mx.home.example; spf=fail (a \\) ; dmarc=pass header.from=example.org ;",
    "mx.home.example; dmarc=pass header.from=example.org header.from=evil.example",
    "mx.home.example; xdmarc=pass header.from=example.org",
    "mx.home.example; dmarc=passed header.from=example.org",
    "mx.home.example; reason=dmarc=pass header.from=example.org",
]


@pytest.mark.parametrize("results", GOOD)
def test_an_aligned_pass_of_a_known_server_is_proof(results: str) -> None:
    assert proven(results, "ana@example.org", SERVERS)
    assert not proven(results, "ana@example.org", ()), "no server is known"
    assert not proven(results, "ana@other.example", SERVERS)


@pytest.mark.parametrize("results", BAD)
def test_everything_else_proves_nothing(results: str) -> None:
    assert not proven(results, "ana@example.org", SERVERS)


def test_a_domain_proves_those_below_it_but_not_for_dmarc() -> None:
    assert proven("mx.home.example; dkim=pass header.d=example.org", "ana@mail.example.org", SERVERS)
    assert not proven("mx.home.example; dmarc=pass header.from=example.org", "ana@mail.example.org", SERVERS)


@pytest.mark.parametrize("address", ["", "ana", "ana@", "@", "ana@localhost", "+49123456789"])
def test_an_address_without_a_domain_is_never_proven(address: str) -> None:
    assert not proven("mx.home.example; dmarc=pass header.from=" + address.rpartition("@")[2], address, SERVERS)
