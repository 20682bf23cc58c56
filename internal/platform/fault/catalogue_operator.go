package fault

// Operators.
var (
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
)
