package api

import "github.com/vigiahq/vigia/internal/subscription"

// itemRules says in Portuguese what an item of a bulk request broke. Together with messages.go it holds every sentence
// that a partner can read.
var itemRules = map[subscription.Rule]string{
	subscription.RuleNotObject:      "deve ser um objeto JSON",
	subscription.RuleUnreadable:     "JSON inválido",
	subscription.RuleRepeatedMember: "membro repetido",
	subscription.RuleRequired:       "obrigatório",
	subscription.RuleNotText:        "deve ser um texto",
	subscription.RuleNotFlag:        "deve ser true ou false",
	subscription.RuleNotNested:      "deve ser um objeto",
	subscription.RuleLength255:      "deve ter de 1 a 255 caracteres",
	subscription.RuleLength32:       "deve ter de 1 a 32 caracteres",
	subscription.RuleLength8K:       "deve ter no máximo 8 KiB",
	subscription.RuleDate:           "data inválida, use AAAA-MM-DD",
	subscription.RuleFuture:         "não pode estar no futuro",
	subscription.RuleBeforeStart:    "não pode ser anterior a start_date",
	subscription.RuleWholeNumber:    "deve ser um número inteiro",
	subscription.RuleGroupMinimum:   "mínimo de 50",
	subscription.RuleGender:         "deve ser M ou F",
	subscription.RuleJSON:           "deve conter JSON válido",
	subscription.RulePrintable:      "contém caractere não permitido",
	subscription.RuleDots:           "não pode ser . nem ..",
	subscription.RulePlanUnknown:    "plano não cadastrado",
	subscription.RulePlanRetired:    "plano encerrado para novas assinaturas",
	subscription.RuleExists:         "assinatura já existe",
	subscription.RuleUnknown:        "nenhuma assinatura em vigor",
	subscription.RuleOver:           "não pode estar no passado",
	subscription.RuleFixed:          "não pode mudar: encerre a assinatura e cadastre de novo",
	subscription.RuleNothing:        "não diz o que mudar",
	"identifier.empty":              "obrigatório",
	"identifier.length":             "tamanho inválido",
	"identifier.character":          "contém caractere não permitido",
	"identifier.check_digits":       "dígitos verificadores inválidos",
	"identifier.repeated":           "não pode ser um único caractere repetido",
	"identifier.area_code":          "DDD desconhecido",
	"identifier.country_code":       "código do país ausente ou desconhecido",
	"identifier.number":             "número inexistente",
	"identifier.address":            "e-mail inválido",
	"identifier.domain":             "domínio inválido",
	"identifier.state":              "UF desconhecida",
}

// fieldRules are sentences that one field says better than the rule alone.
var fieldRules = map[subscription.Problem]string{
	{Field: subscription.FieldCPF, Rule: "identifier.length"}:        "deve ter 11 dígitos",
	{Field: subscription.FieldCPF, Rule: "identifier.character"}:     "deve conter somente dígitos",
	{Field: subscription.FieldHolder, Rule: "identifier.length"}:     "CNPJ deve ter 14 caracteres",
	{Field: subscription.FieldZipcode, Rule: "identifier.length"}:    "deve ter 8 dígitos",
	{Field: subscription.FieldZipcode, Rule: "identifier.character"}: "deve conter somente dígitos",
}

// ItemError returns the problem of an item as partners read it: `field: regra`.
func ItemError(p subscription.Problem) string {
	text, ok := fieldRules[p]
	if !ok {
		if text, ok = itemRules[p.Rule]; !ok {
			text = "valor inválido"
		}
	}
	return string(p.Field) + ": " + text
}
