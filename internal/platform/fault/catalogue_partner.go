package fault

// Partners, keys and plans.
var (
	RequestsPerSecond = addRule(
		"requests_per_second",
		"0 (default) to 1000000 requests a second",
		"De 0 (padrão) a 1.000.000 de chamadas por segundo.",
	)
	RequestsAtOnce = addRule(
		"requests_at_once",
		"0 (default) to 1000000 requests",
		"De 0 (padrão) a 1.000.000 de chamadas.",
	)
	LooksPerHour = addRule(
		"looks_per_hour",
		"auto, 0 (none) or a number up to 1000000000",
		"Vazio (pelo tamanho do parceiro), 0 (nenhuma) ou um número até 1.000.000.000.",
	)
	PeopleCovered = addRule(
		"people_covered",
		"how many people the contract covers, from 1 to %d: without it nearly all values wait to be looked for",
		"Diga quantas pessoas o contrato cobre, de 1 a %s: sem isso quase todos os dados esperam pela busca.",
	)
	PeopleOfPartner = addRule(
		"people_of_partner",
		"a number of people from 0 to %d",
		"Um número de pessoas de 0 a %s.",
	)
	ZeroTo   = addRule("zero_to", "0 to %d", "De 0 a %s.")
	HostName = addRule(
		"host_name",
		"a host such as banco.com.br, without scheme, port or path",
		"Escreva só o domínio, como banco.com.br.",
	)
	AtMost       = partnerRule("at_most", "at most %d", "No máximo %s.")
	ColourFormat = addRule("colour_format", "a colour such as #0b57a4", "Escreva a cor como #0b57a4.")
	Contrast     = addRule(
		"contrast",
		"its contrast is %s to 1 on the %s, and people need at least 4.5 to 1 to read it (WCAG 2.2, 1.4.3, level AA)",
		"O contraste é de %s para 1; para ser lida, a cor precisa de ao menos 4,5 para 1 (WCAG 2.2, nível AA).",
	)
	TextsAtMost = addRule(
		"texts_at_most",
		"at most %d characters each, no control characters but line breaks",
		"No máximo %s caracteres em cada texto.",
	)
	OriginFormat = addRule(
		"origin_format",
		"an origin such as https://app.banco.com.br, without path",
		"Escreva o endereço como https://app.banco.com.br, sem nada depois.",
	)
	FileKiB       = addRule("file_ki_b", "a file of at most %d KiB", "Um arquivo de no máximo %s KiB.")
	PictureFormat = addRule("picture_format", "a PNG or JPEG picture", "Uma imagem PNG ou JPEG.")
	PictureSize   = addRule("picture_size", "at most %d by %d pixels", "No máximo %s por %s pixels.")
	PictureKiB    = addRule(
		"picture_ki_b",
		"%d KiB as a PNG, and at most %d KiB, for phones on slow lines (fewer dots or fewer colours)",
		"Ficou com %s KiB como PNG; o máximo é %s KiB, para celulares em redes lentas. Use menos pontos ou menos "+
			"cores.",
	)
	NothingHeld = partnerRule(
		"nothing_held",
		"nothing is held about this person",
		"Nada é mantido sobre esta pessoa.",
	)
	HTTPSAddressLength = partnerRule(
		"https_address_length",
		"an https address without user or password, at most %d characters",
		"Um endereço https, sem usuário nem senha, de no máximo %s caracteres.",
	)
	PartnersOwnSite = partnerRule(
		"partners_own_site",
		"at one of the partner's own sites, or under one",
		"Um endereço de um dos sites do parceiro.",
	)
	DaysOrNoEnd = addRule(
		"days_or_no_end",
		"1 to 3660, or nothing for no end",
		"De 1 a 3.660 dias, ou vazio para não vencer.",
	)
	HoursUpTo   = partnerRule("hours_up_to", "0 to %d hours", "De 0 a %s horas.")
	InTheFuture = partnerRule("in_the_future", "must be in the future", "Escolha um momento no futuro.")
	NotALiveKey = addRule(
		"not_a_live_key",
		"not a live key of this partner",
		"Esta chave já não vale, ou não é deste parceiro.",
	)
	UnknownScope = addRule(
		"unknown_scope",
		"unknown scope; known are cyber, cyber:read, subscriptions, subscriptions:read, credentials, manage, "+
			"manage:read",
		"Escolha ao menos uma permissão da lista.",
	)
	DeviceLimit = addRule(
		"device_limit",
		"-1 (none), 0 (no limit) to %d",
		"-1 (nenhum), 0 (sem limite) ou até %s.",
	)
	DefaultTo     = addRule("default_to", "0 (default, %d) to %d", "De 0 (padrão, %s) a %s.")
	ReaisDecimals = addRule(
		"reais_decimals",
		"a number of reais with at most two decimals, 0 to %d",
		"Um valor em reais, de 0 a %s.",
	)
	DaysUpTo       = addRule("days_up_to", "0 to %d days", "De 0 a %s dias.")
	ReaisUpTo      = addRule("reais_up_to", "0 to %d reais", "De R$ 0 a R$ %s.")
	SubLimitFormat = addRule(
		"sub_limit_format",
		"a name of 1 to %d characters and a limit within limiteCobertura",
		"Em cada linha, um nome de 1 a %s caracteres, dois pontos e um valor que caiba no limite.",
	)
	EachPlainLength = addRule(
		"each_plain_length",
		"each 1 to %d characters, no control characters",
		"Cada linha com 1 a %s caracteres.",
	)
	ListEntries    = addRule("list_entries", "at most %d entries in a list", "No máximo %s linhas.")
	CoverageFormat = addRule(
		"coverage_format",
		"expected a JSON object with plano, limiteCobertura, tipoCobertura, condições, exclusões and, if any, "+
			"sublimites and carenciaDias",
		"Um objeto JSON com os campos da cobertura.",
	)
	ScopeMissing = partnerRule(
		"scope_missing",
		"the key lacks the scope %s",
		"A chave não tem a permissão %s.",
	)
	ScopeLacking = partnerRule(
		"scope_lacking",
		"no more than the calling key has; it lacks %s",
		"A chave que pede não tem a permissão %s.",
	)
	NameAtLeastOne = partnerRule("name_at_least_one", "name at least one", "Escolha ao menos uma.")
	AtMostInForce  = partnerRule("at_most_in_force", "at most %d in force", "No máximo %s em vigor.")
	ConfirmOwnKey  = partnerRule(
		"confirm_own_key",
		"must be true to revoke the key that this request shows",
		"Confirme que quer revogar a própria chave.",
	)
	BreachNotPublishedByName = addRule(
		"breach_not_published_by_name",
		"no such breach is published",
		"Nenhum vazamento publicado tem este nome.",
	)
	ScopeNeedsApproval = addRule(
		"scope_needs_approval",
		"%s shows people in clear or erases them; an administrator of the partner, or the operator, gives it",
		"A permissão %s mostra ou apaga dados de pessoas: quem a dá é um administrador do parceiro ou o operador.",
	)
	ScopeOperatorGives = addRule(
		"scope_operator_gives",
		"%s is the operator's to give; no key in force has it",
		"Só o operador pode dar a permissão %s: nenhuma chave em vigor a tem.",
	)
)
