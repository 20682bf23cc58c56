-- The segment of identifiers together with the passwords beside them; empty: there is none.
ALTER TABLE breach ADD COLUMN pairs TEXT NOT NULL DEFAULT '';
ALTER TABLE breach ADD COLUMN pairs_digest TEXT NOT NULL DEFAULT '';
