package api

import (
	"net/http"

	"vigia/internal/fault"
)

// Every sentence that a partner can read stands in this file, to the letter of the contract where the contract has it.

// Successes.
const (
	msgMonitoringAdded   = "Dados adicionados com sucesso."
	msgMonitoringRemoved = "Dados removidos com sucesso."
	msgCaseOpened        = "Caso criado com sucesso."
	msgFindingResolved   = "Ocorrência resolvida com sucesso."
)

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
	"asset.not_found":           "Ativo não encontrado.",
	"service.not_found":         "Serviço não encontrado.",
	"coverage.not_found":        "Cobertura não encontrada.",
	"subscription.not_found":    "Assinatura não encontrada",
	"idempotency.other_body":    "Chave de idempotência já utilizada com outro conteúdo.",
	"idempotency.still_running": "Uma requisição com esta chave de idempotência ainda está em andamento.",
	"device.limit_reached":      "Limite de dispositivos do plano atingido.",
	"asset.limit_reached":       "Limite de dados monitorados deste usuário atingido.",
}

// messageOf is the sentence for a fault answered with a status.
func messageOf(err error, status int) string {
	if m, ok := byCode[fault.CodeOf(err)]; ok {
		return m
	}
	if m, ok := byStatus[status]; ok {
		return m
	}
	return msgApplication
}
