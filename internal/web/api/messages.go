package api

import (
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Every sentence that a partner can read stands in this file, to the letter of the contract where the contract has it.

// Successes.
const (
	msgMonitoringAdded   = "Dados adicionados com sucesso."
	msgMonitoringRemoved = "Dados removidos com sucesso."
	msgCaseOpened        = "Caso criado com sucesso."
	msgCaseTold          = "Mensagem enviada com sucesso."
	msgCaseCancelled     = "Caso cancelado com sucesso."
	msgCaseRated         = "Avaliação registrada com sucesso."
	msgAnswerKept        = "Resposta registrada com sucesso."
	msgClockMoved        = "Relógio adiantado com sucesso."
	msgWebhookRemoved    = "Webhook removido com sucesso."
	msgKeyRevoked        = "Chave revogada com sucesso."
	msgFindingResolved   = "Ocorrência resolvida com sucesso."
	msgStepMarked        = "Passo registrado com sucesso."
	msgKeyActivated      = "Chave ativada com sucesso."
	msgErasureCancelled  = "Apagamento cancelado com sucesso."
	msgKeySeen           = "Atividade registrada com sucesso."
)

// The descriptions of errors that the contract fixes to the letter.
const (
	msgInvalid     = "Request Inválida. Dados de entrada inválidos."
	msgApplication = "Erro de Aplicação"
)

// byStatus is what an answer says unless its fault has a sentence of its own.
var byStatus = map[int]string{
	http.StatusBadRequest:            msgInvalid,
	http.StatusUnauthorized:          "Não autorizado",
	http.StatusForbidden:             "Request Proibida.",
	http.StatusNotFound:              "Recurso não encontrado.",
	http.StatusMethodNotAllowed:      "Método não permitido.",
	http.StatusConflict:              "Conflito com o estado atual do recurso.",
	http.StatusRequestEntityTooLarge: "Request grande demais.",
	http.StatusUnsupportedMediaType:  "Tipo de conteúdo não suportado. Envie application/json.",
	http.StatusUnprocessableEntity:   "Request não processável.",
	http.StatusTooManyRequests:       "Limite de requisições excedido. Tente novamente em instantes.",
	http.StatusInternalServerError:   msgApplication,
	http.StatusServiceUnavailable:    msgApplication,
}

// byCode holds the sentences of single faults.
var byCode = map[string]string{
	"asset.not_found":             "Ativo não encontrado.",
	"service.not_found":           "Serviço não encontrado.",
	"coverage.not_found":          "Cobertura não encontrada.",
	"subscription.not_found":      "Assinatura não encontrada",
	"idempotency.other_body":      "Chave de idempotência já utilizada com outro conteúdo.",
	"idempotency.still_running":   "Uma requisição com esta chave de idempotência ainda está em andamento.",
	"idempotency.given_once":      "Requisição já concluída; a resposta trazia um segredo e não se repete.",
	"idempotency.answer_not_kept": "Requisição já concluída; a resposta é grande demais para ser repetida.",
	"share.not_covered":           "Nenhuma assinatura em vigor inclui este serviço.",
	"share.used_up":               "Cota deste parceiro atingida.",
	"device.limit_reached":        "Limite de dispositivos do plano atingido.",
	"device.ended":                "Esta chave já foi encerrada.",
	"device.exists":               "Este aparelho já tem uma chave em vigor.",
	"appointment.unavailable":     "Nenhum dos horários solicitados está disponível.",
	"appointment.no_calendar":     "Este serviço não atende com hora marcada.",
	"finding.closed":              "Esta ocorrência já foi resolvida.",
	"case.ended":                  "Este caso já foi encerrado.",
	"case.not_resolved":           "Este caso ainda não foi resolvido.",
	"case.too_long":               "Este caso atingiu o limite de mensagens. Abra outro.",
	"asset.limit_reached":         "Limite de dados monitorados deste usuário atingido.",
	"credential.too_new":          "Nenhum dado deste usuário pode ser conferido ainda.",

	"erasure.begun": "Este apagamento já começou e não pode mais ser cancelado.",

	"webhook.too_many":      "Limite de webhooks deste parceiro atingido.",
	"webhook.too_many_keys": "Segredos demais em vigor para este webhook. Aguarde o fim de um deles.",
	"key.too_many":          "Limite de chaves deste parceiro atingido.",
}

// detailByCode names field and rule of faults that the storage finds: it does not know what a field is called in a
// request.
var detailByCode = map[string]string{
	"path.not_found":            "path: no operation has it",
	"password.no_corpus":        "hash: no list of breached passwords is loaded yet",
	"asset.not_found":           "id: no such value is watched for this person",
	"case.not_found":            "id: no such case of this person",
	"finding.not_found":         "id: no such finding about this person",
	"step.not_found":            "step: not in the plan of this finding",
	"device.not_found":          "key: no such key",
	"message.none":              "id: people are not told of such an event",
	"subscription.not_found":    "plan_id, beneficiary_cpf: no such subscription",
	"service.not_found":         "serviceId: no such service",
	"webhook.not_found":         "id: no such webhook",
	"key.not_found":             "id: no such key",
	"erasure.not_found":         "id: no such erasure",
	"erasure.begun":             "id: the erasure has begun",
	"event.not_found":           "event: no such event",
	"idempotency.still_running": "idempotency-key: the first request with it is still running",
}

// detailByKind says in words what a fault without field and rule of its own comes to.
var detailByKind = map[fault.Kind]string{
	fault.Invalid:         "request: breaks a rule of the operation",
	fault.Forbidden:       "x-api-key: is not for this operation",
	fault.NotFound:        "path: names nothing of this partner",
	fault.Conflict:        "request: does not fit the present state",
	fault.TooLarge:        "body: larger than allowed",
	fault.UnsupportedType: "content-type: expected application/json",
	fault.Unprocessable:   "request: was understood and cannot be carried out",
	fault.RateLimited:     "rate: more than this partner may ask for",
	fault.Unavailable:     "service: cannot answer at the moment, come back after retry-after seconds",
}

// passwordAdvice is what to do about a password, by how widely it is known.
var passwordAdvice = map[password.Exposure][]string{
	password.WidelyExposed: {
		"Esta senha está entre as mais conhecidas em vazamentos: qualquer ataque automático a tenta primeiro. " +
			"Troque-a agora em todos os serviços em que a usa.",
		"Crie uma senha diferente para cada serviço, com pelo menos 15 caracteres ou quatro palavras sem relação " +
			"entre si.",
		"Ative a verificação em duas etapas, começando pelo e-mail e pelo banco.",
		"Confira se há acessos que você não reconhece nas contas que usavam esta senha e encerre as sessões abertas.",
	},
	password.Exposed: {
		"Esta senha apareceu em vazamentos de dados. Troque-a em todos os serviços em que a usa e não volte a usá-la.",
		"Use uma senha diferente para cada serviço; um gerenciador de senhas cria e guarda todas elas.",
		"Ative a verificação em duas etapas nas contas que usavam esta senha.",
	},
	password.NotKnown: {
		"Esta senha não foi encontrada nos vazamentos conhecidos. Isso não garante que ela seja forte: prefira " +
			"senhas longas.",
		"Não repita a mesma senha em outros serviços e ative a verificação em duas etapas sempre que possível.",
	},
}

// credentialAdvice is what to do about a password, by whether it is known together with a value of the person.
var credentialAdvice = map[bool][]string{
	true: {
		"Esta senha vazou junto com um dado seu: quem tem o vazamento sabe que ela é sua. Troque-a agora em todos os " +
			"serviços em que a usa.",
		"Confira se há acessos que você não reconhece nessas contas e encerre as sessões abertas.",
		"Ative a verificação em duas etapas e use uma senha diferente para cada serviço.",
	},
	false: {
		"Esta senha não foi encontrada junto com os seus dados monitorados. Isso não garante que ela seja forte nem " +
			"que não tenha vazado de outra forma.",
		"Não repita a mesma senha em outros serviços e ative a verificação em duas etapas sempre que possível.",
	},
}

// mendSentence is what the score recommends, by what it mends: {vazamento} is the breach, {valor} the person's value in
// it, masked. What an answer would mend is said by the catalogue of content.
var mendSentence = map[cyber.Mends]string{
	cyber.MendStealer: "Passe o antivírus em seus aparelhos e depois troque todas as senhas: {valor} foi capturado " +
		"por um programa espião (“{vazamento}”).",
	cyber.MendPassword: "Troque a senha usada com {valor}, exposta em “{vazamento}”, em todos os serviços em que ela " +
		"se repete.",
	cyber.MendCard:    "Peça a substituição do cartão exposto junto de {valor} em “{vazamento}”.",
	cyber.MendSession: "Encerre as sessões abertas das contas ligadas a {valor}, expostas em “{vazamento}”.",
	cyber.MendIdentity: "Confira no Registrato do Banco Central se há contas ou empréstimos que não são seus: " +
		"“{vazamento}” expôs seu documento junto de {valor}.",
	cyber.MendMoney: "Avise seu banco e desconfie de contatos em nome dele: “{vazamento}” expôs dados financeiros " +
		"ligados a {valor}.",
	cyber.MendHash: "Troque a senha usada com {valor}: “{vazamento}” a expôs de forma embaralhada, que pode ser " +
		"revertida.",
	cyber.MendHealth: "Desconfie de quem citar sua saúde para vender ou cobrar: “{vazamento}” expôs esses dados " +
		"junto de {valor}.",
	cyber.MendPhish: "Troque o que digitou em páginas falsas: {valor} estava na coleta “{vazamento}”.",
	cyber.MendContact: "Redobre o cuidado com mensagens e ligações para {valor}, exposto em “{vazamento}”, e marque " +
		"a ocorrência como resolvida.",
	cyber.MendDevice: "Instale o antivírus do seu plano em pelo menos um aparelho: nenhum está protegido.",
}

// watchSentence is what the score recommends for a kind of value that is not monitored.
var watchSentence = map[identifier.Kind]string{
	identifier.CPF:   "Cadastre seu CPF no monitoramento para saber quando ele aparecer em um vazamento.",
	identifier.Email: "Cadastre seu e-mail no monitoramento para saber quando ele aparecer em um vazamento.",
	identifier.Phone: "Cadastre seu telefone no monitoramento para saber quando ele aparecer em um vazamento.",
	identifier.Card:  "Cadastre seus cartões no monitoramento para saber quando um deles aparecer em um vazamento.",
}

// fillSentence puts the breach in last: its title is an operator's text and may hold anything.
func fillSentence(sentence, breach, value string) string {
	return strings.Replace(strings.Replace(sentence, "{valor}", value, 1), "{vazamento}", breach, 1)
}

// messageOf returns the sentence for a fault that is answered with a status.
func messageOf(err error, status int) string {
	if m, ok := byCode[fault.CodeOf(err)]; ok {
		return m
	}
	if m, ok := byStatus[status]; ok {
		return m
	}
	return msgApplication
}
