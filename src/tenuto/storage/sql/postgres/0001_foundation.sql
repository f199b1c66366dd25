-- Everything that Tenuto keeps. Each key begins with the user, so that a user's rows lie together and can be moved
-- or spread as one. Times are microseconds since 1970 (UTC), flags 0 or 1; body is JSON, sealed where there are keys.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE store_facts (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);

CREATE TABLE users (
    user_id text COLLATE "C" NOT NULL PRIMARY KEY,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    created_at bigint NOT NULL,
    body bytea NOT NULL
);

CREATE TABLE messages (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    persona text COLLATE "C",
    channel text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    external_id text COLLATE "C",
    "at" bigint NOT NULL,
    importance double precision NOT NULL,
    trust text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX messages_seq ON messages (user_id, seq);
CREATE INDEX messages_at ON messages (user_id, at);
CREATE INDEX messages_session ON messages (user_id, session_id, at);
CREATE UNIQUE INDEX messages_external ON messages (user_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX messages_important ON messages (user_id, importance) WHERE importance >= 8;

CREATE TABLE sessions (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    persona text COLLATE "C",
    channel text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    last_activity_at bigint NOT NULL,
    ended_at bigint,
    external_id text COLLATE "C",
    turn_count bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX sessions_activity ON sessions (user_id, last_activity_at);
CREATE UNIQUE INDEX sessions_external ON sessions (user_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX sessions_open ON sessions (user_id) WHERE status = 'open';
CREATE INDEX sessions_idle ON sessions (last_activity_at) WHERE status = 'open';

CREATE TABLE session_states (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    message_count bigint NOT NULL,
    last_interaction bigint,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE summaries (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    persona text COLLATE "C",
    session_id text COLLATE "C",
    topic text COLLATE "C",
    version bigint NOT NULL,
    "current" smallint NOT NULL,
    start_seq bigint NOT NULL,
    end_seq bigint NOT NULL,
    created_at bigint NOT NULL,
    importance double precision NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX summaries_kind ON summaries (user_id, kind, created_at);
CREATE INDEX summaries_session ON summaries (user_id, session_id);

CREATE TABLE key_points (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    persona text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    resolved smallint NOT NULL,
    created_at bigint NOT NULL,
    message_id text COLLATE "C",
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX key_points_session ON key_points (user_id, session_id);
CREATE INDEX key_points_created ON key_points (user_id, created_at);

CREATE TABLE memories (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "key" text COLLATE "C" NOT NULL,
    slot text COLLATE "C",
    domain text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    attribute text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    persona text COLLATE "C",
    importance double precision NOT NULL,
    pinned smallint NOT NULL,
    proactive_use text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    valid_from bigint,
    valid_to bigint,
    last_reinforced_at bigint,
    superseded_by text COLLATE "C",
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX memories_slot ON memories (user_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX memories_key ON memories (user_id, key);
CREATE INDEX memories_updated ON memories (user_id, updated_at);
CREATE INDEX memories_pinned ON memories (user_id, importance) WHERE pinned = 1;
CREATE INDEX memories_session ON memories (user_id, session_id);

CREATE TABLE entities (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    merged_into text COLLATE "C",
    mentions bigint NOT NULL,
    updated_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE entity_merges (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    duplicate text COLLATE "C" NOT NULL,
    "into" text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX entity_merges_status ON entity_merges (user_id, status);

CREATE TABLE todos (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    slot text COLLATE "C",
    persona text COLLATE "C",
    due bigint,
    completed_at bigint,
    created_at bigint NOT NULL,
    session_id text COLLATE "C",
    source text COLLATE "C" NOT NULL,
    importance double precision NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX todos_slot ON todos (user_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX todos_status ON todos (user_id, status, created_at);

CREATE TABLE agent_states (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    updated_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE state_changes (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    persona text COLLATE "C",
    "at" bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX state_changes_at ON state_changes (user_id, at);

CREATE TABLE workflows (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    definition text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    persona text COLLATE "C",
    updated_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX workflows_session ON workflows (user_id, session_id);

CREATE TABLE workflow_turns (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    turn bigint NOT NULL,
    "at" bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX workflow_turns_turn ON workflow_turns (user_id, workflow_id, turn);

CREATE TABLE artifacts (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX artifacts_workflow ON artifacts (user_id, workflow_id);

CREATE TABLE outcomes (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    track text COLLATE "C" NOT NULL,
    skill text COLLATE "C" NOT NULL,
    "at" bigint NOT NULL,
    seq bigint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX outcomes_track ON outcomes (user_id, track, seq);

CREATE TABLE identities (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    verified_at bigint,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE jobs (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    run_at bigint NOT NULL,
    dedupe text COLLATE "C",
    lease_until bigint,
    fence bigint NOT NULL,
    attempts bigint NOT NULL,
    created_at bigint NOT NULL,
    finished_at bigint,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX jobs_due ON jobs (run_at, id) WHERE status IN ('pending', 'running');
CREATE UNIQUE INDEX jobs_dedupe ON jobs (user_id, dedupe) WHERE status = 'pending' AND dedupe IS NOT NULL;
CREATE INDEX jobs_status ON jobs (status, created_at);

CREATE TABLE events (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    "at" bigint NOT NULL,
    subject_kind text COLLATE "C" NOT NULL,
    subject_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX events_seq ON events (user_id, seq);

CREATE TABLE receipts (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    "at" bigint NOT NULL,
    settled smallint NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX receipts_message ON receipts (user_id, message_id);

CREATE TABLE memories_entities (
    user_id text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, value, id)
);
CREATE INDEX memories_entities_id ON memories_entities (user_id, id);

CREATE TABLE todos_entities (
    user_id text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, value, id)
);
CREATE INDEX todos_entities_id ON todos_entities (user_id, id);

-- What search sees. Clustered by seq: an index reads what is new in one pass.
CREATE TABLE entries (
    user_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "at" bigint NOT NULL,
    persona text COLLATE "C",
    session_id text COLLATE "C",
    role text COLLATE "C" NOT NULL,
    speaker text COLLATE "C" NOT NULL,
    links text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    tokens bytea NOT NULL,
    vector halfvec,
    sealed_vector bytea,
    PRIMARY KEY (user_id, seq)
);
CREATE UNIQUE INDEX entries_id ON entries (user_id, kind, id);
CREATE INDEX entries_model ON entries (user_id, model, seq);
