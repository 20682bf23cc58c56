package fault

// Requests of partners.
var (
	NotEmpty     = partnerRule("not_empty", "must not be empty", "O campo é obrigatório e está vazio.")
	ElementsEach = partnerRule(
		"elements_each",
		"at most %d elements each",
		"No máximo %s elementos em cada lista.",
	)
	ExpectedObject      = partnerRule("expected_object", "expected an object", "Um objeto JSON.")
	WrongJSONType       = partnerRule("wrong_json_type", "wrong JSON type", "O campo tem o tipo JSON errado.")
	NoControlCharacters = partnerRule(
		"no_control_characters",
		"no control characters but line breaks in texts",
		"Sem caracteres invisíveis além de quebras de linha.",
	)
	ElementsAtMost  = partnerRule("elements_at_most", "at most %d elements", "No máximo %s elementos.")
	MustBeAntivirus = partnerRule("must_be_antivirus", "must be antivirus", "O tipo é antivirus.")
	AnotherPerson   = partnerRule(
		"another_person",
		"names another person than the rest of the request",
		"O userHash é de outra pessoa que o resto da requisição.",
	)
	KeyOfThePath     = partnerRule("key_of_the_path", "must be the key of the path", "A chave é a do caminho.")
	MustBe           = partnerRule("must_be", "must be %s", "Tem de ser %s.")
	ReportsOfVendors = partnerRule(
		"reports_of_vendors",
		"more reports than all vendors together may send",
		"Os fornecedores juntos enviaram avisos demais. Tente mais tarde.",
	)
	SandboxAlone = partnerRule(
		"sandbox_alone",
		"moves for sandbox partners alone",
		"O relógio só anda para parceiros de teste.",
	)
	DaysBetween   = partnerRule("days_between", "%d to %d days", "De %s a %s dias.")
	NotWithNewest = partnerRule(
		"not_with_newest",
		"not together with newest",
		"Sem ponto de leitura quando se pedem os mais novos.",
	)
	OneCursor     = partnerRule("one_cursor", "one cursor, or none", "Um só ponto de leitura, ou nenhum.")
	RequestsOfAll = partnerRule(
		"requests_of_all",
		"more requests than all callers together may send",
		"O serviço está no limite para todos. Tente mais tarde.",
	)
	AtMostOnce = partnerRule("at_most_once", "at most once", "No máximo uma vez.")
	GzipOnce   = partnerRule(
		"gzip_once",
		"gzip, once, or none",
		"O corpo vem comprimido com gzip, uma só vez, ou sem compressão.",
	)
	ExpectedJSONType = partnerRule(
		"expected_json_type",
		"expected application/json",
		"Envie Content-Type: application/json.",
	)
	ExpectedUTF8  = partnerRule("expected_utf8", "expected charset utf-8", "O texto tem de estar em UTF-8.")
	BytesUnpacked = partnerRule(
		"bytes_unpacked",
		"at most %d bytes unpacked",
		"No máximo %s bytes depois de descomprimido.",
	)
	UnpackRatio = partnerRule(
		"unpack_ratio",
		"unpacks to more than %d times its size",
		"Cresce mais de %s vezes ao ser descomprimido.",
	)
	NotGzip          = partnerRule("not_gzip", "not valid gzip", "Não é gzip.")
	ChangesOfPartner = partnerRule(
		"changes_of_partner",
		"more changes of webhooks and keys than this partner may make",
		"Mudanças demais em webhooks e chaves. Tente mais tarde.",
	)
	DateTimeOffset = partnerRule(
		"date_time_offset",
		"a date-time with its offset, such as 2026-01-31T03:00:00Z",
		"Uma data e hora com fuso, como 2026-01-31T03:00:00Z.",
	)
	OverlapHours = partnerRule(
		"overlap_hours",
		"how many hours the old one stays valid; 0 ends it at once",
		"Por quantas horas a chave antiga ainda vale; 0 encerra na hora.",
	)
	PublicURLForLinks = partnerRule(
		"public_url_for_links",
		"must be set by the operator for links of live partners",
		"Links de parceiros reais precisam do endereço público: fale com quem opera o serviço.",
	)
	UnknownMember = partnerRule(
		"unknown_member",
		"the operation has no such member",
		"A operação não tem este campo.",
	)
	UnknownParameter = partnerRule(
		"unknown_parameter",
		"unknown parameter, known here: %s",
		"Este parâmetro não existe aqui; existem %s.",
	)
	QuerySeparator = partnerRule(
		"query_separator",
		"pairs are separated by &, a semicolon is sent as %%3B",
		"Separe os parâmetros com &; um ponto e vírgula é enviado como %%3B.",
	)
	QueryPercent = partnerRule(
		"query_percent",
		"a percent sign is followed by two hex digits, or sent as %%25",
		"Um sinal de porcentagem é seguido de dois dígitos hexadecimais, ou enviado como %%25.",
	)
	ItemsRead = partnerRule(
		"items_read",
		"more items than this partner may read",
		"As listas lidas somam mais itens que o limite. Tente mais tarde.",
	)
	OneValueLength = partnerRule(
		"one_value_length",
		"one value of 1 to %d characters",
		"Um só valor, de 1 a %s caracteres.",
	)
	AnswerHeldSecret = partnerRule(
		"answer_held_secret",
		"the work is done, its answer holds a secret and was not kept",
		"O pedido já foi atendido; a resposta trazia um segredo e não foi guardada.",
	)
	ExpectedJSONObject = partnerRule(
		"expected_json_object",
		"expected a JSON object",
		"O corpo tem de ser um objeto JSON.",
	)
	NestedDeeper = partnerRule(
		"nested_deeper",
		"nested deeper than %d",
		"Há mais de %s níveis, um dentro do outro.",
	)
	DuplicateName = partnerRule(
		"duplicate_name",
		"duplicate member name",
		"Um nome aparece duas vezes no mesmo objeto.",
	)
	NotJSONAtByte = partnerRule(
		"not_json_at_byte",
		"not valid JSON at byte %d",
		"Não é JSON a partir do byte %s.",
	)
	NotValidJSON      = partnerRule("not_valid_json", "not valid JSON", "Não é JSON.")
	RequestsOfPartner = partnerRule(
		"requests_of_partner",
		"more requests than this partner may send",
		"O limite de requisições do parceiro se esgotou. Tente mais tarde.",
	)
	AllowedAre     = partnerRule("allowed_are", "allowed are %s", "Os métodos permitidos são %s.")
	NoSuchService  = partnerRule("no_such_service", "no such service", "Este serviço não existe.")
	OneWholeNumber = partnerRule(
		"one_whole_number",
		"one whole number of at least 1",
		"Um só número inteiro, de 1 em diante.",
	)
	ItemsOrBytes = partnerRule(
		"items_or_bytes",
		"more items or bytes than this partner may send",
		"Itens ou bytes demais de uma vez. Tente mais tarde.",
	)
	TrueOrFalse       = partnerRule("true_or_false", "true or false", "true ou false.")
	ExpectedJSONArray = partnerRule(
		"expected_json_array",
		"expected a JSON array",
		"O corpo tem de ser uma lista JSON.",
	)
	ItemsAtMost  = partnerRule("items_at_most", "at most %d items", "No máximo %s itens.")
	ItemBytes    = partnerRule("item_bytes", "an item of more than %d bytes", "Um item passa de %s bytes.")
	OneJSONValue = partnerRule("one_json_value", "more than one JSON value", "Há mais de um valor JSON.")
	Empty        = partnerRule("empty", "empty", "Está vazio.")
	MoveOrEdit   = partnerRule(
		"move_or_edit",
		"either a move, or something to edit",
		"Um movimento, ou algo para alterar.",
	)
	NoSubscriptionInForce = partnerRule(
		"no_subscription_in_force",
		"no such subscription in force",
		"Nenhuma assinatura em vigor corresponde.",
	)
	EnabledOrPaused = partnerRule("enabled_or_paused", "enabled or paused", "enabled ou paused.")
	TooMuchWork     = partnerRule(
		"too_much_work",
		"too much work of this partner, or of all, is under way",
		"Há trabalho demais em andamento. Tente mais tarde.",
	)
	AnotherMachineImports = addRule(
		"another_machine_imports",
		"another machine is importing it",
		"Outra máquina já o está importando.",
	)
)
