-- What a partner sells.
CREATE TABLE plan (
	partner_id  TEXT NOT NULL REFERENCES partner (id),
	id          TEXT NOT NULL,
	name        TEXT NOT NULL,
	coverage    TEXT NOT NULL,    -- JSON: see package plan
	max_devices BIGINT NOT NULL,  -- 0: no bound
	key_days    BIGINT NOT NULL,  -- 0: the default
	keys_end    BOOLEAN NOT NULL, -- keys end with the subscription
	retired     BOOLEAN NOT NULL,
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (partner_id, id)
);

-- One row per subscription ever made. seq grows per partner in commit order, because its counter's row is locked until the
-- transaction ends; an item that turned out to be there already leaves a gap. Days count from 1 January of the year 1, which is 1.
CREATE TABLE subscription (
	partner_id   TEXT NOT NULL,
	seq          BIGINT NOT NULL,
	plan_id      TEXT NOT NULL,
	cpf          BYTEA NOT NULL,  -- keyed index of the beneficiary's CPF
	holder       BYTEA NOT NULL,  -- keyed index of the company's CNPJ; empty when there is none
	start_day    BIGINT NOT NULL,
	expiry_day   BIGINT NOT NULL, -- 0: no end
	body         BYTEA NOT NULL,  -- sealed: the beneficiary and the rest
	created_at   BIGINT NOT NULL,
	suspended_at BIGINT NOT NULL, -- 0: not suspended
	ended_at     BIGINT NOT NULL, -- 0: not ended
	PRIMARY KEY (partner_id, seq)
);
-- The guard: a person subscribes to a plan once at a time. It also finds a person's subscriptions.
CREATE UNIQUE INDEX subscription_live ON subscription (partner_id, cpf, plan_id) WHERE ended_at = 0;
-- What a page walks, without the ended ones in its way.
CREATE INDEX subscription_active ON subscription (partner_id, seq) WHERE ended_at = 0;
CREATE INDEX subscription_ended ON subscription (partner_id, cpf, plan_id, seq) WHERE ended_at <> 0;
CREATE INDEX subscription_due ON subscription (partner_id, expiry_day, seq) WHERE ended_at = 0 AND expiry_day > 0;
CREATE INDEX subscription_holder ON subscription (partner_id, holder, seq) WHERE ended_at = 0 AND holder <> '';

-- The last seq of a partner and how many of its subscriptions have not ended. Every change of either locks this row first.
CREATE TABLE subscription_counter (
	partner_id TEXT PRIMARY KEY,
	last       BIGINT NOT NULL,
	active     BIGINT NOT NULL
);

-- How many subscriptions of a block of seq have not ended. A block of level n spans 128^n numbers: block = seq / 128^n.
CREATE TABLE subscription_block (
	partner_id TEXT NOT NULL,
	level      BIGINT NOT NULL,
	block      BIGINT NOT NULL,
	active     BIGINT NOT NULL,
	PRIMARY KEY (partner_id, level, block)
);
