-- When the vendor ends a key of the pool, as its file says; 0: it does not say.
ALTER TABLE epp_pool ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;
