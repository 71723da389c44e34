-- A run that somebody asks to end, whoever works on it: the number of the lease that was asked. A later one is not meant.
ALTER TABLE agentctl_journals ADD COLUMN stop BIGINT;
