package person

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// said is a sentence in the three languages, in the order of partner.ListLanguages.
type said [3]string

var langNames = map[partner.Language]string{
	partner.Portuguese: "Português",
	partner.Spanish:    "Español",
	partner.English:    "English",
}

// sentenceIn returns a sentence in a language; each {} in it is filled with the next value.
func sentenceIn(lang partner.Language, key string, values ...any) string {
	text := words[key][0]
	for i, l := range partner.ListLanguages() {
		if l == lang {
			text = words[key][i]
		}
	}
	for _, v := range values {
		text = strings.Replace(text, "{}", fmt.Sprint(v), 1)
	}
	return text
}

// doneSentence returns the message of success for a key; empty for a key that is unknown, which a forged link may
// carry.
func doneSentence(lang partner.Language, done string) string { return sentenceIn(lang, "done."+done) }

// sentenceOf returns what a person is told of a fault: what they can do, and nothing of how the service is built.
func sentenceOf(lang partner.Language, err error) string {
	if text := sentenceIn(lang, "fault."+fault.CodeOf(err)); text != "" {
		return text
	}
	return sentenceIn(lang, "problem."+fault.KindOf(err).String())
}

// mendView is something to mend, and the language that it is said in.
type mendView struct {
	Text     string
	Language partner.Language
}

// languageOf returns the language of a text of the catalogue, which is Portuguese unless it was translated.
func languageOf(translated partner.Language) partner.Language {
	return cmp.Or(translated, partner.Portuguese)
}

// recommendation returns the sentence for something to mend. What an answer would mend is said by the catalogue. The
// breach goes in last: its title is an operator's text and may hold anything.
func recommendation(lang partner.Language, r cyber.Recommendation) mendView {
	switch r.Mends {
	case cyber.MendAnswer:
		return mendView{Text: r.Text, Language: languageOf(r.Language)}
	case cyber.MendWatch:
		return mendView{Text: sentenceIn(lang, "watch."+r.Kind.String()), Language: lang}
	default:
		text := strings.ReplaceAll(sentenceIn(lang, "mend."+string(r.Mends)), "{valor}", r.Value())
		return mendView{Text: strings.ReplaceAll(text, "{vazamento}", r.Breach), Language: lang}
	}
}

// words are all sentences, by key.
var words = func() map[string]said {
	all := map[string]said{}
	for _, part := range []map[string]said{frameWords, leakWords, stepWords, protectionWords, problemWords} {
		maps.Copy(all, part)
	}
	return all
}()

var frameWords = map[string]said{
	"skip":         {"Ir para o conteúdo", "Ir al contenido", "Skip to content"},
	"menu":         {"Páginas", "Páginas", "Pages"},
	"menu.home":    {"Início", "Inicio", "Home"},
	"menu.leaks":   {"Vazamentos", "Filtraciones", "Leaks"},
	"menu.steps":   {"O que fazer", "Qué hacer", "What to do"},
	"menu.score":   {"Meu risco", "Mi riesgo", "My risk"},
	"menu.devices": {"Aparelhos", "Dispositivos", "Devices"},
	"menu.cases":   {"Atendimento", "Atención", "Support"},
	"menu.cover":   {"Cobertura", "Cobertura", "Cover"},
	"menu.data":    {"Meus dados", "Mis datos", "My data"},
	"menu.help":    {"Ajuda", "Ayuda", "Help"},
	"menu.more":    {"Mais", "Más", "More"},
	"nopassword": {
		"Esta página nunca pede senha nem código.",
		"Esta página nunca pide contraseña ni código.",
		"This page never asks for a password or a code.",
	},
	"lang":    {"Idioma", "Idioma", "Language"},
	"leave":   {"Sair desta página", "Salir de esta página", "Leave this page"},
	"back":    {"Voltar", "Volver", "Back"},
	"local":   {"Horários de Brasília.", "Horarios de Brasilia.", "Times are those of Brasília."},
	"foreign": {"", "Este texto está en portugués.", "This text is in Portuguese."},

	"enter.title": {"Abrindo a sua página", "Abriendo su página", "Opening your page"},
	"enter.go":    {"Continuar", "Continuar", "Continue"},
	"closed.title": {
		"Este link expirou",
		"Este enlace venció",
		"This link has expired",
	},
	"closed.text": {
		"Abra de novo pelo app do banco, ou pelo site em que você o recebeu. Por segurança, a página fica aberta " +
			"por pouco tempo.",
		"Ábrala de nuevo desde la app del banco, o desde el sitio donde lo recibió. Por seguridad, la página queda " +
			"abierta por poco tiempo.",
		"Open it again from your bank's app, or from the site where you got it. For your safety, the page stays " +
			"open only for a short time.",
	},
	"left.title": {"Você saiu", "Usted salió", "You have left"},
	"left.text": {
		"Nada da sua página ficou neste aparelho.",
		"Nada de su página quedó en este dispositivo.",
		"Nothing of your page is left on this device.",
	},

	"home.hello": {"Oi, {}", "Hola, {}", "Hello, {}"},
	"home.title": {"A sua proteção", "Su protección", "Your protection"},
	"home.comprometido": {
		"Há vazamentos que pedem a sua atenção agora.",
		"Hay filtraciones que piden su atención ahora.",
		"There are leaks that need your attention now.",
	},
	"home.alerta": {
		"Encontramos dados seus em vazamentos.",
		"Encontramos datos suyos en filtraciones.",
		"We found data of yours in leaks.",
	},
	"home.monitorado": {"Nenhum vazamento em aberto.", "Ninguna filtración abierta.", "No open leak."},
	"home.steps":      {"Comece por aqui", "Empiece por aquí", "Start here"},
	"home.now": {
		"Um passo de cada vez. Comece por este:",
		"Un paso a la vez. Empiece por este:",
		"One step at a time. Start with this one:",
	},
	"home.first": {
		"Primeiro, a resposta que esperamos de você.",
		"Primero, la respuesta que esperamos de usted.",
		"First, the reply that we are waiting for.",
	},
	"home.start":   {"Começar", "Empezar", "Start"},
	"home.all":     {"Ver todos", "Ver todos", "See all"},
	"home.details": {"Ver detalhes", "Ver detalles", "See details"},
	"home.waiting": {"Esperamos a sua resposta.", "Esperamos su respuesta.", "We are waiting for your reply."},
	"home.answer":  {"Responder", "Responder", "Reply"},
	"home.ask":     {"Peça ajuda a uma pessoa.", "Pida ayuda a una persona.", "Ask a person for help."},
	"home.devices": {"{} de {} protegidos.", "{} de {} protegidos.", "{} of {} protected."},
	"home.nodevices": {
		"Nenhum tem antivírus ainda.",
		"Ninguno tiene antivirus todavía.",
		"None has an antivirus yet.",
	},
	"home.nothing": {"Nada a fazer por agora.", "Nada que hacer por ahora.", "Nothing to do for now."},
	"home.meanwhile": {
		"Ver o que já dá para fazer",
		"Ver lo que ya se puede hacer",
		"See what can be done already",
	},

	"looks.some": {
		"Ainda não olhamos todos os seus dados.",
		"Todavía no miramos todos sus datos.",
		"We have not looked at all of your data yet.",
	},
	"looks.none": {
		"Ainda não olhamos os seus dados",
		"Todavía no miramos sus datos",
		"We have not looked at your data yet",
	},
	"looks.part": {
		"Ainda não olhamos {} dos seus {} dados",
		"Todavía no miramos {} de sus {} datos",
		"We have not looked at {} of your {} values yet",
	},
	"looks.unknown": {
		"Por isso não sabemos se estão em algum vazamento.",
		"Por eso no sabemos si están en alguna filtración.",
		"So we do not know whether they are in a leak.",
	},
	"looks.since": {"Estão na fila desde {}.", "Están en la cola desde {}.", "They have been waiting since {}."},
	"looks.by": {
		"Devem ser olhados até {}.",
		"Deben ser mirados hasta {}.",
		"They should be looked at by {}.",
	},
	"looks.nodate": {
		"Ainda não há data para isso.",
		"Todavía no hay fecha para eso.",
		"There is no date for that yet.",
	},
	"looks.left": {"Faltam {} de {}", "Faltan {} de {}", "{} of {} left"},
	"looks.value": {
		"Ainda não verificamos este dado",
		"Todavía no verificamos este dato",
		"We have not checked this yet",
	},
	"looks.added": {"desde {}", "desde el {}", "since {}"},
	"looks.basis": {
		"Olhamos {} dos seus {} dados.",
		"Miramos {} de sus {} datos.",
		"We have looked at {} of your {} values.",
	},
	"looks.more": {
		"Pode aparecer mais a fazer quando olharmos os outros.",
		"Puede aparecer más que hacer cuando miremos los otros.",
		"There may be more to do once we have looked at the others.",
	},

	"score.title": {"O seu risco", "Su riesgo", "Your risk"},
	"score.scale": {
		"De 0 a 100: quanto menor, melhor.",
		"De 0 a 100: cuanto menor, mejor.",
		"From 0 to 100: the lower the better.",
	},
	"score.breach": {"Risco por vazamentos", "Riesgo por filtraciones", "Risk from leaks"},
	"score.assessment": {
		"Risco por hábitos e aparelhos",
		"Riesgo por hábitos y dispositivos",
		"Risk from habits and devices",
	},
	"score.history": {"Ao longo do tempo", "A lo largo del tiempo", "Over time"},
	"score.date":    {"Dia", "Día", "Day"},
	"score.picture": {
		"As duas linhas em um gráfico; os números estão na tabela abaixo.",
		"Las dos líneas en un gráfico; los números están en la tabla abajo.",
		"Both lines in a chart; the numbers are in the table below.",
	},
	"score.none":  {"O histórico começa hoje.", "El historial empieza hoy.", "The history begins today."},
	"score.mend":  {"O que mais reduz o seu risco", "Lo que más reduce su riesgo", "What lowers your risk most"},
	"score.table": {"Ver em tabela", "Ver en tabla", "See as a table"},

	"risk.low":     {"Baixo", "Bajo", "Low"},
	"risk.mid":     {"Médio", "Medio", "Medium"},
	"risk.high":    {"Alto", "Alto", "High"},
	"risk.unknown": {"Ainda não sabemos", "Todavía no sabemos", "We do not know yet"},
	"risk.blank": {
		"Risco ainda sem medida",
		"Riesgo todavía sin medida",
		"Risk not measured yet",
	},
	"risk.wait": {
		"Com todos, mostramos se é baixo, médio ou alto, e por quê.",
		"Con todos, mostramos si es bajo, medio o alto, y por qué.",
		"With all of them we show whether it is low, medium or high, and why.",
	},
	"risk.atleast": {
		"É pelo menos isso: pode subir quando olharmos os outros.",
		"Es por lo menos eso: puede subir cuando miremos los otros.",
		"It is at least that: it may rise once we have looked at the others.",
	},
	"risk.of":    {"{} de 100.", "{} de 100.", "{} of 100."},
	"risk.meter": {"Risco {}: {} de 100", "Riesgo {}: {} de 100", "Risk {}: {} of 100"},
	"risk.help": {
		"O risco por vazamentos baixa quando todos os passos de um vazamento estão feitos.",
		"El riesgo por filtraciones baja cuando todos los pasos de una filtración están hechos.",
		"The risk from leaks falls when all steps of a leak are done.",
	},
}

var leakWords = map[string]said{
	"leaks.title":  {"Vazamentos", "Filtraciones", "Leaks"},
	"leaks.values": {"Dados que monitoramos para você", "Datos que vigilamos por usted", "What we watch for you"},
	"leaks.none": {
		"Nenhum dado é monitorado ainda.",
		"Todavía no se vigila ningún dato.",
		"No value is watched yet.",
	},
	"leaks.open": {"Vazamentos em aberto", "Filtraciones abiertas", "Open leaks"},
	"leaks.noopen": {
		"Nenhum. Os seus dados monitorados não estão em nenhum vazamento em aberto.",
		"Ninguna. Sus datos vigilados no están en ninguna filtración abierta.",
		"None. Your watched values are in no open leak.",
	},
	"leaks.sofar": {
		"Nenhum até agora, mas ainda não olhamos todos os seus dados.",
		"Ninguna hasta ahora, pero todavía no miramos todos sus datos.",
		"None so far, but we have not looked at all of your data yet.",
	},
	"leaks.over":    {"Já resolvidos", "Ya resueltos", "Already dealt with"},
	"leaks.newer":   {"Mais novos", "Más nuevos", "Newer"},
	"leaks.older":   {"Mais antigos", "Más antiguos", "Older"},
	"leaks.certain": {"Estava no seu próprio registro.", "Estaba en su propio registro.", "It was in your own record."},
	"leaks.when": {
		"Aconteceu em {}, achamos em {}.",
		"Ocurrió el {}, lo hallamos el {}.",
		"It happened on {}; we found it on {}.",
	},
	"leaks.mine": {"O que é seu e vazou", "Lo suyo que se filtró", "What of yours leaked"},
	"leaks.safe": {"Não vazou:", "No se filtró:", "Did not leak:"},
	"leaks.todo": {"Ver o que fazer", "Ver qué hacer", "See what to do"},
	"leaks.perhaps": {
		"É o que o vazamento expôs de modo geral; talvez não tudo de você.",
		"Es lo que la filtración expuso en general; quizá no todo de usted.",
		"This is what the leak exposed as a whole; perhaps not all of it of you.",
	},
	"leaks.solve":  {"Já resolvi de outro jeito", "Ya lo resolví de otra forma", "I dealt with it in another way"},
	"leaks.reason": {"O que você fez?", "¿Qué hizo?", "What did you do?"},
	"leaks.send":   {"Marcar como resolvido", "Marcar como resuelto", "Mark as dealt with"},

	"status.monitorado":   {"Nada em aberto", "Nada abierto", "Nothing open"},
	"status.alerta":       {"Alerta", "Alerta", "Alert"},
	"status.comprometido": {"Comprometido", "Comprometido", "Compromised"},

	"severity.low":      {"Gravidade baixa", "Gravedad baja", "Low severity"},
	"severity.medium":   {"Gravidade média", "Gravedad media", "Medium severity"},
	"severity.high":     {"Gravidade alta", "Gravedad alta", "High severity"},
	"severity.critical": {"Gravidade crítica", "Gravedad crítica", "Critical severity"},

	"kind.email":       {"E-mail", "Correo electrónico", "E-mail"},
	"kind.cpf":         {"CPF", "CPF", "CPF"},
	"kind.phone":       {"Telefone", "Teléfono", "Phone"},
	"kind.credit_card": {"Cartão", "Tarjeta", "Card"},
	"kind.domain":      {"Domínio", "Dominio", "Domain"},
	"kind.pix_key":     {"Chave Pix", "Clave Pix", "Pix key"},
	"kind.cnpj":        {"CNPJ", "CNPJ", "CNPJ"},

	"exposed.email":         {"e-mail", "correo electrónico", "e-mail"},
	"exposed.password":      {"senha", "contraseña", "password"},
	"exposed.password_hash": {"senha embaralhada", "contraseña cifrada", "scrambled password"},
	"exposed.cpf":           {"CPF", "CPF", "CPF"},
	"exposed.phone":         {"telefone", "teléfono", "phone"},
	"exposed.card":          {"cartão", "tarjeta", "card"},
	"exposed.address":       {"endereço", "dirección", "address"},
	"exposed.name":          {"nome", "nombre", "name"},
	"exposed.birth_date":    {"data de nascimento", "fecha de nacimiento", "date of birth"},
	"exposed.document":      {"documento", "documento", "identity document"},
	"exposed.health":        {"dados de saúde", "datos de salud", "health data"},
	"exposed.financial":     {"dados financeiros", "datos financieros", "financial data"},
	"exposed.cookies":       {"sessões abertas", "sesiones abiertas", "open sessions"},
	"exposed.ip_address":    {"endereço IP", "dirección IP", "IP address"},
	"exposed.username":      {"nome de usuário", "nombre de usuario", "user name"},
	"exposed.other":         {"outros dados", "otros datos", "other data"},

	"resolution.password_changed": {"Troquei a senha", "Cambié la contraseña", "I changed the password"},
	"resolution.account_closed":   {"Encerrei a conta", "Cerré la cuenta", "I closed the account"},
	"resolution.card_replaced":    {"Troquei o cartão", "Cambié la tarjeta", "I replaced the card"},
	"resolution.not_me":           {"Não sou eu", "No soy yo", "That is not me"},
	"resolution.other":            {"Outra coisa", "Otra cosa", "Something else"},
	"resolution.retracted":        {"O vazamento foi retirado", "La filtración fue retirada", "The leak was withdrawn"},
}

var stepWords = map[string]said{
	"steps.title":  {"O que fazer", "Qué hacer", "What to do"},
	"steps.alert":  {"Alerta", "Alerta", "Alert"},
	"steps.send":   {"Responder", "Responder", "Answer"},
	"steps.advice": {"Conselhos para você", "Consejos para usted", "Advice for you"},

	"plan.progress": {"{} de {} passos feitos", "{} de {} pasos hechos", "{} of {} steps done"},
	"plan.left": {
		"O que falta leva cerca de {} minutos, e dá para fazer aos poucos.",
		"Lo que falta toma cerca de {} minutos, y puede hacerse de a poco.",
		"What is left takes about {} minutes, and can be done bit by bit.",
	},
	"plan.alldone": {"Tudo feito.", "Todo hecho.", "All done."},
	"plan.later":   {"Depois", "Después", "Later"},
	"plan.seen": {
		"Feitos ou que não se aplicam: {}",
		"Hechos o que no corresponden: {}",
		"Done or not applying: {}",
	},
	"plan.because":   {"por causa de: {}", "por causa de: {}", "because of: {}"},
	"plan.tab":       {"abre em outra aba", "se abre en otra pestaña", "opens in another tab"},
	"due.late":       {"Atrasado há {} dias", "Atrasado hace {} días", "{} days late"},
	"due.yesterday":  {"Atrasado há 1 dia", "Atrasado hace 1 día", "1 day late"},
	"due.today":      {"Vence hoje", "Vence hoy", "Due today"},
	"due.tomorrow":   {"Falta 1 dia", "Falta 1 día", "1 day left"},
	"due.days":       {"Faltam {} dias", "Faltan {} días", "{} days left"},
	"plan.done":      {"Feito", "Hecho", "Done"},
	"plan.skipped":   {"Não se aplica", "No corresponde", "Does not apply"},
	"plan.essential": {"Essencial", "Esencial", "Essential"},
	"plan.minutes":   {"Leva cerca de {} minutos", "Toma cerca de {} minutos", "Takes about {} minutes"},
	"plan.link":      {"Página oficial", "Página oficial", "Official page"},
	"plan.tick":      {"Feito", "Hecho", "Done"},
	"plan.skip":      {"Não se aplica", "No corresponde", "Does not apply"},
	"plan.undo":      {"Desfazer", "Deshacer", "Undo"},

	"steps.more": {
		"E mais {} conselhos, depois destes.",
		"Y {} consejos más, después de estos.",
		"And {} more pieces of advice after these.",
	},

	"mend.stealer": {
		"Passe o antivírus em seus aparelhos e depois troque todas as senhas: {valor} foi capturado por um programa " +
			"espião (“{vazamento}”).",
		"Pase el antivirus en sus dispositivos y después cambie todas las contraseñas: {valor} fue capturado por un " +
			"programa espía (“{vazamento}”).",
		"Run the antivirus on your devices, then change all passwords: {valor} was taken by spyware (“{vazamento}”).",
	},
	"mend.password": {
		"Troque a senha usada com {valor}, exposta em “{vazamento}”, em todos os serviços em que ela se repete.",
		"Cambie la contraseña usada con {valor}, expuesta en “{vazamento}”, en todos los servicios donde se repite.",
		"Change the password used with {valor}, exposed in “{vazamento}”, wherever you use it.",
	},
	"mend.card": {
		"Peça a substituição do cartão exposto junto de {valor} em “{vazamento}”.",
		"Pida el reemplazo de la tarjeta expuesta junto a {valor} en “{vazamento}”.",
		"Have the card replaced that was exposed beside {valor} in “{vazamento}”.",
	},
	"mend.session": {
		"Encerre as sessões abertas das contas ligadas a {valor}, expostas em “{vazamento}”.",
		"Cierre las sesiones abiertas de las cuentas ligadas a {valor}, expuestas en “{vazamento}”.",
		"End the open sessions of accounts tied to {valor}, exposed in “{vazamento}”.",
	},
	"mend.identity": {
		"Confira no Registrato do Banco Central se há contas ou empréstimos que não são seus: “{vazamento}” expôs " +
			"seu documento junto de {valor}.",
		"Revise en el Registrato del Banco Central si hay cuentas o préstamos que no son suyos: “{vazamento}” " +
			"expuso su documento junto a {valor}.",
		"Look in the Central Bank's Registrato for accounts or loans that are not yours: “{vazamento}” exposed your " +
			"document beside {valor}.",
	},
	"mend.financial": {
		"Avise seu banco e desconfie de contatos em nome dele: “{vazamento}” expôs dados financeiros ligados a " +
			"{valor}.",
		"Avise a su banco y desconfíe de contactos en su nombre: “{vazamento}” expuso datos financieros ligados a " +
			"{valor}.",
		"Tell your bank and distrust calls in its name: “{vazamento}” exposed financial data tied to {valor}.",
	},
	"mend.password_hash": {
		"Troque a senha usada com {valor}: “{vazamento}” a expôs de forma embaralhada, que pode ser revertida.",
		"Cambie la contraseña usada con {valor}: “{vazamento}” la expuso cifrada, y eso puede revertirse.",
		"Change the password used with {valor}: “{vazamento}” exposed it scrambled, which can be undone.",
	},
	"mend.health": {
		"Desconfie de quem citar sua saúde para vender ou cobrar: “{vazamento}” expôs esses dados junto de {valor}.",
		"Desconfíe de quien cite su salud para vender o cobrar: “{vazamento}” expuso esos datos junto a {valor}.",
		"Distrust whoever mentions your health to sell or to collect: “{vazamento}” exposed such data beside {valor}.",
	},
	"mend.phish": {
		"Troque o que digitou em páginas falsas: {valor} estava na coleta “{vazamento}”.",
		"Cambie lo que escribió en páginas falsas: {valor} estaba en la recolección “{vazamento}”.",
		"Change what you typed into fake pages: {valor} was in the collection “{vazamento}”.",
	},
	"mend.contact": {
		"Redobre o cuidado com mensagens e ligações para {valor}, exposto em “{vazamento}”, e marque a ocorrência " +
			"como resolvida.",
		"Tenga más cuidado con mensajes y llamadas a {valor}, expuesto en “{vazamento}”, y marque el hallazgo como " +
			"resuelto.",
		"Take more care with messages and calls to {valor}, exposed in “{vazamento}”, and mark the finding as dealt " +
			"with.",
	},
	"mend.device": {
		"Instale o antivírus do seu plano em pelo menos um aparelho: nenhum está protegido.",
		"Instale el antivirus de su plan en al menos un dispositivo: ninguno está protegido.",
		"Install your plan's antivirus on at least one device: none is protected.",
	},
	"watch.cpf": {
		"Peça o monitoramento do seu CPF.",
		"Pida la vigilancia de su CPF.",
		"Ask to have your CPF watched.",
	},
	"watch.email": {
		"Peça o monitoramento do seu e-mail.",
		"Pida la vigilancia de su correo electrónico.",
		"Ask to have your e-mail watched.",
	},
	"watch.phone": {
		"Peça o monitoramento do seu telefone.",
		"Pida la vigilancia de su teléfono.",
		"Ask to have your phone watched.",
	},
	"watch.credit_card": {
		"Peça o monitoramento dos seus cartões.",
		"Pida la vigilancia de sus tarjetas.",
		"Ask to have your cards watched.",
	},
}

var protectionWords = map[string]said{
	"devices.title": {"Aparelhos protegidos", "Dispositivos protegidos", "Protected devices"},
	"devices.none": {
		"Nenhum aparelho tem uma chave do antivírus ainda. Peça uma no aplicativo ou no site do seu parceiro.",
		"Ningún dispositivo tiene una clave del antivirus todavía. Pida una en la aplicación o en el sitio de su " +
			"proveedor.",
		"No device has an antivirus key yet. Ask for one in your provider's app or site.",
	},
	"devices.active":  {"Protegido", "Protegido", "Protected"},
	"devices.issued":  {"Falta instalar", "Falta instalar", "Not installed yet"},
	"devices.install": {"Instalar", "Instalar", "Install"},
	"devices.how": {
		"Instale o programa no aparelho e digite a chave, ou leia o código QR.",
		"Instale el programa en el dispositivo y escriba la clave, o lea el código QR.",
		"Install the program on the device and type the key, or scan the QR code.",
	},
	"devices.seen":  {"Visto em", "Visto el", "Last seen"},
	"devices.key":   {"Chave de ativação", "Clave de activación", "Activation key"},
	"devices.until": {"Válida até", "Válida hasta", "Valid until"},
	"devices.code":  {"Mostrar como QR", "Mostrar como QR", "Show as QR"},
	"devices.codealt": {
		"Código QR da chave de ativação de {}",
		"Código QR de la clave de activación de {}",
		"QR code of the activation key of {}",
	},
	"devices.more": {"E mais {}.", "Y {} más.", "And {} more."},

	"cases.title":    {"Atendimento", "Atención", "Support"},
	"cases.none":     {"Nenhum atendimento ainda.", "Ningún caso todavía.", "No case yet."},
	"cases.new":      {"Pedir ajuda", "Pedir ayuda", "Ask for help"},
	"cases.opened":   {"Aberto em", "Abierto el", "Opened on"},
	"cases.booked":   {"Horário marcado", "Horario reservado", "Appointment"},
	"cases.more":     {"E mais {}, mais antigos.", "Y {} más, más antiguos.", "And {} older ones."},
	"case.title":     {"O seu atendimento", "Su caso", "Your case"},
	"case.open":      {"Aberto", "Abierto", "Open"},
	"case.progress":  {"Em andamento", "En curso", "In progress"},
	"case.waiting":   {"À espera da sua resposta", "A la espera de su respuesta", "Waiting for your reply"},
	"case.resolved":  {"Resolvido", "Resuelto", "Solved"},
	"case.closed":    {"Fechado", "Cerrado", "Closed"},
	"case.cancelled": {"Cancelado", "Cancelado", "Cancelled"},
	"case.history":   {"Conversa", "Conversación", "Conversation"},
	"case.earlier": {
		"Linhas mais antigas que não são mostradas: {}",
		"Líneas más antiguas que no se muestran: {}",
		"Earlier lines that are not shown: {}",
	},
	"case.you":     {"Você", "Usted", "You"},
	"case.support": {"Atendimento", "Atención", "Support"},
	"case.message": {"A sua mensagem", "Su mensaje", "Your message"},
	"case.nosecret": {
		"Nunca escreva senhas ou números de cartão aqui.",
		"Nunca escriba contraseñas ni números de tarjeta aquí.",
		"Never write passwords or card numbers here.",
	},
	"case.send":       {"Enviar", "Enviar", "Send"},
	"case.rebook":     {"Trocar o horário", "Cambiar el horario", "Change the appointment"},
	"case.slot":       {"Horário", "Horario", "Time"},
	"case.cancel":     {"Cancelar este atendimento", "Cancelar este caso", "Cancel this case"},
	"case.why":        {"Motivo (opcional)", "Motivo (opcional)", "Reason (optional)"},
	"case.rate":       {"Avaliar", "Calificar", "Rate"},
	"case.rating":     {"De 1 (ruim) a 5 (ótimo)", "De 1 (malo) a 5 (muy bueno)", "From 1 (bad) to 5 (very good)"},
	"case.rated":      {"A sua nota: {}", "Su nota: {}", "Your rating: {}"},
	"case.comment":    {"Comentário (opcional)", "Comentario (opcional)", "Comment (optional)"},
	"line.message":    {"Mensagem", "Mensaje", "Message"},
	"line.attachment": {"Texto anexado", "Texto adjunto", "Attached text"},
	"line.booking":    {"Horário trocado", "Horario cambiado", "Appointment changed"},
	"line.rating":     {"Avaliação", "Calificación", "Rating"},
	"service.title":   {"Pedir ajuda", "Pedir ayuda", "Ask for help"},
	"service.needed":  {"obrigatória", "obligatoria", "required"},
	"service.slot":    {"Escolha um horário", "Elija un horario", "Choose a time"},
	"service.noslot":  {"Sem hora marcada", "Sin horario", "No appointment"},
	"service.more": {
		"Há horários mais tarde; estes são os primeiros.",
		"Hay horarios más tarde; estos son los primeros.",
		"There are later times; these are the first.",
	},
	"service.text": {
		"Conte o que aconteceu (opcional)",
		"Cuente qué pasó (opcional)",
		"Say what happened (optional)",
	},
	"service.send": {"Abrir atendimento", "Abrir caso", "Open a case"},

	"cover.title":   {"A sua cobertura", "Su cobertura", "Your cover"},
	"cover.none":    {"Nenhuma cobertura em vigor.", "Ninguna cobertura vigente.", "No cover in force."},
	"cover.types":   {"O que cobre", "Qué cubre", "What it covers"},
	"cover.when":    {"Condições", "Condiciones", "Conditions"},
	"cover.not":     {"O que não cobre", "Qué no cubre", "What it does not cover"},
	"cover.from":    {"Vale desde", "Vale desde", "In force since"},
	"cover.until":   {"Vale até", "Vale hasta", "In force until"},
	"cover.waiting": {"Carência: {} dias", "Carencia: {} días", "Waiting period: {} days"},

	"data.title": {"Os seus dados", "Sus datos", "Your data"},
	"data.text": {
		"A lei (LGPD, art. 18) garante a você uma cópia de tudo o que guardamos a seu respeito. O arquivo traz os " +
			"seus dados por inteiro: guarde-o em lugar seguro.",
		"La ley brasileña (LGPD, art. 18) le garantiza una copia de todo lo que guardamos sobre usted. El archivo " +
			"trae sus datos completos: guárdelo en un lugar seguro.",
		"The law of Brazil (LGPD, art. 18) gives you a copy of everything that we hold about you. The file has your " +
			"data in full: keep it in a safe place.",
	},
	"data.take":   {"Baixar meus dados", "Descargar mis datos", "Download my data"},
	"data.format": {"Formato", "Formato", "Format"},
	"data.txt":    {"Texto, para ler", "Texto, para leer", "Text, to read"},
	"data.json":   {"JSON, para outro programa", "JSON, para otro programa", "JSON, for another program"},
	"data.closed": {
		"Este endereço não permite baixar a cópia. Peça-a ao seu parceiro, que tem o dever de atender você.",
		"Esta dirección no permite descargar la copia. Pídala a su proveedor, que tiene el deber de atenderle.",
		"This address does not allow the download. Ask your provider, who has the duty to answer you.",
	},
	"data.lang": {"", "El archivo está en portugués.", "The file is in Portuguese."},
}

var problemWords = map[string]said{
	"problem.title": {"Não foi possível", "No fue posible", "That was not possible"},
	"problem.internal": {
		"Algo falhou do nosso lado. Tente de novo em instantes.",
		"Algo falló de nuestro lado. Intente de nuevo en instantes.",
		"Something failed on our side. Try again in a moment.",
	},
	"problem.unavailable": {
		"O serviço não responde agora. Tente de novo em instantes.",
		"El servicio no responde ahora. Intente de nuevo en instantes.",
		"The service does not answer now. Try again in a moment.",
	},
	"problem.invalid": {
		"Confira o que foi preenchido.",
		"Revise lo que completó.",
		"Check what you filled in.",
	},
	"problem.unprocessable": {
		"Confira o que foi preenchido.",
		"Revise lo que completó.",
		"Check what you filled in.",
	},
	"problem.unauthenticated": {
		"Esta página não está mais aberta.",
		"Esta página ya no está abierta.",
		"This page is no longer open.",
	},
	"problem.forbidden": {
		"Isto não é permitido aqui.",
		"Esto no está permitido aquí.",
		"That is not allowed here.",
	},
	"problem.not_found": {
		"Não encontramos o que você procura.",
		"No encontramos lo que busca.",
		"We did not find what you are looking for.",
	},
	"problem.conflict": {
		"Isto não é possível agora.",
		"Esto no es posible ahora.",
		"That is not possible now.",
	},
	"problem.too_large": {"O texto é longo demais.", "El texto es demasiado largo.", "The text is too long."},
	"problem.unsupported_type": {
		"Confira o que foi preenchido.",
		"Revise lo que completó.",
		"Check what you filled in.",
	},
	"problem.rate_limited": {
		"Foram muitos pedidos em pouco tempo. Espere um instante.",
		"Fueron muchos pedidos en poco tiempo. Espere un instante.",
		"There were many requests in a short time. Wait a moment.",
	},

	"fault.finding.closed": {
		"Este vazamento já está resolvido.",
		"Esta filtración ya está resuelta.",
		"This leak is dealt with already.",
	},
	"fault.answer.invalid": {
		"Escolha uma das respostas.",
		"Elija una de las respuestas.",
		"Choose one of the answers.",
	},
	"fault.resolution.invalid": {"Escolha o que você fez.", "Elija qué hizo.", "Choose what you did."},
	"fault.case.invalid": {
		"Confira o que foi preenchido: as perguntas obrigatórias pedem uma resposta e o texto não pode ficar vazio.",
		"Revise lo que completó: las preguntas obligatorias piden una respuesta y el texto no puede quedar vacío.",
		"Check what you filled in: required questions need an answer, and the text must not be empty.",
	},
	"fault.case.ended": {
		"Este atendimento já foi encerrado. Abra outro.",
		"Este caso ya fue cerrado. Abra otro.",
		"This case is over. Open another.",
	},
	"fault.case.not_resolved": {
		"Este atendimento ainda não foi resolvido.",
		"Este caso todavía no fue resuelto.",
		"This case is not solved yet.",
	},
	"fault.case.too_long": {
		"Este atendimento atingiu o limite de mensagens. Abra outro.",
		"Este caso alcanzó el límite de mensajes. Abra otro.",
		"This case has reached its limit of messages. Open another.",
	},
	"fault.appointment.unavailable": {
		"Este horário acabou de ser ocupado. Escolha outro.",
		"Este horario acaba de ocuparse. Elija otro.",
		"That time has just been taken. Choose another.",
	},
	"fault.appointment.no_calendar": {
		"Este serviço não atende com hora marcada.",
		"Este servicio no atiende con horario.",
		"This service takes no appointments.",
	},
	"fault.share.not_covered": {
		"O seu plano não inclui este serviço.",
		"Su plan no incluye este servicio.",
		"Your plan does not include this service.",
	},
	"fault.share.used_up": {
		"Não há mais vagas neste momento. Tente mais tarde.",
		"No hay más lugares en este momento. Intente más tarde.",
		"There is no room at the moment. Try later.",
	},

	"done.resolved": {"Marcado como resolvido.", "Marcado como resuelto.", "Marked as dealt with."},
	"done.ticked":   {"Anotado.", "Anotado.", "Noted."},
	"done.solved": {
		"Tudo feito: vazamento resolvido.",
		"Todo hecho: filtración resuelta.",
		"All done: the leak is dealt with.",
	},
	"done.answered":  {"Resposta registrada.", "Respuesta registrada.", "Your answer was kept."},
	"done.told":      {"Mensagem enviada.", "Mensaje enviado.", "Message sent."},
	"done.booked":    {"Horário trocado.", "Horario cambiado.", "Appointment changed."},
	"done.cancelled": {"Atendimento cancelado.", "Caso cancelado.", "Case cancelled."},
	"done.rated":     {"Obrigado pela avaliação.", "Gracias por su calificación.", "Thank you for your rating."},
	"done.opened":    {"Atendimento aberto.", "Caso abierto.", "Case opened."},
}
