-- A key may read the events of one area only: seq is how far the partner has come with those of the cyber area, subscription_seq with
-- those of subscriptions.
ALTER TABLE event_pull ADD COLUMN subscription_seq BIGINT NOT NULL DEFAULT 0;
UPDATE event_pull SET subscription_seq = seq;
