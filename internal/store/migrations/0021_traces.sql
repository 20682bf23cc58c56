-- What the records of a breach say of one value. classes is NULL where only the breach as a whole is known: every finding of
-- before.
ALTER TABLE finding ADD COLUMN classes BIGINT;
ALTER TABLE finding ADD COLUMN logins BYTEA; -- sealed: the sites and the last day of a stealer's log
ALTER TABLE finding ADD COLUMN own_site BOOLEAN NOT NULL DEFAULT FALSE;
-- Hosts of the partner's own, with spaces between them.
ALTER TABLE partner ADD COLUMN sites TEXT NOT NULL DEFAULT '';
