-- A body of leaked data. Its identifiers are in a segment file of the corpora, as keyed fingerprints.
CREATE TABLE breach (
	name         TEXT PRIMARY KEY,
	title        TEXT NOT NULL,
	day          BIGINT NOT NULL, -- when it happened, at 00:00 UTC
	source       TEXT NOT NULL,
	description  TEXT NOT NULL,
	exposes      TEXT NOT NULL,   -- classes, separated by commas
	kind         TEXT NOT NULL,
	verified     BOOLEAN NOT NULL,
	fabricated   BOOLEAN NOT NULL,
	spam_list    BOOLEAN NOT NULL,
	state        TEXT NOT NULL CHECK (state IN ('importing', 'published', 'retracted')),
	segment      TEXT NOT NULL,   -- file of the corpora; empty: nothing to probe
	digest       TEXT NOT NULL,   -- of that file
	tally        TEXT NOT NULL,   -- what the import counted, as JSON
	added_at     BIGINT NOT NULL,
	published_at BIGINT NOT NULL, -- 0: not yet
	retracted_at BIGINT NOT NULL  -- 0: not retracted
);
CREATE INDEX breach_order ON breach (added_at, name);

-- The made-up breach in which sandbox partners find the documented values.
INSERT INTO breach (name, title, day, source, description, exposes, kind, verified, fabricated, spam_list, state, segment, digest, tally,
	added_at, published_at, retracted_at)
VALUES ('sandbox', 'Vazamento de demonstração', 1767225600000000, 'Vigia', 'Dados fictícios para parceiros em teste.',
	'email,password,cpf,phone,card,name', 'breach', TRUE, FALSE, FALSE, 'published', '', '', '{}', 1767225600000000, 1767225600000000, 0);

-- Moves whenever a breach is published or retracted: processes that hold segments open look at it.
INSERT INTO epoch (name, value) VALUES ('corpora', 1);

-- A watched value.
CREATE TABLE asset (
	id          TEXT PRIMARY KEY,
	partner_id  TEXT NOT NULL,
	user_index  BYTEA NOT NULL, -- keyed index of the user
	kind        BIGINT NOT NULL,
	value_index BYTEA NOT NULL, -- keyed index of the value's normal form
	fingerprint BIGINT,         -- keyed, the same for all partners; NULL: a sandbox value, which never meets the corpora
	pending     BOOLEAN NOT NULL, -- not yet probed in every published breach
	value       BYTEA NOT NULL, -- sealed: value and user hash as sent
	status      TEXT NOT NULL CHECK (status IN ('monitorado', 'alerta', 'comprometido')),
	created_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX asset_value ON asset (partner_id, user_index, kind, value_index);
CREATE INDEX asset_probe ON asset (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX asset_pending ON asset (created_at) WHERE pending;
CREATE INDEX asset_age ON asset (created_at);

-- A watched value that a breach holds: once per breach, whoever noticed it and however often.
CREATE TABLE finding (
	id          TEXT PRIMARY KEY,
	partner_id  TEXT NOT NULL,
	asset_id    TEXT NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
	breach      TEXT NOT NULL REFERENCES breach (name),
	quiet       BOOLEAN NOT NULL, -- recycled data: nobody was alerted
	found_at    BIGINT NOT NULL,
	resolution  TEXT NOT NULL,    -- empty while open
	resolved_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX finding_once ON finding (asset_id, breach);
CREATE INDEX finding_breach ON finding (breach, id);

-- Every change of a watched value's status.
CREATE TABLE asset_history (
	asset_id   TEXT NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
	partner_id TEXT NOT NULL,
	at         BIGINT NOT NULL,
	seq        BIGINT NOT NULL,
	previous   TEXT NOT NULL,
	status     TEXT NOT NULL,
	PRIMARY KEY (asset_id, seq)
);

-- Matches of a new breach that have not been made findings yet: gathered here so that a person is told once of all of them.
CREATE TABLE match_hit (
	breach     TEXT NOT NULL,
	partner_id TEXT NOT NULL,
	user_index BYTEA NOT NULL,
	asset_id   TEXT NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
	PRIMARY KEY (breach, partner_id, user_index, asset_id)
);
CREATE INDEX match_hit_asset ON match_hit (asset_id);

-- Continuous sources.
CREATE TABLE feed (
	name       TEXT PRIMARY KEY,
	kind       TEXT NOT NULL CHECK (kind IN ('folder', 'list', 'crawl', 'hibp')),
	target     TEXT NOT NULL,   -- folder, bucket or address
	secret     BYTEA,           -- sealed: an API key
	settings   TEXT NOT NULL,   -- JSON
	paused     BOOLEAN NOT NULL,
	every_s    BIGINT NOT NULL,
	state      TEXT NOT NULL,   -- the worker's note to itself, JSON: ids, counts, positions
	failures   BIGINT NOT NULL, -- in a row
	error      TEXT NOT NULL,
	next_at    BIGINT NOT NULL,
	last_at    BIGINT NOT NULL,
	created_at BIGINT NOT NULL
);

-- What a feed has already taken, by a keyed mark of its name or content.
CREATE TABLE feed_item (
	feed    TEXT NOT NULL,
	mark    BYTEA NOT NULL,
	breach  TEXT NOT NULL,
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (feed, mark)
);
