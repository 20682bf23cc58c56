-- The try that arrived, if its answer had no text: 16 bytes, see internal/store. Most tries are such, and a row of their own costs as much as
-- the delivery's. All other tries, and all of before, are in attempt.
ALTER TABLE delivery ADD COLUMN tried BYTEA;
