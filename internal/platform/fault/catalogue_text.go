package fault

// Numbers, texts and times.
var (
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
)
