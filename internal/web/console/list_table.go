package console

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// listTable is the table of a list. Every list has the same: rows with one link, under columns that take two lines on
// a telephone.
type listTable struct {
	Caption string
	Columns []listColumn
	Groups  []listGroup
	// Layout is the class of the table: how its cells take their places on a telephone.
	Layout string
	// IsGrouped says that each group has a title of its own.
	IsGrouped bool
}

// listColumn is a column; Class is its place on a telephone: m mark, a who, c what, d state, b age, x only where there
// is room.
type listColumn struct{ Label, Class string }

// listGroup is rows under one title.
type listGroup struct {
	Title, Path string
	Notes       []string
	// Share says how many of the rows of the group are on the page.
	Share string
	Rows  []listRow
}

// listRow is a row; Key names it in forms, and Name for screen readers.
type listRow struct {
	Key, Name string
	Cells     []listCell
}

// listCell is a cell: a text, or what has a shape of its own.
type listCell struct {
	Text string
	// Path is the page that the row opens: one cell of a row has it. Hidden tells the row apart for screen readers, and
	// Below is what stands beside the link.
	Path, Hidden, Below string
	IsCode              bool
	// Tone is how a text is said: soft, or waits for what waits for an answer.
	Tone string
	// Avatar stands before the text.
	Avatar   *avatar
	Severity cyber.Severity
	Badge    badge
	At       time.Time
}

// avatar are the initials of a person or an operator. Says tells screen readers what stands in no text beside it.
type avatar struct{ Initials, Class, Says string }

// Dict returns a badge as the template of badges takes it.
func (b badge) Dict() map[string]any { return map[string]any{"kind": b.Kind, "text": b.Text} }

// newListTable returns a table without rows.
func newListTable(caption string, columns ...listColumn) listTable {
	return listTable{Caption: caption, Columns: columns, Layout: "one-list"}
}

// Width returns how many columns the table has, with that of the check boxes if something can be done to many rows.
func (t listTable) Width(picks bool) int {
	if picks {
		return len(t.Columns) + 1
	}
	return len(t.Columns)
}

// Empty reports whether there are no rows.
func (t listTable) Empty() bool { return len(t.Groups) == 0 }

// addRow appends a row to the only group of a table that is not grouped.
func (t *listTable) addRow(row listRow) {
	if len(t.Groups) == 0 {
		t.Groups = append(t.Groups, listGroup{})
	}
	t.Groups[0].Rows = append(t.Groups[0].Rows, row)
}

// addToGroup appends a row to the group of a title, which is made with the first row.
func (t *listTable) addToGroup(title string, row listRow, newGroup func() listGroup) {
	t.IsGrouped = true
	i := slices.IndexFunc(t.Groups, func(g listGroup) bool { return g.Title == title })
	if i < 0 {
		i = len(t.Groups)
		t.Groups = append(t.Groups, newGroup())
	}
	t.Groups[i].Rows = append(t.Groups[i].Rows, row)
}

// withoutPartner takes out the column of partners: a partner's people need not read which partner it is.
func (t *listTable) withoutPartner() {
	i := slices.IndexFunc(t.Columns, func(c listColumn) bool { return c.Label == "Parceiro" })
	if i < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, i, i+1)
	for g := range t.Groups {
		for r := range t.Groups[g].Rows {
			row := &t.Groups[g].Rows[r]
			row.Cells = slices.Delete(row.Cells, i, i+1)
		}
	}
}

// ageCell tells how long ago something was.
func ageCell(at, now time.Time) listCell {
	if at.IsZero() {
		return listCell{Text: "–"}
	}
	return listCell{At: at, Text: formatDuration(max(0, now.Sub(at)))}
}

// namesOfOwners returns the masked names of the people whose values are given, as far as their partners enrolled them.
func (c *Console) namesOfOwners(ctx context.Context, assets []cyber.Asset) (map[cyber.AssetID]string, error) {
	users := map[partner.ID][]partner.UserHash{}
	for _, a := range assets {
		users[a.Partner] = append(users[a.Partner], a.User)
	}
	masked := make(map[cyber.AssetID]string, len(assets))
	for id, of := range users {
		names, err := c.Rules.FindSubscriptions.NamesOfUsers(ctx, id, of)
		if err != nil {
			return nil, err
		}
		for _, a := range assets {
			if name := names[a.User]; a.Partner == id && name != "" {
				masked[a.ID] = maskPersonName(name)
			}
		}
	}
	return masked, nil
}

// groupNone is the word in an address for a list without groups.
const groupNone = "none"

// tableOfFindings lays findings out, under the leak that they are of unless the filter says otherwise. counted are the
// findings under the filter; nil where they are too many to be counted.
func (c *Console) tableOfFindings(
	ctx context.Context, f filter, found []cyber.Found, counted []cyber.FindingGroup, partners map[partner.ID]string,
) (listTable, error) {
	t := newListTable("Ocorrências", listColumn{"Gravidade", "m"}, listColumn{"Pessoa", "a"},
		listColumn{"O que vazou", "c"}, listColumn{"Dado", "x"}, listColumn{"Parceiro", "x"},
		listColumn{"Situação", "d"}, listColumn{"Idade", "b num"})
	assets := make([]cyber.Asset, len(found))
	byPartner := map[partner.ID][]cyber.FindingID{}
	for i, one := range found {
		assets[i] = one.Asset
		byPartner[one.Asset.Partner] = append(byPartner[one.Asset.Partner], one.Finding.ID)
	}
	names, err := c.namesOfOwners(ctx, assets)
	if err != nil {
		return t, err
	}
	marks := map[partner.ID][]cyber.StepMark{}
	for id, findings := range byPartner {
		marks[id], err = c.Rules.Review.StepMarks(ctx, id, findings)
		if err != nil {
			return t, err
		}
	}
	people, err := c.affectedByLeak(ctx, f, found, counted)
	if err != nil {
		return t, err
	}
	for _, one := range found {
		b := one.Finding.Breach
		what := listCell{
			Text:   joinExposed(b.Exposes),
			Path:   findingPath(one),
			Hidden: "ocorrência " + shortenID(string(one.Finding.ID)),
		}
		row := listRow{
			Key:  string(one.Asset.Partner) + "/" + string(one.Finding.ID),
			Name: "a ocorrência " + string(one.Finding.ID),
			Cells: []listCell{
				{Severity: one.Finding.Severity},
				{Text: orDash(names[one.Asset.ID])},
				what,
				{Text: kindWords[one.Asset.Kind] + " " + identifier.MaskValue(one.Asset.Kind, one.Asset.Value)},
				{Text: partners[one.Asset.Partner]},
				{Badge: stateOfFinding(cyber.NewFindingPlan(one.Finding, marks[one.Asset.Partner]), c.Now())},
				ageCell(one.Finding.FoundAt, c.Now()),
			},
		}
		if f.valueOfName("group") == groupNone {
			row.Cells[2].Below = b.Title
			t.addRow(row)
			continue
		}
		t.addToGroup(b.Title, row, func() listGroup {
			g := listGroup{Title: b.Title}
			if b.Name != cyber.SandboxBreach && !c.confined {
				g.Path = joinPath("breaches", b.Name)
			}
			if !b.Date.IsZero() {
				g.Notes = append(g.Notes, "vazou em "+b.Date.UTC().Format("02/01/2006"))
			}
			if n, told := people[b.Name]; told {
				g.Notes = append(g.Notes, countWithWord(n, "pessoa", "pessoas"))
			}
			return g
		})
	}
	for i, g := range t.Groups {
		n := int64(len(g.Rows))
		if !t.IsGrouped || counted == nil {
			continue
		}
		all := cyber.CountFindings(counted, func(one cyber.FindingGroup) bool {
			return titleOfLeak(found, one.Breach) == g.Title
		})
		t.Groups[i].Share = groupedNumber(n) + " de " + groupedNumber(all) + " nesta página"
	}
	if c.confined {
		t.withoutPartner()
	}
	return t, nil
}

// titleOfLeak returns the title of a leak that has a finding on the page; empty of any other.
func titleOfLeak(found []cyber.Found, name string) string {
	for _, one := range found {
		if one.Finding.Breach.Name == name {
			return one.Finding.Breach.Title
		}
	}
	return ""
}

// mostCountedLeaks is for how many leaks of a page people are counted: each is a question of its own.
const mostCountedLeaks = 8

// affectedByLeak counts the people of each leak of a page, under the filter; none where they are not known exactly, or
// would take long to count.
func (c *Console) affectedByLeak(
	ctx context.Context, f filter, found []cyber.Found, counted []cyber.FindingGroup,
) (map[string]int64, error) {
	asked := f.findingFilter(0)
	people := map[string]int64{}
	if counted == nil || len(asked.Severities)+len(asked.Classes) > 0 || asked.Kind != "" {
		return people, nil
	}
	for _, one := range found {
		name := one.Finding.Breach.Name
		if _, done := people[name]; done || len(people) == mostCountedLeaks {
			continue
		}
		asked.Breach = name
		byPartner, err := c.Rules.Review.CountAffected(ctx, asked)
		if err != nil {
			return nil, err
		}
		people[name] = 0
		for _, n := range byPartner {
			people[name] += n
		}
	}
	return people, nil
}

// orDash returns a text, or what stands for none.
func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// stateOfFinding says where a finding stands: what was decided of it, or how far its plan is. Only a step that is late
// or due today has a colour.
func stateOfFinding(p cyber.Plan, now time.Time) badge {
	if !p.Finding.Open() {
		return badge{"good", resolutionName(p.Finding.Resolution)}
	}
	var next time.Time
	for _, s := range p.Steps {
		if s.State == cyber.StepTodo && (next.IsZero() || s.Due.Before(next)) {
			next = s.Due
		}
	}
	switch {
	case !next.IsZero() && next.Before(now):
		return badge{"bad", "Passo atrasado há " + formatDuration(now.Sub(next))}
	case !next.IsZero() && next.Before(nextMidnight(now)):
		return badge{"warn", "Passo vence hoje"}
	case p.Done() > 0:
		return badge{"", "Plano, " + strconv.Itoa(p.Done()) + " de " + strconv.Itoa(len(p.Steps))}
	}
	return badge{"", "Em aberto"}
}

// tableOfCases lays cases out as the desk does: three lines a case on a telephone.
func (c *Console) tableOfCases(list []ticket) listTable {
	t := newListTable("Casos", listColumn{"Caso", "num soft x"}, listColumn{"Pessoa", "word a"},
		listColumn{"Serviço", "c"}, listColumn{"Parceiro", "x"}, listColumn{"Situação", "word d"},
		listColumn{"Prazo", "word b"}, listColumn{"Última mensagem", "word f"}, listColumn{"Responsável", "e"})
	t.Layout = "desk-rows"
	for _, one := range list {
		person := listCell{Text: "sem nome", Tone: "soft"}
		if one.Name != "" {
			person = listCell{Text: one.Name, Avatar: &avatar{Initials: one.Mark}}
		}
		state := string(one.Status)
		if !one.Ending.At.IsZero() {
			state = "Passa a " + string(one.Ending.To)
		}
		due := listCell{Text: one.Deadline.Text, Tone: "soft"}
		if one.Deadline.Class != "" {
			due = listCell{Badge: badge{one.Deadline.Class, one.Deadline.Text}}
		}
		said := listCell{Text: one.LastWord, Tone: "soft"}
		if one.FromPerson {
			said.Tone = "waits"
		}
		owner := avatar{Initials: "–", Class: "none", Says: "ninguém"}
		if one.Assignee != "" {
			owner = avatar{Initials: monogramOf(one.Assignee), Class: "us", Says: one.Assignee}
		}
		t.addRow(listRow{
			Key:  string(one.ID),
			Name: "o caso " + strconv.FormatInt(one.Short, 10),
			Cells: []listCell{
				{Text: strconv.FormatInt(one.Short, 10)},
				person,
				{Text: one.ServiceName, Path: joinPath("cases", string(one.ID))},
				{Text: one.PartnerName},
				{Text: state},
				due,
				said,
				{Avatar: &owner},
			},
		})
	}
	if c.confined {
		t.withoutPartner()
	}
	return t
}

// tableOfPeople lays out people with findings.
func (c *Console) tableOfPeople(
	ctx context.Context, list []cyber.Affected, partners map[partner.ID]string,
) (listTable, error) {
	t := newListTable("Pessoas atingidas", listColumn{"Pessoa", "c"}, listColumn{"Parceiro", "a"},
		listColumn{"Ocorrências", "x num"}, listColumn{"Situação", "d"}, listColumn{"Última", "b num"})
	assets := make([]cyber.Asset, len(list))
	for i, p := range list {
		assets[i] = p.Asset
	}
	names, err := c.namesOfOwners(ctx, assets)
	if err != nil {
		return t, err
	}
	for _, p := range list {
		name := names[p.Asset.ID]
		if name == "" {
			name = "sem nome, " + kindWords[p.Asset.Kind] + " " + identifier.MaskValue(p.Asset.Kind, p.Asset.Value)
		}
		state := badge{"good", "Tudo resolvido"}
		if p.Open > 0 {
			state = badge{"", groupedNumber(p.Open) + " em aberto"}
		}
		t.addRow(listRow{Cells: []listCell{
			{Text: name, Path: c.personPath(p.Asset.Partner, p.Asset.User), Hidden: shortenID(string(p.Asset.User))},
			{Text: partners[p.Asset.Partner]},
			{Text: groupedNumber(p.Findings)},
			{Badge: state},
			ageCell(p.Newest, c.Now()),
		}})
	}
	if c.confined {
		t.withoutPartner()
	}
	return t, nil
}

// tableOfSubscriptions lays a partner's subscriptions out.
func tableOfSubscriptions(id partner.ID, list []subscription.Subscription, now time.Time) listTable {
	t := newListTable("Assinaturas", listColumn{"Nº", "m num"}, listColumn{"Pessoa", "c"}, listColumn{"CPF", "x"},
		listColumn{"Plano", "a"}, listColumn{"Fim", "x"}, listColumn{"Situação", "d"}, listColumn{"Início", "b num"})
	for _, s := range list {
		end := "–"
		if s.LastDay() != 0 {
			end = s.LastDay().Time().Format("02/01/2006")
		}
		state := subscriptionBadge(s, now)
		if state.Kind == "good" {
			state.Kind = "" // quiet: it is the usual one
		}
		seq := strconv.FormatInt(s.Seq, 10)
		t.addRow(listRow{
			Key:  string(id) + "/" + seq,
			Name: "a assinatura " + seq,
			Cells: []listCell{
				{Text: seq},
				{
					Text:   orDash(maskPersonName(s.Beneficiary.Name)),
					Path:   joinPath("subscriptions", string(id), seq),
					Hidden: "assinatura " + seq,
				},
				{Text: identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF), IsCode: true},
				{Text: string(s.Plan)},
				{Text: end},
				{Badge: state},
				{Text: s.Start.Time().Format("02/01/2006")},
			},
		})
	}
	return t
}

// tableOfDevices lays a partner's devices out.
func tableOfDevices(list []devicePage, now time.Time) listTable {
	t := newListTable("Dispositivos", listColumn{"Sistema", "c"}, listColumn{"Pessoa", "a"},
		listColumn{"Vale até", "x"}, listColumn{"Último contato", "x num"}, listColumn{"Situação", "d"},
		listColumn{"Emitida", "b num"})
	for _, d := range list {
		seen := listCell{Text: "nunca"}
		if !d.SeenAt.IsZero() {
			seen = ageCell(d.SeenAt, now)
		}
		t.addRow(listRow{
			Key:  string(d.Partner) + "/" + string(d.ID),
			Name: "a chave " + string(d.ID),
			Cells: []listCell{
				{
					Text:   orDash(systemNames[d.System]),
					Path:   joinPath("devices", string(d.ID)),
					Hidden: "chave " + shortenID(string(d.ID)),
				},
				{Text: shortenID(string(d.User)), IsCode: true},
				{Text: formatTime(d.ValidUntil, "02/01/2006")},
				seen,
				{Badge: d.Badge()},
				ageCell(d.IssuedAt, now),
			},
		})
	}
	return t
}

// tableOfBreaches lays leaks out; people are those that each has hit.
func tableOfBreaches(list []breachRow, people map[string]int64, now time.Time) listTable {
	t := newListTable("Vazamentos", listColumn{"Vazamento", "c"}, listColumn{"Tipo", "x"},
		listColumn{"Aconteceu", "x"}, listColumn{"Impressões", "x num"}, listColumn{"Pessoas", "a num"},
		listColumn{"Situação", "d"}, listColumn{"Incluído", "b num"})
	for _, b := range list {
		size := groupedNumber(b.Tally.Distinct)
		if b.Import != nil {
			size = b.Import.Text
		}
		state := badge{"", breachStates.optionLabel(string(b.State))}
		switch {
		case b.State == leak.Published && b.HasVendorWords:
			state = badge{"warn", "Texto a aprovar"}
		case b.State == leak.Published:
			state = badge{"good", "Publicado"}
		case b.State == leak.Importing:
			state = badge{"info", "Importando"}
		case b.State == leak.Retracted:
			state = badge{"", "Retirado"}
		}
		t.addRow(listRow{Cells: []listCell{
			{Text: b.Title, Path: joinPath("breaches", b.Name), Below: b.Name},
			{Text: kindsOfSource.optionLabel(string(b.Kind))},
			{Text: b.Date.UTC().Format("02/01/2006")},
			{Text: size},
			{Text: groupedNumber(people[b.Name])},
			{Badge: state},
			ageCell(b.AddedAt, now),
		}})
	}
	return t
}

// kindsOfSource has the words for where leaked data came from.
var kindsOfSource = listField{Options: kindOptions}

// tableOfDeliveries lays deliveries out.
func tableOfDeliveries(
	list []alert.Listed, addresses map[alert.EndpointID]string, partners map[partner.ID]string, now time.Time,
) listTable {
	t := newListTable("Entregas", listColumn{"Evento", "c"}, listColumn{"Destino", "x"}, listColumn{"Parceiro", "a"},
		listColumn{"Tentativas", "x num"}, listColumn{"Situação", "d"}, listColumn{"Quando", "b num"})
	states := map[alert.DeliveryState]badge{
		alert.Delivered:      {"good", "Entregue"},
		alert.DeliveryFailed: {"bad", "Falhou"},
		alert.Held:           {"warn", "Retida"},
		alert.Pending:        {"info", "Na fila"},
	}
	for _, d := range list {
		when := ageCell(d.FinishedAt, now)
		if d.FinishedAt.IsZero() {
			when = listCell{At: d.NextAt, Text: "em " + formatDuration(max(0, d.NextAt.Sub(now)))}
			if !d.NextAt.After(now) {
				when.Text = "agora"
			}
		}
		kind := string(d.Type)
		if kind == "" {
			kind = string(d.Event)
		}
		address := addresses[d.Endpoint]
		if address == "" {
			address = "apagado"
		}
		t.addRow(listRow{
			Key:  string(d.Partner) + "/" + string(d.Event) + "/" + string(d.Endpoint),
			Name: "a entrega de " + string(d.Event) + " a " + string(d.Endpoint),
			Cells: []listCell{
				{
					Text:   kind,
					Path:   joinPath("events", string(d.Partner), string(d.Event)),
					Hidden: shortenID(string(d.Event)) + " a " + address,
				},
				{Text: address, IsCode: true},
				{Text: partners[d.Partner]},
				{Text: strconv.Itoa(d.Attempts)},
				{Badge: states[d.State]},
				when,
			},
		})
	}
	return t
}

// tableOfEvents lays a partner's events out.
func tableOfEvents(id partner.ID, list []alert.Kept, now time.Time) listTable {
	t := newListTable("Eventos", listColumn{"Nº", "m num"}, listColumn{"Tipo", "c"}, listColumn{"Identificador", "x"},
		listColumn{"Quando", "d"}, listColumn{"Idade", "b num"})
	for _, e := range list {
		seq := strconv.FormatInt(e.Seq, 10)
		t.addRow(listRow{Cells: []listCell{
			{Text: seq},
			{Text: string(e.Type), Path: joinPath("events", string(id), string(e.ID)), Hidden: "evento " + seq},
			{Text: shortenID(string(e.ID)), IsCode: true},
			{At: e.At, Text: formatTime(e.At, "02/01/2006 15:04:05")},
			ageCell(e.At, now),
		}})
	}
	return t
}
