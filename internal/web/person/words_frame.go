package person

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
