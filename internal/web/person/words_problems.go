package person

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
	"problem.invalid":       {"Confira o que foi preenchido.", "Revise lo que completó.", "Check what you filled in."},
	"problem.unprocessable": {"Confira o que foi preenchido.", "Revise lo que completó.", "Check what you filled in."},
	"problem.unauthenticated": {
		"Esta página não está mais aberta.",
		"Esta página ya no está abierta.",
		"This page is no longer open.",
	},
	"problem.forbidden": {"Isto não é permitido aqui.", "Esto no está permitido aquí.", "That is not allowed here."},
	"problem.not_found": {
		"Não encontramos o que você procura.",
		"No encontramos lo que busca.",
		"We did not find what you are looking for.",
	},
	"problem.conflict":  {"Isto não é possível agora.", "Esto no es posible ahora.", "That is not possible now."},
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
