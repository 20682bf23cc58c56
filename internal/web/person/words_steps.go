package person

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
	"watch.cpf": {"Peça o monitoramento do seu CPF.", "Pida la vigilancia de su CPF.", "Ask to have your CPF watched."},
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
