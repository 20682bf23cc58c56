package console

import (
	"cmp"
	"errors"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// sentence is a problem in words.
type sentence struct {
	Text string
	// Detail is the rule that was broken.
	Detail string
	// Fields are the names that a form may have for what broke it.
	Fields []string
}

// brokenRule returns the rule that was broken or, where there is none, the whole problem.
func (s sentence) brokenRule() string { return cmp.Or(s.Detail, s.Text) }

var byKind = map[fault.Kind]string{
	fault.Invalid:         "Há um problema no que foi preenchido.",
	fault.Unauthenticated: "Acesso recusado.",
	fault.Forbidden:       "O seu papel não permite esta ação. Peça a um administrador.",
	fault.NotFound:        "Não encontrado. Pode ter sido removido, ou o endereço está incompleto.",
	fault.Conflict:        "O estado atual não permite esta ação. Atualize a página e tente de novo.",
	fault.TooLarge:        "O arquivo ou formulário é grande demais.",
	fault.UnsupportedType: "Tipo de arquivo não aceito.",
	fault.Unprocessable:   "Não foi possível processar o que foi enviado.",
	fault.RateLimited:     "Muitas tentativas. Aguarde um pouco e tente de novo.",
	fault.Unavailable:     "O banco de dados não respondeu. Tente de novo em instantes.",
	fault.Internal:        "Algo falhou do nosso lado. O registro do servidor tem os detalhes.",
}

var byCode = map[string]string{
	"login.refused": "E-mail, senha ou código não conferem, ou o acesso está temporariamente bloqueado.",
	"passkey.refused": "A chave de acesso não foi aceita, ou o pedido passou do tempo. Tente de novo ou entre com a " +
		"senha.",
	"passkey.no_site": "Chaves de acesso precisam do endereço público do console: peça a quem opera o serviço para " +
		"informar --public-url.",
	"passkey.name":     "Dê um nome à chave de acesso.",
	"passkey.too_many": "Já há chaves de acesso demais. Remova uma antes.",
	"login.busy":       "Muitas pessoas entrando ao mesmo tempo. Tente de novo em alguns segundos.",
	"link.refused": "Este link já foi usado ou venceu. " +
		"Peça outro a um administrador, ou rode vigia operator reset.",
	"operator_password.invalid": "A senha precisa ter de 12 a 128 caracteres e não pode ser o seu e-mail.",
	"operator_password.exposed": "Esta senha aparece em vazamentos conhecidos. Escolha outra.",
	"password.mismatch":         "As duas senhas não são iguais.",
	"code.wrong":                "O código não confere. Espere o próximo no aplicativo e tente de novo.",
	"operator.exists":           "Já existe um operador com este e-mail.",
	"operator.last_admin":       "É o único administrador. Promova outra pessoa antes.",
	"operator.self":             "Não é possível fazer isso com o próprio acesso.",
	"operator.invalid":          "Confira o e-mail e o papel.",
	"partner.suspended":         "O acesso deste parceiro está suspenso. Fale com quem opera o serviço.",
	"partner.invalid":           "Confira os dados do parceiro.",
	"service.invalid":           "Confira o nome e a descrição do serviço.",
	"upload.too_large":          "O arquivo passa do limite de envio pelo console.",
	"form.invalid":              "Confira o formulário.",
	"plan.invalid":              "Confira os dados do plano.",
	"plan.exists":               "O parceiro já tem um plano com este identificador.",
	"subscription.not_found":    "Esta assinatura não existe ou já foi encerrada.",
	"subscription.file":         "O arquivo não pôde ser lido.",
	"breach.invalid":            "Confira os dados do vazamento.",
	"breach.exists":             "Já existe um vazamento com este nome.",
	"breach.input":              "Os arquivos não puderam ser lidos no servidor.",
	"breach.busy":               "Este vazamento já está sendo importado.",
	"breach.retracted":          "Este vazamento foi retirado.",
	"case.invalid":              "Confira o que foi preenchido no caso.",
	"case.move_refused":         "O caso não pode ir para esta situação. Alguém pode tê-lo movido antes.",
	"content.invalid":           "O texto não segue o formato do catálogo.",
	"content.exists":            "Já existe um conteúdo com este identificador.",
	"resolution.invalid":        "Escolha um dos motivos.",
	"webhook.types_invalid":     "Confira os tipos de evento.",
	"webhook.too_many":          "O parceiro já tem webhooks demais.",
	"webhook.not_found":         "Este webhook não existe.",
	"list.person":               "O que foi digitado não leva a uma pessoa só. Confira, ou escolha antes o parceiro.",
	"export.not_found":          "Este arquivo não existe mais, ou é de outra pessoa.",
	"filter.not_found":          "Este filtro não existe mais.",
	"filter.invalid":            "Dê ao filtro um nome de até 60 letras. Guardam-se até 100 filtros.",
	"bulk.nothing":              "Escolha pelo menos uma linha. Alguém pode já ter tratado as que foram escolhidas.",
	"bulk.partly":               "A ação parou no meio. O que já foi feito continua feito.",
	"bulk.busy":                 "Uma ação igual já está em andamento. Espere que ela termine.",
	"path.not_found":            "Esta página não existe.",
	"reason.missing":            "Escreva o motivo: ele fica na trilha de auditoria.",
	"subject.invalid":           "Confira o que foi pedido.",
	"erasure.not_found":         "Este pedido de apagamento não existe.",
	"erasure.begun":             "Este apagamento já começou e não pode mais ser cancelado.",
	"subject.nobody":            "Nada é mantido sobre esta pessoa.",
	"subject.reason":            "Escreva o motivo: ele fica guardado com o pedido.",
	"user_hash.invalid":         "Confira o userHash.",
	"feed.invalid":              "Confira os dados da fonte.",
	"feed.exists":               "Já existe uma fonte com este nome.",
	"password.algorithm":        "Escolha o algoritmo.",
	"password.bad_input":        "Os arquivos não puderam ser lidos no servidor.",
	"password.bad_line":         "Uma linha do arquivo não é um resumo de senha.",
	"password.busy":             "Este trabalho já está em andamento.",
	"subscription.selection":    "Confira quais assinaturas.",
	"event.replay_invalid":      "Confira o período.",
	"audit.head":                "O valor anotado não está completo: é o número da linha, dois pontos e o código.",
	"audit.broken":              "A trilha de auditoria foi alterada.",
}

// sentenceOf puts a fault into words.
func sentenceOf(err error) sentence {
	code := fault.CodeOf(err)
	s := sentence{Text: byKind[fault.KindOf(err)]}
	if text, ok := byCode[code]; ok {
		s.Text = text
	}
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal && f.Kind != fault.Unauthenticated {
		if f.Broken != nil {
			s.Detail = f.Broken.Portuguese()
		}
		s.Fields = formNames(f.Field)
	}
	s.Fields = append(s.Fields, fieldsByCode[code]...)
	return s
}

// failureText returns a sentence on why a job failed, from the error as fault.Keep stored it. The underlying cause is
// in the log only.
func failureText(kept string) string {
	r := fault.Recall(kept)
	if text, ok := byCode[r.Code]; ok && r.Said == nil {
		return text
	}
	return r.Portuguese()
}
