"""Does a provider accept a key? One cheap request that lists its models and spends nothing."""

from __future__ import annotations

from tenuto.errors import Denied, InputError, ModelError

ADDRESSES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
SECONDS = 20.0


def probe(provider: str, key: str, base_url: str | None = None) -> None:
    """Returns if the key is accepted; raises :class:`Denied` if not, :class:`ModelError` if nobody answers.

    ``base_url`` is the operator's (another OpenAI-compatible server), never a user's.
    """
    import httpx  # on first use: it takes longer to load than all of Tenuto

    address = base_url or ADDRESSES.get(provider)
    if address is None:
        raise InputError(f"'{provider[:60]}' is unknown: known are {', '.join(ADDRESSES)}, or give base_url.")
    headers = {"authorization": f"Bearer {key}"}
    if provider == "anthropic":
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    try:
        answer = httpx.get(f"{address.rstrip('/')}/models", headers=headers, timeout=SECONDS, follow_redirects=False)
    except httpx.HTTPError as error:
        raise ModelError(f"{provider} did not answer ({type(error).__name__}).") from None
    if answer.status_code in (401, 403):
        raise Denied(f"{provider} refuses the key.", code="key_refused")
    if answer.status_code >= 300:
        raise ModelError(f"{provider} answered with status {answer.status_code}.")
