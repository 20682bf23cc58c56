package console

import (
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/webhook"
)

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
