-- Where a partner wants its events pushed. The address may hold a token of the receiver's, so it is sealed like the keys.
CREATE TABLE endpoint (
	id            TEXT PRIMARY KEY,
	partner_id    TEXT NOT NULL REFERENCES partner (id),
	url           BYTEA NOT NULL,  -- sealed
	keys          BYTEA NOT NULL,  -- sealed: the keyring, replaced keys included
	types         TEXT NOT NULL,   -- types of events that it wants, separated by commas; empty: all
	state         TEXT NOT NULL CHECK (state IN ('enabled', 'disabled')),
	reason        TEXT NOT NULL CHECK (reason IN ('', 'operator', 'gone', 'failing')), -- why it is disabled
	failing_since BIGINT NOT NULL, -- first failure after the last success; 0: it works, or was never tried
	changed_at    BIGINT NOT NULL, -- last change of state or keys
	created_at    BIGINT NOT NULL
);
CREATE INDEX endpoint_partner ON endpoint (partner_id, created_at, id);

-- One event on its way to one endpoint: the row is the job. Rows of a disabled endpoint are held, and pending again when
-- it is enabled.
CREATE TABLE delivery (
	partner_id  TEXT NOT NULL,
	endpoint_id TEXT NOT NULL,
	seq         BIGINT NOT NULL,  -- of the event
	event_id    TEXT NOT NULL,
	person      BYTEA NOT NULL,   -- as in event
	state       TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'held')),
	ordered     BOOLEAN NOT NULL, -- while pending, later deliveries of the same person wait for this one
	attempts    BIGINT NOT NULL,  -- tries that count
	next_at     BIGINT NOT NULL,  -- when it may be claimed; while claimed, when the claim ends
	lease       TEXT NOT NULL,    -- who holds it; empty when nobody does
	created_at  BIGINT NOT NULL,
	finished_at BIGINT NOT NULL,  -- 0: neither delivered nor failed
	PRIMARY KEY (partner_id, endpoint_id, seq)
);
-- next_at and lease stand in no index: a claim then changes no index either.
CREATE INDEX delivery_open ON delivery (endpoint_id, seq) WHERE state = 'pending';
CREATE INDEX delivery_order ON delivery (endpoint_id, person, seq) WHERE state = 'pending' AND ordered;

-- Every try, in the words of whoever made it.
CREATE TABLE attempt (
	partner_id  TEXT NOT NULL,
	endpoint_id TEXT NOT NULL,
	seq         BIGINT NOT NULL,
	at          BIGINT NOT NULL, -- when it began
	worker      TEXT NOT NULL,
	status      BIGINT NOT NULL, -- of HTTP; 0: no answer
	failure     TEXT NOT NULL,   -- why there was no answer
	duration    BIGINT NOT NULL, -- microseconds
	answer      BYTEA,           -- sealed: how the answer began
	PRIMARY KEY (partner_id, endpoint_id, seq, at, worker)
);

-- How far a partner has come in reading its events: it has shown the cursor of that event.
CREATE TABLE event_pull (
	partner_id TEXT PRIMARY KEY,
	seq        BIGINT NOT NULL,
	at         BIGINT NOT NULL
);
