-- A watched value.
CREATE TABLE asset (
	created_at    BIGINT NOT NULL,
	fingerprint   BIGINT,           -- veiled under a key of the partner's own; NULL: a sandbox value, which never meets the corpora
	partner_id    INTEGER NOT NULL,
	kind          INTEGER NOT NULL,
	pending       BOOLEAN NOT NULL, -- not yet probed in every published breach
	id            TEXT NOT NULL,
	user_index    BYTEA NOT NULL,   -- keyed index of the user
	value_index   BYTEA NOT NULL,   -- keyed index of the value's normal form
	value         BYTEA NOT NULL,   -- sealed: value and user hash as sent
	status        TEXT NOT NULL CHECK (status IN ('monitorado', 'alerta', 'comprometido')),
	-- The breaches in which the value stands open, as one text: score and advice of somebody with hundreds of findings read a
	-- column instead of a row for each. It is written with the findings, under the lock of this row.
	open_breaches TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (partner_id, id)
);
CREATE UNIQUE INDEX asset_value ON asset (partner_id, user_index, kind, value_index);
-- Who watches a value: an operator's search, and a person's CPF under other names.
CREATE INDEX asset_watchers ON asset (partner_id, value_index);
CREATE INDEX asset_probe ON asset (partner_id, fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX asset_pending ON asset (created_at) WHERE pending;
CREATE INDEX asset_age ON asset (created_at);
CREATE INDEX asset_status ON asset (status, created_at, id);
-- A partner's own people look at what was found, which is little of all.
CREATE INDEX asset_found ON asset (partner_id, status, created_at, id) WHERE status <> 'monitorado';

-- A watched value that a breach holds: once per breach, whoever noticed it and however often.
CREATE TABLE finding (
	found_at     BIGINT NOT NULL,
	resolved_at  BIGINT NOT NULL,
	renewed_at   BIGINT NOT NULL DEFAULT 0, -- when the person was told more of it, and its plan began anew; 0: never
	remind_at    BIGINT NOT NULL DEFAULT 0, -- when to look for steps that are due soon; 0: never again
	classes      BIGINT,           -- what the records of the value held; NULL where only the breach as a whole is known
	partner_id   INTEGER NOT NULL,
	quiet        BOOLEAN NOT NULL, -- recycled data: nobody was alerted
	own_site     BOOLEAN NOT NULL DEFAULT FALSE,
	watched_site BOOLEAN NOT NULL DEFAULT FALSE,
	id           TEXT NOT NULL,
	asset_id     TEXT NOT NULL,
	breach       TEXT NOT NULL REFERENCES breach (name),
	resolution   TEXT NOT NULL,    -- empty while open
	logins       BYTEA,            -- sealed: the sites and the last day of a stealer's log
	PRIMARY KEY (partner_id, id),
	FOREIGN KEY (partner_id, asset_id) REFERENCES asset (partner_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX finding_once ON finding (partner_id, asset_id, breach);
CREATE INDEX finding_breach ON finding (breach, id);
CREATE INDEX finding_newest ON finding (found_at, id, resolution);
CREATE INDEX finding_partner ON finding (partner_id, found_at, id, resolution);
CREATE INDEX finding_remind ON finding (remind_at) WHERE remind_at > 0;

-- What a person said of a step of a finding's plan; one of which nothing was said is to be done.
CREATE TABLE finding_step (
	marked_at  BIGINT NOT NULL,
	partner_id INTEGER NOT NULL,
	finding_id TEXT NOT NULL,
	step       TEXT NOT NULL,
	state      TEXT NOT NULL CHECK (state IN ('done', 'skipped')),
	PRIMARY KEY (partner_id, finding_id, step),
	FOREIGN KEY (partner_id, finding_id) REFERENCES finding (partner_id, id) ON DELETE CASCADE
);

-- Every change of a watched value's status.
CREATE TABLE asset_history (
	at         BIGINT NOT NULL,
	seq        BIGINT NOT NULL,
	partner_id INTEGER NOT NULL,
	asset_id   TEXT NOT NULL,
	previous   TEXT NOT NULL,
	status     TEXT NOT NULL,
	PRIMARY KEY (partner_id, asset_id, seq),
	FOREIGN KEY (partner_id, asset_id) REFERENCES asset (partner_id, id) ON DELETE CASCADE
);

-- Matches of a new breach that have not been made findings yet: gathered here so that a person is told once of all of them.
CREATE TABLE match_hit (
	breach     TEXT NOT NULL,
	partner_id INTEGER NOT NULL,
	user_index BYTEA NOT NULL,
	asset_id   TEXT NOT NULL,
	PRIMARY KEY (breach, partner_id, user_index, asset_id),
	FOREIGN KEY (partner_id, asset_id) REFERENCES asset (partner_id, id) ON DELETE CASCADE
);
CREATE INDEX match_hit_asset ON match_hit (partner_id, asset_id);

-- Values that a live partner began to watch, by the hour since 1970: what its caps are held against, and what tells a usual
-- pace from an unusual one. Deleting a value does not give its place back.
CREATE TABLE asset_pace (
	partner_id INTEGER NOT NULL,
	hour       BIGINT NOT NULL,
	taken      BIGINT NOT NULL, -- places taken, those that a process holds ready included
	hits       BIGINT NOT NULL, -- of them, found in a breach as soon as they were added
	PRIMARY KEY (partner_id, hour)
);

-- People whom a live partner watches although no subscription names them.
CREATE TABLE asset_stranger (
	partner_id INTEGER NOT NULL,
	user_index BYTEA NOT NULL, -- keyed index of the user
	since      BIGINT NOT NULL,
	PRIMARY KEY (partner_id, user_index)
);

-- How many of them a partner has. Its lock makes counting and adding one a single step.
CREATE TABLE asset_stranger_counter (
	partner_id INTEGER PRIMARY KEY,
	strangers  BIGINT NOT NULL
);

-- What the operator was told of partners whose pace is not as usual.
CREATE TABLE asset_unusual (
	partner_id INTEGER NOT NULL,
	what       TEXT NOT NULL CHECK (what IN ('adds', 'hits')),
	since      BIGINT NOT NULL,
	seen       BIGINT NOT NULL, -- values in a day, or hits in a thousand of them
	usual      BIGINT NOT NULL, -- the bound that it left
	PRIMARY KEY (partner_id, what)
);
