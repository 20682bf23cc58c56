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
	vendor_words BOOLEAN NOT NULL DEFAULT FALSE, -- a vendor wrote title, source and description; no operator approved them yet
	state        TEXT NOT NULL CHECK (state IN ('importing', 'published', 'retracted')),
	segment      TEXT NOT NULL,   -- file of the corpora; empty: nothing to probe
	digest       TEXT NOT NULL,   -- of that file
	pairs        TEXT NOT NULL DEFAULT '', -- file of identifiers together with the passwords beside them; empty: there is none
	pairs_digest TEXT NOT NULL DEFAULT '', -- of that file
	tally        TEXT NOT NULL,   -- what the import counted, as JSON
	added_at     BIGINT NOT NULL,
	published_at BIGINT NOT NULL, -- 0: not yet
	retracted_at BIGINT NOT NULL, -- 0: not retracted
	renewals     BIGINT NOT NULL DEFAULT 0, -- how often the content was renewed since it was published
	renewed_at   BIGINT NOT NULL DEFAULT 0, -- the last time
	former       TEXT NOT NULL DEFAULT '',  -- files of contents before that are to be removed, with spaces between them
	mac          BYTEA NOT NULL DEFAULT ''  -- keyed hash of what is told of it: see core.grantMAC
);
CREATE INDEX breach_order ON breach (added_at, name);

-- The made-up breach in which sandbox partners find the documented values.
INSERT INTO breach (name, title, day, source, description, exposes, kind, verified, fabricated, spam_list, state, segment, digest, tally,
	added_at, published_at, retracted_at)
VALUES ('sandbox', 'Vazamento de demonstração', 1767225600000000, 'Vigia', 'Dados fictícios para parceiros em teste.',
	'email,password,cpf,phone,card,name', 'breach', TRUE, FALSE, FALSE, 'published', '', '', '{}', 1767225600000000, 1767225600000000, 0);

-- Continuous sources.
CREATE TABLE feed (
	name       TEXT PRIMARY KEY,
	kind       TEXT NOT NULL CHECK (kind IN ('folder', 'list', 'hibp', 'push')),
	target     BYTEA NOT NULL,  -- sealed: folder, bucket or address, which can hold a secret
	secret     BYTEA,           -- sealed: an API key, or what a vendor signs with
	settings   TEXT NOT NULL,   -- JSON
	paused     BOOLEAN NOT NULL,
	every_s    BIGINT NOT NULL,
	state      TEXT NOT NULL,   -- the worker's note to itself, JSON: ids, counts, positions
	failures   BIGINT NOT NULL, -- in a row
	error      TEXT NOT NULL,
	next_at    BIGINT NOT NULL,
	last_at    BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	mac        BYTEA NOT NULL   -- keyed hash of the row
);

-- What a feed has already taken, by a keyed mark of its name or content.
CREATE TABLE feed_item (
	feed    TEXT NOT NULL,
	mark    BYTEA NOT NULL,
	breach  TEXT NOT NULL,
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (feed, mark)
);

-- The corpora of breached passwords that are in the bucket. A replica that lacks one fetches it.
CREATE TABLE password_corpus (
	algorithm   TEXT PRIMARY KEY,
	digest      TEXT NOT NULL,
	wide_digest TEXT NOT NULL, -- of the file with those seen very often
	entries     BIGINT NOT NULL,
	widely      BIGINT NOT NULL,
	bytes       BIGINT NOT NULL,
	source      TEXT NOT NULL,
	imported_at BIGINT NOT NULL,
	mac         BYTEA NOT NULL -- keyed hash of all of it: see core.grantMAC
);
