-- A watched value.
CREATE TABLE asset (
	created_at    BIGINT NOT NULL,
	due_at        BIGINT NOT NULL DEFAULT 0, -- since when the first look is due; it means nothing once that is done
	fingerprint   BIGINT,           -- veiled under a key of the partner's own; NULL: no match meets it, because it is a sandbox value or waits for its first look
	partner_id    INTEGER NOT NULL,
	kind          INTEGER NOT NULL,
	source        INTEGER NOT NULL DEFAULT 1, -- 1 added by itself, 2 named by a subscription in force, 3 both
	look          INTEGER NOT NULL, -- the first look into past breaches: 0 done, 1 due, 2 waits for a token of the partner
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
CREATE INDEX asset_look_due ON asset (due_at, id) WHERE look = 1;
CREATE INDEX asset_look_waiting ON asset (partner_id, created_at, id) WHERE look = 2;
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

-- The tokens of a partner: each first look of a watched value into past breaches takes one. Processes take several at a
-- time, so that most requests do not touch this row. Nothing is given back. The row is made with the partner; one that is
-- missing or was not written by this program gives none.
CREATE TABLE first_look (
	partner_id    INTEGER PRIMARY KEY,
	tokens        BIGINT NOT NULL, -- refilled with time, at most the burst
	onboarded     BIGINT NOT NULL, -- used of those that the partner's size gives
	granted       BIGINT NOT NULL, -- given by an operator, used when there are no others
	refilled_at   BIGINT NOT NULL,
	subscriptions BIGINT NOT NULL, -- in force for 30 days or more: each gives one token a day
	counted_at    BIGINT NOT NULL, -- when they were counted
	told          TEXT NOT NULL CHECK (told IN ('running', 'waiting', 'stopped')), -- what the partner was told last
	mac           BYTEA NOT NULL   -- keyed hash of the row: see core.grantMAC
);

-- How often a watched value was asked about together with a password on a day: by one partner, or by all of them where
-- the partner is 0.
CREATE TABLE credential_guess (
	day        BIGINT NOT NULL,  -- days since 1970-01-01, by the clock of Brasilia
	partner_id INTEGER NOT NULL,
	value      BYTEA NOT NULL,   -- keyed index of the value's fingerprint
	asked      BIGINT NOT NULL,
	mac        BYTEA NOT NULL,   -- keyed hash of the row
	PRIMARY KEY (day, partner_id, value)
);
