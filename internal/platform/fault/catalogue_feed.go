package fault

// Feeds.
var (
	AtLeastAMinute    = addRule("at_least_a_minute", "at least a minute", "Pelo menos um minuto.")
	UnknownKindOfFeed = addRule("unknown_kind_of_feed", "unknown", "Escolha um tipo da lista.")
	PlanWithoutRange  = addRule(
		"plan_without_range",
		"its plan does not include searches by range of hashes",
		"O plano desta chave não inclui buscas por faixa de hash.",
	)
	FolderOrBucket = addRule(
		"folder_or_bucket",
		"a folder's absolute path, or s3://bucket",
		"O caminho completo de uma pasta, ou s3://bucket.",
	)
	FolderUnreadable = addRule(
		"folder_unreadable",
		"a folder that this server can read",
		"Este servidor não consegue ler a pasta: confira o caminho e as permissões.",
	)
	AddressSilent = addRule(
		"address_silent",
		"an address that answers this server",
		"O endereço não respondeu a este servidor: confira-o.",
	)
	HTTPSAddress      = addRule("https_address", "an https address", "Um endereço que começa com https://.")
	APIAddress        = addRule("api_address", "the address of the API", "O endereço da API.")
	FeedRunning       = addRule("feed_running", "a server is running it", "A fonte está sendo lida agora.")
	ManifestNamesNone = addRule(
		"manifest_names_none",
		"the manifest names none that is there",
		"A lista da pasta não nomeia nenhum arquivo que esteja lá.",
	)
	LargerThan    = addRule("larger_than", "larger than %d bytes", "Passa de %s bytes.")
	NotJSON       = addRule("not_json", "not JSON", "Não é JSON.")
	NoListOfDumps = addRule(
		"no_list_of_dumps",
		"the answer is no JSON list of dumps",
		"A resposta não é uma lista JSON de arquivos.",
	)
	ListLargerThan = addRule("list_larger_than", "the list is larger than %d bytes", "A lista passa de %s bytes.")
)
