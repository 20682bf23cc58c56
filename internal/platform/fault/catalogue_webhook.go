package fault

// Webhooks and reading of events.
var (
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
)
