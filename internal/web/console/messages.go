package console

import (
	"cmp"
	"errors"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Every sentence that an operator reads outside the templates stands in this file.

// doneSentences are shown after a change. The address carries the key only, so that a forged link cannot put its own
// text on the page.
var doneSentences = map[string]string{
	"operator.role":           "Papel alterado. Vale a partir da próxima página que a pessoa abrir.",
	"operator.disabled":       "Acesso desativado e sessões encerradas.",
	"operator.enabled":        "Acesso reativado.",
	"operator.logged_out":     "Sessões encerradas.",
	"account.password":        "Senha alterada. As outras sessões foram encerradas.",
	"account.passkey":         "Chave de acesso incluída. Ela já serve para entrar.",
	"account.passkey_removed": "Chave de acesso removida.",
	"session.ended":           "Você saiu do console.",
	"session.over": "A sua sessão terminou, porque ficou tempo demais parada. " +
		"Entre e você volta para onde estava.",
	"partner.saved":            "Parceiro salvo.",
	"partner.suspended":        "Parceiro suspenso. Todas as chaves pararam de funcionar.",
	"partner.resumed":          "Parceiro reativado.",
	"partner.looks_granted":    "Buscas retroativas concedidas.",
	"theme.saved":              "Página das pessoas salva.",
	"key.revoked":              "Chave revogada. Nenhuma réplica a aceita depois de dois segundos.",
	"service.added":            "Serviço incluído no catálogo.",
	"service.saved":            "Serviço salvo.",
	"service.target":           "Prazo salvo. Vale para os próximos casos.",
	"service.question":         "Pergunta incluída.",
	"service.question_removed": "Pergunta removida. As respostas já dadas ficam nos casos.",
	"service.slots":            "Horários incluídos.",
	"service.slot_removed":     "Horário removido.",
	"plan.saved":               "Plano salvo.",
	"subscription.ended":       "Assinatura encerrada. O parceiro será avisado.",
	"subscription.suspended":   "Assinatura suspensa. O parceiro será avisado.",
	"subscription.resumed":     "Assinatura retomada. O parceiro será avisado.",
	"finding.resolved":         "Ocorrência resolvida.",
	"finding.step":             "Passo registrado.",
	"finding.retracted":        "Ocorrência retratada. O parceiro é avisado do que mudou.",
	"finding.left":             "Ainda faltam passos. A situação do dado foi calculada de novo.",
	"breach.started":           "Importação iniciada.",
	"feed.added":               "Fonte incluída. A primeira leitura começa em instantes.",
	"feed.started":             "Leitura pedida. Ela começa em instantes.",
	"feed.paused":              "Fonte parada. Nada do que ela trouxe se perde.",
	"feed.resumed":             "Fonte ligada.",
	"breach.renewing":          "Renovação iniciada. Até ela terminar, o vazamento fica como está.",
	"breach.saved":             "Vazamento salvo. As situações são recalculadas em seguida.",
	"breach.retracted":         "Vazamento retirado. As ocorrências serão desfeitas e as pessoas, reavaliadas.",
	"case.moved":               "Caso movido. O parceiro será avisado.",
	"case.ending":              "Caso encerrado. O parceiro será avisado em 10 segundos; até lá dá para desfazer.",
	"case.undone":              "Desfeito. O caso continua como estava e o parceiro não soube de nada.",
	"case.taken":               "Caso assumido. O parceiro sabe que está em andamento.",
	"erasure.asked":            "Apagamento pedido. Ele começa em 24 horas; até lá pode ser cancelado.",
	"erasure.cancelled":        "Apagamento cancelado. Nada foi apagado.",
	"answer.saved":             "Resposta pronta guardada.",
	"answer.deleted":           "Resposta pronta apagada.",
	"case.assigned":            "Responsável alterado.",
	"case.opened":              "Caso aberto em nome da pessoa.",
	"case.replied":             "Resposta enviada. O parceiro será avisado.",
	"case.noted":               "Anotação guardada no caso.",
	"device.revoked":           "Chave revogada.",
	"device.replaced":          "Proteção transferida. Esta é a nova chave.",
	"device.source":            "Origem das chaves salva.",
	"device.loaded":            "Chaves carregadas.",
	"text.saved":               "Texto salvo.",
	"text.reset":               "Texto anterior de volta.",
	"device.install":           "Link de instalação salvo.",
	"content.saved":            "Conteúdo salvo.",
	"content.reset":            "Mudanças desfeitas.",
	"webhook.enabled":          "Webhook ligado. O que ficou retido sai primeiro.",
	"webhook.disabled":         "Webhook desligado. Os eventos ficam retidos até ligar de novo.",
	"webhook.deleted":          "Webhook apagado. Os eventos continuam disponíveis para leitura.",
	"event.replayed":           "Reenvio na fila.",
	"job.started":              "Tarefa iniciada. O andamento aparece nesta página.",
	"keys.rotated": "Chave nova em uso. " +
		"O que as antigas selaram continua legível e está sendo selado de novo.",
	"asset.added":     "Dado monitorado. Ele é procurado em todos os vazamentos em instantes.",
	"export.started":  "Exportação iniciada. O arquivo aparece aqui quando estiver pronto.",
	"filter.kept":     "Filtro guardado.",
	"filter.dropped":  "Filtro apagado.",
	"bulk.done":       "Feito. O que alguém já tinha resolvido ficou como estava.",
	"bulk.started":    "Tarefa iniciada. O andamento aparece aqui.",
	"bulk.begun":      "Tarefa iniciada. As linhas saem da lista conforme ela anda.",
	"job.cancelled":   "Cancelamento pedido. A tarefa para no próximo passo.",
	"service.retired": "Serviço retirado da oferta. Os casos abertos continuam.",
}

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

// failureNames are why a webhook did not answer.
var failureNames = map[webhook.Failure]string{
	webhook.FailureUnsendable:  "não pôde ser enviado",
	webhook.FailureAddress:     "endereço não permitido",
	webhook.FailureDNS:         "o nome não existe",
	webhook.FailureConnect:     "conexão recusada",
	webhook.FailureTLS:         "certificado ou TLS com problema",
	webhook.FailureTimeout:     "sem resposta a tempo",
	webhook.FailureReset:       "conexão interrompida",
	webhook.FailureProtocol:    "a resposta não era HTTP",
	webhook.FailureInterrupted: "tentativa interrompida",
}

// theService stands for those who run the service, where a partner's people read what they did.
const theService = "Operação do serviço"

var roleNames = map[string]string{
	"admin":             "Administração",
	"support":           "Atendimento",
	"viewer":            "Consulta",
	"partner.admin":     "Administração do parceiro",
	"partner.developer": "Desenvolvimento",
	"partner.attendant": "Atendimento",
	"partner.officer":   "Encarregado",
	"partner.viewer":    "Consulta",
}

// systemNames are systems as people call them.
var systemNames = map[cyber.System]string{
	cyber.Android: "Android",
	cyber.IOS:     "iPhone, iPad",
	cyber.Windows: "Windows",
	cyber.MacOS:   "macOS",
}

// reasonTexts are the reasons of the readers in the operators' language. One that is not here is shown as it is.
var reasonTexts = map[string]string{
	"cut short":                                            "interrompido antes do fim",
	"cut short: no table of contents":                      "interrompido: falta o índice do arquivo",
	"damaged":                                              "danificado",
	"damaged: the check sum does not match":                "danificado: a soma de verificação não confere",
	"nested too deeply":                                    "pacotes dentro de pacotes demais",
	"too large for the memory limit":                       "grande demais para o limite de memória",
	"encrypted: none of the passwords fits":                "cifrado: nenhuma senha serviu",
	"encrypted: trying more passwords would take too long": "cifrado: tentar mais senhas demoraria demais",
	"a symbolic link: not followed":                        "link simbólico: não é seguido",
	"a named pipe: not read":                               "pipe: não é lido",
	"a device or socket: not read":                         "dispositivo ou soquete: não é lido",
	"RAR: another volume of the set is missing":            "RAR: falta outro volume do conjunto",
	"other reasons":                                        "outros motivos",
	"reader ended (memory)":                                "o leitor parou: memória demais",
	"reader ended (time)":                                  "o leitor parou: tempo demais sem avançar",
	"reader ended (output)":                                "o leitor parou: resultado grande demais",
	"reader ended (crash)":                                 "o leitor parou: falha ao ler",
	"quarantined: its reader ended twice (memory)":         "em quarentena: parou dois leitores (memória)",
	"quarantined: its reader ended twice (time)":           "em quarentena: parou dois leitores (tempo)",
	"quarantined: its reader ended twice (output)":         "em quarentena: parou dois leitores (resultado)",
	"quarantined: its reader ended twice (crash)":          "em quarentena: parou dois leitores (falha)",
	"quarantined: it took more processor time than its unpacked size allows": "em quarentena: gastou mais " +
		"processador do que seu tamanho descompactado permite",
}

// reasonText returns the Portuguese text for a reason of the importer not to read an input; unknown reasons stay as
// they are.
func reasonText(reason string) string {
	if text, ok := reasonTexts[reason]; ok {
		return text
	}
	if with, ok := strings.CutPrefix(reason, "encrypted with "); ok {
		return "cifrado com " + with
	}
	if kind, ok := strings.CutSuffix(reason, ": only searched for plain text"); ok {
		if kind == "binary of an unknown kind" {
			kind = "binário de tipo desconhecido"
		}
		return kind + ": só o texto aparente foi pesquisado"
	}
	return reason
}
