package message

import (
	"cmp"

	"github.com/vigiahq/vigia/internal/partner"
)

// phrase is how a language says the codes of events.
type phrase struct {
	date  string
	codes map[string]string
}

// ofCode returns a code in words; one that is not known is said as it is.
func (p phrase) ofCode(code string) string {
	return cmp.Or(p.codes[code], code)
}

// phrases are the words that stand in place of codes, by language.
var phrases = map[partner.Language]phrase{
	partner.Portuguese: {
		"02/01/2006",
		map[string]string{
			"email":        "e-mail",
			"cpf":          "CPF",
			"cnpj":         "CNPJ",
			"phone":        "telefone",
			"credit_card":  "cartão",
			"domain":       "domínio",
			"pix_key":      "chave Pix",
			"low":          "baixa",
			"medium":       "média",
			"high":         "alta",
			"critical":     "crítica",
			"monitorado":   "monitorado",
			"alerta":       "em alerta",
			"comprometido": "comprometido",
			"android":      "Android",
			"ios":          "iOS",
			"windows":      "Windows",
			"macos":        "macOS",
			"expired":      "prazo encerrado",
			"revoked":      "chave cancelada",
			"moved":        "troca de aparelho",
			"subscription": "fim da assinatura",
		},
	},
	partner.Spanish: {
		"02/01/2006",
		map[string]string{
			"email":              "correo",
			"cpf":                "CPF",
			"cnpj":               "CNPJ",
			"phone":              "teléfono",
			"credit_card":        "tarjeta",
			"domain":             "dominio",
			"pix_key":            "clave Pix",
			"low":                "baja",
			"medium":             "media",
			"high":               "alta",
			"critical":           "crítica",
			"monitorado":         "monitoreado",
			"alerta":             "en alerta",
			"comprometido":       "comprometido",
			"Aberto":             "abierto",
			"Em andamento":       "en curso",
			"Aguardando cliente": "esperando respuesta",
			"Resolvido":          "resuelto",
			"Fechado":            "cerrado",
			"Cancelado":          "cancelado",
			"android":            "Android",
			"ios":                "iOS",
			"windows":            "Windows",
			"macos":              "macOS",
			"expired":            "fin del plazo",
			"revoked":            "clave cancelada",
			"moved":              "cambio de dispositivo",
			"subscription":       "fin de la suscripción",
		},
	},
	partner.English: {
		"2006-01-02",
		map[string]string{
			"email":              "e-mail",
			"cpf":                "CPF",
			"cnpj":               "CNPJ",
			"phone":              "phone",
			"credit_card":        "card",
			"domain":             "domain",
			"pix_key":            "Pix key",
			"low":                "low",
			"medium":             "medium",
			"high":               "high",
			"critical":           "critical",
			"monitorado":         "monitored",
			"alerta":             "on alert",
			"comprometido":       "compromised",
			"Aberto":             "open",
			"Em andamento":       "in progress",
			"Aguardando cliente": "waiting for you",
			"Resolvido":          "resolved",
			"Fechado":            "closed",
			"Cancelado":          "cancelled",
			"android":            "Android",
			"ios":                "iOS",
			"windows":            "Windows",
			"macos":              "macOS",
			"expired":            "its time is over",
			"revoked":            "key cancelled",
			"moved":              "moved to another device",
			"subscription":       "subscription ended",
		},
	},
}
