package console

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

// listings are all lists; the fields, columns and reading of each.
var listings = []*listing{
	&findingsList,
	&assetsList,
	&eventsList,
	&deliveriesList,
	&subscriptionsList,
	&devicesList,
	&breachesList,
	&casesList,
	&peopleList,
	&auditList,
}

var (
	partnerField = listField{Name: "partner", Label: "Parceiro", None: "Todos, sem os de testes"}
	ofOne        = listField{Name: "partner", Label: "Parceiro"} // for lists of one partner at a time
	fromField    = listField{Name: "from", Label: "De"}
	toField      = listField{Name: "to", Label: "Até"}
	kindField    = listField{Name: "kind", Label: "Tipo", None: "Todos", Options: []choiceOption{
		{
			"email",
			"E-mail",
		},
		{"cpf", "CPF"},
		{"phone", "Telefone"},
		{"credit_card", "Cartão"},
		{"domain", "Domínio"},
		{"pix_key", "Chave Pix"},
		{"cnpj", "CNPJ"},
	}}
	severityField = listField{Name: "severity", Label: "Gravidade", None: "Todas", Many: true, Options: []choiceOption{
		{
			string(cyber.SeverityCritical),
			"Crítica",
		},
		{string(cyber.SeverityHigh), "Alta"},
		{string(cyber.SeverityMedium), "Média"},
		{string(cyber.SeverityLow), "Baixa"},
	}}
	sortField = listField{
		Name:    "sort",
		Label:   "Ordem",
		Options: []choiceOption{{"new", "Mais novos primeiro"}, {"old", "Mais antigos primeiro"}},
	}
)

func (f listField) optionLabel(value string) string {
	return cmp.Or(optionLabels(f.Options)[value], value)
}

// formatStamp returns a time as tables show it.
func formatStamp(t time.Time) string {
	return strings.TrimSuffix(formatTime(t, "02/01/2006 15:04:05"), "—")
}

// linesOf returns what a list reads for its exports and bulk actions: the rows of its page as lines.
func linesOf[T any](
	rows func(f filter, ctx context.Context, in *Rules, limit int) ([]T, string, error),
	line func(f filter, partners map[partner.ID]string, one T) listLine,
) func(context.Context, *Rules, filter, int) ([]listLine, string, error) {
	return func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		list, next, err := rows(f, ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		partners, err := in.Partners.ListPartners(ctx)
		if err != nil {
			return nil, "", err
		}
		names := partnerChoice{All: partners}.namesByID()
		lines := make([]listLine, len(list))
		for i, one := range list {
			lines[i] = line(f, names, one)
		}
		return lines, next, nil
	}
}

var findingStates = listField{
	Name:  "state",
	Label: "Situação",
	Options: []choiceOption{
		{string(cyber.FindingOpen), "Em aberto"},
		{string(cyber.FindingResolved), "Resolvidas"},
		{allFindings, "Em aberto e resolvidas"},
		{string(cyber.FindingRetracted), "Retratadas"},
	},
}

// allFindings is the word in an address for every finding that was not retracted.
const allFindings = "all"

// alertedField leaves the findings that the partner was alerted of.
var alertedField = listField{
	Name:    "alerted",
	Label:   "Aviso",
	None:    "Com ou sem aviso",
	Options: []choiceOption{{"1", "Com aviso ao parceiro"}},
}

// classField leaves findings that expose a class of data.
var classField = listField{
	Name: "class", Label: "O que vazou", None: "Qualquer dado", Options: exposedOptions, Many: true,
}

var findingsList = listing{
	name:    "findings",
	title:   "Ocorrências",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
	fields: []listField{
		partnerField,
		findingStates,
		severityField,
		classField,
		kindField,
		alertedField,
		fromField,
		toField,
		sortField,
		{Name: "breach", Label: "Vazamento", Text: true},
		{Name: "group", Label: "Agrupar", Tab: true, Options: []choiceOption{{groupNone, "Sem grupos"}}},
	},
	header: []string{"encontrado", "gravidade", "tipo", "valor", "vazamento", "parceiro", "situação", "id"},
	action: &resolveMany,
	read: linesOf(filter.readFindings, func(_ filter, partners map[partner.ID]string, one cyber.Found) listLine {
		state := "Em aberto"
		if !one.Finding.Open() {
			state = resolutionName(one.Finding.Resolution)
		}
		return listLine{
			string(one.Asset.Partner) + "/" + string(one.Finding.ID),
			[]string{
				formatStamp(one.Finding.FoundAt),
				severityField.optionLabel(string(one.Finding.Severity)),
				kindWords[one.Asset.Kind],
				identifier.MaskValue(
					one.Asset.Kind,
					one.Asset.Value,
				),
				one.Finding.Breach.Title,
				partners[one.Asset.Partner],
				state,
				string(one.Finding.ID),
			},
		}
	}),
}

// findingFilter returns which findings the filter picks; the open ones unless others are asked for.
func (f filter) findingFilter(limit int) cyber.FindingFilter {
	state := cyber.FindingState(f.valueOr("state", string(cyber.FindingOpen)))
	if state == allFindings {
		state = cyber.FindingStanding
	}
	return cyber.FindingFilter{
		Partner:     f.Partner,
		LiveOnly:    f.isOfLivePartners(),
		User:        f.user,
		Breach:      f.valueOfName("breach"),
		State:       state,
		AlertedOnly: f.valueOfName("alerted") != "",
		Kind:        f.valueOfName("kind"),
		Severities:  wordsOf[cyber.Severity](f.values["severity"]),
		Classes:     wordsOf[cyber.Exposed](f.values["class"]),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		Before:      f.parseMark(),
		Limit:       limit,
	}
}

// wordsOf returns words of an address as words of the trade.
func wordsOf[W ~string](words []string) []W {
	list := make([]W, len(words))
	for i, word := range words {
		list[i] = W(word)
	}
	return list
}

// readFindings returns a page of findings.
func (f filter) readFindings(ctx context.Context, in *Rules, limit int) ([]cyber.Found, string, error) {
	list, next, err := in.Review.FindingList(ctx, f.findingFilter(limit))
	return list, formatMark(next), err
}

var assetStates = listField{Name: "status", Label: "Situação", Options: []choiceOption{
	{string(cyber.StatusCompromised), "Comprometidos"},
	{string(cyber.StatusAlert), "Em alerta"},
	{string(cyber.StatusMonitored), "Sem ocorrências"},
	{everyStatus, "Todos"},
	{notSearched, "Sem busca retroativa"},
}}

// notSearched is the word in an address for watched values that wait for their first look into past breaches.
const notSearched = "esperando"

// everyStatus is the word in an address for watched values in whatever status.
const everyStatus = "todos"

var assetsList = listing{
	name: "monitoring", title: "Dados monitorados", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{partnerField, assetStates, kindField, fromField, toField, sortField},
	header: []string{"tipo", "valor", "situação", "parceiro", "desde", "id"},
	read: linesOf(filter.readAssets, func(_ filter, partners map[partner.ID]string, a cyber.Asset) listLine {
		return listLine{
			string(a.Partner) + "/" + string(a.ID),
			[]string{
				kindWords[a.Kind],
				identifier.MaskValue(a.Kind, a.Value),
				assetStatusWord(a),
				partners[a.Partner],
				formatStamp(a.AddedAt),
				string(a.ID),
			},
		}
	}),
}

// assetStatusWord returns the status of a watched value in an export: one that was not looked for is not clean.
func assetStatusWord(a cyber.Asset) string {
	if a.IsUnlooked() {
		return "ainda não verificado"
	}
	return string(a.Status)
}

// assetStatus returns the status of the watched values that are asked for.
func (f filter) assetStatus() cyber.Status {
	status := f.valueOr("status", string(cyber.StatusCompromised))
	if status == everyStatus || status == notSearched {
		return ""
	}
	return cyber.Status(status)
}

// readAssets returns a page of watched values.
func (f filter) readAssets(ctx context.Context, in *Rules, limit int) ([]cyber.Asset, string, error) {
	list, next, err := in.Review.ListAssets(ctx, cyber.AssetFilter{
		Status:      f.assetStatus(),
		Partner:     f.Partner,
		LiveOnly:    f.isOfLivePartners(),
		WaitsOnly:   f.valueOfName("status") == notSearched,
		User:        f.user,
		Kind:        f.valueOfName("kind"),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		Before:      f.parseMark(),
		Limit:       limit,
	})
	return list, formatMark(next), err
}

var typeField = listField{Name: "type", Label: "Tipo", None: "Todos", Options: plainOptions(alert.Types)}

// plainOptions returns words as options of a select field that say themselves.
func plainOptions[W ~string](words []W) []choiceOption {
	options := make([]choiceOption, len(words))
	for i, w := range words {
		options[i] = choiceOption{string(w), string(w)}
	}
	return options
}

var eventsList = listing{
	name:    "events",
	title:   "Eventos",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
	fields:  []listField{ofOne, typeField, fromField, toField, sortField},
	header:  []string{"número", "quando", "tipo", "id"},
	read: linesOf(filter.readEvents, func(f filter, _ map[partner.ID]string, e alert.Kept) listLine {
		return listLine{
			string(f.Partner) + "/" + string(e.ID),
			[]string{strconv.FormatInt(e.Seq, 10), formatStamp(e.At), string(e.Type), string(e.ID)},
		}
	}),
}

func (f filter) readEvents(ctx context.Context, in *Rules, limit int) ([]alert.Kept, string, error) {
	list, next, err := in.Events.ListEvents(ctx, f.Partner, alert.EventFilter{
		User:        f.user,
		Type:        alert.Type(f.valueOfName("type")),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		After:       f.parseNumber(),
		Limit:       limit,
	})
	return list, formatSeq(next), err
}

var deliveryStates = listField{Name: "state", Label: "Situação", Options: []choiceOption{
	{
		string(alert.DeliveryFailed),
		"Falharam",
	},
	{string(alert.Pending), "Na fila"},
	{string(alert.Held), "Retidas"},
	{string(alert.Delivered), "Entregues"},
}}

// lastHours leaves what ended in the last 24 hours.
var lastHours = listField{
	Name:    "hours",
	Label:   "Terminou",
	None:    "Quando for",
	Options: []choiceOption{{"24", "Nas últimas 24 horas"}},
}

var deliveriesList = listing{
	name:    "deliveries",
	title:   "Entregas",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
	fields: []listField{
		partnerField,
		deliveryStates,
		typeField,
		{Name: "endpoint", Label: "Destino", Text: true},
		lastHours,
		fromField,
		toField,
	},
	header: []string{"situação", "evento", "tipo", "destino", "parceiro", "tentativas", "criada", "terminou"},
	action: &replayMany,
	read: linesOf(filter.readDeliveries, func(_ filter, partners map[partner.ID]string, d alert.Listed) listLine {
		return listLine{
			string(d.Partner) + "/" + string(d.Event) + "/" + string(d.Endpoint),
			[]string{
				deliveryStates.optionLabel(string(d.State)),
				string(d.Event),
				string(d.Type),
				string(d.Endpoint),
				partners[d.Partner],
				strconv.Itoa(d.Attempts),
				formatStamp(d.CreatedAt),
				formatStamp(d.FinishedAt),
			},
		}
	}),
}

func (f filter) deliveryState() alert.DeliveryState {
	return alert.DeliveryState(f.valueOr("state", string(alert.DeliveryFailed)))
}

func (f filter) readDeliveries(ctx context.Context, in *Rules, limit int) ([]alert.Listed, string, error) {
	if f.valueOfName("hours") != "" {
		f.From = f.now.Add(-24 * time.Hour)
	}
	list, next, err := in.Events.DeliveryList(ctx, alert.DeliveryFilter{
		State:    f.deliveryState(),
		Partner:  f.Partner,
		LiveOnly: f.isOfLivePartners(),
		User:     f.user,
		Type:     alert.Type(f.valueOfName("type")),
		Endpoint: alert.EndpointID(f.valueOfName("endpoint")),
		From:     f.From,
		To:       f.To,
		Limit:    limit,
		Before:   parseDeliveryMark(f.After),
	})
	return list, formatDeliveryMark(next), err
}

// parseDeliveryMark reads a place in the list of deliveries; a made-up one only leads to another page of the same list.
func parseDeliveryMark(text string) (m alert.DeliveryMark) {
	if parts := strings.Split(text, "."); len(parts) == 4 {
		m.At, m.Partner, m.Endpoint = parseMicros(parts[0]), partner.ID(parts[1]), alert.EndpointID(parts[2])
		m.Seq, _ = strconv.ParseInt(parts[3], 10, 64)
	}
	return m
}

// formatDeliveryMark writes a place that parseDeliveryMark reads; empty at the end of the list.
func formatDeliveryMark(m alert.DeliveryMark) string {
	if m.Endpoint == "" {
		return ""
	}
	return strings.Join(
		[]string{formatMicros(m.At), string(m.Partner), string(m.Endpoint), strconv.FormatInt(m.Seq, 10)},
		".",
	)
}

var subscriptionStates = listField{Name: "state", Label: "Situação", None: "Não encerradas", Options: []choiceOption{
	{string(subscription.ListSuspended), "Suspensas"}, {string(subscription.ListEnded), "Encerradas"},
}}

var subscriptionsList = listing{
	name:    "subscriptions",
	title:   "Assinaturas",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
	fields: []listField{
		ofOne,
		subscriptionStates,
		{Name: "plan", Label: "Plano", None: "Todos", Text: true},
		{Name: "from", Label: "Início de"},
		{Name: "to", Label: "Início até"},
		{
			Name:    "sort",
			Label:   "Ordem",
			Options: []choiceOption{{"old", "Mais antigas primeiro"}, {"new", "Mais novas primeiro"}},
		},
	},
	header: []string{"número", "pessoa", "CPF", "plano", "início", "fim", "situação"},
	action: &endMany,
	read: linesOf(
		filter.readSubscriptions,
		func(f filter, _ map[partner.ID]string, s subscription.Subscription) listLine {
			last := ""
			if s.LastDay() != 0 {
				last = s.LastDay().String()
			}
			return listLine{
				string(f.Partner) + "/" + strconv.FormatInt(s.Seq, 10),
				[]string{
					strconv.FormatInt(
						s.Seq,
						10,
					),
					maskPersonName(s.Beneficiary.Name),
					identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF),
					string(s.Plan),
					s.Start.String(),
					last,
					subscriptionBadge(s, f.now).Text,
				},
			}
		},
	),
}

// readSubscriptions returns a page of subscriptions. The days of its filter are days in Brazil, the last one included.
func (f filter) readSubscriptions(
	ctx context.Context,
	in *Rules,
	limit int,
) ([]subscription.Subscription, string, error) {
	l := subscription.ListFilter{
		State:       subscription.ListState(f.valueOfName("state")),
		Plan:        plan.ID(f.valueOfName("plan")),
		User:        f.user,
		NewestFirst: f.valueOfName("sort") == "new",
		After:       f.parseNumber(),
		Limit:       limit,
	}
	if !f.From.IsZero() {
		l.From = subscription.DayInBrazil(f.From)
	}
	if !f.To.IsZero() {
		l.To = subscription.DayInBrazil(f.To) - 1
	}
	list, next, err := in.FindSubscriptions.SubscriptionList(ctx, f.Partner, l)
	return list, formatSeq(next), err
}

// deviceProtected is the word in an address for devices that have the program.
const deviceProtected = "protegidos"

var deviceStateField = listField{
	Name:    "state",
	Label:   "Situação",
	None:    "Chaves em vigor",
	Options: []choiceOption{{deviceProtected, "Protegidos"}},
}

var devicesList = listing{
	name: "devices", title: "Dispositivos", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{ofOne, {Name: "system", Label: "Sistema", None: "Todos", Options: []choiceOption{
		{
			string(cyber.Android),
			"Android",
		},
		{string(cyber.IOS), "iOS"},
		{string(cyber.Windows), "Windows"},
		{string(cyber.MacOS), "macOS"},
	}}, deviceStateField, fromField, toField, sortField},
	header: []string{"emitida", "sistema", "pessoa", "ativada", "último contato", "vale até", "id"},
	action: &revokeMany,
	read: linesOf(filter.readDevices, func(_ filter, _ map[partner.ID]string, d cyber.Device) listLine {
		return listLine{
			string(d.Partner) + "/" + string(d.ID),
			[]string{
				formatStamp(d.IssuedAt),
				string(d.System),
				shortenID(d.User),
				formatStamp(d.ActivatedAt),
				formatStamp(d.SeenAt),
				formatStamp(d.ValidUntil),
				string(d.ID),
			},
		}
	}),
}

func (f filter) readDevices(ctx context.Context, in *Rules, limit int) ([]cyber.Device, string, error) {
	list, next, err := in.Review.DeviceList(ctx, f.Partner, cyber.DeviceFilter{
		User:          f.user,
		System:        cyber.System(f.valueOfName("system")),
		ProtectedOnly: f.valueOfName("state") == deviceProtected,
		From:          f.From,
		To:            f.To,
		OldestFirst:   f.isOldestFirst(),
		Before:        f.parseMark(),
		Limit:         limit,
	})
	return list, formatMark(next), err
}

var breachStates = listField{Name: "state", Label: "Situação", None: "Todas", Options: []choiceOption{
	{
		string(leak.Published),
		"Publicados",
	},
	{string(leak.Importing), "Em importação"},
	{string(leak.Retracted), "Retirados"},
}}

var breachesList = listing{
	name:  "breaches",
	title: "Vazamentos",
	role:  operator.Viewer,
	fields: []listField{
		breachStates,
		{Name: "kind", Label: "Tipo", None: "Todos", Options: kindOptions},
		fromField,
		toField,
		{Name: "sort", Label: "Ordem", Options: []choiceOption{
			{
				"new",
				"Mais novos primeiro",
			},
			{"old", "Mais antigos primeiro"},
			{"size", "Maiores primeiro"},
			{"name", "Por nome"},
		}},
	},
	header: []string{"nome", "título", "aconteceu", "tipo", "impressões", "situação", "incluído"},
	read: linesOf(filter.readBreaches, func(_ filter, _ map[partner.ID]string, b leak.Record) listLine {
		return listLine{
			b.Name,
			[]string{
				b.Name,
				b.Title,
				b.Date.UTC().Format("02/01/2006"),
				listField{Options: kindOptions}.optionLabel(string(b.Kind)),
				strconv.FormatInt(b.Tally.Distinct, 10),
				breachStates.optionLabel(string(b.State)),
				formatStamp(b.AddedAt),
			},
		}
	}),
}

// readBreaches returns a page of breaches. They are few, so all are in memory, and the cursor is the number of lines
// before the page.
func (f filter) readBreaches(ctx context.Context, in *Rules, limit int) ([]leak.Record, string, error) {
	all, err := f.selectBreaches(ctx, in)
	if err != nil {
		return nil, "", err
	}
	from := min(int(max(0, f.parseNumber())), len(all))
	if to := from + limit; to < len(all) {
		return all[from:to], strconv.Itoa(to), nil
	}
	return all[from:], "", nil
}

// selectBreaches returns all breaches that fit, in order.
func (f filter) selectBreaches(ctx context.Context, in *Rules) ([]leak.Record, error) {
	all, err := in.Breaches.ListBreaches(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(b leak.Record) bool {
		return f.valueOfName("state") != "" && string(b.State) != f.valueOfName("state") ||
			f.valueOfName("kind") != "" && string(b.Kind) != f.valueOfName("kind") ||
			b.AddedAt.Before(f.From) ||
			!f.To.IsZero() && !b.AddedAt.Before(f.To)
	})
	switch f.valueOfName("sort") {
	case "old":
	case "size":
		slices.SortStableFunc(
			all,
			func(a, b leak.Record) int { return cmp.Compare(b.Tally.Distinct, a.Tally.Distinct) },
		)
	case "name":
		slices.SortStableFunc(all, func(a, b leak.Record) int { return strings.Compare(a.Name, b.Name) })
	default:
		slices.Reverse(all)
	}
	return all, nil
}

// casesList has no table of its own: the desk shows it in lanes. Its export goes through the statuses in their order.
var casesList = listing{
	name: "cases", title: "Casos", role: operator.Viewer, portal: look,
	persons: true,
	fields: []listField{
		partnerField,
		{Name: "status", Label: "Situação", None: "Em aberto", Options: plainOptions(cyber.CaseStatuses())},
		{Name: "service", Label: "Serviço", None: "Todos", Text: true},
		{Name: "owner", Label: "Responsável", None: "Qualquer", Text: true},
		{
			Name:    "due",
			Label:   "Prazo",
			Options: []choiceOption{{"late", "Atrasados"}, {"today", "Vencem hoje"}},
			Tab:     true,
		},
		{Name: "view", Options: []choiceOption{{"lanes", "Faixas"}}, Tab: true},
		{Name: "from", Label: "Aberto de"},
		{Name: "to", Label: "Aberto até"},
		{Name: "sort", Label: "Ordem", Options: []choiceOption{
			{
				"urgent",
				"Mais urgentes primeiro",
			},
			{string(cyber.LaneNewest), "Mais novos primeiro"},
			{string(cyber.LaneOldest), "Mais antigos primeiro"},
		}},
	},
	header: []string{"id", "número", "serviço", "parceiro", "situação", "aberto", "prazo", "responsável"},
	read: linesOf(filter.readCases, func(f filter, partners map[partner.ID]string, one cyber.Case) listLine {
		due, _ := one.Clock.Due()
		return listLine{
			string(one.Partner) + "/" + string(one.ID),
			[]string{
				string(one.ID),
				strconv.FormatInt(one.Short, 10),
				string(one.Service),
				partners[one.Partner],
				string(one.Status),
				formatStamp(one.CreatedAt),
				formatStamp(due),
				f.assigneeOf(one),
			},
		}
	}),
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
		Partner:  f.Partner,
		LiveOnly: f.isOfLivePartners(),
		User:     f.user,
		Service:  cyber.ServiceID(f.valueOfName("service")),
		Status:   status,
		From:     f.From,
		To:       f.To,
		Limit:    limit,
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
	if l.Assignee = f.valueOfName("owner"); l.Assignee == ownerNone {
		l.Assignee, l.Unassigned = "", true
	}
	return l
}

// readCases reads cases of the status that the place names, and goes on with the next status behind its end.
func (f filter) readCases(ctx context.Context, in *Rules, limit int) ([]cyber.Case, string, error) {
	parts := strings.SplitN(f.After, ".", 3)
	at, _ := strconv.Atoi(parts[0]) // anything else is the beginning
	only := f.valueOfName("status")
	for statuses := cyber.CaseStatuses(); at < len(statuses); at, parts = at+1, nil {
		if only != "" && only != string(statuses[at]) || only == "" && !statuses[at].Open() {
			continue
		}
		one := f.laneFilter(statuses[at], limit)
		if len(parts) == 3 {
			one.After = cyber.LaneMark{Due: parseMicros(parts[1]), ID: cyber.CaseID(parts[2])}
		}
		lane, err := in.Cases.ListLane(ctx, one)
		if err != nil {
			return nil, "", err
		}
		if lane.Next.ID != "" {
			place := []string{strconv.Itoa(at), formatMicros(lane.Next.Due), string(lane.Next.ID)}
			return lane.Cases, strings.Join(place, "."), nil
		}
		if len(lane.Cases) > 0 {
			return lane.Cases, strconv.Itoa(at + 1), nil
		}
	}
	return nil, "", nil
}

// auditList is the trail without what its lines say beyond their columns, which may name people.
var auditList = listing{
	name: "audit", title: "Auditoria", role: operator.Admin, portal: integrate,
	fields: []listField{
		{Name: "actor", Label: "Quem", Hint: "e-mail, op_… ou cli:…", Max: 320},
		{Name: "action", Label: "O que fez", Options: actionOptions(), None: "Qualquer ação"},
		{Name: "subject", Label: "Sobre", Hint: "pt_…", Max: 320},
		fromField,
		toField,
		{
			Name:    "sort",
			Label:   "Ordem",
			Options: []choiceOption{{"new", "Mais novas primeiro"}, {"old", "Mais antigas primeiro"}},
		},
	},
	header: []string{"número", "quando", "quem", "o que fez", "ação", "sobre"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		entries, next, err := f.readEntries(ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		emails, err := operatorEmails(ctx, in)
		if err != nil {
			return nil, "", err
		}
		lines := make([]listLine, len(entries))
		for i, e := range entries {
			seq := strconv.FormatInt(e.Seq, 10)
			who := cmp.Or(emails[e.Name], e.Name)
			cells := []string{seq, formatStamp(e.At), who, describeAction(e.Action), e.Action, e.Subject}
			lines[i] = listLine{seq, cells}
		}
		return lines, next, nil
	},
}

// readEntries reads lines of the trail that fit, and the number that the next page goes on from; empty at the end.
func (f filter) readEntries(ctx context.Context, in *Rules, limit int) ([]operator.Entry, string, error) {
	actor := f.valueOfName("actor")
	if strings.Contains(actor, "@") { // the trail names people by their ids: addresses change hands
		emails, err := operatorEmails(ctx, in)
		if err != nil {
			return nil, "", err
		}
		for id, email := range emails {
			if strings.EqualFold(email, actor) {
				actor = id
			}
		}
	}
	entries, err := in.Audit.ListEntries(ctx, operator.Filter{
		Actor:       actor,
		Action:      f.valueOfName("action"),
		Subject:     f.valueOfName("subject"),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		Before:      f.parseNumber(),
		Limit:       limit + 1,
	})
	if len(entries) <= limit {
		return entries, "", err
	}
	return entries[:limit], formatSeq(entries[limit-1].Seq), err
}

// operatorEmails returns the e-mail addresses of operators, by their ids.
func operatorEmails(ctx context.Context, in *Rules) (map[string]string, error) {
	people, err := in.Operators.ListOperators(ctx)
	emails := make(map[string]string, len(people))
	for _, o := range people {
		emails[string(o.ID)] = o.Email
	}
	return emails, err
}
