-- The breaches in which a value stands open, as one text: score and advice of somebody with hundreds of findings read a column
-- instead of a row for each. It is written with the findings, under the lock of the value's row.
ALTER TABLE asset ADD COLUMN open_breaches TEXT NOT NULL DEFAULT '';
UPDATE asset SET open_breaches = (SELECT string_agg(f.breach, ' ') FROM finding f WHERE f.asset_id = asset.id AND f.resolution = '')
WHERE EXISTS (SELECT 1 FROM finding f WHERE f.asset_id = asset.id AND f.resolution = '');
DROP INDEX finding_open;
