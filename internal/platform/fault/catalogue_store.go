package fault

// What the store finds.
var (
	NoSuchBreach           = addRule("no_such_breach", "there is no such breach", "Este vazamento não existe.")
	IsTaken                = addRule("is_taken", "is taken", "Este nome já está em uso.")
	AppointmentsForCovered = addRule(
		"appointments_for_covered",
		"appointments are for people with a subscription in force",
		"Horários são para pessoas com assinatura em vigor.",
	)
	NoTimeFree = addRule(
		"no_time_free",
		"none of these times is free",
		"Nenhum destes horários está livre.",
	)
	NoCalendar      = addRule("no_calendar", "the service has no calendar", "O serviço não tem agenda.")
	SlotHeld        = addRule("slot_held", "a case holds it", "Um caso tem este horário.")
	WasNotChanged   = addRule("was_not_changed", "was not changed", "Este conteúdo não foi alterado.")
	HasEndedAlready = addRule("has_ended_already", "has ended already", "A chave já terminou.")
	HasALiveKey     = addRule(
		"has_a_live_key",
		"has a live key already",
		"Este aparelho já tem uma chave em vigor.",
	)
	NoSuchFeed     = addRule("no_such_feed", "there is no such feed", "Esta fonte não existe.")
	ValuesOfPerson = addRule(
		"values_of_person",
		"at most %d values of one person",
		"No máximo %s dados de uma pessoa.",
	)
	UsedWithOtherBody = addRule(
		"used_with_other_body",
		"was used before with another body",
		"Já foi usada antes com outro corpo.",
	)
	AnswerNotKept = addRule(
		"answer_not_kept",
		"the work is done, its answer of more than %d bytes was not kept",
		"O pedido já foi atendido; a resposta passa de %s bytes e não foi guardada.",
	)
	OperatorExists = addRule(
		"operator_exists",
		"there is an operator with this address",
		"Já existe um operador com este e-mail.",
	)
	FiltersAtMost = addRule("filters_at_most", "at most %d filters", "No máximo %s filtros.")
	PlanExists    = addRule(
		"plan_exists",
		"the partner has a plan of this id",
		"O parceiro já tem um plano com este identificador.",
	)
	WebhooksAtMost = addRule("webhooks_at_most", "at most %d webhooks", "No máximo %s webhooks.")
)
