"""Which session a caller means: every verb takes our id of a session, or the caller's own."""

from __future__ import annotations

from tenuto.errors import NotFound
from tenuto.ports import Reader, Where
from tenuto.records.conversation import Session
from tenuto.text import clean


def find_session(reader: Reader, persona: str | None, id: str) -> Session | None:
    """The session with this id; of several personas' sessions with the same id of the caller's, this persona's."""
    wanted = clean.storable(id, what="session id")
    found = reader.get(Session, wanted)
    if found is not None:
        return found
    named = reader.find(Session, Where("external_id", "=", wanted))
    own = [one for one in named if one.persona == persona]
    return own[0] if own else named[0] if len(named) == 1 else None


def session_named(reader: Reader, persona: str | None, id: str) -> Session:
    """The session with this id, or a clear error."""
    found = find_session(reader, persona, id)
    if found is None:
        raise NotFound(f"There is no session {id[:80]!r} for this user.", code="session_not_found")
    return found


def pin_session(reader: Reader, persona: str | None, id: str | None) -> str | None:
    """The session that a pin belongs to: our id of it, or the caller's own while nothing was said in it yet."""
    if id is None:
        return None
    found = find_session(reader, persona, id)
    return found.id if found is not None else clean.storable(id, what="session id")


def session_ids(reader: Reader, persona: str | None, id: str) -> list[str]:
    """Our ids of the sessions that a filter means: one, those of all personas for whoever has none, or none at all."""
    wanted = clean.storable(id, what="session id")
    if persona is not None:
        found = find_session(reader, persona, wanted)
        return [found.id] if found is not None else [wanted]
    return [wanted, *reader.ids(Session, Where("external_id", "=", wanted))]
