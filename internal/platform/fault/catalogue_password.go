package fault

// Leaked passwords.
var (
	ServerPaths = addRule(
		"server_paths",
		"whole paths of the server, one a line",
		"Caminhos completos do servidor, um por linha.",
	)
	PathUnreadable = addRule(
		"path_unreadable",
		"a file or folder cannot be read",
		"Um arquivo ou pasta não pôde ser lido.",
	)
	FolderWithoutFiles = addRule("folder_without_files", "a folder without files", "Uma pasta sem arquivos.")
	DownloadRunning    = addRule("download_running", "another download is running", "Outro download está em andamento.")
	ImportRunning      = addRule(
		"import_running",
		"another import or download is running",
		"Outra importação ou outro download está em andamento.",
	)
	ForeignEntry = addRule(
		"foreign_entry",
		"an entry that is not ours",
		"A lista dos índices tem uma entrada que não é nossa.",
	)
	NotTheNamedFile = addRule(
		"not_the_named_file",
		"%s is not the file that the manifest names",
		"%s não é o arquivo que a lista dos índices nomeia.",
	)
	NameOfSample = addRule(
		"name_of_sample",
		"%q is the name of the built-in sample",
		"%s é o nome da lista embutida. Escolha outro.",
	)
	SmallerCorpus = addRule(
		"smaller_corpus",
		"%d hashes would replace %d; give --force if that is meant",
		"%s resumos substituiriam %s. Se for isso mesmo, importe pelo terminal com --force.",
	)
	OnLine         = addRule("on_line", "line %d: %s", "Linha %s: %s")
	FirstLineShort = addRule(
		"first_line_short",
		"line 1: too short for a hash, and the file is not named after a range",
		"A primeira linha é curta demais para um resumo de senha, e o nome do arquivo não é o de uma faixa.",
	)
	ShortForAHash  = addRule("short_for_a_hash", "too short for a hash", "curta demais para um resumo de senha.")
	NotHexadecimal = addRule(
		"not_hexadecimal",
		"a character that is not hexadecimal",
		"há um caractere que não é hexadecimal.",
	)
	NoColonAfterHash = addRule(
		"no_colon_after_hash",
		"something other than a colon after the hash",
		"depois do resumo não vem dois pontos.",
	)
	CountNotANumber   = addRule("count_not_a_number", "the count is not a number", "a contagem não é um número.")
	HexadecimalLength = addRule(
		"hexadecimal_length",
		"must have %d hexadecimal characters",
		"São %s caracteres hexadecimais.",
	)
	OnlyHexadecimal = addRule(
		"only_hexadecimal",
		"must have only hexadecimal characters",
		"Só caracteres hexadecimais.",
	)
	NoHashInInput = addRule(
		"no_hash_in_input",
		"no hash in the input",
		"Não há nenhum resumo de senha nos arquivos.",
	)
	RangeFailed = addRule(
		"range_failed",
		"range %05X after %d attempts",
		"A faixa %s não veio depois de %s tentativas.",
	)
	RangeUnreachable = addRule(
		"range_unreachable",
		"cannot reach %s; --base names another address, --webhook-proxy a proxy",
		"Não foi possível alcançar %s; --base indica outro endereço, --webhook-proxy um proxy.",
	)
	RangeUnknown = addRule(
		"range_unknown",
		"range %05X is said to be unchanged, but there is nothing it was before",
		"O servidor diz que a faixa %s não mudou, mas ela nunca veio.",
	)
	RangeAddress = addRule(
		"range_address",
		"the address of the range service must be http or https",
		"O endereço do serviço tem de começar com http:// ou https://.",
	)
	CorpusReplaced = addRule(
		"corpus_replaced",
		"the corpus was replaced during the download: start it again",
		"As senhas foram trocadas durante o download. Comece de novo.",
	)
	TooLargeItem = addRule("too_large_item", "too large", "Grande demais.")
	OtherVersion = addRule(
		"other_version",
		"version %d, this program reads version %d",
		"Versão %s; este programa lê a versão %s.",
	)
)
