-- A tenant. Its number is drawn at random; it stands in every table of its rows, at the head of every key, and the ID that
-- people see is another spelling of it (see package partner).
CREATE TABLE partner (
	id              INTEGER PRIMARY KEY,
	name            TEXT NOT NULL,
	mode            TEXT NOT NULL CHECK (mode IN ('live', 'sandbox')),
	suspended       BOOLEAN NOT NULL,
	rate_per_second BIGINT NOT NULL,
	burst           BIGINT NOT NULL,
	default_plan    TEXT NOT NULL,
	mask_cards      BOOLEAN NOT NULL,
	sites           TEXT NOT NULL,  -- hosts of its own, with spaces between them
	watched_sites   TEXT NOT NULL,  -- hosts of others that the operator watches for it
	people          BIGINT NOT NULL, -- how many the contract covers; 0: not said
	first_looks_per_hour BIGINT NOT NULL, -- 0: by the number of people; -1: none
	officer         TEXT NOT NULL DEFAULT '', -- name and contact of its data protection officer
	sandbox_of      INTEGER, -- the live partner whose people try things out here; NULL: nobody's
	salt            BYTEA NOT NULL, -- sealed
	created_at      BIGINT NOT NULL,
	mac             BYTEA NOT NULL  -- keyed hash of the row: see core.grantMAC
);

-- How a partner's people see their page.
CREATE TABLE partner_theme (
	partner_id INTEGER NOT NULL REFERENCES partner (id),
	body       BYTEA NOT NULL, -- sealed: colours, texts, logo and in whose pages it may stand
	PRIMARY KEY (partner_id)
);

CREATE TABLE api_key (
	id         TEXT PRIMARY KEY,
	partner_id INTEGER NOT NULL REFERENCES partner (id),
	label      TEXT NOT NULL,
	preview    TEXT NOT NULL,
	lookup     BYTEA NOT NULL UNIQUE, -- the first bytes of digest
	digest     BYTEA NOT NULL,  -- keyed hash of the key's digest
	scopes     TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL, -- 0: never
	revoked_at BIGINT NOT NULL, -- 0: not revoked
	made_by    TEXT NOT NULL,   -- the key that made it; empty: a person did
	line       TEXT NOT NULL,   -- the first of the keys that replaced one another up to this one
	mac        BYTEA NOT NULL   -- keyed hash of the row
);
CREATE INDEX api_key_partner ON api_key (partner_id, created_at, id);

-- How often a partner asked for an operation in a day.
CREATE TABLE request_count (
	partner_id INTEGER NOT NULL,
	day        BIGINT NOT NULL, -- days since 1970-01-01, by the clock of Brasilia
	operation  TEXT NOT NULL,   -- method and template
	sent       BIGINT NOT NULL,
	refused    BIGINT NOT NULL, -- of these
	PRIMARY KEY (partner_id, day, operation)
);

-- The latest requests of a partner, for its developers. Nothing of what was sent is kept: no body, no address, no value.
CREATE TABLE request_log (
	partner_id INTEGER NOT NULL,
	at         BIGINT NOT NULL,
	number     BIGINT NOT NULL, -- tells requests of one moment apart
	operation  TEXT NOT NULL,   -- method and template
	status     INTEGER NOT NULL,
	took       BIGINT NOT NULL, -- microseconds
	fault      TEXT NOT NULL,   -- code of the fault and the field that it is about; empty: none
	key_id     TEXT NOT NULL DEFAULT '', -- the API key that it came with
	PRIMARY KEY (partner_id, at, number)
);

-- One row per idempotency key in use. The answer may repeat personal data, so it is sealed.
CREATE TABLE idempotency (
	created_at  BIGINT NOT NULL,
	partner_id  INTEGER NOT NULL,
	claim       BYTEA NOT NULL, -- keyed index of the line of the API key, path and key
	body_digest BYTEA NOT NULL, -- keyed index of the body's digest
	answer      BYTEA,          -- sealed
	person      BYTEA NOT NULL, -- keyed index of the user whom the request names; empty: nobody, or many
	PRIMARY KEY (partner_id, claim)
);
CREATE INDEX idempotency_age ON idempotency (created_at);
-- How what was answered about a person is found when the person is erased.
CREATE INDEX idempotency_person ON idempotency (partner_id, person) WHERE length(person) > 0;

-- What a partner sells.
CREATE TABLE plan (
	partner_id  INTEGER NOT NULL REFERENCES partner (id),
	id          TEXT NOT NULL,
	name        TEXT NOT NULL,
	coverage    TEXT NOT NULL,    -- JSON: see package plan
	max_devices BIGINT NOT NULL,  -- 0: no bound
	key_days    BIGINT NOT NULL,  -- 0: the default
	keys_end    BOOLEAN NOT NULL, -- keys end with the subscription
	watch       INTEGER NOT NULL DEFAULT 0, -- kinds that are watched of what subscriptions name: see plan.Watch
	retired     BOOLEAN NOT NULL,
	created_at  BIGINT NOT NULL,
	mac         BYTEA NOT NULL,   -- keyed hash of the row
	PRIMARY KEY (partner_id, id)
);

-- A person whose CPF the service knows, with both digests by which a partner may name them in the cyber area.
CREATE TABLE person (
	created_at BIGINT NOT NULL,
	partner_id INTEGER NOT NULL,
	cpf        BYTEA NOT NULL, -- keyed index of the CPF
	user_256   BYTEA NOT NULL, -- keyed index of the 256-bit user hash
	user_512   BYTEA NOT NULL, -- keyed index of the 512-bit user hash
	PRIMARY KEY (partner_id, cpf)
);
CREATE UNIQUE INDEX person_user_256 ON person (partner_id, user_256);
CREATE UNIQUE INDEX person_user_512 ON person (partner_id, user_512);
-- How people are found whose bulk request failed after they were written.
CREATE INDEX person_created ON person (created_at);

-- How a partner spelt the user hash of a person last, in a request that wrote: events name people so. It stands under the
-- index of the longer digest once both are known to be one person's, else under that of the hash as sent.
CREATE TABLE person_name (
	named_at   BIGINT NOT NULL,
	partner_id INTEGER NOT NULL,
	user_index BYTEA NOT NULL,
	name       BYTEA NOT NULL, -- sealed: the user hash as sent
	PRIMARY KEY (partner_id, user_index)
);
