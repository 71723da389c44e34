-- Which server tells a receiver of a run's events, over all that use this database. A migration that was released is never changed; what
-- comes later is a file of its own. What is lost with the database's memory is told by whoever asks first: no write waits for a disk.
CREATE UNLOGGED TABLE agentctl_tellers (
    -- The receiver's id in agentctl_pushes.
    push   TEXT        NOT NULL PRIMARY KEY,
    -- The process.
    teller TEXT        NOT NULL,
    -- Until when it has it, by the clock of this database.
    until  TIMESTAMPTZ NOT NULL
);
