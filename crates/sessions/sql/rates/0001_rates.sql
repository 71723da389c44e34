-- How many requests clients make, over all servers that use this database. A migration that was released is never changed; what comes
-- later is a file of its own. What is lost with the database's memory is a minute at most: no write waits for a disk.
CREATE UNLOGGED TABLE agentctl_rates (
    -- As it is called in the settings of the servers.
    client  TEXT        NOT NULL PRIMARY KEY,
    -- When it could make a minute's worth at once again, by the clock of this database.
    full_at TIMESTAMPTZ NOT NULL
);
