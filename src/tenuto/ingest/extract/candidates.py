"""A proposition becomes a candidate: its key, its weight, its trust, and whether it is pinned. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tenuto.ingest.candidate import Candidate
from tenuto.ingest.extract.attributes import Attribute
from tenuto.ingest.extract.corrections import swapped_to
from tenuto.ingest.extract.importance import memory_importance
from tenuto.ingest.extract.marked import Marked
from tenuto.language.affect import affect
from tenuto.language.dates import Moment, in_english
from tenuto.language.lexicon import lexicons
from tenuto.language.medicines import substance_of
from tenuto.language.mentions import SELF, slug
from tenuto.language.people import Person
from tenuto.language.reports import is_moved
from tenuto.language.times import duration
from tenuto.records.conversation import Role
from tenuto.records.memory import Domain, Epistemic, Kind, PinKind, Status, TimeScope, Trust
from tenuto.records.reading import Mark
from tenuto.text import patterns

_HAPPENS = frozenset({"event", "fact", "goal", "home", "birthday"})
"""What may happen on a day."""
_CHANGED = patterns.compile(
    r"\b(?:now|from now on|instead|no longer|anymore|changed|switch\w*|moved to|only|new|jetzt|nur noch|ab jetzt|"
    r"ahora|a partir de|maintenant|désormais|agora|desde)\b",
    "i",
)
_DOSE = patterns.compile(r"\s+\d|\s+(?:twice|once|half|one|two|ein|una?|une?|in|before)\b", "i")


@dataclass(frozen=True, slots=True)
class Told:
    """One proposition, worded."""

    mark: Mark
    what: Attribute
    content: str
    about: str
    person: Person | None = None
    value: str | None = None
    moment: Moment | None = None
    vital: bool = False
    unsure: bool = False
    entities: tuple[str, ...] = ()

    @property
    def attribute(self) -> str | None:
        """Each medicine is an attribute of its own; what is only planned does not replace what is."""
        name = self.what.name or None
        if name == "medication" and self.value:
            name = _medicine(self.value)
            return f"medication_{slug(substance_of(name) or substance_of(name.split()[0]) or name)}"
        return f"planned_{name}" if name is not None and self.mark.state == "plan" else name

    @property
    def domain(self) -> Domain:
        if self.about != SELF:
            return Domain.PEOPLE
        return Domain.PROJECT if self.what.kind is Kind.PROJECT else Domain.PROFILE

    @property
    def happens_at(self) -> datetime | None:
        if self.moment is None:
            return None
        planned = self.mark.state == "plan" and self.moment.relation in ("at", "since")
        on_a_day = self.moment.relation == "at" and self.mark.type in _HAPPENS
        return self.moment.start if planned or on_a_day else None


def candidate_of(message: Marked, told: Told, *, private: bool) -> Candidate:
    """What is compared with what is known."""
    source, mark, what = message.message, told.mark, told.what
    outside = source.trust is Trust.EXTERNAL or (not message.own and source.role in (Role.TOOL, Role.SYSTEM))
    quote = message.sentence(mark)
    valence, arousal = affect(quote)
    since = told.moment.start if told.moment is not None and told.moment.relation == "since" else None
    terms = lexicons(message.policy.lexicons)
    weight = memory_importance(what.importance, told.content, 0.0, terms, known=bool(what.name))
    return Candidate(
        content=told.content,
        domain=told.domain,
        kind=what.kind,
        at=source.at,
        subject=told.about,
        attribute=told.attribute,
        value=told.value,
        single=(what.single or what.name == "medication") and mark.state != "neg",
        ends=mark.state in ("end", "neg"),
        negated=mark.state == "neg",
        change=swapped_to(message.text, mark, message.span(mark.start))
        or (mark.type == "event" and is_moved(quote))
        or (mark.layer == "clause" and mark.state != "end" and bool(_CHANGED.search(quote))),
        changed_weakly=mark.layer == "clause" and mark.type != "habit",
        entities=told.entities[: message.policy.entities_per_message],
        label=told.person.label if told.person is not None else None,
        importance=10.0 if told.vital and what.importance >= 9 else weight,
        confidence=round(min(0.97, mark.score), 2),
        epistemic=Epistemic.EXPLICIT,
        time_scope=TimeScope.HISTORICAL if mark.state == "end" else TimeScope.ONGOING,
        sensitivity=what.sensitivity,
        trust=Trust.EXTERNAL if outside else source.trust,
        status=Status.CANDIDATE if outside else Status.ACTIVE,
        source=source.source,
        surface=source.channel,
        made_by="reader",
        rule=mark.type,
        persona=source.persona if private else None,
        session_id=source.session_id,
        message_id=source.id,
        channel=source.channel,
        quote=quote,
        pin=PinKind.AUTO if told.vital and not outside else None,
        valence=valence,
        arousal=arousal,
        valid_from=since,
        valid_to=_course_end(quote, message.language, source.at) if mark.type == "med" else None,
        happens_at=told.happens_at,
        metadata={"certainty": "unconfirmed"} if told.unsure else {},
    )


def _medicine(value: str) -> str:
    """The name of a medicine without its dose: what tells two medicines apart."""
    return _DOSE.split(value.lower())[0].strip()


LONGEST_COURSE = timedelta(days=92)
"""What is taken for longer goes on until somebody says that it is over."""
_FOR = patterns.compile(r"\b(?:für|durante|pendant|por|during|lang)\b", "i")
_SO_FAR = patterns.compile(r"\b(?:been|have|has|had|'ve|since|already|past|last|seit|desde|depuis|há)\b", "i")


def _course_end(quote: str, language: str, at: datetime) -> datetime | None:
    """When a short course ends by itself: "amoxicillin for a week"."""
    lasts = duration(_FOR.sub("for", in_english(quote, language)))
    if lasts is None or _SO_FAR.search(quote) or at + lasts > at + LONGEST_COURSE:
        return None
    return at + lasts
