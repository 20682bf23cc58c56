package fault

// Cases, devices, messages and content.
var (
	QuestionUnanswered = addRule(
		"question_unanswered",
		"required question %d (%s) is not answered: %+q",
		"A pergunta obrigatória %s não foi respondida.",
	)
	AnswerNotAnOption = addRule(
		"answer_not_an_option",
		"the answer to question %d (%s) is none of its options: %+q",
		"A resposta da pergunta %s não está entre as opções.",
	)
	CaseClosed = partnerRule(
		"case_closed",
		"the case is closed or cancelled; open another",
		"O caso está fechado ou cancelado. Abra outro.",
	)
	CaseResolvedAlready = partnerRule(
		"case_resolved_already",
		"the case is resolved or closed already",
		"O caso já foi resolvido ou fechado.",
	)
	CaseNotOpen      = partnerRule("case_not_open", "the case is not open any more", "O caso já não está em aberto.")
	RateResolvedOnly = partnerRule(
		"rate_resolved_only",
		"only a resolved or closed case is rated",
		"Só um caso resolvido ou fechado recebe nota.",
	)
	AtLeastOneTime = partnerRule("at_least_one_time", "at least one with a time", "Ao menos um horário.")
	CaseOperator   = addRule(
		"case_operator",
		"an operator who may work on cases",
		"Escolha um operador que possa atender casos.",
	)
	NoSuchDay       = addRule("no_such_day", "no such day in the calendar", "Este dia não existe no calendário.")
	NameOfTheBreach = addRule(
		"name_of_the_breach",
		"the name of the breach",
		"Escreva o nome do vazamento como está na página.",
	)
	MoveMade = addRule(
		"move_made",
		"the move was made already",
		"A mudança já foi feita e o parceiro foi avisado.",
	)
	NoSuchMove = addRule(
		"no_such_move",
		"no such move from here",
		"O caso não pode ir daqui para esta situação.",
	)
	DateTimeISO = addRule(
		"date_time_iso",
		"expected an ISO 8601 date-time",
		"Escreva a data e a hora como 24/12/2026 15:00.",
	)
	TargetDays    = addRule("target_days", "0 (none) to 366 days", "De 0 (sem prazo) a 366 dias.")
	OptionsFormat = addRule(
		"options_format",
		"at most 50, each 1 to 100 characters, no control characters",
		"No máximo 50 opções, cada uma com 1 a 100 caracteres.",
	)
	KeysUpTo       = addRule("keys_up_to", "0 to 1000000000 keys", "De 0 a 1.000.000.000 de chaves.")
	HTTPSAddressOf = addRule(
		"https_address_of",
		"an https address of at most %d characters",
		"Um endereço que comece com https:// e tenha até %s caracteres.",
	)
	PlanDevices = partnerRule(
		"plan_devices",
		"the plan's limit of devices is %d",
		"O plano permite no máximo %s dispositivos.",
	)
	NoMessageTells  = addRule("no_message_tells", "no message tells of it", "Nenhuma mensagem fala deste evento.")
	SubjectNeeded   = addRule("subject_needed", "e-mail and push need one", "E-mail e push precisam de um título.")
	SubjectNotTaken = addRule("subject_not_taken", "only e-mail and push have one", "Só e-mail e push têm título.")
	TextBroken      = addRule(
		"text_broken",
		"neither empty nor broken, and a subject of one line",
		"Escreva um texto; o título tem uma linha só.",
	)
	WordsInBraces = addRule("words_in_braces", "in braces only %s", "Entre chaves o texto só pode citar: %s.")
	SMSLength     = addRule(
		"sms_length",
		"an SMS has %d characters, with every word at its longest",
		"Um SMS tem %s caracteres, já com as palavras no maior tamanho.",
	)
	PushLength = addRule(
		"push_length",
		"a push has a title of %d characters and a text of %d, with every word at its longest",
		"Um push tem título de até %s caracteres e texto de até %s, já com as palavras no maior tamanho.",
	)
	WhatsAppLength = addRule(
		"whats_app_length",
		"a WhatsApp template has %d characters, with every word at its longest",
		"Um modelo do WhatsApp tem %s caracteres, já com as palavras no maior tamanho.",
	)
	EmailLength = addRule(
		"email_length",
		"an e-mail has a subject of %d characters and a text of %d, with every word at its longest",
		"Um e-mail tem título de até %s caracteres e texto de até %s, já com as palavras no maior tamanho.",
	)
	WhatsAppEnds = addRule(
		"whats_app_ends",
		"a WhatsApp template neither begins nor ends with a word in braces",
		"Um modelo do WhatsApp não começa nem termina com uma palavra entre chaves.",
	)
	NotChangedHere  = addRule("not_changed_here", "is not changed here", "Este texto não foi mudado aqui.")
	ExactlyThisItem = addRule(
		"exactly_this_item",
		"exactly this one item, its id unchanged",
		"Exatamente este conteúdo, com o mesmo identificador.",
	)
	NotYAMLItems = addRule(
		"not_yaml_items",
		"not a YAML list of items: %s",
		"O texto não é uma lista YAML de conteúdos. Confira os espaços e os dois pontos.",
	)
	ContentThere = addRule(
		"content_there",
		"is there already; use edit",
		"Já existe um conteúdo com este identificador.",
	)
	NoSuchID    = addRule("no_such_id", "no such id", "Não há conteúdo com este identificador.")
	TwiceInFile = addRule("twice_in_file", "twice in one file", "O mesmo identificador aparece duas vezes.")
	NoSuchWord  = addRule(
		"no_such_word",
		"no such word here",
		"Há uma palavra entre chaves que não existe neste conteúdo.",
	)
	OneTo            = partnerRule("one_to", "1 to %d", "De 1 a %s.")
	FindingCannotAsk = addRule(
		"finding_cannot_ask",
		"an item about a finding cannot ask, as the next finding would be hidden by the answer to the last",
		"Um conteúdo sobre uma ocorrência não pode perguntar: a resposta esconderia a próxima ocorrência.",
	)
	UnknownKindOfValue = addRule(
		"unknown_kind_of_value",
		"unknown kind of value",
		"Há um tipo de dado que não existe.",
	)
	UnknownClass  = addRule("unknown_class", "unknown class", "Há uma classe de dados que não existe.")
	UnknownSource = addRule("unknown_source", "unknown kind", "Há uma origem que não existe.")
	NotNegative   = addRule("not_negative", "not negative", "Não pode ser negativo.")
	ItemAndValues = addRule(
		"item_and_values",
		"an item and the values of its options",
		"Um conteúdo e os valores das suas opções.",
	)
	TwoToTenOptions = addRule("two_to_ten_options", "2 to 10", "De 2 a 10 opções.")
	OptionFormat    = addRule(
		"option_format",
		"each a value of its own (a word like an id), a label and a risk of 0 to 10",
		"Cada opção tem um valor próprio, um rótulo e um risco de 0 a 10.",
	)
	OptionsOfRisk = addRule(
		"options_of_risk",
		"one must leave no risk (0) and one must leave some",
		"Uma opção não deixa risco (0) e outra deixa algum.",
	)
	NotAnOption = partnerRule(
		"not_an_option",
		"none of the question's options",
		"Não é uma das opções da pergunta.",
	)
	NoSuchItem = partnerRule(
		"no_such_item",
		"no such item, or it asks nothing",
		"Este conteúdo não existe, ou não pergunta nada.",
	)
)
