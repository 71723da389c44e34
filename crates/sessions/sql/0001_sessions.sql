-- Read by SQLite and by Postgres. A migration that was released is never changed; what comes later is a file of its own.
CREATE TABLE agentctl_sessions (
    id           TEXT   NOT NULL PRIMARY KEY,
    pack         TEXT   NOT NULL,
    tenant       TEXT   NOT NULL,
    user_id      TEXT   NOT NULL,
    conversation TEXT   NOT NULL,
    -- A JSON object: the fields that the pack's flow keeps for a session.
    state        TEXT   NOT NULL,
    -- Raised by one with each change of the row.
    version      BIGINT NOT NULL,
    -- The run whose turn was written last; that of a turn which has begun and not ended.
    last_run     TEXT,
    open_run     TEXT,
    -- The messages that stand are those with first_seq <= seq < next_seq.
    first_seq    BIGINT NOT NULL,
    next_seq     BIGINT NOT NULL,
    -- Milliseconds since 1970, UTC.
    created      BIGINT NOT NULL,
    updated      BIGINT NOT NULL,
    mark         TEXT,
    UNIQUE (pack, tenant, user_id, conversation)
);
CREATE TABLE agentctl_messages (
    session    TEXT   NOT NULL REFERENCES agentctl_sessions (id) ON DELETE CASCADE,
    seq        BIGINT NOT NULL,
    role       TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    -- JSON, or NULL.
    data       TEXT,
    attachment TEXT,
    run        TEXT,
    at         BIGINT NOT NULL,
    mark       TEXT,
    PRIMARY KEY (session, seq)
);
CREATE TABLE agentctl_session_runs (
    session TEXT   NOT NULL REFERENCES agentctl_sessions (id) ON DELETE CASCADE,
    run     TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (session, run)
);
CREATE INDEX agentctl_sessions_of ON agentctl_sessions (tenant, user_id, updated);
