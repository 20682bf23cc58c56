-- A person who runs the service, or a partner's who looks after the partner's own part of it.
CREATE TABLE operator (
	id           TEXT PRIMARY KEY,
	email_index  BYTEA NOT NULL UNIQUE, -- keyed index of the address
	email        BYTEA NOT NULL, -- sealed
	role         TEXT NOT NULL CHECK (role IN ('admin', 'support', 'viewer', 'partner.admin', 'partner.developer', 'partner.attendant', 'partner.officer', 'partner.viewer')),
	works_for    INTEGER, -- whose person it is; NULL: of the service itself
	disabled     BOOLEAN NOT NULL,
	password     BYTEA, -- sealed: the encoded Argon2id hash; NULL until one was chosen
	totp         BYTEA, -- sealed: the secret of the second factor
	totp_on      BOOLEAN NOT NULL,
	totp_step    BIGINT NOT NULL, -- the last time step whose code was taken
	invite       BYTEA UNIQUE,    -- keyed hash of the digest of the one-time link in force
	invite_until BIGINT NOT NULL,
	failures     BIGINT NOT NULL, -- wrong tries in a row
	locked_until BIGINT NOT NULL,
	created_at   BIGINT NOT NULL,
	last_login   BIGINT NOT NULL,
	mac          BYTEA NOT NULL,  -- keyed hash of the row: see core.grantMAC
	recovery     BYTEA, -- sealed: digests of the codes that stand in for a lost second factor
	noticed_at   BIGINT NOT NULL DEFAULT 0, -- up to when the person was told of changes to their own access
	CHECK ((works_for IS NULL) = (role IN ('admin', 'support', 'viewer')))
);
CREATE INDEX operator_works_for ON operator (works_for) WHERE works_for IS NOT NULL;

-- A way in that a device holds.
CREATE TABLE operator_passkey (
	id          BYTEA PRIMARY KEY, -- what the authenticator calls it
	operator_id TEXT NOT NULL REFERENCES operator (id),
	created_at  BIGINT NOT NULL,
	credential  BYTEA NOT NULL -- sealed, bound to id and operator: name, public key and counter
);
CREATE INDEX operator_passkey_owner ON operator_passkey (operator_id, created_at);

-- What the answer of an authenticator is held against, once.
CREATE TABLE operator_ceremony (
	digest BYTEA PRIMARY KEY, -- of the random reference that the page holds
	state  BYTEA NOT NULL, -- sealed
	until  BIGINT NOT NULL
);
CREATE INDEX operator_ceremony_until ON operator_ceremony (until);

CREATE TABLE operator_session (
	digest      BYTEA PRIMARY KEY, -- keyed hash of the digest of the random reference that the browser holds
	operator_id TEXT NOT NULL REFERENCES operator (id),
	created_at  BIGINT NOT NULL,
	seen_at     BIGINT NOT NULL,
	proved_at   BIGINT NOT NULL, -- when the password was last given
	origin      BYTEA NOT NULL,  -- sealed: the network address it was opened from
	mac         BYTEA NOT NULL   -- keyed hash of the row
);
CREATE INDEX operator_session_owner ON operator_session (operator_id, created_at);

-- A filter of a list that an operator keeps under a name.
CREATE TABLE operator_filter (
	operator_id TEXT NOT NULL REFERENCES operator (id),
	id          TEXT NOT NULL,
	list        TEXT NOT NULL,
	content     BYTEA NOT NULL, -- sealed: its name, and the query of the page
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (operator_id, id)
);

-- A list that was written into a file for an operator, or a file that they sent and have not decided on, until it is swept.
CREATE TABLE operator_export (
	id          TEXT PRIMARY KEY,
	operator_id TEXT NOT NULL REFERENCES operator (id),
	list        TEXT NOT NULL,
	about       TEXT NOT NULL DEFAULT '', -- whose data, if the list does not say
	format      TEXT NOT NULL CHECK (format IN ('csv', 'json')),
	created_at  BIGINT NOT NULL,
	until       BIGINT NOT NULL,  -- when it is removed
	lines       BIGINT NOT NULL,
	parts       BIGINT NOT NULL,
	done        BOOLEAN NOT NULL  -- all of it is there
);
CREATE INDEX operator_export_owner ON operator_export (operator_id, created_at);
CREATE INDEX operator_export_until ON operator_export (until);

CREATE TABLE operator_export_part (
	export_id TEXT NOT NULL REFERENCES operator_export (id),
	number    BIGINT NOT NULL,
	body      BYTEA NOT NULL, -- sealed
	PRIMARY KEY (export_id, number)
);

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
CREATE INDEX audit_at ON audit (at, seq);

-- The end of the trail under a keyed hash of its own: who cuts lines off cannot make the head of a shorter trail.
CREATE TABLE audit_head (
	id  BIGINT PRIMARY KEY CHECK (id = 1),
	seq BIGINT NOT NULL,
	mac BYTEA NOT NULL, -- of the last line
	tag BYTEA NOT NULL  -- over seq and mac
);

-- Where the trail begins once its oldest lines were dropped: the last line before, under a keyed hash of its own.
CREATE TABLE audit_base (
	id  BIGINT PRIMARY KEY CHECK (id = 1),
	seq BIGINT NOT NULL,
	mac BYTEA NOT NULL, -- of that line
	tag BYTEA NOT NULL  -- over seq and mac
);
