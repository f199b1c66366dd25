"""What requests carry, with examples for the documentation. Only the form is checked here; verbs check the meaning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from tenuto.privacy.audit import checked_head
from tenuto.privacy.erase import Proof
from tenuto.records.audit import AuditEnd, AuditHead
from tenuto.records.identity import MergePlan


def _without_nul(value: str) -> str:
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    return value


Text = Annotated[str, Field(min_length=1, description="UTF-8, up to 64 KiB.")]
Name = Annotated[str, Field(max_length=1024), AfterValidator(_without_nul)]
Importance = Annotated[float, Field(allow_inf_nan=False, json_schema_extra={"minimum": 0, "maximum": 10})]
Feeling = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False, description="From -1 to 1.")]

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, description="From 0 to 1.")]


class Body(BaseModel):
    """Unknown fields are errors: a typo never passes for a setting."""

    model_config = ConfigDict(extra="forbid")


class Observe(Body):
    text: Text = Field(examples=["My dad is allergic to penicillin."])
    role: Literal["user", "assistant", "system", "tool"] = "user"
    speaker: str | None = Field(None, examples=["Ana"])
    at: AwareDatetime | None = Field(
        None, description="When it was said; now if left out.", examples=["2026-03-01T12:30:00Z"]
    )
    id: str | None = Field(
        None, description="Your own id of the message: the same one is kept once.", examples=["chat-42"]
    )
    session: str | None = Field(None, description="Your own id of the session.", examples=["session-7"])
    thinking: str | None = None
    model: str | None = None
    metadata: dict[str, Any] | None = None
    tokens: int | None = Field(None, ge=0, le=10**9, description="What it cost the model.")


class Recall(Body):
    query: Text = Field(examples=["Which antibiotics are safe?"])
    limit: int = Field(10, ge=1, le=1000)
    kinds: list[Literal["memory", "message", "key_point", "summary", "todo"]] | None = None
    profile: str = Field("default", examples=["default", "blended", "decayed"])
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    persona: Name | None = Field(None, description="One persona's; `*` for all, where the request names none.")
    domain: str | None = None
    kind: str | None = None
    entity: str | None = Field(None, examples=["person:dad"])
    status: str | None = None
    channel: str | None = None
    session: str | None = None
    source: str | None = None
    role: str | None = None
    speaker: str | None = None
    outside: bool = Field(False, description="Candidates from outside too, which are not recalled otherwise.")
    passages: bool = Field(False, description="Messages come with their neighbours, as one dated passage.")
    valence: Feeling | None = None
    arousal: Feeling | None = None
    held: bool = Field(False, description="For the person's own eyes: what is silenced or forgotten too, marked.")


class Build(Body):
    message: Text = Field(examples=["Which antibiotics are safe for him?"])
    budget: int | None = Field(None, ge=1, le=10_000_000, description="Tokens, the answer included; 8,000 if left out.")
    session: str | None = Field(None, description="Your own id of the session.")
    refresh: bool = Field(False, description="Find anew what the session is about.")
    replay: bool = Field(True, description="False leaves this session's turns out, for a caller who sends them anyway.")
    sent: list[str] | None = Field(
        None, max_length=10_000, description="With `replay` false: only these turns are out."
    )
    persona_text: str | None = Field(None, description="Words that introduce the persona.")


class NewKey(Body):
    name: str = Field(examples=["phone app"])
    scope: Literal["admin", "app", "user", "read"] = "app"
    user: str | None = Field(None, examples=["ana"])
    seconds: int | None = Field(None, ge=1, le=10**9, description="Lifetime; without end if left out.")


class NewToken(Body):
    scope: Literal["user", "read"] = "user"
    seconds: int | None = Field(None, ge=1, le=10**9, description="Lifetime; 15 minutes if left out, at most a day.")


class Settle(Body):
    timeout: float | None = Field(None, ge=0, le=30, allow_inf_nan=False, description="Seconds.")


class CloseSession(Body):
    session_id: str | None = Field(None, description="Our id of the session, or yours; the open one if left out.")
    end_type: str = "explicit"


class SessionName(Body):
    name: Name | None = Field(examples=["Dad's health"])


class Summarise(Body):
    start: AwareDatetime | Name = Field(union_mode="left_to_right", examples=["msg_1", "2026-03-01T00:00:00Z"])
    end: AwareDatetime | Name = Field(union_mode="left_to_right")
    session_id: Name | None = Field(None, description="Only this session's messages; our id or yours.")


class Switch(Body):
    on: bool


class OutreachChange(Body):
    on: bool | None = None
    made: bool = Field(False, description="Contact was made just now.")
    timezone: str | None = Field(None, max_length=64, description="Where the user lives.", examples=["Europe/Rome"])


class Retention(Body):
    rules: dict[str, Any] | None = Field(examples=[{"purge_text": 2592000, "channels": {"email": {"all": True}}}])


class Trial(Body):
    dry_run: bool = Field(False, description="Change nothing; only tell what would be done.")


class OfUser(Body):
    user: Name | None = Field(None, description="Whose; any user's if left out.", examples=["ana"])


class CurateMany(OfUser):
    dry_run: bool = False


class Erase(Body):
    user: str = Field(description="The user's id once more: erasing cannot be undone.", examples=["ana"])
    memory: Name | None = Field(None, description="Only this memory.")
    message: Name | None = Field(None, description="Only this message and what came of it; our id or yours.")
    session: Name | None = Field(None, description="Only this session and what came of it; our id or yours.")
    source: Name | None = Field(None, description="Only what this source brought in and what came of it.")

    def part(self) -> dict[str, Any]:
        return self.model_dump(exclude={"user"})


class Undo(Body):
    source: Name = Field(min_length=1, examples=["import:imp_x", "email:quoted"])
    since: AwareDatetime | None = Field(None, description="When it began to arrive; without it, all of it.")
    preview: bool = Field(False, description="Only tell what would go.")


class ErasureProof(Body):
    user: str
    at: AwareDatetime
    store: str
    erased: dict[str, int]
    left: dict[str, int]
    key_destroyed: bool | None
    files_clean: bool
    subject: str = ""
    audit_count: int = 0
    audit_head: str = ""
    part: str = ""
    ids: dict[str, list[Name]] = Field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    digest: str
    signature: str = ""

    def record(self) -> Proof:
        return Proof(**self.model_dump())


class KnownEnd(Body):
    n: int
    hash: str


class KnownHead(Body):
    at: AwareDatetime
    chains: dict[str, KnownEnd] = Field(description="The length and the last hash of every log.")
    digest: str

    def record(self) -> AuditHead:
        ends = {subject: AuditEnd(end.n, end.hash) for subject, end in self.chains.items()}
        return checked_head(AuditHead(at=self.at, chains=ends, digest=self.digest))


class VerifyAudit(Body):
    head: KnownHead | None = Field(None, description="What `GET /api/audit/head` gave earlier.")


class Remember(Body):
    text: Text = Field(examples=["Allergic to penicillin"])
    pin: bool | Literal["manual", "auto", "code", "concept", "system"] = False
    session: Name | None = Field(None, description="Limits a pin to one session.")
    kind: str | None = Field(None, examples=["preference"])
    importance: Importance | None = None
    private: bool = Field(False, description="For this persona alone.")
    proactive_use: Literal["yes", "only_when_relevant", "no"] | None = None
    should_do: str | None = None
    should_not_do: str | None = None
    at: AwareDatetime | None = None
    source: Name = "direct"
    message: Name | None = Field(None, description="Where it was said, by your id or ours: becomes the evidence.")
    domain: Name | None = Field(None, examples=["relational"])
    sensitivity: Literal["low", "medium", "high"] | None = None
    time_scope: Name | None = Field(None, examples=["ongoing", "momentary"])
    epistemic: Name | None = Field(None, examples=["explicit", "co_created"])
    valence: Feeling | None = None
    arousal: Share | None = None
    salience: Share | None = Field(None, description="0 to 1: importance by another name.")
    retrieval_conditions: str | None = Field(None, description="Used only where the message is about this.")
    do_not_use_when: str | None = Field(None, description="Never used where the message is about this.")


class Seed(Body):
    profile: dict[str, Any] = Field(examples=[{"name": "Ana Souza", "rules": ["Answer in Portuguese"]}])


class Given(Body):
    """A body of which only the fields that were sent count."""

    def given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}


class FindMemories(Given):
    status: str | None = Field(None, examples=["*", "candidate"])
    kind: str | None = None
    domain: Name | None = None
    attribute: Name | None = None
    entity: Name | None = Field(None, examples=["person:dad"])
    pinned: bool | None = None
    persona: Name | None = None
    limit: int | None = Field(None, ge=1, le=10_000)
    sensitivity: Literal["low", "medium", "high"] | None = None
    time_scope: Name | None = None
    epistemic: Name | None = None
    valence: tuple[Feeling, Feeling] | None = Field(None, description="From and to.")
    arousal: tuple[Share, Share] | None = Field(None, description="From and to.")
    salience: tuple[Share, Share] | None = Field(None, description="From and to.")


class FindTodos(Given):
    status: str | None = Field("open", examples=["*", "done"])
    kind: str | None = None
    persona: Name | None = None
    limit: int | None = Field(None, ge=1, le=10_000)


class FindEntities(Body):
    type: Name | None = Field(None, examples=["person"])
    limit: int | None = Field(None, ge=1, le=10_000)


class FindMerges(Body):
    status: str | None = "proposed"


class Edit(Given):
    """Only what was sent is changed. ``null`` takes a rule or a time away; elsewhere it changes nothing."""

    def given(self) -> dict[str, Any]:
        free = ("should_do", "should_not_do", "valid_from", "valid_to", "happens_at", "retrieval_conditions",
                "do_not_use_when")  # fmt: skip
        return {name: value for name, value in super().given().items() if value is not None or name in free}

    content: str | None = Field(None, min_length=1)
    importance: Importance | None = None
    proactive_use: Literal["yes", "only_when_relevant", "no"] | None = None
    should_do: str | None = None
    should_not_do: str | None = None
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    happens_at: AwareDatetime | None = None
    kind: str | None = None
    retrieval_keywords: list[str] | None = Field(None, max_length=32)
    sensitivity: Literal["low", "medium", "high"] | None = None
    time_scope: Name | None = None
    epistemic: Name | None = None
    valence: Feeling | None = None
    arousal: Share | None = None
    salience: Share | None = None
    retrieval_conditions: str | None = None
    do_not_use_when: str | None = None


class Forget(Body):
    reason: Name = "asked to forget"


class Pin(Body):
    kind: Literal["manual", "auto", "code", "concept", "system"] = "manual"
    session: Name | None = None


class Use(Body):
    use: Literal["yes", "only_when_relevant", "no"]


class Merge(Body):
    duplicate: Name = Field(examples=["person:daddy"])
    into: Name = Field(examples=["person:dad"])


class Decision(Body):
    accept: bool


class Unlink(Body):
    channel: Name = Field(examples=["email"])
    address: Name = Field(examples=["ana@example.org"])
    region: Name | None = None


class ConfirmLink(Unlink):
    code: Name = Field(examples=["123456"])


class Link(Unlink):
    merge: bool = Field(False, description="To join the account that the address belongs to.")
    by_caller: bool = Field(False, description="An app carries the code itself; needs an app key.")


class ShownPlan(Body):
    """A plan as it was shown. Only who, where and the digest count; the rest is worked out anew."""

    user: Name
    other: Name
    channel: Name
    address: Name
    challenge_id: Name
    counts: dict[str, int] = Field(default_factory=dict, max_length=100)
    conflicts: list[str] = Field(default_factory=list, max_length=10_000)
    addresses: list[Name] = Field(default_factory=list, max_length=1000)
    digest: Name

    def record(self) -> MergePlan:
        plain = self.model_dump()
        return MergePlan(**{**plain, "conflicts": tuple(self.conflicts), "addresses": tuple(self.addresses)})


class OutcomeTried(Body):
    track: Name = Field(examples=["python"])
    skill: Name = Field(examples=["loops"])
    success: bool
    at: AwareDatetime | None = None
    style: Name | None = None
    artifact_id: Name | None = None
    id: Name | None = None
