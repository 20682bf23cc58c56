-- How many subscriptions of a block that have not ended are over after a day. A page takes off what is past its day and has not been ended
-- by the sweep yet. There are blocks of levels 2 and 3 only (see subscription_block); inside one of level 2 the rows themselves are counted.
CREATE TABLE subscription_expiry (
	partner_id TEXT NOT NULL,
	level      BIGINT NOT NULL,
	block      BIGINT NOT NULL,
	expiry_day BIGINT NOT NULL,
	active     BIGINT NOT NULL,
	PRIMARY KEY (partner_id, level, block, expiry_day)
);
INSERT INTO subscription_expiry (partner_id, level, block, expiry_day, active)
	SELECT partner_id, 2, seq / 16384, expiry_day, count(*) FROM subscription WHERE ended_at = 0 AND expiry_day > 0
	GROUP BY partner_id, seq / 16384, expiry_day;
INSERT INTO subscription_expiry (partner_id, level, block, expiry_day, active)
	SELECT partner_id, 3, seq / 2097152, expiry_day, count(*) FROM subscription WHERE ended_at = 0 AND expiry_day > 0
	GROUP BY partner_id, seq / 2097152, expiry_day;
-- What the overview takes off.
CREATE INDEX subscription_expiry_day ON subscription_expiry (expiry_day) WHERE level = 3;

-- A page skips what is past its day along the index, without looking at the rows. A day that no date reaches stands for no end.
DROP INDEX subscription_active;
CREATE INDEX subscription_active ON subscription (partner_id, seq, (CASE WHEN expiry_day = 0 THEN 4000000 ELSE expiry_day END)) WHERE ended_at = 0;
