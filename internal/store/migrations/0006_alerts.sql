-- What happened, in order per partner: seq has no gaps and grows in commit order, because its counter's row is locked until
-- the transaction ends.
CREATE TABLE event (
	seq        BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	partner_id INTEGER NOT NULL,
	id         TEXT NOT NULL,
	type       TEXT NOT NULL,
	person     BYTEA NOT NULL, -- keyed index of the user; empty when the event is about nobody
	body       BYTEA NOT NULL, -- sealed: what is pushed and pulled
	PRIMARY KEY (partner_id, seq)
);
CREATE UNIQUE INDEX event_id ON event (partner_id, id);
-- The numbers between which the events of a time lie, and what has outlived its.
CREATE INDEX event_time ON event (partner_id, created_at, seq);
-- How a person's rows are found without reading all of a partner's.
CREATE INDEX event_person ON event (partner_id, person);

CREATE TABLE event_counter (
	partner_id INTEGER PRIMARY KEY,
	last       BIGINT NOT NULL
);

-- Numbers of events that were erased with their person: the one kind of gap that is not a loss.
CREATE TABLE event_gap (
	partner_id INTEGER NOT NULL,
	seq        BIGINT NOT NULL,
	PRIMARY KEY (partner_id, seq)
);

-- How far a partner has come in reading its events: it has shown the cursor of that event. A key may read the events of one
-- area only: seq is for those of the cyber area, subscription_seq for those of subscriptions.
CREATE TABLE event_pull (
	partner_id       INTEGER PRIMARY KEY,
	seq              BIGINT NOT NULL,
	subscription_seq BIGINT NOT NULL,
	at               BIGINT NOT NULL
);

-- Where a partner wants its events pushed. The address may hold a token of the receiver's, so it is sealed like the keys.
CREATE TABLE endpoint (
	partner_id    INTEGER NOT NULL REFERENCES partner (id),
	id            TEXT NOT NULL,
	url           BYTEA NOT NULL,  -- sealed
	keys          BYTEA NOT NULL,  -- sealed: the keyring, replaced keys included
	types         TEXT NOT NULL,   -- types of events that it wants, separated by commas; empty: all
	state         TEXT NOT NULL CHECK (state IN ('enabled', 'disabled')),
	reason        TEXT NOT NULL CHECK (reason IN ('', 'operator', 'gone', 'failing')), -- why it is disabled
	failing_since BIGINT NOT NULL, -- first failure after the last success; 0: it works, or was never tried
	changed_at    BIGINT NOT NULL, -- last change of state or keys
	created_at    BIGINT NOT NULL,
	mac           BYTEA NOT NULL,  -- keyed hash of the row
	PRIMARY KEY (partner_id, id)
);
CREATE INDEX endpoint_newest ON endpoint (partner_id, created_at, id);
-- Operators name an endpoint by its id alone.
CREATE INDEX endpoint_id ON endpoint (id);

-- One event on its way to one endpoint: the row is the job. Rows of a disabled endpoint are held, and pending again when it
-- is enabled.
CREATE TABLE delivery (
	seq         BIGINT NOT NULL,  -- of the event
	attempts    BIGINT NOT NULL,  -- tries that count
	next_at     BIGINT NOT NULL,  -- when it may be sent; a test that is sent by hand names a time after its end
	created_at  BIGINT NOT NULL,
	finished_at BIGINT NOT NULL,  -- 0: neither delivered nor failed
	partner_id  INTEGER NOT NULL,
	ordered     BOOLEAN NOT NULL, -- while pending, later deliveries of the same person wait for this one
	endpoint_id TEXT NOT NULL,
	event_id    TEXT NOT NULL,
	person      BYTEA NOT NULL,   -- as in event
	state       TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'held')),
	-- The try that arrived, if its answer had no text: 16 bytes, see delivery_fold.go. Most tries are such, and a row of their
	-- own costs as much as the delivery's. All other tries are in attempt.
	tried       BYTEA,
	PRIMARY KEY (partner_id, endpoint_id, seq)
);
CREATE INDEX delivery_open ON delivery (partner_id, endpoint_id, seq) WHERE state = 'pending';
CREATE INDEX delivery_held ON delivery (partner_id, endpoint_id, seq) WHERE state = 'held';
CREATE INDEX delivery_done ON delivery (state, finished_at) WHERE finished_at > 0;
-- A partner's own people look at what failed, which is little of all.
CREATE INDEX delivery_failed ON delivery (partner_id, finished_at, endpoint_id, seq) WHERE state = 'failed';

-- Every other try, in the words of whoever made it.
CREATE TABLE attempt (
	seq         BIGINT NOT NULL,
	at          BIGINT NOT NULL, -- when it began
	status      BIGINT NOT NULL, -- of HTTP; 0: no answer
	duration    BIGINT NOT NULL, -- microseconds
	partner_id  INTEGER NOT NULL,
	endpoint_id TEXT NOT NULL,
	worker      TEXT NOT NULL,
	failure     TEXT NOT NULL,   -- why there was no answer
	answer      BYTEA,           -- sealed: how the answer began
	PRIMARY KEY (partner_id, endpoint_id, seq, at, worker)
);

-- A text that the operator wrote in place of the program's: what people read of an event.
CREATE TABLE message_template (
	partner_id INTEGER NOT NULL, -- 0: for everybody
	event      TEXT NOT NULL,    -- the type of the event
	channel    TEXT NOT NULL,
	lang       TEXT NOT NULL,
	subject    TEXT NOT NULL,
	body       TEXT NOT NULL,
	changed_at BIGINT NOT NULL,
	mac        BYTEA NOT NULL,   -- keyed hash of the row
	PRIMARY KEY (partner_id, event, channel, lang)
);
