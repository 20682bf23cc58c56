-- One row per subscription ever made. seq grows per partner in commit order, because its counter's row is locked until the
-- transaction ends; an item that turned out to be there already leaves a gap. Days count from 1 January of the year 1, which
-- is 1. Columns of one width stand together: PostgreSQL fills up between others.
CREATE TABLE subscription (
	created_at   BIGINT NOT NULL,
	suspended_at BIGINT NOT NULL,  -- 0: not suspended
	ended_at     BIGINT NOT NULL,  -- 0: not ended
	partner_id   INTEGER NOT NULL,
	seq          INTEGER NOT NULL, -- enough for ten subscriptions of every Brazilian with each partner
	start_day    INTEGER NOT NULL,
	expiry_day   INTEGER NOT NULL, -- 0: no end
	watch        INTEGER NOT NULL DEFAULT 0, -- kinds that are watched of what it names: see plan.Watch
	plan_id      TEXT NOT NULL,
	cpf          BYTEA NOT NULL,   -- keyed index of the beneficiary's CPF
	holder       BYTEA NOT NULL,   -- keyed index of the company's CNPJ; empty when there is none
	body         BYTEA NOT NULL,   -- sealed: the beneficiary and the rest
	PRIMARY KEY (partner_id, seq)
);
-- The guard: a person subscribes to a plan once at a time. It also finds a person's subscriptions.
CREATE UNIQUE INDEX subscription_live ON subscription (partner_id, cpf, plan_id) WHERE ended_at = 0;
-- What a page walks, without the ended ones in its way, and past what is over, without looking at the rows. A day that no
-- date reaches stands for no end.
CREATE INDEX subscription_active ON subscription
	(partner_id, seq, (CASE WHEN expiry_day = 0 THEN 4000000 ELSE expiry_day END)) WHERE ended_at = 0;
CREATE INDEX subscription_ended ON subscription (partner_id, cpf, plan_id, seq) WHERE ended_at <> 0;
CREATE INDEX subscription_due ON subscription (partner_id, expiry_day, seq) WHERE ended_at = 0 AND expiry_day > 0;
CREATE INDEX subscription_holder ON subscription (partner_id, holder, seq) WHERE ended_at = 0 AND holder <> '';
CREATE INDEX subscription_suspended ON subscription (partner_id, seq) WHERE ended_at = 0 AND suspended_at > 0;
-- How what has outlived its purpose is found.
CREATE INDEX subscription_over ON subscription (ended_at) WHERE ended_at <> 0;

-- The last seq of a partner and how many of its subscriptions have not ended. Every change of either locks this row first.
CREATE TABLE subscription_counter (
	partner_id INTEGER PRIMARY KEY,
	last       BIGINT NOT NULL,
	active     BIGINT NOT NULL
);

-- How many subscriptions of a block of 4,096 seq have not ended: block = seq / 4096.
CREATE TABLE subscription_block (
	partner_id INTEGER NOT NULL,
	block      BIGINT NOT NULL,
	active     BIGINT NOT NULL,
	PRIMARY KEY (partner_id, block)
);

-- How many subscriptions of a block that have not ended are over after a day. A page takes off what is past its day and has
-- not been ended by the sweep yet.
CREATE TABLE subscription_expiry (
	partner_id INTEGER NOT NULL,
	block      BIGINT NOT NULL,
	expiry_day INTEGER NOT NULL,
	active     BIGINT NOT NULL,
	PRIMARY KEY (partner_id, expiry_day, block) -- a page asks for past days, of which there are none most of the time
);
-- What the overview takes off.
CREATE INDEX subscription_expiry_day ON subscription_expiry (expiry_day);
