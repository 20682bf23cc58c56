-- People who were erased, by keyed indexes alone: with these a restored backup is cleaned again, and nothing can be read off them.
CREATE TABLE erasure (
	id         TEXT PRIMARY KEY,
	partner_id TEXT NOT NULL,
	person     TEXT NOT NULL,   -- the audit trail's name for the person
	cpf        BYTEA NOT NULL,  -- keyed index of the CPF; empty when only a user hash was known
	user_256   BYTEA NOT NULL,  -- keyed index of the 256-bit user hash, or of the hash as it was given
	user_512   BYTEA NOT NULL,  -- keyed index of the 512-bit user hash, or the same again
	watched    BYTEA NOT NULL,  -- keyed index of the CPF as a value that others may watch; empty when it was not known
	erased_at  BIGINT NOT NULL, -- what is older than this is to be gone
	trail      BYTEA NOT NULL   -- sealed: why, and the ids of the erased rows, by which the audit trail speaks of them
);
CREATE INDEX erasure_person ON erasure (person, erased_at);
CREATE INDEX erasure_order ON erasure (erased_at, id);

-- Numbers of events that were erased with their person: the one kind of gap that is not a loss.
CREATE TABLE event_gap (
	partner_id TEXT NOT NULL,
	seq        BIGINT NOT NULL,
	PRIMARY KEY (partner_id, seq)
);

-- Where the audit trail begins once its oldest lines were dropped: the last line before, under a keyed hash of its own.
CREATE TABLE audit_base (
	id  BIGINT PRIMARY KEY CHECK (id = 1),
	seq BIGINT NOT NULL,
	mac BYTEA NOT NULL, -- of that line
	tag BYTEA NOT NULL  -- over seq and mac
);

-- How a person's rows are found without reading all of a partner's.
CREATE INDEX event_person ON event (partner_id, person);

-- How what has outlived its purpose is found.
CREATE INDEX subscription_over ON subscription (ended_at) WHERE ended_at <> 0;
CREATE INDEX epp_key_over ON epp_key (valid_until);
CREATE INDEX job_over ON job (finished_at) WHERE finished_at > 0;
