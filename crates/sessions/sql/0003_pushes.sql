-- Who is told of a run's events, and how far they were told. What is told stands in the run's journal, not here.
CREATE TABLE agentctl_pushes (
    id      TEXT   NOT NULL PRIMARY KEY,
    -- NULL: no run was begun yet for the request.
    run     TEXT,
    request TEXT,
    -- What its client calls it.
    name    TEXT   NOT NULL,
    -- Where to and how, as the server wrote it.
    target  TEXT   NOT NULL,
    -- The number of the last record of the journal that the receiver has taken all of.
    told    BIGINT NOT NULL,
    -- How often what comes next was tried.
    tries   BIGINT NOT NULL,
    -- 1: there is nothing more to tell.
    ended   BIGINT NOT NULL,
    -- Of the last change; milliseconds since 1970, UTC.
    at      BIGINT NOT NULL,
    mark    TEXT
);
CREATE INDEX agentctl_pushes_run ON agentctl_pushes (run);
CREATE INDEX agentctl_pushes_request ON agentctl_pushes (request);
CREATE INDEX agentctl_pushes_open ON agentctl_pushes (ended, at);
