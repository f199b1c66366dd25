"""Every number that Tenuto holds by default, with its unit, in one place.

Frozen dataclasses, grouped by room. ``tenuto.open(policy=...)`` takes a :class:`Policy` or a plain mapping such as
``{"session": {"idle_close": 900}}``; :mod:`tenuto.settings` reads the same names from a file or the environment.
Durations are ``timedelta`` here and seconds in files; importance is 0–10 everywhere; shares are 0–1.
"""
# Over 400 lines: every number in one place, each with its meaning, is what the file is for.

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cosine thresholds that belong to one embedding model. ``docs/calibration.md`` tells how each was found."""

    reinforce: float = 0.75
    """Two memories at or above this say the same thing."""
    upgrade: float = 0.88
    """At or above this a fuller wording may replace the shorter one."""
    anchor: float = 0.65
    """A query at or above this names a memory explicitly, which lets ``proactive_use = no`` through."""
    floor: float = 0.30
    """Below this a vector says nothing."""
    related: float = 0.45
    """A statement that something changed retires the closest memory of the same subject only at or above this."""


@dataclass(frozen=True, slots=True)
class Limits:
    text_bytes: int = 64 * 1024
    """Longest text of one message or memory, in UTF-8 bytes."""
    query_bytes: int = 64 * 1024
    """Longest query; only the first part of a long one carries meaning."""
    name_length: int = 256
    """Longest user, persona, channel, speaker or external id, in characters."""
    metadata_bytes: int = 16 * 1024
    """Largest metadata of one message, as JSON."""
    recall_limit: int = 1000
    """Most hits that one recall may ask for."""
    page_size: int = 200
    """Most rows that a listing returns at once."""


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    idle_close: timedelta = timedelta(minutes=30)
    """A session closes after this long without a message."""
    grace: timedelta = timedelta(hours=2)
    """A user who returns within this time may take up the closed session's thread."""
    min_new_turns: int = 2
    """A closed session is classified again only after this many new turns."""
    classify_open_turns: int = 200
    """A session that goes on and on is classified each time this many turns have gathered, without being closed."""
    clock_set_back: timedelta = timedelta(days=3)
    """A clock that shows up to this much less than before was set back: what is said now still comes after."""
    last_message_length: int = 200
    """How much of the last user message the session state keeps, in characters."""


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    rolling_every_turns: int = 4
    """Turns of a session after which its rolling summary is written anew."""
    rolling_length: int = 600
    """Characters."""
    range_every_messages: int = 50
    """Messages that one range summary stands for; no gap, no overlap."""
    spine_every_messages: int = 20
    """Messages with a persona after which the spine is written anew."""
    profile_every_sessions: int = 10
    """The profile is written anew after this many sessions, or after ``profile_every``."""
    profile_every: timedelta = timedelta(days=7)
    """Longest time between two profiles while there is something new."""
    topic_after: timedelta = timedelta(days=7)
    """Session text older than this gets topic summaries beside it."""
    topic_tokens: int = 100
    """Longest topic summary, in tokens."""


@dataclass(frozen=True, slots=True)
class MessageImportance:
    """How a message is weighed, 0–10."""

    base: float = 5.0
    """Importance that every message starts with."""
    domain_terms: float = 2.0
    """Added where the text holds a term of a domain lexicon."""
    question: float = 1.0
    """Added to a question."""
    from_user: float = 1.0
    """Added to what the user says."""
    marked: float = 3.0
    """Added where the caller marked it: ``metadata={"important": True}``."""
    short: float = -1.0
    """Added to a text shorter than ``short_below``; negative."""
    short_below: int = 20
    """Characters."""


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    pin_importance: float = 10.0
    """A pin is forced to this."""
    forget_within: timedelta = timedelta(days=1)
    """A wish to forget something life-critical that nobody confirmed in this time is gone."""
    pins: int = 50
    """Most standing pins of a user, and most of a session; beyond it the least important automatic one makes room."""
    keep_confidence: float = 0.6
    """A statement is kept as a memory at or above this confidence; below it, half of what the reader marks is wrong."""
    lexicons: str = ""
    """Files with further domain lexicons (TOML or JSON), separated by ``;``."""
    evidence_kept: int = 50
    """Most evidence of one memory that is kept in full."""
    confidence_gain: float = 0.15
    """Share of the distance to 1 that each reinforcement adds to the confidence."""
    importance_per_doubling: float = 1.0
    """Importance gained each time the number of reinforcements doubles, up to ``importance_ceiling``."""
    importance_ceiling: float = 9.0
    """Highest importance that reinforcement alone reaches."""
    candidates_per_message: int = 24
    """Most memories taken from one message."""
    entities_per_message: int = 50
    """Most entities taken from one message."""
    merge_confidence: float = 0.92
    """Two entities are merged without asking only at or above this."""
    completion_confidence: float = 0.80
    """A todo is completed by what was said only at or above this."""
    recent_wins: timedelta = timedelta(hours=48)
    """A completed todo counts as a win for this long."""
    model_tokens_per_day: int = 200_000
    """Tokens that extraction may spend per user and day; beyond it the rules take over."""
    model_cost_per_day: float = 0.0
    """Money that extraction may spend per user and day, in the currency of the prices; 0 sets no limit."""
    model_input_price: float = 0.0
    """Price of a million tokens sent."""
    model_output_price: float = 0.0
    """Price of a million tokens received."""
    model_batch_messages: int = 16
    """Most messages that one request to a model carries."""


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    candidates: int = 50
    """Candidates per list that the profiles ``blended`` and ``decayed`` rank."""
    pool: int = 200
    """Most candidates that any profile ranks."""
    catch_up: int = 16
    """Recall embeds up to this many entries that wait for their vector, so that one finds what one just wrote."""
    words: float = 0.8
    """What words count in the profile ``default``, per deviation. ``docs/recall.md`` tells how these were found."""
    meaning: float = 0.8
    """What meaning counts, per deviation."""
    own: float = 1.0
    """What is added to all but the assistant's words, where an assistant speaks and the query only asks."""
    speaker: float = 2.0
    """What is added where a person whom the query names is speaking."""
    recency: float = 0.5
    """What is taken off as messages go by, per logarithm of their number, where what was said lately is meant."""
    length: float = 1.0
    """What a longer message counts, per logarithm of its words, where messages are short."""
    neighbours: float = 1.0
    """How much the messages around a short one count beside it, as a share of the usual."""
    half_life: timedelta = timedelta(days=14)
    """Recency half-life of the profile ``blended``."""
    memory_decay: float = 0.02
    """λ per day of the profile ``decayed`` for memories."""
    summary_decay: float = 0.03
    """λ per day of the profile ``decayed`` for summaries and key points."""
    similarity_floor: float = 0.3
    """Cosine below which the profile ``decayed`` drops a candidate."""
    card_facts: int = 3
    """Most facts on one entity card."""
    card_importance: float = 7.0
    """Importance from which a fact is on its entity's card; pins always are."""
    foundation: int = 20
    """Most memories in the foundation of a context."""
    guidance: int = 8
    """Most lines of behaviour guidance."""
    proactive: int = 12
    """Most memories that may be brought up unasked."""
    index_bytes: int = 2 * 1024**3
    """Memory that the per-user indexes may take together; the least recently used one goes first."""


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    budget: int = 8000
    """Tokens, the answer included."""
    answer: int = 2000
    """Tokens kept for the answer."""
    messages: float = 0.40
    """Share of the budget for messages; what a share does not use flows on."""
    recent_summaries: float = 0.30
    """Share for summaries of recent sessions."""
    facts: float = 0.20
    """Share for what is known."""
    history: float = 0.10
    """Share for what lies further back."""
    recent_messages: int = 40
    """Most messages of this session that are replayed."""
    sessions_in_full: int = 3
    """Recent sessions whose summary is shown in full."""
    session_headlines: int = 4
    """Sessions before those that are shown by their headline."""
    important_messages: int = 5
    """Most old messages that are shown because of their importance."""
    important_from: float = 8.0
    """Importance from which an old message is shown."""
    commitments: int = 5
    """Most open commitments."""
    threads: int = 3
    """Most open threads."""
    frictions: int = 3
    """Most open frictions."""
    wins: int = 3
    """Most recent wins."""
    relevant: int = 12
    """Most recalled things that enter one context."""
    key_points: int = 8
    """Most open threads and hot key points of earlier sessions."""
    key_points_within: timedelta = timedelta(days=90)
    """A key point that is older than this when a session begins is left to recall."""
    earlier_messages: int = 10
    """Most messages from before this session that are shown, so that a new session does not begin in the void."""
    window_step: int = 10
    """The window of recent messages moves in steps of this many, so that prompt caches hold; 1 moves it each turn."""
    fresh: float = 0.3
    """Part of the facts' share for what this turn alone recalls: a ceiling, because no prompt cache can serve it."""
    templates: str | None = None
    """A folder with edited templates; one that is missing there is taken from the package."""
    personas: str | None = None
    """A folder with one ``<persona>.md`` each: the voice of a persona, in the operator's words."""
    batch: timedelta = timedelta(milliseconds=100)
    """Context updates within this time travel together."""


@dataclass(frozen=True, slots=True)
class ProxyPolicy:
    body_bytes: int = 32 * 1024 * 1024
    """Largest request that the memory proxy takes: images travel inside."""
    turns_kept: int = 4096
    """Turns whose injected text is kept, so that a retry or a tool's answer sends the same bytes again."""
    turn_kept: timedelta = timedelta(minutes=10)
    """For how long."""
    connect: timedelta = timedelta(seconds=10)
    """Longest wait for a connection to the model behind the proxy."""
    timeout: timedelta = timedelta(seconds=600)
    """Longest silence of the upstream."""


@dataclass(frozen=True, slots=True)
class WorkingPolicy:
    messages: int = 30
    """Most messages of a user in working memory."""
    ttl: timedelta = timedelta(hours=1)
    """Working memory of a user who is silent is dropped after this time."""
    variables: int = 50
    """Most values that an application keeps at hand for one user."""
    variable_bytes: int = 8192
    """Largest of them, as JSON."""


@dataclass(frozen=True, slots=True)
class FadingPolicy:
    half_life: timedelta = timedelta(days=90)
    """Strength of an unremarkable memory halves in this time without reinforcement."""
    archive_below: float = 0.05
    """Strength below which a memory of low importance may be archived."""
    archive_importance: float = 4.0
    """Only memories at or below this importance are archived by fading."""
    floor: float = 0.5
    """Strength that pins and ``proactive_use = yes`` never fall below."""
    curate_after_changes: int = 20
    """The curator runs once this many memories were written since its last run."""
    todo_overdue: timedelta = timedelta(days=14)
    """An open todo expires this long after it was due."""
    todo_silent: timedelta = timedelta(days=90)
    """An open thread, task or commitment without a due time expires after this long without a word about it."""


@dataclass(frozen=True, slots=True)
class AgentPolicy:
    connection: float = 0.3
    """Where the axis starts, 0–1: how close the persona is to the user."""
    discretion: float = 0.5
    """Where the axis starts, 0–1: how much it holds back."""
    mood: float = 0.0
    """Where the axis starts, −1…1."""
    attunement: float = 0.3
    """Where the axis starts, 0–1: how well it reads the user."""
    outreach: bool = False
    """Whether the persona may write first."""
    quiet_from: int = 21
    """Hour of the day in the user's time zone from which nobody is contacted."""
    quiet_until: int = 9
    """Hour of the day from which contact is allowed again."""
    cooldown: timedelta = timedelta(hours=24)
    """Shortest time between two messages that the persona sends first."""
    cooldown_after_user: timedelta = timedelta(hours=48)
    """Shortest silence of the user before the persona writes first."""
    mood_half_life: timedelta = timedelta(days=2)
    """The mood halves its distance to the start in this time."""
    personas: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Per persona: ``axes`` (name → start, low, high, half_life in seconds) and ``outreach``."""


@dataclass(frozen=True, slots=True)
class TrajectoryPolicy:
    enabled: bool = True
    """The user's own setting ``trajectory`` overrides it."""
    window: int = 12
    """Sessions that each metric looks at."""
    least: int = 6
    """Sessions before anything is said about a trend, and how long a pattern must hold before a suggestion."""


@dataclass(frozen=True, slots=True)
class JobPolicy:
    lease: timedelta = timedelta(seconds=25)
    """A worker holds a job for this long before another may take it; it is renewed during the work."""
    attempts: int = 5
    """Tries before a job is failed for good."""
    backoff: timedelta = timedelta(seconds=2)
    """Doubles with every attempt."""
    backoff_limit: timedelta = timedelta(minutes=10)
    """Longest pause between two tries."""
    batch: int = 32
    """Most jobs of one user and kind that are carried out together."""
    poll: timedelta = timedelta(seconds=1)
    """How often an idle runner looks for work that another process left."""
    keep_done: timedelta = timedelta(days=7)
    """Finished jobs are deleted after this time."""
    costly_per_minute: int = 60
    """Jobs of the kinds that ask a model which one process starts per minute, while a model is configured."""


@dataclass(frozen=True, slots=True)
class ReadingPolicy:
    timeout: timedelta = timedelta(seconds=20)
    """Longest time that reading one text from outside may take; then the process that reads it is ended."""
    memory_bytes: int = 2 * 1024**3
    """Address space of the process that reads, its models included."""


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    timeout: timedelta = timedelta(seconds=300)
    """Longest wait for an answer of a model."""
    retries: int = 2
    """Further tries after a failure that may pass."""
    price: float | None = None
    """What a million tokens that the model reads cost, in your currency; only estimates use it."""
    prompts: str = ""
    """Directory with prompts of your own (``extract.md``, …); what it lacks is taken from the package."""
    hosts: tuple[str, ...] = ()
    """Hosts on private addresses that users may name in models of their own choice; public ones need no naming."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    working: timedelta = timedelta(hours=1)
    """Working memory is kept for this long."""
    purge_text: timedelta | None = None
    """Messages older than this are deleted; none: never."""


@dataclass(frozen=True, slots=True)
class WorkflowPolicy:
    confirm_within: timedelta = timedelta(minutes=30)
    """A staged change that nobody confirmed in this time is gone."""
    value_bytes: int = 64 * 1024
    """Largest value of one field, as JSON."""
    depth: int = 16
    """Deepest nesting of one value."""
    keys: int = 2000
    """Most keys and list items in one value."""
    operations: int = 64
    """Most operations of one patch."""
    inferred_confidence: float = 0.8
    """Most confidence that a value gets which the person did not state, whatever a model claims."""
    heard: int = 64
    """Ids of the last messages that are kept to recognise one that is delivered twice."""
    asked: int = 64
    """Question keys that are kept."""
    answer_bytes: int = 256 * 1024
    """Longest answer of a model that is read at all."""
    artifact_bytes: int = 1024 * 1024
    """Largest artifact or submission, as JSON."""
    failures_kept: int = 50
    """Most recent failures that a learner profile lists."""
    mastery_rate: float = 0.3
    """Weight of the newest outcome."""
    mastery_baseline: float = 0.5
    """Mastery of a skill before its first outcome, 0–1."""
    mastery_half_life: timedelta = timedelta(days=60)
    """Without practice, mastery goes half of the way back to the baseline in this time."""
    style_tries: int = 3
    """A style counts as preferred only after this many outcomes."""


@dataclass(frozen=True, slots=True)
class IdentityPolicy:
    challenge_valid: timedelta = timedelta(minutes=10)
    """A challenge expires after this time."""
    challenge_tries: int = 5
    """Wrong answers before a challenge is void."""
    challenge_sends: int = 3
    """Most challenges for one address within ``challenge_window``."""
    challenge_window: timedelta = timedelta(hours=1)
    """The time that ``challenge_sends`` counts in."""
    proven_channels: tuple[str, ...] = ("imessage", "web", "terminal", "api", "mcp")
    """Channels that let nobody write in another's name: what comes on them is the sender's own word."""
    mail_servers: tuple[str, ...] = ()
    """Names (``authserv-id``) of your receiving mail servers, whose ``Authentication-Results`` prove a sender."""


@dataclass(frozen=True, slots=True)
class ImportPolicy:
    batch: int = 2000
    """Messages in one transaction."""
    digest: int = 64
    """Messages that one job looks for memories in."""
    line_bytes: int = 16 * 1024**2
    """Longest line or single item of a file; a longer one is skipped and listed."""
    html_bytes: int = 1024**2
    """Most of one HTML text that is read."""
    mail_bytes: int = 64 * 1024**2
    """Largest single mail; a larger one is skipped and listed."""
    zip_members: int = 100_000
    """Most files that an archive may hold."""
    zip_bytes: int = 64 * 1024**3
    """Most that an archive may unpack to."""
    zip_ratio: int = 200
    """An archive's file that unpacks to more than this many times its size (and over 64 MiB) is a bomb."""
    skips_kept: int = 200
    """Skipped things that an import lists in full; the rest is counted."""
    ahead: timedelta = timedelta(days=1)
    """A date further in the future than this is wrong, and what carries it is skipped."""


@dataclass(frozen=True, slots=True)
class ServerPolicy:
    body_bytes: int = 4 * 1024**2
    """Largest request body."""
    header_wait: timedelta = timedelta(seconds=10)
    """A connection that has not sent its whole head by then is closed."""
    body_wait: timedelta = timedelta(seconds=30)
    """A body that has not arrived by then is refused."""
    upload_bytes: int = 256 * 1024**2
    """Largest file that can be sent to an import: it is written to a temporary file as it arrives."""
    upload_wait: timedelta = timedelta(minutes=10)
    """A file that has not arrived by then is refused."""
    uploads: int = 4
    """Files that one process takes in at the same time; beyond it 503."""
    connections: int = 2000
    """Open connections of one process; beyond it new ones are answered 503."""
    connections_per_address: int = 500
    """Open connections from one address to one process; beyond it new ones are answered 503. A reverse proxy that is
    trusted (``--behind``) may open more."""
    threads: int = 40
    """Verbs at work at the same time in one process; further ones wait their turn."""
    streams: int = 1000
    """Live event streams of one process."""
    streams_per_user: int = 20
    """Live event streams of one user in one process."""
    heartbeat: timedelta = timedelta(seconds=15)
    """An idle event stream says so this often, and looks whether its key still holds."""
    poll: timedelta = timedelta(seconds=5)
    """How often a live stream looks by itself, in case that word of a change was lost."""
    shutdown: timedelta = timedelta(seconds=15)
    """Time that requests at work get to finish when the server is stopped."""
    key_cache: timedelta = timedelta(seconds=2)
    """A key that was revoked in another process may work for this long."""
    key_touch: timedelta = timedelta(minutes=1)
    """When a key was last used is noted at most this often."""
    token_valid: timedelta = timedelta(minutes=15)
    """Lifetime of a token that an app mints for a user, unless it asks for less (or more, up to ``token_longest``)."""
    token_longest: timedelta = timedelta(hours=24)
    """Longest lifetime that a minted token may have."""
    link_valid: timedelta = timedelta(minutes=10)
    """A sign-in link works once, within this time."""
    browser_valid: timedelta = timedelta(days=7)
    """A signed-in browser stays signed in for this long."""
    replay_kept: timedelta = timedelta(hours=24)
    """How long the answer to a request with an idempotency key is kept."""
    replay_wait: timedelta = timedelta(minutes=1)
    """A request that has not ended by then may be repeated with the same idempotency key."""
    key_rate: float = 50.0
    """Requests per second of one key, after a burst."""
    key_burst: int = 500
    """Requests of one key at once."""
    user_rate: float = 20.0
    """Requests per second about one user, after a burst."""
    user_burst: int = 200
    """Requests about one user at once."""
    address_rate: float = 100.0
    """Requests per second from one address, after a burst."""
    address_burst: int = 1000
    """Requests from one address at once."""
    failure_rate: float = 0.2
    """Failed sign-ins per second of one address, after a burst."""
    failure_burst: int = 20
    """Failed sign-ins of one address at once."""


@dataclass(frozen=True, slots=True)
class QuarantinePolicy:
    """When a source brings far more than usual. See :mod:`tenuto.ingest.quarantine`."""

    window: timedelta = timedelta(hours=1)
    """Memories of one source that lie this close together are counted."""
    least: int = 300
    """Fewer than this many within a window are never held."""
    factor: float = 10.0
    """Times the usual number of a window that is too many."""
    history: timedelta = timedelta(days=30)
    """How far back the usual number is counted."""


@dataclass(frozen=True, slots=True)
class AuditPolicy:
    """The audit log. See :mod:`tenuto.privacy.audit`."""

    flush: timedelta = timedelta(seconds=5)
    """How long a reading may wait before it is written: what a killed process can lose of them. Changes never wait."""


@dataclass(frozen=True, slots=True)
class Policy:
    """All of it. Every part can be replaced; nothing else in Tenuto holds a number that a user may want to change."""

    limits: Limits = field(default_factory=Limits)
    session: SessionPolicy = field(default_factory=SessionPolicy)
    summary: SummaryPolicy = field(default_factory=SummaryPolicy)
    importance: MessageImportance = field(default_factory=MessageImportance)
    memory: MemoryPolicy = field(default_factory=MemoryPolicy)
    recall: RecallPolicy = field(default_factory=RecallPolicy)
    context: ContextPolicy = field(default_factory=ContextPolicy)
    proxy: ProxyPolicy = field(default_factory=ProxyPolicy)
    working: WorkingPolicy = field(default_factory=WorkingPolicy)
    fading: FadingPolicy = field(default_factory=FadingPolicy)
    agent: AgentPolicy = field(default_factory=AgentPolicy)
    trajectory: TrajectoryPolicy = field(default_factory=TrajectoryPolicy)
    jobs: JobPolicy = field(default_factory=JobPolicy)
    reading: ReadingPolicy = field(default_factory=ReadingPolicy)
    model: ModelPolicy = field(default_factory=ModelPolicy)
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)
    workflow: WorkflowPolicy = field(default_factory=WorkflowPolicy)
    identity: IdentityPolicy = field(default_factory=IdentityPolicy)
    importing: ImportPolicy = field(default_factory=ImportPolicy)
    server: ServerPolicy = field(default_factory=ServerPolicy)
    audit: AuditPolicy = field(default_factory=AuditPolicy)
    quarantine: QuarantinePolicy = field(default_factory=QuarantinePolicy)


DEFAULT = Policy()
