"""What surrounds the evidence: the fence, the persona's words, the time zone, the counter. Small, and each may degrade.

A persona's file is the operator's and is read here; an unknown time zone and a failing token counter are replaced by
something usable, and the context says so.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tenuto.context import render, templates
from tenuto.context.assemble import Count
from tenuto.context.gather import Gathered
from tenuto.errors import InputError
from tenuto.ports import Tokens
from tenuto.records.base import micros
from tenuto.records.scope import Scope


def fence(found: Gathered, scope: Scope) -> str:
    """The name of the fence: nobody can guess it from outside, and it stays the same while the session lasts.

    It hangs on the id of the session before this one (ids are random), so that a context built before the session's
    first message has the same fence as those after it; in a user's first session, on the microsecond when the user
    came. A fence that was guessed would not help: no kept text keeps its angle brackets.
    """
    came = str(micros(found.user.created_at)) if found.user is not None else ""
    before = found.previous[0].id if found.previous else ""
    seed = "\x00".join((scope.user, scope.persona or "", came, before))
    return blake2b(seed.encode(), digest_size=6, person=b"tenuto-fence").hexdigest()


def persona_words(scope: Scope, given: str | None, folder: str | None, texts: templates.Templates) -> str:
    """The persona in the operator's words: given, from its file, or one sentence with its name."""
    if given is not None:
        return given.strip()
    if scope.persona is None:
        return ""
    if folder is None:
        return texts.fill("persona", persona=render.escape(scope.persona))
    path = Path(folder) / f"{scope.persona}.md"
    if path.parent != Path(folder) or scope.persona.startswith("."):
        raise InputError(f"The persona {scope.persona!r} cannot name a file: give its text with persona_text.")
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise InputError(
            f"The persona '{scope.persona}' has no file {path}: create it, give persona_text, or unset "
            "context.personas.",
            code="persona_missing",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The persona's file {path} cannot be read: {error}.", code="persona_missing") from error


def counter(tokens: Tokens) -> tuple[Count, list[str]]:
    """The token counter, and a list that says so once if it fails: then half of the UTF-8 bytes stand for it."""
    notes: list[str] = []

    def count(text: str) -> int:
        if not notes:
            try:
                return tokens.count(text)
            except Exception as error:  # noqa: BLE001 - a counter is a plug-in and may fail in any way
                failed = f"{type(error).__name__}: {error}"
                notes.append(f"The token counter failed ({failed}): tokens are estimated, one for two bytes.")
        return (len(text.encode("utf-8", "replace")) + 1) // 2

    return count, notes


def zone_of(found: Gathered) -> tuple[str, ZoneInfo, list[str]]:
    name = found.user.timezone if found.user is not None else "UTC"
    try:
        return name, ZoneInfo(name), []
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC", ZoneInfo("UTC"), [f"The time zone {name!r} is unknown: times are in UTC."]
