-- The addresses of a spread import that hold a secret, such as a signed link: its parts name them by number. Gone with the parts.
CREATE TABLE import_source (
	breach    TEXT PRIMARY KEY,
	addresses BYTEA NOT NULL -- sealed: a JSON list
);
