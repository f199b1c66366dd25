"""How much a message weighs, 0–10, base, domain terms, question, speaker, the caller's mark, length."""

from __future__ import annotations

from tenuto.policy import MessageImportance
from tenuto.records.conversation import Role


def message_importance(
    text: str, role: Role, policy: MessageImportance, *, domain_terms: bool = False, marked: bool = False
) -> float:
    """How much a message weighs, 0–10.

    ``domain_terms``: the text holds a term of a domain lexicon; ``marked``: the caller says that it is important.
    """
    score = policy.base
    if domain_terms:
        score += policy.domain_terms
    if "?" in text or "？" in text:
        score += policy.question
    if role is Role.USER:
        score += policy.from_user
    if marked:
        score += policy.marked
    if len(text) < policy.short_below:
        score += policy.short
    return min(10.0, max(0.0, score))
