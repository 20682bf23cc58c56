-- Facts about this database.
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value BYTEA NOT NULL
);

-- All secrets of the installation in one row, wrapped by root keys that no database holds.
CREATE TABLE key_ring (
	name         TEXT PRIMARY KEY CHECK (name = 'ring'),
	installation TEXT NOT NULL,
	epoch        BIGINT NOT NULL, -- grows with every change; whoever writes sealed values looks at it before the commit
	body         BYTEA NOT NULL,  -- the secrets, under the ring's own key
	roots        TEXT NOT NULL    -- the ring's own key under each live root, as JSON
);

-- The processes that serve at this moment, with the state of the ring that each has seen.
CREATE TABLE key_holder (
	id      TEXT PRIMARY KEY,
	seen_at BIGINT NOT NULL,
	place   TEXT NOT NULL, -- its machine and data folder, for people
	epoch   BIGINT NOT NULL,
	root    TEXT NOT NULL  -- the id of the root that it was started with
);

-- Counters that tell other processes when to forget or look again.
CREATE TABLE epoch (
	name  TEXT PRIMARY KEY,
	value BIGINT NOT NULL
);
INSERT INTO epoch (name, value) VALUES
	('access', 1),  -- a key or a partner changed
	('corpora', 1); -- a breach was published or retracted

-- Counters that are locked while they are raised.
CREATE TABLE counter (
	name  TEXT PRIMARY KEY,
	value BIGINT NOT NULL
);
INSERT INTO counter (name, value) VALUES
	('operators', 1), -- by every change of an operator, so that rules over the whole list hold
	('figures', 1),   -- by the worker that counts for the console
	('cases', 0);     -- the last number that was given to a case

-- The processes that serve partners at this moment: each grants its share of a partner's rate.
CREATE TABLE replica (
	id        TEXT PRIMARY KEY,
	seen_at   BIGINT NOT NULL,
	place     TEXT NOT NULL, -- its machine and data folder, for people
	passwords TEXT NOT NULL  -- digests of the corpora of passwords that it answers from, by algorithm, as JSON
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
CREATE INDEX job_newest ON job (created_at, id);
-- Pages of the console ask for the newest jobs of one kind, and a feed that runs every minute leaves half a million a year.
CREATE INDEX job_of_kind ON job (kind, created_at, id);
-- The page of a breach shows the jobs about it, however many there were about others since.
CREATE INDEX job_about ON job (subject, created_at, id);
CREATE INDEX job_over ON job (finished_at) WHERE finished_at > 0;

-- Counts that the console shows. They are kept up by a worker, because counting millions of rows takes longer than a page
-- may. Names that begin with "mark." say how far an incremental count has come.
CREATE TABLE tally (
	name TEXT NOT NULL,
	part TEXT NOT NULL,   -- a partner's ID; empty: the whole service
	day  BIGINT NOT NULL, -- days since 1970-01-01, by the clock of Brasilia; 0: as it stands now
	n    BIGINT NOT NULL,
	PRIMARY KEY (name, part, day)
);
-- The figures of the whole service, beside which partners and endpoints leave many more, and those of some days.
CREATE INDEX tally_whole ON tally (day, name) WHERE part = '';
CREATE INDEX tally_day ON tally (name, day);
