-- Pages of the console ask for the newest jobs of one kind, and a feed that runs every minute leaves half a million jobs a year.
CREATE INDEX job_of_kind ON job (kind, created_at, id);
