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

-- Erasures that partners asked for. A row names the person only until it is over.
CREATE TABLE erasure_request (
	partner_id   INTEGER NOT NULL,
	id           TEXT NOT NULL,
	state        TEXT NOT NULL,    -- pending, erasing, completed or cancelled
	person       BYTEA NOT NULL,   -- keyed index of the user hash; empty once it is over
	request      BYTEA,            -- sealed: the user hash as it was sent, and why; NULL once it is over
	requested_at BIGINT NOT NULL,
	due_at       BIGINT NOT NULL,
	ended_at     BIGINT NOT NULL,  -- 0 while it is open
	next_at      BIGINT NOT NULL,  -- when a worker is to look at it: when it is due, then when the worker's lease ends
	erasure      TEXT NOT NULL,    -- the erasure that carries it out; empty while it is pending
	removed      BIGINT NOT NULL,  -- how many records the erasure found
	PRIMARY KEY (partner_id, id)
);
-- A person has one open request at most.
CREATE UNIQUE INDEX erasure_request_open ON erasure_request (partner_id, person) WHERE ended_at = 0;
CREATE INDEX erasure_request_next ON erasure_request (next_at) WHERE ended_at = 0;

-- Sessions on people's pages that were ended before their time, until that is over. A name is drawn by chance.
CREATE TABLE portal_ended (
	partner_id INTEGER NOT NULL,
	session    TEXT NOT NULL,
	until      BIGINT NOT NULL,
	PRIMARY KEY (partner_id, session)
);
CREATE INDEX portal_ended_until ON portal_ended (partner_id, until);
