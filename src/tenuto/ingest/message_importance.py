"""How much a message weighs, 0–10, from its text alone: base, domain terms, question, speaker, length."""

from __future__ import annotations

from tenuto.policy import MessageImportance
from tenuto.records.conversation import Role


def message_importance(text: str, role: Role, policy: MessageImportance, *, domain_terms: bool = False) -> float:
    """How much a message weighs, 0–10. ``domain_terms`` tells whether the text holds a term of a domain lexicon."""
    score = policy.base
    if domain_terms:
        score += policy.domain_terms
    if "?" in text or "？" in text:
        score += policy.question
    if role is Role.USER:
        score += policy.from_user
    if len(text) < policy.short_below:
        score += policy.short
    return min(10.0, max(0.0, score))
