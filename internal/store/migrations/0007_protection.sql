-- An endpoint-protection key and the device it was issued for.
CREATE TABLE epp_key (
	partner_id   INTEGER NOT NULL,
	id           TEXT NOT NULL,
	user_index   BYTEA NOT NULL,  -- keyed index of the user
	system       TEXT NOT NULL,
	device_index BYTEA NOT NULL,  -- keyed index of the device's name
	key_index    BYTEA NOT NULL,  -- keyed index of the key
	details      BYTEA NOT NULL,  -- sealed: user hash as sent, device name, key
	plan_id      TEXT NOT NULL,   -- the plan whose subscription the key ends with; empty: it does not
	issued_at    BIGINT NOT NULL,
	valid_until  BIGINT NOT NULL,
	ended_at     BIGINT NOT NULL, -- 0: not ended before its time
	end_reason   TEXT NOT NULL,
	next_warning BIGINT NOT NULL, -- when the key is next looked at: to announce its end, or at its end; 0: it has ended
	activated_at BIGINT NOT NULL DEFAULT 0, -- when the device first reported; 0: never
	seen_at      BIGINT NOT NULL DEFAULT 0, -- when it last did
	PRIMARY KEY (partner_id, id)
);
-- One key per device: the guard against two requests at once.
CREATE UNIQUE INDEX epp_key_device ON epp_key (partner_id, user_index, system, device_index) WHERE ended_at = 0;
-- A person's keys, ended ones too.
CREATE INDEX epp_key_user ON epp_key (partner_id, user_index);
-- No key is issued twice, and an operator may ask whose a key is: so it leads. Across partners it is the pool's index that says so,
-- or chance, for keys of 128 random bits.
CREATE UNIQUE INDEX epp_key_once ON epp_key (key_index, partner_id);
-- Operators name a key by its id alone.
CREATE INDEX epp_key_id ON epp_key (id);
CREATE INDEX epp_key_newest ON epp_key (partner_id, issued_at, id) WHERE ended_at = 0;
CREATE INDEX epp_key_warning ON epp_key (next_warning) WHERE next_warning > 0;
CREATE INDEX epp_key_plan ON epp_key (partner_id, plan_id) WHERE ended_at = 0 AND plan_id <> '';
CREATE INDEX epp_key_over ON epp_key (valid_until);
-- Whether devices of a system report to the vendor of a partner's keys.
CREATE INDEX epp_key_reported ON epp_key (partner_id, system) WHERE activated_at > 0;

-- A row per person who was issued a key: its lock makes counting devices and adding one a single step.
CREATE TABLE epp_holder (
	partner_id INTEGER NOT NULL,
	user_index BYTEA NOT NULL,
	issued     BIGINT NOT NULL, -- how many keys, ever
	PRIMARY KEY (partner_id, user_index)
);

-- Keys bought from a vendor, waiting to be issued.
CREATE TABLE epp_pool (
	id         TEXT PRIMARY KEY,
	system     TEXT NOT NULL,
	key_index  BYTEA NOT NULL UNIQUE, -- keyed index of the key: no duplicates, in one file or across files
	vendor_key BYTEA NOT NULL, -- sealed
	loaded_at  BIGINT NOT NULL,
	expires_at BIGINT NOT NULL DEFAULT 0, -- when the vendor ends it, as its file says; 0: it does not say
	taken_at   BIGINT NOT NULL, -- 0: free
	taken_by   TEXT NOT NULL    -- the issued key's id
);
CREATE INDEX epp_pool_free ON epp_pool (system, loaded_at, id) WHERE taken_at = 0;

-- What a partner may have of what all share: the keys of a pool ('epp.' and the system), coming appointments ('slot').
CREATE TABLE share (
	partner_id INTEGER NOT NULL,
	resource   TEXT NOT NULL,
	quota      BIGINT NOT NULL, -- 0: the default
	reserved   BIGINT NOT NULL, -- kept for the partner
	used       BIGINT NOT NULL, -- keys that it took and did not give back
	PRIMARY KEY (partner_id, resource)
);

-- Where the keys of a system come from; a system without a row is generated.
CREATE TABLE epp_source (
	system   TEXT PRIMARY KEY,
	pooled   BOOLEAN NOT NULL,
	low_mark BIGINT NOT NULL, -- a pool with fewer free keys is low
	low      BOOLEAN NOT NULL, -- what the operator was last told
	returns  BOOLEAN NOT NULL DEFAULT FALSE -- whether the vendor lets a revoked key that no device used be issued again
);

-- Where people install the program of a system from; a system without a row has no link.
CREATE TABLE epp_install (
	system TEXT PRIMARY KEY,
	link   TEXT NOT NULL,
	mac    BYTEA NOT NULL -- keyed hash of the row
);

-- The catalogue of support services, the same for every partner.
CREATE TABLE service (
	id          TEXT PRIMARY KEY,
	name        TEXT NOT NULL,
	description TEXT NOT NULL,
	position    BIGINT NOT NULL,
	retired     BOOLEAN NOT NULL,
	created_at  BIGINT NOT NULL,
	mac         BYTEA NOT NULL -- keyed hash of the row
);

-- Triage questions of a service.
CREATE TABLE case_question (
	id         TEXT PRIMARY KEY,
	service_id TEXT NOT NULL REFERENCES service (id),
	question   TEXT NOT NULL,
	required   BOOLEAN NOT NULL,
	options    TEXT NOT NULL, -- a JSON array of texts
	created_at BIGINT NOT NULL,
	mac        BYTEA NOT NULL -- keyed hash of the row
);
CREATE INDEX case_question_service ON case_question (service_id, created_at, id);

-- Answers that operators keep ready for persons.
CREATE TABLE case_answer (
	title      TEXT PRIMARY KEY,
	body       TEXT NOT NULL,
	mac        BYTEA NOT NULL -- keyed hash of the row
);

-- How fast the cases of a service should be resolved; a service without a row has the default.
CREATE TABLE case_target (
	service_id TEXT PRIMARY KEY REFERENCES service (id),
	target     BIGINT NOT NULL
);

-- A support case.
CREATE TABLE support_case (
	partner_id  INTEGER NOT NULL,
	id          TEXT NOT NULL,
	user_index  BYTEA NOT NULL, -- keyed index of the user
	service_id  TEXT NOT NULL REFERENCES service (id),
	status      TEXT NOT NULL,
	assignee    TEXT NOT NULL,
	details     BYTEA NOT NULL, -- sealed: user hash as sent, appointments, answers
	target      BIGINT NOT NULL, -- microseconds of working time within which it should be resolved; 0: none
	clock_used  BIGINT NOT NULL, -- microseconds of working time used up to clock_since
	clock_since BIGINT NOT NULL, -- when the clock was started; 0: it stands
	due_at      BIGINT NOT NULL, -- when the target is reached if the clock runs on; the largest number while nothing is due
	created_at  BIGINT NOT NULL,
	changed_at  BIGINT NOT NULL,
	rating      INTEGER NOT NULL, -- 1 to 5 by the person; 0: none
	made_up_at  BIGINT NOT NULL DEFAULT 0, -- the appointment of a sandbox partner's case, which takes no real time; 0: none
	short       BIGINT NOT NULL DEFAULT 0, -- the number that operators call it by, one count for all partners
	spoke       TEXT NOT NULL DEFAULT '',  -- the operator who wrote last; empty: the person
	spoke_at    BIGINT NOT NULL DEFAULT 0,
	ending_at   BIGINT NOT NULL DEFAULT 0, -- when a final move that can still be undone is made; 0: there is none
	ending_to   TEXT NOT NULL DEFAULT '',
	ending_by   TEXT NOT NULL DEFAULT '',
	writer      TEXT NOT NULL DEFAULT '',  -- the operator who was last seen writing an answer
	writing_at  BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (partner_id, id)
);
CREATE INDEX support_case_user ON support_case (partner_id, user_index, status);
CREATE INDEX support_case_newest ON support_case (created_at, id);
CREATE INDEX support_case_status ON support_case (status, changed_at, id);
-- A lane of the desk, the most urgent first: it holds what a lane is filtered by, so that counting reads no row.
CREATE INDEX support_case_desk ON support_case (status, due_at, id, partner_id, service_id, assignee, created_at);
-- The same by age.
CREATE INDEX support_case_age ON support_case (status, created_at, id);
-- What an operator has, or no one has: it holds what the counts of the desk are filtered by.
CREATE INDEX support_case_owner ON support_case (assignee, status, service_id, partner_id);
-- Operators name a case by its id or its number alone.
CREATE INDEX support_case_id ON support_case (id);
CREATE INDEX support_case_short ON support_case (short);
CREATE INDEX support_case_ending ON support_case (ending_at) WHERE ending_at > 0;

-- The history of a case, from its opening on: moves, notes, what the person and the operator wrote to each other.
CREATE TABLE case_move (
	partner_id  INTEGER NOT NULL,
	case_id     TEXT NOT NULL,
	number      BIGINT NOT NULL, -- 1, 2, ... within the case: two moves at once cannot both be the next
	kind        TEXT NOT NULL,   -- empty for a move
	from_status TEXT NOT NULL,   -- empty for the opening
	to_status   TEXT NOT NULL,
	actor       TEXT NOT NULL,
	note        BYTEA, -- sealed: what was written
	moved_at    BIGINT NOT NULL,
	PRIMARY KEY (partner_id, case_id, number),
	FOREIGN KEY (partner_id, case_id) REFERENCES support_case (partner_id, id)
);

-- What was resolved in a day, for the counts of the console.
CREATE INDEX case_move_day ON case_move (to_status, moved_at);

-- The calendar of a service, shared by all partners. A booking's primary key is what keeps two cases out of one slot.
CREATE TABLE case_slot (
	id         TEXT PRIMARY KEY,
	service_id TEXT NOT NULL REFERENCES service (id),
	starts_at  BIGINT NOT NULL,
	kept_for   INTEGER NOT NULL -- the partner that it is reserved for; 0: anybody
);
CREATE UNIQUE INDEX case_slot_time ON case_slot (service_id, starts_at);

CREATE TABLE case_booking (
	slot_id    TEXT PRIMARY KEY REFERENCES case_slot (id),
	partner_id INTEGER NOT NULL,
	case_id    TEXT NOT NULL
);
CREATE INDEX case_booking_case ON case_booking (partner_id, case_id);

-- What the operator changed in the catalogue of content; an id without a row is as this program brings it.
CREATE TABLE content (
	id         TEXT PRIMARY KEY,
	item       TEXT NOT NULL, -- YAML
	retired    BOOLEAN NOT NULL,
	changed_at BIGINT NOT NULL,
	mac        BYTEA NOT NULL -- keyed hash of the row
);

-- A person's latest answer to a validation question.
CREATE TABLE content_answer (
	partner_id  INTEGER NOT NULL,
	user_index  BYTEA NOT NULL, -- keyed index of the user
	content_id  TEXT NOT NULL,
	value       BYTEA NOT NULL, -- sealed: one of the question's options
	answered_at BIGINT NOT NULL,
	PRIMARY KEY (partner_id, user_index, content_id)
);

-- A person's score, one row for each day on which it changed: the last one seen that day.
CREATE TABLE score_day (
	partner_id INTEGER NOT NULL,
	user_index BYTEA NOT NULL, -- keyed index of the user
	day        BIGINT NOT NULL, -- days since 1970-01-01, UTC
	sealed     BYTEA NOT NULL,  -- sealed: both figures of the day
	kept_at    BIGINT NOT NULL,
	PRIMARY KEY (partner_id, user_index, day)
);
