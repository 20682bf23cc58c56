package console

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

// listings are all lists; the fields, columns and reading of each.
var listings = []*listing{&findingsList, &assetsList, &eventsList, &deliveriesList, &subscriptionsList, &devicesList, &breachesList, &casesList, &auditList}

var (
	partnerField = listField{Name: "partner", Label: "Parceiro", None: "Todos"}
	ofOne        = listField{Name: "partner", Label: "Parceiro"} // for lists of one partner at a time
	fromField    = listField{Name: "from", Label: "De"}
	toField      = listField{Name: "to", Label: "Até"}
	kindField    = listField{Name: "kind", Label: "Tipo", None: "Todos", Options: []choiceOption{
		{"email", "E-mail"}, {"cpf", "CPF"}, {"phone", "Telefone"}, {"credit_card", "Cartão"}, {"domain", "Domínio"}, {"pix_key", "Chave Pix"}, {"cnpj", "CNPJ"},
	}}
	severityField = listField{Name: "severity", Label: "Gravidade", None: "Todas", Options: []choiceOption{
		{string(cyber.SeverityCritical), "Crítica"}, {string(cyber.SeverityHigh), "Alta"}, {string(cyber.SeverityMedium), "Média"}, {string(cyber.SeverityLow), "Baixa"},
	}}
	sortField = listField{Name: "sort", Label: "Ordem", Options: []choiceOption{{"new", "Mais novos primeiro"}, {"old", "Mais antigos primeiro"}}}
)

// optionLabel returns the label of an option.
func (f listField) optionLabel(value string) string {
	for _, o := range f.Options {
		if o.Value == value {
			return o.Label
		}
	}
	return value
}

// formatStamp returns a time as tables show it.
func formatStamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(brazil).Format("02/01/2006 15:04:05")
}

// partnerNamesIn returns the names of partners by their ids.
func partnerNamesIn(ctx context.Context, in *Rules) (map[partner.ID]string, error) {
	all, err := in.Partners.ListPartners(ctx)
	return partnerChoice{All: all}.namesByID(), err
}

var findingStates = listField{Name: "state", Label: "Situação", Options: []choiceOption{{"open", "Em aberto"}, {"resolved", "Resolvidas"}, {"all", "Todas"}}}

var findingsList = listing{
	name: "findings", title: "Ocorrências", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{partnerField, findingStates, severityField, kindField, fromField, toField, sortField, {Name: "breach", Label: "Vazamento", Text: true}},
	header: []string{"encontrado", "gravidade", "tipo", "valor", "vazamento", "parceiro", "situação", "id"},
	action: &resolveMany,
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		found, next, err := in.Review.FindingList(ctx, f.findingFilter(limit))
		if err != nil {
			return nil, "", err
		}
		names, err := partnerNamesIn(ctx, in)
		lines := make([]listLine, len(found))
		for i, one := range found {
			state := "Em aberto"
			if !one.Finding.Open() {
				state = resolutionName(one.Finding.Resolution)
			}
			lines[i] = listLine{string(one.Asset.Partner) + "/" + string(one.Finding.ID), []string{
				formatStamp(one.Finding.FoundAt), severityField.optionLabel(string(one.Finding.Severity)), kindWords[one.Asset.Kind],
				identifier.MaskValue(one.Asset.Kind, one.Asset.Value), one.Finding.Breach.Title, names[one.Asset.Partner], state, string(one.Finding.ID),
			}}
		}
		return lines, formatMark(next), err
	},
}

// findingFilter returns the filter of a list of findings.
func (f filter) findingFilter(limit int) cyber.FindingFilter {
	return cyber.FindingFilter{
		Partner: f.Partner, User: f.user, Breach: f.valueOfName("breach"), OpenOnly: f.valueOfName("state") == "" || f.valueOfName("state") == "open",
		ResolvedOnly: f.valueOfName("state") == "resolved", Kind: f.valueOfName("kind"), Severity: cyber.Severity(f.valueOfName("severity")), From: f.From, To: f.To,
		OldestFirst: f.isOldestFirst(), Before: f.parseMark(), Limit: limit,
	}
}

var assetStates = listField{Name: "status", Label: "Situação", Options: []choiceOption{
	{string(cyber.StatusCompromised), "Comprometidos"}, {string(cyber.StatusAlert), "Em alerta"}, {string(cyber.StatusMonitored), "Sem ocorrências"},
}}

var assetsList = listing{
	name: "monitoring", title: "Dados monitorados", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{partnerField, assetStates, kindField, fromField, toField, sortField},
	header: []string{"tipo", "valor", "situação", "parceiro", "desde", "id"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		assets, next, err := in.Review.ListAssets(ctx, f.assetFilter(limit))
		if err != nil {
			return nil, "", err
		}
		names, err := partnerNamesIn(ctx, in)
		lines := make([]listLine, len(assets))
		for i, a := range assets {
			lines[i] = listLine{string(a.Partner) + "/" + string(a.ID), []string{
				kindWords[a.Kind], identifier.MaskValue(a.Kind, a.Value), string(a.Status), names[a.Partner], formatStamp(a.AddedAt), string(a.ID),
			}}
		}
		return lines, formatMark(next), err
	},
}

// assetFilter returns the filter of a list of watched values.
func (f filter) assetFilter(limit int) cyber.AssetFilter {
	status := cyber.Status(f.valueOfName("status"))
	if status == "" {
		status = cyber.StatusCompromised
	}
	return cyber.AssetFilter{
		Status: status, Partner: f.Partner, User: f.user, Kind: f.valueOfName("kind"), From: f.From, To: f.To, OldestFirst: f.isOldestFirst(), Before: f.parseMark(), Limit: limit,
	}
}

var typeField = listField{Name: "type", Label: "Tipo", None: "Todos", Options: eventTypeOptions()}

// eventTypeOptions returns the types of events as options of a select field.
func eventTypeOptions() (options []choiceOption) {
	for _, t := range alert.Types {
		options = append(options, choiceOption{string(t), string(t)})
	}
	return options
}

var eventsList = listing{
	name: "events", title: "Eventos", persons: true, role: operator.Viewer, portal: look, fields: []listField{ofOne, typeField, fromField, toField, sortField},
	header: []string{"número", "quando", "tipo", "id"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		events, next, err := in.Events.ListEvents(ctx, f.Partner, f.eventFilter(limit))
		lines := make([]listLine, len(events))
		for i, e := range events {
			lines[i] = listLine{string(f.Partner) + "/" + string(e.ID), []string{strconv.FormatInt(e.Seq, 10), formatStamp(e.At), string(e.Type), string(e.ID)}}
		}
		return lines, formatSeq(next), err
	},
}

// eventFilter returns the filter of a list of events.
func (f filter) eventFilter(limit int) alert.EventFilter {
	return alert.EventFilter{User: f.user, Type: alert.Type(f.valueOfName("type")), From: f.From, To: f.To, OldestFirst: f.isOldestFirst(), After: f.parseNumber(), Limit: limit}
}

var deliveryStates = listField{Name: "state", Label: "Situação", Options: []choiceOption{
	{string(alert.DeliveryFailed), "Falharam"}, {string(alert.Pending), "Na fila"}, {string(alert.Held), "Retidas"}, {string(alert.Delivered), "Entregues"},
}}

var deliveriesList = listing{
	name: "deliveries", title: "Entregas", persons: true, role: operator.Viewer, portal: look, fields: []listField{partnerField, deliveryStates, typeField, {Name: "endpoint", Label: "Destino", Text: true}, fromField, toField},
	header: []string{"situação", "evento", "tipo", "destino", "parceiro", "tentativas", "criada", "terminou"},
	action: &replayMany,
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		list, next, err := in.Events.DeliveryList(ctx, f.deliveries(limit))
		if err != nil {
			return nil, "", err
		}
		names, err := partnerNamesIn(ctx, in)
		lines := make([]listLine, len(list))
		for i, d := range list {
			lines[i] = listLine{string(d.Partner) + "/" + string(d.Event) + "/" + string(d.Endpoint), []string{
				deliveryStates.optionLabel(string(d.State)), string(d.Event), string(d.Type), string(d.Endpoint), names[d.Partner], strconv.Itoa(d.Attempts), formatStamp(d.CreatedAt), formatStamp(d.FinishedAt),
			}}
		}
		return lines, deliveryMark(next), err
	},
}

// deliveries returns the filter as the history of deliveries takes it. Without a state it asks for failed deliveries.
func (f filter) deliveries(limit int) alert.DeliveryFilter {
	state := alert.DeliveryState(f.valueOfName("state"))
	if state == "" {
		state = alert.DeliveryFailed
	}
	d := alert.DeliveryFilter{State: state, Partner: f.Partner, User: f.user, Type: alert.Type(f.valueOfName("type")), Endpoint: alert.EndpointID(f.valueOfName("endpoint")), From: f.From, To: f.To, Limit: limit}
	if parts := strings.Split(f.After, "."); len(parts) == 4 {
		at, _ := strconv.ParseInt(parts[0], 10, 64) // a made-up cursor only leads to another page of the same list
		d.Before.Seq, _ = strconv.ParseInt(parts[3], 10, 64)
		d.Before.Partner, d.Before.Endpoint = partner.ID(parts[1]), alert.EndpointID(parts[2])
		if at != 0 {
			d.Before.At = time.UnixMicro(at)
		}
	}
	return d
}

// deliveryMark returns a place in the list of deliveries as the cursor of its address; empty at the end of the list.
func deliveryMark(m alert.DeliveryMark) string {
	if m.Endpoint == "" {
		return ""
	}
	at := int64(0)
	if !m.At.IsZero() {
		at = m.At.UnixMicro()
	}
	return strings.Join([]string{strconv.FormatInt(at, 10), string(m.Partner), string(m.Endpoint), strconv.FormatInt(m.Seq, 10)}, ".")
}

var subscriptionStates = listField{Name: "state", Label: "Situação", None: "Não encerradas", Options: []choiceOption{
	{string(subscription.ListSuspended), "Suspensas"}, {string(subscription.ListEnded), "Encerradas"},
}}

var subscriptionsList = listing{
	name: "subscriptions", title: "Assinaturas", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{
		ofOne, subscriptionStates, {Name: "plan", Label: "Plano", None: "Todos", Text: true}, {Name: "from", Label: "Início de"}, {Name: "to", Label: "Início até"},
		{Name: "sort", Label: "Ordem", Options: []choiceOption{{"old", "Mais antigas primeiro"}, {"new", "Mais novas primeiro"}}},
	},
	header: []string{"número", "pessoa", "CPF", "plano", "início", "fim", "situação"},
	action: &endMany,
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		list, next, err := in.FindSubscriptions.SubscriptionList(ctx, f.Partner, f.subscriptions(limit))
		lines := make([]listLine, len(list))
		for i, s := range list {
			state, last := "Ativa", ""
			switch {
			case s.Over(subscription.DayInBrazil(f.now)):
				state = "Encerrada"
			case !s.SuspendedAt.IsZero():
				state = "Suspensa"
			}
			if s.LastDay() != 0 {
				last = s.LastDay().String()
			}
			lines[i] = listLine{string(f.Partner) + "/" + strconv.FormatInt(s.Seq, 10), []string{
				strconv.FormatInt(s.Seq, 10), maskPersonName(s.Beneficiary.Name), identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF), string(s.Plan), s.Start.String(), last, state,
			}}
		}
		return lines, formatSeq(next), err
	},
}

// subscriptions returns the filter as the list of subscriptions takes it. Its days are days in Brazil, the last one
// included.
func (f filter) subscriptions(limit int) subscription.ListFilter {
	l := subscription.ListFilter{
		State: subscription.ListState(f.valueOfName("state")), Plan: plan.ID(f.valueOfName("plan")), User: f.user, NewestFirst: f.valueOfName("sort") == "new", After: f.parseNumber(), Limit: limit,
	}
	if !f.From.IsZero() {
		l.From = subscription.DayInBrazil(f.From)
	}
	if !f.To.IsZero() {
		l.To = subscription.DayInBrazil(f.To) - 1
	}
	return l
}

var devicesList = listing{
	name: "devices", title: "Dispositivos", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{ofOne, {Name: "system", Label: "Sistema", None: "Todos", Options: []choiceOption{
		{string(cyber.Android), "Android"}, {string(cyber.IOS), "iOS"}, {string(cyber.Windows), "Windows"}, {string(cyber.MacOS), "macOS"},
	}}, fromField, toField, sortField},
	header: []string{"emitida", "sistema", "pessoa", "ativada", "último contato", "vale até", "id"},
	action: &revokeMany,
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		list, next, err := in.Review.DeviceList(ctx, f.Partner, f.deviceFilter(limit))
		lines := make([]listLine, len(list))
		for i, d := range list {
			lines[i] = listLine{string(d.Partner) + "/" + string(d.ID), []string{formatStamp(d.IssuedAt), string(d.System), shortenID(d.User), formatStamp(d.ActivatedAt), formatStamp(d.SeenAt), formatStamp(d.ValidUntil), string(d.ID)}}
		}
		return lines, formatMark(next), err
	},
}

// deviceFilter returns the filter of a list of devices.
func (f filter) deviceFilter(limit int) cyber.DeviceFilter {
	return cyber.DeviceFilter{User: f.user, System: cyber.System(f.valueOfName("system")), From: f.From, To: f.To, OldestFirst: f.isOldestFirst(), Before: f.parseMark(), Limit: limit}
}

var breachStates = listField{Name: "state", Label: "Situação", None: "Todas", Options: []choiceOption{
	{string(leak.Published), "Publicados"}, {string(leak.Importing), "Em importação"}, {string(leak.Retracted), "Retirados"},
}}

var breachesList = listing{
	name: "breaches", title: "Vazamentos", role: operator.Viewer,
	fields: []listField{breachStates, {Name: "kind", Label: "Tipo", None: "Todos", Options: kindOptions}, fromField, toField, {Name: "sort", Label: "Ordem", Options: []choiceOption{
		{"new", "Mais novos primeiro"}, {"old", "Mais antigos primeiro"}, {"size", "Maiores primeiro"}, {"name", "Por nome"},
	}}},
	header: []string{"nome", "título", "aconteceu", "tipo", "impressões", "situação", "incluído"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		list, next, err := f.readBreaches(ctx, in, limit)
		lines := make([]listLine, len(list))
		for i, b := range list {
			lines[i] = listLine{b.Name, []string{
				b.Name, b.Title, b.Date.UTC().Format("02/01/2006"), listField{Options: kindOptions}.optionLabel(string(b.Kind)),
				strconv.FormatInt(b.Tally.Distinct, 10), breachStates.optionLabel(string(b.State)), formatStamp(b.AddedAt),
			}}
		}
		return lines, next, err
	},
}

// readBreaches returns a page of breaches. They are few, so all are in memory, and the cursor is the number of lines
// before the page.
func (f filter) readBreaches(ctx context.Context, in *Rules, limit int) ([]leak.Record, string, error) {
	all, err := in.Breaches.ListBreaches(ctx)
	if err != nil {
		return nil, "", err
	}
	all = slices.DeleteFunc(all, func(b leak.Record) bool {
		return f.valueOfName("state") != "" && string(b.State) != f.valueOfName("state") || f.valueOfName("kind") != "" && string(b.Kind) != f.valueOfName("kind") ||
			b.AddedAt.Before(f.From) || !f.To.IsZero() && !b.AddedAt.Before(f.To)
	})
	switch f.valueOfName("sort") {
	case "old":
	case "size":
		slices.SortStableFunc(all, func(a, b leak.Record) int { return cmp.Compare(b.Tally.Distinct, a.Tally.Distinct) })
	case "name":
		slices.SortStableFunc(all, func(a, b leak.Record) int { return strings.Compare(a.Name, b.Name) })
	default:
		slices.Reverse(all)
	}
	from := min(int(max(0, f.parseNumber())), len(all))
	if to := from + limit; to < len(all) {
		return all[from:to], strconv.Itoa(to), nil
	}
	return all[from:], "", nil
}

// statusOptions returns the statuses of a case as options of a select field.
func statusOptions() (options []choiceOption) {
	for _, s := range cyber.CaseStatuses() {
		options = append(options, choiceOption{string(s), string(s)})
	}
	return options
}

// casesList has no table of its own: the desk shows it in lanes. Its export goes through the statuses in their order.
var casesList = listing{
	name: "cases", title: "Casos", role: operator.Viewer, portal: look,
	persons: true,
	fields: []listField{
		partnerField, {Name: "status", Label: "Situação", None: "Em aberto", Options: statusOptions()}, {Name: "service", Label: "Serviço", None: "Todos", Text: true},
		{Name: "owner", Label: "Responsável", None: "Qualquer", Text: true}, {Name: "due", Label: "Prazo", Options: []choiceOption{{"late", "Atrasados"}, {"today", "Vencem hoje"}}, Tab: true}, {Name: "view", Options: []choiceOption{{"lanes", "Faixas"}}, Tab: true}, {Name: "from", Label: "Aberto de"}, {Name: "to", Label: "Aberto até"},
		{Name: "sort", Label: "Ordem", Options: []choiceOption{
			{"urgent", "Mais urgentes primeiro"}, {string(cyber.LaneNewest), "Mais novos primeiro"}, {string(cyber.LaneOldest), "Mais antigos primeiro"},
		}},
	},
	header: []string{"id", "número", "serviço", "parceiro", "situação", "aberto", "prazo", "responsável"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		lane, next, err := f.readLane(ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		names, err := partnerNamesIn(ctx, in)
		lines := make([]listLine, len(lane.Cases))
		for i, one := range lane.Cases {
			due, _ := one.Clock.Due()
			lines[i] = listLine{string(one.Partner) + "/" + string(one.ID), []string{
				string(one.ID), strconv.FormatInt(one.Short, 10), string(one.Service), names[one.Partner], string(one.Status), formatStamp(one.CreatedAt), formatStamp(due), f.assigneeOf(one),
			}}
		}
		return lines, next, err
	},
}

// assigneeOf returns who works on a case; partners' people do not see which operator of the service does.
func (f filter) assigneeOf(one cyber.Case) string {
	if f.confined && one.Assignee != "" {
		return theService
	}
	return one.Assignee
}

// laneFilter returns the filter of one lane of the desk. Owners are named by words of our own or by an operator's
// e-mail address, which never gets into the address of a page.
func (f filter) laneFilter(status cyber.CaseStatus, limit int) cyber.LaneFilter {
	l := cyber.LaneFilter{
		Partner: f.Partner, User: f.user, Service: cyber.ServiceID(f.valueOfName("service")), Status: status, From: f.From, To: f.To, Limit: limit,
	}
	switch f.valueOfName("due") {
	case "late":
		l.DueTo = f.now
	case "today":
		l.DueFrom, l.DueTo = f.now, nextMidnight(f.now)
	}
	if order := f.valueOfName("sort"); order != "urgent" {
		l.Order = cyber.LaneOrder(order)
	}
	switch owner := f.valueOfName("owner"); owner {
	case ownerNone:
		l.Unassigned = true
	default:
		l.Assignee = owner
	}
	return l
}

// readLane reads cases of the status that the place names, and goes on with the next status behind its end.
func (f filter) readLane(ctx context.Context, in *Rules, limit int) (cyber.Lane, string, error) {
	statuses := cyber.CaseStatuses()
	parts := strings.SplitN(f.After, ".", 3)
	at, _ := strconv.Atoi(parts[0]) // anything else is the beginning
	for ; at < len(statuses); at++ {
		status := statuses[at]
		if only := f.valueOfName("status"); only != "" && only != string(status) || only == "" && !status.Open() {
			parts = nil
			continue
		}
		one := f.laneFilter(status, limit)
		if len(parts) == 3 {
			one.After.ID = cyber.CaseID(parts[2])
			if due, _ := strconv.ParseInt(parts[1], 10, 64); due != 0 {
				one.After.Due = time.UnixMicro(due)
			}
		}
		lane, err := in.Cases.ListLane(ctx, one)
		if err != nil {
			return lane, "", err
		}
		if lane.Next.ID != "" {
			due := int64(0)
			if !lane.Next.Due.IsZero() {
				due = lane.Next.Due.UnixMicro()
			}
			return lane, strings.Join([]string{strconv.Itoa(at), strconv.FormatInt(due, 10), string(lane.Next.ID)}, "."), nil
		}
		if len(lane.Cases) > 0 {
			return lane, strconv.Itoa(at + 1), nil
		}
		parts = nil
	}
	return cyber.Lane{}, "", nil
}

// auditList is the trail without what its lines say beyond their columns, which may name people.
var auditList = listing{
	name: "audit", title: "Auditoria", role: operator.Admin, portal: integrate,
	fields: []listField{
		{Name: "actor", Label: "Quem", Hint: "e-mail, op_… ou cli:…", Max: 320}, {Name: "action", Label: "Ação", Hint: "partner.create", Max: 60},
		{Name: "subject", Label: "Sobre", Hint: "pt_…", Max: 320}, fromField, toField,
		{Name: "sort", Label: "Ordem", Options: []choiceOption{{"new", "Mais novas primeiro"}, {"old", "Mais antigas primeiro"}}},
	},
	header: []string{"número", "quando", "quem", "ação", "sobre"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		entries, next, err := f.readEntries(ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		emails, err := operatorEmails(ctx, in)
		lines := make([]listLine, len(entries))
		for i, e := range entries {
			who := e.Name
			if email := emails[e.Name]; email != "" {
				who = email
			}
			lines[i] = listLine{strconv.FormatInt(e.Seq, 10), []string{strconv.FormatInt(e.Seq, 10), formatStamp(e.At), who, e.Action, e.Subject}}
		}
		return lines, formatSeq(next), err
	},
}

// readEntries reads lines of the trail that fit, and the number that the next page goes on from; 0 at the end.
func (f filter) readEntries(ctx context.Context, in *Rules, limit int) ([]operator.Entry, int64, error) {
	actor := f.valueOfName("actor")
	if strings.Contains(actor, "@") { // the trail names people by their ids: addresses change hands
		emails, err := operatorEmails(ctx, in)
		if err != nil {
			return nil, 0, err
		}
		for id, email := range emails {
			if strings.EqualFold(email, actor) {
				actor = id
			}
		}
	}
	entries, err := in.Audit.ListEntries(ctx, operator.Filter{
		Actor: actor, Action: f.valueOfName("action"), Subject: f.valueOfName("subject"), From: f.From, To: f.To, OldestFirst: f.isOldestFirst(), Before: f.parseNumber(), Limit: limit + 1,
	})
	if len(entries) <= limit {
		return entries, 0, err
	}
	return entries[:limit], entries[limit-1].Seq, err
}

// operatorEmails returns the e-mail addresses of operators, by their ids.
func operatorEmails(ctx context.Context, in *Rules) (map[string]string, error) {
	people, err := in.Operators.Operators(ctx)
	emails := make(map[string]string, len(people))
	for _, o := range people {
		emails[string(o.ID)] = o.Email
	}
	return emails, err
}
