"""Addresses that a server must not be talked into fetching."""

from __future__ import annotations

import httpx
import pytest

from tenuto.errors import Denied, ProviderError
from tenuto.providers.outbound import GuardedTransport, check, public

PRIVATE = [
    "127.0.0.1", "127.1.2.3", "127.255.255.255", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1",
    "172.31.255.254", "192.168.0.1", "192.168.255.255", "169.254.169.254", "169.254.0.1", "100.64.0.1",
    "100.127.255.255",
    "192.0.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1",
    "fd00:ec2::254", "fdff::1", "ff02::1", "ff0e::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "::ffff:192.168.1.1", "::127.0.0.1", "::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1",
    "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "2001:db8::1", "2001::1", "100::1", "3fff::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe", "", "localhost", "0x7f000001", "2130706433", "127.0.0.1.", "1.2.3", "[::1]",
]  # fmt: skip
OPEN = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "::ffff:8.8.8.8"]


def test_there_are_enough_of_them() -> None:
    assert len(set(PRIVATE)) >= 60


@pytest.mark.parametrize("address", PRIVATE)
def test_no_private_address_is_fetched(address: str) -> None:
    reached = []
    transport = GuardedTransport(
        inner=httpx.MockTransport(lambda request: reached.append(request) or httpx.Response(200)),
        lookup=lambda host, port: [address],
    )
    with httpx.Client(transport=transport) as client, pytest.raises(Denied):
        client.get("http://friendly.example/")
    assert not reached


@pytest.mark.parametrize("address", OPEN)
def test_public_addresses_are_fetched(address: str) -> None:
    assert public(address)


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(Denied):
        check("https", "mixed.example", ["8.8.8.8", "10.0.0.1"], ())
    with pytest.raises(Denied):
        check("file", "x", ["8.8.8.8"], ())
    with pytest.raises(ProviderError):
        check("https", "nowhere.example", [], ())


def test_the_checked_address_is_the_one_that_is_used_and_the_name_stays() -> None:
    seen = []
    answers = iter([["8.8.8.8"], ["127.0.0.1"]])
    transport = GuardedTransport(
        inner=httpx.MockTransport(
            lambda request: seen.append(request) or httpx.Response(302, headers={"Location": "http://127.0.0.1/"})
        ),
        lookup=lambda host, port: next(answers),
    )
    with httpx.Client(transport=transport) as client:
        assert client.get("https://rebinding.example/a").status_code == 302, "redirects are not followed"
    assert seen[0].url.host == "8.8.8.8" and seen[0].headers["host"] == "rebinding.example"
    assert seen[0].extensions["sni_hostname"] == "rebinding.example"


def test_the_operator_may_allow_a_host_by_name() -> None:
    assert check("http", "localhost", ["127.0.0.1"], ["localhost"]) == "127.0.0.1"
