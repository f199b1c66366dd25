"""Requests that leave on somebody else's word: to public addresses only, unless the operator named the host.

A server that fetches an address it was given can be made to fetch its own neighbours: the cloud's metadata service, the
database, a router. So every address of the host is looked up here, every one must be public, and the connection goes to
the address that was checked and no other: looking up twice would let a name answer differently the second time.
Redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence

import httpx

from tenuto.errors import Denied, ProviderError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
NAT64 = ipaddress.ip_network("64:ff9b::/96")
CLOSED = [
    ipaddress.ip_network(one)
    for one in (
        "100.64.0.0/10", "168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32",
        "3fff::/20",
    )
]  # fmt: skip
"""Ranges that not every version of Python counts as private, and a cloud's own service that has a public address."""
UNICAST = ipaddress.ip_network("2000::/3")
"""All of the open internet in IPv6."""


def public(text: str) -> bool:
    """Whether an address belongs to the open internet. One that is wrapped in another counts as the inner one."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is None and address not in UNICAST:
            return False
        address = inner or address
    if any(address.version == network.version and address in network for network in CLOSED):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def check(scheme: str, host: str, addresses: Sequence[str], allowed: Iterable[str]) -> str:
    """The address to connect to; raises unless the operator allowed the host or all of its addresses are public."""
    if scheme not in ("http", "https"):
        raise Denied(f"Only http and https are fetched, not {scheme!r}.", code="address_refused")
    if not addresses:
        raise ProviderError(f"The host {host!r} cannot be found.", code="host_unknown")
    if host.lower().rstrip(".") in {name.lower() for name in allowed} or all(map(public, addresses)):
        return addresses[0]
    raise Denied(
        f"{host} is not a public address. If it is meant, the operator can allow this host by name.",
        code="address_refused",
    )


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedTransport(httpx.BaseTransport):
    """An httpx transport that connects to checked addresses only."""

    def __init__(
        self, allowed: Iterable[str] = (), inner: httpx.BaseTransport | None = None, lookup: Resolve = resolve
    ) -> None:
        self._allowed = tuple(allowed)
        self._inner = inner or httpx.HTTPTransport()
        self._lookup = lookup

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        address = check(url.scheme, url.host, self._lookup(url.host, port), self._allowed)
        pinned = httpx.Request(
            request.method,
            url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": url.host},
        )
        return self._inner.handle_request(pinned)

    def close(self) -> None:
        self._inner.close()
