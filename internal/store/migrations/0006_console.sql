-- A person who runs the service.
CREATE TABLE operator (
	id           TEXT PRIMARY KEY,
	email_index  BYTEA NOT NULL UNIQUE, -- keyed index of the address
	email        BYTEA NOT NULL, -- sealed
	role         TEXT NOT NULL CHECK (role IN ('admin', 'support', 'viewer')),
	disabled     BOOLEAN NOT NULL,
	password     BYTEA, -- sealed: the encoded Argon2id hash; NULL until one was chosen
	totp         BYTEA, -- sealed: the secret of the second factor
	totp_on      BOOLEAN NOT NULL,
	totp_step    BIGINT NOT NULL, -- the last time step whose code was taken
	invite       BYTEA UNIQUE,    -- digest of the one-time link in force
	invite_until BIGINT NOT NULL,
	failures     BIGINT NOT NULL, -- wrong tries in a row
	locked_until BIGINT NOT NULL,
	created_at   BIGINT NOT NULL,
	last_login   BIGINT NOT NULL
);
-- Locked by every change of an operator, so that rules over the whole list hold.
INSERT INTO epoch (name, value) VALUES ('operators', 1);

CREATE TABLE operator_session (
	digest      BYTEA PRIMARY KEY, -- of the random reference that the browser holds
	operator_id TEXT NOT NULL REFERENCES operator (id),
	created_at  BIGINT NOT NULL,
	seen_at     BIGINT NOT NULL,
	proved_at   BIGINT NOT NULL, -- when the password was last given
	origin      BYTEA NOT NULL   -- sealed: the network address it was opened from
);
CREATE INDEX operator_session_owner ON operator_session (operator_id, created_at);

-- The audit trail: numbered without gaps, each line's mac made of the line before and its own content.
CREATE TABLE audit (
	seq     BIGINT PRIMARY KEY,
	at      BIGINT NOT NULL,
	actor   TEXT NOT NULL,
	action  TEXT NOT NULL,
	subject TEXT NOT NULL,
	detail  BYTEA NOT NULL, -- sealed: where from, and what a line says beyond its columns
	mac     BYTEA NOT NULL
);
CREATE INDEX audit_actor ON audit (actor, seq);
CREATE INDEX audit_action ON audit (action, seq);
CREATE INDEX audit_subject ON audit (subject, seq);

-- The end of the trail under a keyed hash of its own: who cuts lines off cannot make the head of a shorter trail.
CREATE TABLE audit_head (
	id  BIGINT PRIMARY KEY CHECK (id = 1),
	seq BIGINT NOT NULL,
	mac BYTEA NOT NULL, -- of the last line
	tag BYTEA NOT NULL  -- over seq and mac
);

-- Counts that the console shows. They are kept up by a worker, because counting millions of rows takes longer than a page
-- may. Names that begin with "mark." say how far an incremental count has come.
CREATE TABLE tally (
	name TEXT NOT NULL,
	part TEXT NOT NULL,   -- a partner's id; empty: the whole service
	day  BIGINT NOT NULL, -- days since 1970-01-01, by the clock of Brasilia; 0: as it stands now
	n    BIGINT NOT NULL,
	PRIMARY KEY (name, part, day)
);
INSERT INTO epoch (name, value) VALUES ('figures', 1);

-- What the console lists and counts, newest first and without opening rows.
CREATE INDEX finding_newest ON finding (found_at, id, resolution);
CREATE INDEX asset_status ON asset (status, created_at, id);
CREATE INDEX subscription_suspended ON subscription (partner_id, seq) WHERE ended_at = 0 AND suspended_at > 0;
CREATE INDEX delivery_done ON delivery (state, finished_at) WHERE finished_at > 0;
CREATE INDEX support_case_status ON support_case (status, changed_at, id);
CREATE INDEX job_newest ON job (created_at, id);
