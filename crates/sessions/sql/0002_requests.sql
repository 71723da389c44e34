-- Requests that a sender may send again: the second time they are answered as the first time.
CREATE TABLE agentctl_requests (
    -- A hash of who sent it and of what the sender calls it.
    id     TEXT   NOT NULL PRIMARY KEY,
    -- A hash of what was asked.
    body   TEXT   NOT NULL,
    -- The run that was begun for it.
    run    TEXT,
    -- What was answered, as JSON; NULL: nothing yet.
    answer TEXT,
    -- Milliseconds since 1970, UTC.
    at     BIGINT NOT NULL,
    mark   TEXT
);
CREATE INDEX agentctl_requests_at ON agentctl_requests (at);
CREATE INDEX agentctl_session_runs_of ON agentctl_session_runs (run);
