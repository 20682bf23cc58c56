-- How a partner spelt the user hash of a person last, in a request that wrote: events name people so. It stands under the index of the
-- longer digest once both are known to be one person's, else under that of the hash as sent.
CREATE TABLE person_name (
	partner_id TEXT NOT NULL,
	user_index BYTEA NOT NULL,
	name       BYTEA NOT NULL, -- sealed: the user hash as sent
	named_at   BIGINT NOT NULL,
	PRIMARY KEY (partner_id, user_index)
);
