package subject

// The words of the letter for kinds and classes of data.
var (
	kindWords = map[string]string{
		"email":       "e-mail",
		"cpf":         "CPF",
		"phone":       "telefone",
		"credit_card": "cartão",
		"pix_key":     "chave Pix",
		"cnpj":        "CNPJ",
		"domain":      "domínio",
	}
	exposedWords = map[string]string{
		"email":         "e-mail",
		"password":      "senha",
		"password_hash": "senha cifrada",
		"cpf":           "CPF",
		"phone":         "telefone",
		"card":          "cartão",
		"address":       "endereço",
		"name":          "nome",
		"birth_date":    "data de nascimento",
		"document":      "documento",
		"health":        "dados de saúde",
		"financial":     "dados financeiros",
		"cookies":       "acessos gravados no navegador",
		"ip_address":    "endereço IP",
		"username":      "nome de usuário",
		"other":         "outros dados",
	}
	systemWords = map[string]string{
		"android": "Android",
		"ios":     "iPhone ou iPad",
		"windows": "Windows",
		"macos":   "macOS",
	}
	eventWords = map[string]string{
		"monitoring.leak_detected":  "um dado seu apareceu em um vazamento",
		"monitoring.status_changed": "a situação de um dado seu mudou",
		"finding.step_due":          "um passo do seu plano está perto do prazo",
		"case.status_changed":       "a situação de um atendimento seu mudou",
		"case.message_added":        "houve uma mensagem em um atendimento seu",
		"case.appointment_changed":  "o horário de um atendimento seu mudou",
		"case.rated":                "você avaliou um atendimento",
		"epp.key_expiring":          "uma chave do antivírus está perto do fim",
		"epp.key_activated":         "uma chave do antivírus foi ativada",
		"epp.key_ended":             "uma chave do antivírus acabou",
		"subscription.ended":        "a sua assinatura foi encerrada",
		"subscription.suspended":    "a sua assinatura foi suspensa",
		"subscription.resumed":      "a sua assinatura foi retomada",
		"erasure.requested":         "o apagamento dos seus dados foi pedido",
		"erasure.cancelled":         "o apagamento dos seus dados foi cancelado",
	}
	severityWords = map[string]string{"low": "baixa", "medium": "média", "high": "alta", "critical": "crítica"}
	statusWords   = map[string]string{
		"monitorado":   "sem ocorrências",
		"alerta":       "em alerta",
		"comprometido": "comprometido",
		statusUnlooked: "ainda não verificado",
	}
	resolutionWords = map[string]string{
		"password_changed": "a senha foi trocada",
		"account_closed":   "a conta foi encerrada",
		"card_replaced":    "o cartão foi trocado",
		"not_me":           "não era da pessoa",
		"other":            "outro motivo",
		"retracted":        "o vazamento foi retirado",
	}
)
