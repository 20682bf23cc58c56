-- Which dispatcher pushes to an endpoint, and until when unless it says so again. Whoever holds an endpoint need not claim its deliveries
-- one by one. delivery.lease and next_at still keep what is sent by hand (a test), and claims of before, out of the dispatchers' way.
CREATE TABLE endpoint_lease (
	endpoint_id TEXT PRIMARY KEY,
	worker      TEXT NOT NULL,
	until       BIGINT NOT NULL
);
