-- Facts about this database: its id and the token that binds it to its key file.
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value BYTEA NOT NULL
);

-- Counters that tell caches of other processes when to forget.
CREATE TABLE epoch (
	name  TEXT PRIMARY KEY,
	value BIGINT NOT NULL
);
INSERT INTO epoch (name, value) VALUES ('access', 1);

CREATE TABLE partner (
	id              TEXT PRIMARY KEY,
	name            TEXT NOT NULL,
	mode            TEXT NOT NULL CHECK (mode IN ('live', 'sandbox')),
	suspended       BOOLEAN NOT NULL,
	rate_per_second BIGINT NOT NULL,
	burst           BIGINT NOT NULL,
	default_plan    TEXT NOT NULL,
	mask_cards      BOOLEAN NOT NULL,
	salt            BYTEA NOT NULL, -- sealed
	created_at      BIGINT NOT NULL
);

CREATE TABLE api_key (
	id         TEXT PRIMARY KEY,
	partner_id TEXT NOT NULL REFERENCES partner (id),
	label      TEXT NOT NULL,
	preview    TEXT NOT NULL,
	lookup     BYTEA NOT NULL UNIQUE, -- the first bytes of digest
	digest     BYTEA NOT NULL,
	scopes     TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL, -- 0: never
	revoked_at BIGINT NOT NULL  -- 0: not revoked
);
CREATE INDEX api_key_partner ON api_key (partner_id, created_at, id);

-- One row per idempotency key in use. The answer may repeat personal data, so it is sealed.
CREATE TABLE idempotency (
	partner_id  TEXT NOT NULL,
	claim       BYTEA NOT NULL, -- keyed index of path and key
	body_digest BYTEA NOT NULL, -- keyed index of the body's digest
	answer      BYTEA,          -- sealed
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (partner_id, claim)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

-- The catalogue of support services, the same for every partner.
CREATE TABLE service (
	id          TEXT PRIMARY KEY,
	name        TEXT NOT NULL,
	description TEXT NOT NULL,
	position    BIGINT NOT NULL,
	retired     BOOLEAN NOT NULL,
	created_at  BIGINT NOT NULL
);

-- Work that outlives a request.
CREATE TABLE job (
	id          TEXT PRIMARY KEY,
	kind        TEXT NOT NULL,
	subject     TEXT NOT NULL,
	state       TEXT NOT NULL CHECK (state IN ('ready', 'running', 'done', 'failed', 'cancelled')),
	args        TEXT NOT NULL,
	progress    TEXT NOT NULL,
	error       TEXT NOT NULL,
	attempts    BIGINT NOT NULL,
	next_at     BIGINT NOT NULL, -- when it may be claimed; while running, when its lease ends
	lease       TEXT NOT NULL,   -- who holds it; empty when nobody does
	cancel      BOOLEAN NOT NULL,
	created_at  BIGINT NOT NULL,
	finished_at BIGINT NOT NULL
);
CREATE INDEX job_due ON job (next_at) WHERE state IN ('ready', 'running');
CREATE UNIQUE INDEX job_subject ON job (kind, subject) WHERE state IN ('ready', 'running');

-- A person whose CPF the service knows, with both digests by which a partner may name them in the cyber area.
CREATE TABLE person (
	partner_id TEXT NOT NULL,
	cpf        BYTEA NOT NULL, -- keyed index of the CPF
	user_256   BYTEA NOT NULL, -- keyed index of the 256-bit user hash
	user_512   BYTEA NOT NULL, -- keyed index of the 512-bit user hash
	created_at BIGINT NOT NULL,
	PRIMARY KEY (partner_id, cpf)
);
CREATE UNIQUE INDEX person_user_256 ON person (partner_id, user_256);
CREATE UNIQUE INDEX person_user_512 ON person (partner_id, user_512);

-- What happened, in order per partner: seq has no gaps and grows in commit order, because its counter's row is locked
-- until the transaction ends.
CREATE TABLE event (
	id         TEXT PRIMARY KEY,
	partner_id TEXT NOT NULL,
	seq        BIGINT NOT NULL,
	type       TEXT NOT NULL,
	person     BYTEA NOT NULL, -- keyed index of the user; empty when the event is about nobody
	body       BYTEA NOT NULL, -- sealed: what is pushed and pulled
	created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX event_order ON event (partner_id, seq);
CREATE INDEX event_age ON event (created_at);

CREATE TABLE event_counter (
	partner_id TEXT PRIMARY KEY,
	last       BIGINT NOT NULL
);
