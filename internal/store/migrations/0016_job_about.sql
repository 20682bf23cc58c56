-- The page of a breach shows the jobs about it, however many there were about others since.
CREATE INDEX job_about ON job (subject, created_at, id);
