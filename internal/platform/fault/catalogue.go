package fault

// The catalogue: every rule that a refusal can name, with its sentences side by side. Numbers and names of a refusal go
// where a sentence has %s or %d; a Portuguese sentence may leave the last ones out. A rule that partners can meet in
// x-error-detail is a partnerRule: the reference explains it.
var (
	// Numbers, texts and times.
	WholeNumber = addRule("whole_number", "a whole number", "Escreva um número inteiro, como 10.")
	HoursOrNone = addRule(
		"hours_or_none",
		"a number, 0 for no target",
		"Escreva quantas horas, como 8 ou 1,5; 0 é sem prazo.",
	)
	DateFormat   = addRule("date_format", "a date such as 24/12/2026", "Escreva a data como 24/12/2026.")
	MomentFormat = addRule(
		"moment_format",
		"a date and a time, such as 24/12/2026 15:00",
		"Escreva a data e a hora como 24/12/2026 15:00.",
	)
	AmountFormat = addRule(
		"amount_format",
		"an amount such as 50.000 or 50.000,50",
		"Escreva um valor em reais, como R$ 50.000,00.",
	)
	MomentPerLine = addRule(
		"moment_per_line",
		"one a line, such as 24/12/2026 15:00",
		"Escreva um horário por linha, como 24/12/2026 15:00.",
	)
	PrintableLength = partnerRule(
		"printable_length",
		"1 to %d printable characters",
		"De 1 a %s caracteres, sem caracteres invisíveis.",
	)
	PrintableAtMost = addRule(
		"printable_at_most",
		"at most %d printable characters",
		"No máximo %s caracteres, sem caracteres invisíveis.",
	)
	Length            = addRule("length", "1 to %d characters", "De 1 a %s caracteres.")
	LinesChosen       = addRule("lines_chosen", "1 to %d lines", "Escolha de 1 a %s linhas.")
	LinesDone         = addRule("lines_done", "%d of %d lines are done", "%s de %s linhas já estão feitas.")
	NothingFits       = addRule("nothing_fits", "nothing fits any more", "Nenhuma linha corresponde mais ao filtro.")
	OneOfTheList      = addRule("one_of_the_list", "one of the list", "Escolha uma opção da lista.")
	ManyPeople        = addRule("many_people", "%d people", "O valor é de %s pessoas. Escolha também o parceiro.")
	PasswordGuessable = addRule(
		"password_guessable",
		"must be more than words of this service and of the e-mail address",
		"A senha precisa ser mais do que palavras deste serviço e do seu e-mail.",
	)
	LengthBetween = addRule("length_between", "%d to %d characters", "De %s a %s caracteres.")
	ItemsDecided  = partnerRule(
		"items_decided",
		"the first %d were decided and %d of them are watched; send the list again, nothing is added twice",
		"Os primeiros %s foram decididos e %s deles são monitorados; envie a lista de novo, nada é adicionado duas "+
			"vezes.",
	)
	PlainLength = partnerRule(
		"plain_length",
		"1 to %d characters, no control characters",
		"De 1 a %s caracteres, sem caracteres invisíveis.",
	)
	PlainAtMost = partnerRule(
		"plain_at_most",
		"at most %d characters, no control characters",
		"No máximo %s caracteres, sem caracteres invisíveis.",
	)
	TextLength = addRule(
		"text_length",
		"1 to %d characters, no control characters but line breaks",
		"De 1 a %s caracteres.",
	)
	TextAtMost = partnerRule(
		"text_at_most",
		"at most %d characters, no control characters but line breaks",
		"No máximo %s caracteres.",
	)
	AtMostCharacters = addRule("at_most_characters", "at most %d characters", "No máximo %s caracteres.")
	BreachTexts      = addRule(
		"breach_texts",
		"at most 500 characters; description: at most 4000; no control characters",
		"No máximo 500 caracteres na origem e 4.000 na descrição.",
	)
	ReservedPath = partnerRule(
		"reserved_path",
		"not %s, which is a path of its own",
		"Não pode ser %s, que é um caminho da API.",
	)
	AskedPerDay = addRule(
		"asked_per_day",
		"each value can be asked about %d times a day",
		"Cada dado pode ser consultado %s vezes por dia.",
	)
	AskedTooSoon = addRule(
		"asked_too_soon",
		"values can be asked about 24 hours after they were added, or at once if the enrolment names them",
		"Um dado pode ser consultado 24 horas depois de incluído, ou na hora se está no cadastro.",
	)
	DotPath = partnerRule(
		"dot_path",
		"neither . nor .., which no path can carry",
		"Não pode ser um ponto nem dois pontos seguidos.",
	)
	HyphenatedWords = addRule(
		"hyphenated_words",
		"lower-case words joined by hyphens, at most %d characters",
		"Palavras em minúsculas unidas por hífen, no máximo %s caracteres.",
	)
	FeedName = addRule(
		"feed_name",
		"1 to 40 of a-z, 0-9, '-', '_' and '.'",
		"De 1 a 40 caracteres: letras minúsculas sem acento, números, - _ e ponto.",
	)
	BreachName = addRule(
		"breach_name",
		"1 to 80 of a-z, 0-9, '-', '_' and single '.', beginning with a letter or digit",
		"De 1 a 80 caracteres: letras minúsculas sem acento, números, - _ e ponto; começa com letra ou número.",
	)

	// Partners, keys and plans.
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

	// People and what is watched.
	NotInPlan = partnerRule(
		"not_in_plan",
		"not in the plan of this finding",
		"Este passo não faz parte do plano desta ocorrência.",
	)
	FindingResolved = partnerRule(
		"finding_resolved",
		"the finding is resolved, its steps stay as they are",
		"A ocorrência já foi resolvida: os passos ficam como estão.",
	)
	NeedsPerson = addRule(
		"needs_person",
		"give a CPF, or a user hash with its partner",
		"Informe o CPF, ou o userHash junto com o parceiro.",
	)
	UserHashNeedsPartner = addRule(
		"user_hash_needs_partner",
		"means something only together with a partner",
		"Escolha também o parceiro: o userHash só vale com ele.",
	)
	CPFFormat = addRule(
		"cpf_format",
		"eleven digits, with or without dots and dash",
		"Onze números, com ou sem pontos e traço, como 000.000.000-00.",
	)
	ElevenDigits  = partnerRule("eleven_digits", "eleven digits", "Onze números.")
	ErasureReason = addRule(
		"erasure_reason",
		"1 to 1000 characters; it is kept with the erasure",
		"De 1 a 1.000 caracteres: o motivo fica guardado com o pedido.",
	)
	RevealReason = addRule(
		"reveal_reason",
		"say why the values have to be seen in clear",
		"Escreva por que os valores precisam aparecer em claro.",
	)
	TypeToConfirm  = addRule("type_to_confirm", "type %s", "Digite %s para confirmar.")
	BreachOrWindow = addRule(
		"breach_or_window",
		"give a breach, or a window of time",
		"Informe um vazamento, ou uma janela de tempo.",
	)
	UnknownBreach = addRule(
		"unknown_breach",
		"no breach has this title or short name",
		"Nenhum vazamento tem este título ou este nome curto.",
	)
	BreachOfMany = addRule(
		"breach_of_many",
		"several breaches have this title",
		"Há mais de um vazamento com este título: escolha um da lista.",
	)
	WindowReversed = addRule(
		"window_reversed",
		"the window ends before it begins",
		"A janela termina antes de começar.",
	)
	FromBeforeTo = addRule("from_before_to", "from must be before to", "O início tem de vir antes do fim.")
	ReplayChoice = addRule(
		"replay_choice",
		"give one event, a window, or all failed",
		"Escolha um evento, uma janela de tempo ou todas as falhas.",
	)
	SubscriptionChoice = addRule(
		"subscription_choice",
		"give a plan and a CPF, or the CNPJ of a benefit holder",
		"Informe um plano e um CPF, ou o CNPJ da empresa que paga.",
	)
	CNPJFormat = addRule(
		"cnpj_format",
		"a CNPJ of fourteen characters without punctuation",
		"Um CNPJ, como 12.ABC.345/01DE-35.",
	)
	NoSubscriptionMatches = addRule(
		"no_subscription_matches",
		"no subscription that has not ended matches",
		"Nenhuma assinatura em vigor corresponde.",
	)
	ExpiryDate = partnerRule(
		"expiry_date",
		"a date as YYYY-MM-DD that is neither over nor before start_date, or empty for no end",
		"Uma data que não passou nem vem antes do início, ou nada.",
	)
	MetadataFormat = partnerRule(
		"metadata_format",
		"a text of valid JSON, at most 8 KiB",
		"Um JSON válido de até 8 KiB.",
	)
	CannotChange = partnerRule(
		"cannot_change",
		"cannot be changed; end the subscription and enrol anew",
		"Não muda: encerre a assinatura e cadastre de novo.",
	)
	PastDate = partnerRule(
		"past_date",
		"a date as YYYY-MM-DD that is not in the future",
		"Uma data que não está no futuro.",
	)
	GenderFormat = partnerRule("gender_format", "M or F", "Escolha M ou F.")
	EmailFormat  = partnerRule("email_format", "an e-mail address", "Um endereço de e-mail.")
	PhoneFormat  = partnerRule(
		"phone_format",
		"a phone number with its country code",
		"Um telefone com o código do país.",
	)
	EightDigits = partnerRule("eight_digits", "eight digits", "Oito dígitos.")
	StateFormat = partnerRule(
		"state_format",
		"the two letters of a Brazilian state",
		"A sigla de um estado, como SP.",
	)
	HasEnded    = addRule("has_ended", "it has ended", "A assinatura já foi encerrada.")
	DigestOfCPF = partnerRule(
		"digest_of_cpf",
		"for type cpf the digest of that very CPF",
		"O userHash não é o deste CPF.",
	)
	SandboxNotPaced = addRule(
		"sandbox_not_paced",
		"first looks of a sandbox partner are not paced",
		"Um parceiro de testes não tem limite de buscas retroativas.",
	)
	NoProtectionPlan = partnerRule(
		"no_protection_plan",
		"no subscription in force whose plan includes endpoint protection",
		"A pessoa não tem assinatura em vigor com proteção de dispositivos.",
	)
	NoPlanInForce = partnerRule(
		"no_plan_in_force",
		"no subscription in force and no default plan",
		"A pessoa não tem assinatura em vigor, e o parceiro não tem plano padrão.",
	)
	OneOf               = partnerRule("one_of", "one of %s", "Escolha uma opção da lista.")
	UnknownType         = partnerRule("unknown_type", "unknown type", "O tipo de dado não existe.")
	WrongLength         = partnerRule("wrong_length", "wrong length", "O valor tem caracteres a mais ou a menos.")
	CharacterNotAllowed = partnerRule(
		"character_not_allowed",
		"character not allowed",
		"O valor tem um caractere que não pode estar nele.",
	)
	NotValid    = addRule("not_valid", "not valid", "O valor não é válido.")
	CheckDigits = partnerRule(
		"check_digits",
		"check digits do not match",
		"Os dígitos verificadores não conferem.",
	)
	RepeatedCharacter = partnerRule(
		"repeated_character",
		"one repeated character",
		"Um só caractere repetido não é um documento.",
	)
	UnknownAreaCode    = partnerRule("unknown_area_code", "unknown area code", "Este DDD não existe.")
	UnknownCountryCode = partnerRule(
		"unknown_country_code",
		"missing or unknown country code",
		"Falta o código do país, ou ele não existe.",
	)
	NoSuchPhone = partnerRule(
		"no_such_phone",
		"no such number in its country's plan",
		"Este número de telefone não existe.",
	)
	NotOneEmail = partnerRule("not_one_email", "not one e-mail address", "Não é um endereço de e-mail.")
	NotADomain  = partnerRule(
		"not_a_domain",
		"not a registrable domain name",
		"Não é um domínio que alguém possa registrar, como empresa.com.br.",
	)
	NotAPixKey    = partnerRule("not_a_pix_key", "not a random Pix key", "Não é uma chave Pix aleatória.")
	UnknownState  = partnerRule("unknown_state", "unknown state", "Este estado não existe.")
	SandboxOfLive = addRule(
		"sandbox_of_live",
		"the id of a live partner, for a sandbox partner",
		"Escreva o pt_… de um parceiro de produção; só um parceiro de testes tem este campo.",
	)
	HasASandbox = addRule(
		"has_a_sandbox",
		"that partner has a sandbox, %s",
		"Esse parceiro já tem um de testes: %s.",
	)

	// Operators.
	RoleNotGiven = addRule(
		"role_not_given",
		"a role with more rights than one's own is given and changed by an administrator of the partner, or by the "+
			"operator",
		"Quem tem mais permissões do que você é convidado e alterado só por um administrador do parceiro ou pelo "+
			"operador.",
	)
	PublicURLForPasskeys = addRule(
		"public_url_for_passkeys",
		"must be given for passkeys outside this machine",
		"Peça a quem opera o serviço para informar --public-url.",
	)
	EmailExample = addRule(
		"email_example",
		"expected an address such as ana@exemplo.com.br",
		"Escreva um e-mail, como ana@exemplo.com.br.",
	)
	PasswordIsEmail = addRule(
		"password_is_email",
		"must not be the e-mail address",
		"A senha não pode ser o seu e-mail.",
	)
	NoSecondFactor = addRule(
		"no_second_factor",
		"there is no second factor to stand in for",
		"Ative o segundo fator primeiro.",
	)
	HeadFormat = addRule(
		"head_format",
		"a line's number, a colon and its head in hexadecimal",
		"O número da linha, dois pontos e o código anotado.",
	)
	TrailHeadForged = addRule(
		"trail_head_forged",
		"the head of the trail was not written by this service",
		"O fim da trilha não foi escrito por este serviço.",
	)
	TrailBeginningForged = addRule(
		"trail_beginning_forged",
		"the beginning of the trail was not written by this service",
		"O começo da trilha não foi escrito por este serviço.",
	)
	TrailDetailSealed = addRule(
		"trail_detail_sealed",
		"line %d: its detail does not open",
		"O detalhe da linha %s não abre.",
	)
	TrailDetailUnreadable = addRule(
		"trail_detail_unreadable",
		"line %d: its detail cannot be read",
		"O detalhe da linha %s não pôde ser lido.",
	)
	TrailLineTooOld = addRule(
		"trail_line_too_old",
		"line %d is older than the trail, which begins at line %d: note a newer head",
		"A linha %s é mais antiga que a trilha, que começa na linha %s: anote um valor mais novo.",
	)
	TrailLineMissing = addRule("trail_line_missing", "line %d is missing", "Falta a linha %s.")
	TrailLineNotLast = addRule(
		"trail_line_not_last",
		"line %d is not the one that the head was made for",
		"A linha %s não é a última que foi escrita.",
	)
	TrailTooShort = addRule(
		"trail_too_short",
		"the trail ends at line %d, before the expected line %d",
		"A trilha acaba na linha %s, antes da linha anotada, %s.",
	)
	TrailLineChanged = addRule(
		"trail_line_changed",
		"line %d was changed, or does not follow line %d",
		"A linha %s foi alterada, ou não vem depois da linha %s.",
	)
	TrailLineNotNoted = addRule(
		"trail_line_not_noted",
		"line %d is not the one that was noted",
		"A linha %s não é a que foi anotada.",
	)
	TrailLinesOutside = addRule(
		"trail_lines_outside",
		"%d lines stand outside the chain",
		"%s linhas estão fora da sequência.",
	)

	// Breaches and their imports.
	SandboxBreach = addRule(
		"sandbox_breach",
		"%s is the made-up breach of sandbox partners",
		"%s é o vazamento fictício dos parceiros de teste. Escolha outro nome.",
	)
	DayRange = addRule(
		"day_range",
		"a day from 1970 to today, YYYY-MM-DD",
		"Um dia de 01/01/1970 até hoje.",
	)
	DayFormat  = addRule("day_format", "expected YYYY-MM-DD", "Escreva a data como 24/12/2026.")
	ClassesAre = addRule("classes_are", "classes are %s", "Escolha as classes da lista.")
	NameAClass = addRule(
		"name_a_class",
		"name at least one class of data",
		"Marque ao menos uma classe de dados.",
	)
	NotABreachName       = addRule("not_a_breach_name", "not a breach's name", "Não é o nome de um vazamento.")
	WasRetracted         = addRule("was_retracted", "was retracted", "Este vazamento foi retirado.")
	RetractedImportOther = addRule(
		"retracted_import_other",
		"was retracted; import under another name",
		"Este vazamento foi retirado. Importe com outro nome.",
	)
	AlreadyPublished = addRule(
		"already_published",
		"is already published",
		"Este nome já é de um vazamento publicado.",
	)
	PublishedOtherwise = addRule(
		"published_otherwise",
		"is published with other content",
		"Este nome já é de um vazamento publicado com outro conteúdo.",
	)
	NotPublished     = addRule("not_published", "is not published", "O vazamento não está publicado.")
	RenewedMeanwhile = addRule(
		"renewed_meanwhile",
		"somebody else renewed it meanwhile; run the same command again",
		"Outra pessoa renovou o vazamento enquanto isso. Tente de novo.",
	)
	NoKeyLeft = addRule(
		"no_key_left",
		"no key left for this system",
		"Não há mais chaves para este sistema.",
	)
	ShareOfKeysTaken = addRule(
		"share_of_keys_taken",
		"this partner has had its share of the keys for this system",
		"O parceiro já recebeu a sua parte das chaves deste sistema.",
	)
	ShareOfTimesTaken = addRule(
		"share_of_times_taken",
		"this partner holds its share of the coming ones",
		"O parceiro já tem a sua parte dos próximos horários.",
	)
	ImportNotPublished = addRule(
		"import_not_published",
		"is being imported and not published yet",
		"O vazamento ainda está sendo importado.",
	)
	BeingImported         = addRule("being_imported", "it is being imported", "O vazamento já está sendo importado.")
	BeingVerified         = addRule("being_verified", "it is being verified", "O vazamento já está sendo conferido.")
	AnotherProcessImports = addRule(
		"another_process_imports",
		"another process is importing it",
		"Outro processo já o está importando.",
	)
	Taken     = addRule("taken", "taken", "Este nome já está em uso.")
	NoSegment = addRule("no_segment", "the breach has no segment", "O vazamento não tem índice.")
	NoContent = addRule(
		"no_content",
		"the breach has no content of its own",
		"O vazamento não tem conteúdo próprio.",
	)
	NoFile                = addRule("no_file", "there is no file", "Não há nenhum arquivo ali.")
	FileUnreadable        = addRule("file_unreadable", "%s cannot be read", "%s não pôde ser lido.")
	Unreadable            = addRule("unreadable", "cannot be read", "Não pôde ser lido.")
	FileUnreadableInPlace = addRule(
		"file_unreadable_in_place",
		"%s cannot be read in place",
		"%s não pôde ser lido onde está.",
	)
	FileChangedWhileRead = addRule(
		"file_changed_while_read",
		"%s changed while it was read",
		"%s mudou enquanto era lido.",
	)
	DoubtfulImport = addRule(
		"doubtful_import",
		"%s: not published, unless it is forced (--force)",
		"%s Por isso não foi publicado.",
	)
	DoubtfulRenewal = addRule(
		"doubtful_renewal",
		"%s: the breach stays as it is, unless it is forced (--force)",
		"%s Por isso o vazamento fica como estava.",
	)
	NotAPath     = addRule("not_a_path", "not a path", "Não é um caminho.")
	NotAnAddress = addRule("not_an_address", "not an address", "Não é um endereço.")
	NotABucket   = addRule("not_a_bucket", "not the address of a bucket", "Não é o endereço de um bucket.")
	OtherInputs  = addRule(
		"other_inputs",
		"not those that this import began with, or they changed since; retract the breach to give it up",
		"Não são os arquivos com que esta importação começou, ou eles mudaram. Retire o vazamento para desistir.",
	)
	BucketUnreadable = addRule("bucket_unreadable", "the bucket cannot be read", "O bucket não pôde ser lido.")
	NothingFound     = addRule("nothing_found", "nothing was found", "Nada foi encontrado nos arquivos.")
	MostUnreadable   = addRule(
		"most_unreadable",
		"most of it could not be read",
		"A maior parte não pôde ser lida.",
	)

	// The process that reads dumps.
	ReaderUnconfined = addRule(
		"reader_unconfined",
		"no dump is read here unless --reader-unconfined is given, as nothing on this system confines the process "+
			"that reads it",
		"Nenhum vazamento é lido aqui sem --reader-unconfined: nada neste sistema isola o processo que os lê.",
	)

	// Feeds.
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

	// Files.
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

	// Leaked passwords.
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

	// Cases, devices, messages and content.
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

	// Webhooks and reading of events.
	EachOneOf      = addRule("each_one_of", "each must be one of %v", "Escolha tipos de evento da lista.")
	NotAURL        = addRule("not_aurl", "not a URL", "Não é um endereço.")
	PrintableASCII = addRule(
		"printable_ascii",
		"printable ASCII without spaces and backslashes only",
		"Sem espaços, acentos ou barras invertidas.",
	)
	SchemeHTTPS  = addRule("scheme_https", "the scheme must be https", "O endereço tem de começar com https://.")
	NoUserInURL  = addRule("no_user_in_url", "no user or password", "O endereço não pode ter usuário nem senha.")
	NoFragment   = addRule("no_fragment", "no fragment", "O endereço não pode ter a parte depois de #.")
	HostRequired = addRule("host_required", "a host is required", "Falta o domínio do endereço.")
	PortEmpty    = addRule("port_empty", "the port is empty", "Falta o número da porta depois dos dois pontos.")
	PortRange    = addRule("port_range", "the port must be 1 to 65535", "A porta vai de 1 a 65535.")
	NoZone       = addRule("no_zone", "no zone in an address", "O endereço IP não pode ter zona.")
	HostForm     = addRule(
		"host_form",
		"the host must be a DNS name or an IP address in its normal form",
		"O domínio, ou o endereço IP na forma usual.",
	)
	HostResolves = addRule(
		"host_resolves",
		"the host must resolve to allowed addresses only",
		"O domínio não existe, ou leva a um endereço interno, que não é permitido.",
	)
	HistoryLines = partnerRule(
		"history_lines",
		"at most %d lines of history",
		"Um caso guarda no máximo %s registros. Abra outro caso para continuar.",
	)
	EventsOfKey = partnerRule(
		"events_of_key",
		"only of events that this key may read: %v",
		"Só de eventos que esta chave pode ler.",
	)
	KeysValidAtOnce = addRule(
		"keys_valid_at_once",
		"at most %d keys may be valid at once",
		"No máximo %s chaves valem ao mesmo tempo.",
	)
	CursorAhead = partnerRule(
		"cursor_ahead",
		"is ahead of the newest event; read again without it",
		"Aponta para depois do evento mais novo.",
	)
	CursorRestored = partnerRule(
		"cursor_restored",
		"stands behind an event that a restored backup does not have; read again without it",
		"É de antes da volta a uma cópia de segurança mais antiga.",
	)
	CursorFormat = partnerRule(
		"cursor_format",
		"must be the value of next in an earlier answer",
		"Não é um ponto de leitura que já foi dado.",
	)

	// Requests of partners.
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
	ImportCancelled = addRule("import_cancelled", "the import was cancelled", "A importação foi cancelada.")

	// What the store finds.
	NoSuchBreach           = addRule("no_such_breach", "there is no such breach", "Este vazamento não existe.")
	IsTaken                = addRule("is_taken", "is taken", "Este nome já está em uso.")
	AppointmentsForCovered = addRule(
		"appointments_for_covered",
		"appointments are for people with a subscription in force",
		"Horários são para pessoas com assinatura em vigor.",
	)
	NoTimeFree = addRule(
		"no_time_free",
		"none of these times is free",
		"Nenhum destes horários está livre.",
	)
	NoCalendar      = addRule("no_calendar", "the service has no calendar", "O serviço não tem agenda.")
	SlotHeld        = addRule("slot_held", "a case holds it", "Um caso tem este horário.")
	WasNotChanged   = addRule("was_not_changed", "was not changed", "Este conteúdo não foi alterado.")
	HasEndedAlready = addRule("has_ended_already", "has ended already", "A chave já terminou.")
	HasALiveKey     = addRule(
		"has_a_live_key",
		"has a live key already",
		"Este aparelho já tem uma chave em vigor.",
	)
	NoSuchFeed     = addRule("no_such_feed", "there is no such feed", "Esta fonte não existe.")
	ValuesOfPerson = addRule(
		"values_of_person",
		"at most %d values of one person",
		"No máximo %s dados de uma pessoa.",
	)
	UsedWithOtherBody = addRule(
		"used_with_other_body",
		"was used before with another body",
		"Já foi usada antes com outro corpo.",
	)
	AnswerNotKept = addRule(
		"answer_not_kept",
		"the work is done, its answer of more than %d bytes was not kept",
		"O pedido já foi atendido; a resposta passa de %s bytes e não foi guardada.",
	)
	OperatorExists = addRule(
		"operator_exists",
		"there is an operator with this address",
		"Já existe um operador com este e-mail.",
	)
	FiltersAtMost = addRule("filters_at_most", "at most %d filters", "No máximo %s filtros.")
	PlanExists    = addRule(
		"plan_exists",
		"the partner has a plan of this id",
		"O parceiro já tem um plano com este identificador.",
	)
	WebhooksAtMost = addRule("webhooks_at_most", "at most %d webhooks", "No máximo %s webhooks.")
)
