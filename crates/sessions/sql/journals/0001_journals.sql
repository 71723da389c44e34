-- Journals of runs, shared by all who use this database. A migration that was released is never changed; what comes later is a file of
-- its own.
CREATE TABLE agentctl_journal_store (
    -- What marks are made over in place of a folder: another database is another place.
    id TEXT NOT NULL PRIMARY KEY
);
INSERT INTO agentctl_journal_store (id) VALUES (gen_random_uuid()::text);
CREATE TABLE agentctl_journals (
    run     TEXT        NOT NULL PRIMARY KEY,
    -- The number of the last line, and its hash.
    seq     BIGINT      NOT NULL,
    hash    TEXT        NOT NULL,
    -- Raised by one with each lease.
    fence   BIGINT      NOT NULL,
    -- Who has the lease, as messages call it; NULL: nobody. By the clock of this database.
    owner   TEXT,
    expires TIMESTAMPTZ NOT NULL,
    -- It was removed: the name is not given again, and copies elsewhere are removed as well.
    gone    BOOLEAN     NOT NULL
);
CREATE INDEX agentctl_journals_held ON agentctl_journals (expires) WHERE owner IS NOT NULL;
CREATE INDEX agentctl_journals_gone ON agentctl_journals (run) WHERE gone;
CREATE TABLE agentctl_journal_lines (
    run  TEXT   NOT NULL REFERENCES agentctl_journals (run) ON DELETE CASCADE,
    seq  BIGINT NOT NULL,
    -- To the byte as it stands in a file, without its newline.
    line TEXT   NOT NULL,
    PRIMARY KEY (run, seq)
);
-- Snapshots and files of runs.
CREATE TABLE agentctl_journal_kept (
    run    TEXT  NOT NULL REFERENCES agentctl_journals (run) ON DELETE CASCADE,
    name   TEXT  NOT NULL,
    sha256 TEXT  NOT NULL,
    bytes  BYTEA NOT NULL,
    PRIMARY KEY (run, name)
);
