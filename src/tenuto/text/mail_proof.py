"""Is a mail from whom it says? Only what a known receiving server found counts (RFC 8601), and it fails closed. Pure.

The server that takes the mail in writes an ``Authentication-Results`` header on top of it, with its own name, and takes
away those that claim to be its own. Proof is a DMARC pass for the very domain of the sender, or a DKIM or SPF pass for
that domain or one that it stands below. Everything else proves nothing: no header, another server's, a softfail, a pass
for another domain, a pass inside of a comment or of quotes, which the sender may have written.
"""

from __future__ import annotations

from collections.abc import Collection

LONGEST = 4000
"""Characters of the header that are read; what stands behind them proves nothing."""
DOMAIN_OF = {
    "dmarc": ("header.from",),
    "dkim": ("header.d", "header.i"),
    "spf": ("smtp.mailfrom", "smtp.mail"),
}
"""Where each method names the domain that it proved."""


def proven(results: str, address: str, servers: Collection[str]) -> bool:
    """Whether the topmost results, of one of these servers, prove the domain of an address."""
    domain = address.rpartition("@")[2].strip().rstrip(".").lower()
    known = {server.strip().lower() for server in servers}
    head, *found = _plain(results[:LONGEST]).lower().split(";")
    if "@" not in address or "." not in domain or not known or head.split()[:1] == []:
        return False
    return head.split()[0] in known and any(_passed(one.split(), domain) for one in found)


def _passed(words: list[str], domain: str) -> bool:
    method, _, result = words[0].partition("=") if words else ("", "", "")
    if result != "pass" or method not in DOMAIN_OF:
        return False
    named = [word.partition("=") for word in words[1:]]
    claimed = {value.rpartition("@")[2].rstrip(".") for name, _, value in named if name in DOMAIN_OF[method]}
    if len(claimed) != 1:
        return False
    other = claimed.pop()
    return other == domain or (method != "dmarc" and "." in other and domain.endswith(f".{other}"))


def _plain(text: str) -> str:
    """Without comments and quoted strings; what is not closed hides the rest."""
    kept: list[str] = []
    depth, quoted, escaped = 0, False, False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\" and (depth or quoted):
            escaped = True
        elif quoted:
            quoted = char != '"'
        elif char == '"' and not depth:
            quoted = True
            kept.append("?")
        elif char == "(":
            depth += 1
        elif char == ")" and depth:
            depth -= 1
            kept.append(" ")
        elif not depth:
            kept.append(char)
    return "".join(kept)
