-- People who were erased, by keyed indexes alone: with these a restored backup is cleaned again, and nothing can be read off
-- them.
CREATE TABLE erasure (
	partner_id INTEGER NOT NULL,
	id         TEXT NOT NULL,
	person     TEXT NOT NULL,   -- keyed name of the person with this partner
	cpf        BYTEA NOT NULL,  -- keyed index of the CPF; empty when only a user hash was known
	user_256   BYTEA NOT NULL,  -- keyed index of the 256-bit user hash, or of the hash as it was given
	user_512   BYTEA NOT NULL,  -- keyed index of the 512-bit user hash, or the same again
	watched    BYTEA NOT NULL,  -- keyed index of the CPF as a value that others may watch; empty when it was not known
	erased_at  BIGINT NOT NULL, -- what is older than this is to be gone
	trail      BYTEA NOT NULL,  -- sealed: why, and the ids of the erased rows, by which the audit trail speaks of them
	done       BOOLEAN NOT NULL DEFAULT TRUE, -- false while rows go, a few at a time: then erased_at is when it began
	PRIMARY KEY (partner_id, id)
);
CREATE INDEX erasure_person ON erasure (partner_id, person);
CREATE INDEX erasure_order ON erasure (erased_at, id);
-- Erasures that are to be gone on with.
CREATE INDEX erasure_begun ON erasure (partner_id) WHERE NOT done;
