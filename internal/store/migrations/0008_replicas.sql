-- The processes that serve partners at this moment: each grants its share of a partner's rate.
CREATE TABLE replica (
	id      TEXT PRIMARY KEY,
	seen_at BIGINT NOT NULL
);
