package fault

// Files.
var (
	ChooseAFile   = addRule("choose_a_file", "choose one", "Escolha um arquivo.")
	ArrivedInPart = partnerRule(
		"arrived_in_part",
		"did not arrive whole",
		"O envio foi interrompido. Tente de novo.",
	)
	UploadMiB = addRule(
		"upload_mi_b",
		"at most %d MiB through the console (--upload-limit); import a larger one by its path on the server",
		"No máximo %s MiB pelo console. Um arquivo maior é importado pelo caminho dele no servidor.",
	)
	BytesAtMost   = partnerRule("bytes_at_most", "at most %d bytes", "No máximo %s bytes.")
	FileEmpty     = addRule("file_empty", "the file is empty", "O arquivo está vazio.")
	NoColumnNames = addRule(
		"no_column_names",
		"line 1 does not name columns",
		"A primeira linha não tem os nomes das colunas.",
	)
	ColumnTwice    = addRule("column_twice", "two columns are named %s", "Duas colunas têm o nome %s.")
	ColumnMissing  = addRule("column_missing", "there is no column %s", "Falta a coluna %s.")
	LineLonger     = addRule("line_longer", "line %d is longer than %d bytes", "A linha %s passa de %s bytes.")
	LineIsLonger   = addRule("line_is_longer", "line %d: longer than %d bytes", "A linha %s passa de %s bytes.")
	NoKeysInIt     = addRule("no_keys_in_it", "no keys in it", "Não há chaves no arquivo.")
	NoItemsInIt    = addRule("no_items_in_it", "no items in it", "Não há conteúdos no arquivo.")
	NotAListOfKeys = addRule(
		"not_a_list_of_keys",
		"not a list of keys or CSV",
		"Não é uma lista de chaves nem um CSV.",
	)
	KeyOnLine = addRule(
		"key_on_line",
		"line %d: a key of 1 to %d printable characters expected",
		"Na linha %s falta uma chave de 1 a %s caracteres.",
	)
	ExpiryOnLine = addRule(
		"expiry_on_line",
		"line %d: expires: a date such as 2027-12-31 or 31/12/2027, a date-time with its zone, or nothing",
		"Na linha %s, o vencimento é uma data como 31/12/2027, ou vazio.",
	)
	ErasureLineUnreadable = addRule(
		"erasure_line_unreadable",
		"line %d of the erasure log cannot be read",
		"A linha %s do registro de exclusões não pôde ser lida.",
	)
	ErasureLineTooLong = addRule(
		"erasure_line_too_long",
		"line %d of the erasure log is too long",
		"A linha %s do registro de exclusões é longa demais.",
	)
)
