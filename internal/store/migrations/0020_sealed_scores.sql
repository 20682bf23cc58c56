-- Where it is set, the figures in the clear beside it are 0.
ALTER TABLE score_day ADD COLUMN sealed BYTEA; -- sealed: both figures of the day
