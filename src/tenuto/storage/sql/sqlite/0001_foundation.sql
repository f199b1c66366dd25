-- Everything that Tenuto keeps. Each key begins with the user, so that a user's rows lie together and can be moved
-- or spread as one. Times are microseconds since 1970 (UTC), flags 0 or 1; body is JSON, sealed where there are keys.

CREATE TABLE store_facts (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE users (
    user_id TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE messages (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    persona TEXT,
    channel TEXT NOT NULL,
    role TEXT NOT NULL,
    external_id TEXT,
    "at" INTEGER NOT NULL,
    importance REAL NOT NULL,
    trust TEXT NOT NULL,
    source TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX messages_seq ON messages (user_id, seq);
CREATE INDEX messages_at ON messages (user_id, at);
CREATE INDEX messages_session ON messages (user_id, session_id, at);
CREATE UNIQUE INDEX messages_external ON messages (user_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX messages_important ON messages (user_id, importance) WHERE importance >= 8;

CREATE TABLE sessions (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    persona TEXT,
    channel TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    ended_at INTEGER,
    external_id TEXT,
    turn_count INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX sessions_activity ON sessions (user_id, last_activity_at);
CREATE UNIQUE INDEX sessions_external ON sessions (user_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX sessions_open ON sessions (user_id) WHERE status = 'open';
CREATE INDEX sessions_idle ON sessions (last_activity_at) WHERE status = 'open';

CREATE TABLE session_states (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    message_count INTEGER NOT NULL,
    last_interaction INTEGER,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE TABLE summaries (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    persona TEXT,
    session_id TEXT,
    topic TEXT,
    version INTEGER NOT NULL,
    "current" INTEGER NOT NULL,
    start_seq INTEGER NOT NULL,
    end_seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    importance REAL NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX summaries_kind ON summaries (user_id, kind, created_at);
CREATE INDEX summaries_session ON summaries (user_id, session_id);

CREATE TABLE key_points (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    persona TEXT,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    resolved INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    message_id TEXT,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX key_points_session ON key_points (user_id, session_id);
CREATE INDEX key_points_created ON key_points (user_id, created_at);

CREATE TABLE memories (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    slot TEXT,
    domain TEXT NOT NULL,
    kind TEXT NOT NULL,
    attribute TEXT,
    status TEXT NOT NULL,
    persona TEXT,
    importance REAL NOT NULL,
    pinned INTEGER NOT NULL,
    proactive_use TEXT NOT NULL,
    trust TEXT NOT NULL,
    source TEXT NOT NULL,
    session_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    last_reinforced_at INTEGER,
    superseded_by TEXT,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX memories_slot ON memories (user_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX memories_key ON memories (user_id, key);
CREATE INDEX memories_updated ON memories (user_id, updated_at);
CREATE INDEX memories_pinned ON memories (user_id, importance) WHERE pinned = 1;
CREATE INDEX memories_session ON memories (user_id, session_id);

CREATE TABLE entities (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    merged_into TEXT,
    mentions INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE TABLE entity_merges (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    duplicate TEXT NOT NULL,
    "into" TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX entity_merges_status ON entity_merges (user_id, status);

CREATE TABLE todos (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    slot TEXT,
    persona TEXT,
    due INTEGER,
    completed_at INTEGER,
    created_at INTEGER NOT NULL,
    session_id TEXT,
    source TEXT NOT NULL,
    importance REAL NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX todos_slot ON todos (user_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX todos_status ON todos (user_id, status, created_at);

CREATE TABLE agent_states (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE TABLE state_changes (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    persona TEXT,
    "at" INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX state_changes_at ON state_changes (user_id, at);

CREATE TABLE workflows (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    definition TEXT NOT NULL,
    state TEXT NOT NULL,
    session_id TEXT,
    persona TEXT,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX workflows_session ON workflows (user_id, session_id);

CREATE TABLE workflow_turns (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    "at" INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX workflow_turns_turn ON workflow_turns (user_id, workflow_id, turn);

CREATE TABLE artifacts (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX artifacts_workflow ON artifacts (user_id, workflow_id);

CREATE TABLE outcomes (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    track TEXT NOT NULL,
    skill TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX outcomes_track ON outcomes (user_id, track, seq);

CREATE TABLE identities (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel TEXT NOT NULL,
    verified_at INTEGER,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE TABLE jobs (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    run_at INTEGER NOT NULL,
    dedupe TEXT,
    lease_until INTEGER,
    fence INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (run_at, id) WHERE status IN ('pending', 'running');
CREATE UNIQUE INDEX jobs_dedupe ON jobs (user_id, dedupe) WHERE status = 'pending' AND dedupe IS NOT NULL;
CREATE INDEX jobs_status ON jobs (status, created_at);

CREATE TABLE events (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX events_seq ON events (user_id, seq);

CREATE TABLE receipts (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;
CREATE INDEX receipts_message ON receipts (user_id, message_id);

CREATE TABLE memories_entities (
    user_id TEXT NOT NULL,
    value TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (user_id, value, id)
) WITHOUT ROWID;
CREATE INDEX memories_entities_id ON memories_entities (user_id, id);

CREATE TABLE todos_entities (
    user_id TEXT NOT NULL,
    value TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (user_id, value, id)
) WITHOUT ROWID;
CREATE INDEX todos_entities_id ON todos_entities (user_id, id);

-- What search sees. Clustered by seq: an index reads what is new in one pass.
CREATE TABLE entries (
    user_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    "at" INTEGER NOT NULL,
    persona TEXT,
    session_id TEXT,
    role TEXT NOT NULL,
    speaker TEXT NOT NULL,
    links TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens BLOB NOT NULL,
    vector BLOB,
    sealed_vector BLOB,
    PRIMARY KEY (user_id, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entries_id ON entries (user_id, kind, id);
CREATE INDEX entries_model ON entries (user_id, model, seq);
