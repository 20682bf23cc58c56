package fault

// People and what is watched.
var (
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
)
