package subject

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// heldView is the complete statement for machines. Names of members are the partner contract's where it has them.
type heldView struct {
	Partner       partnerRef         `json:"partner"`
	Subscriptions []heldSubscription `json:"subscriptions"`
	Watched       []heldAsset        `json:"watched_values"`
	Findings      []heldFinding      `json:"findings"`
	Cases         []heldCase         `json:"cases"`
	Devices       []heldDevice       `json:"devices"`
	Answers       []heldAnswer       `json:"answers"`
	Scores        []heldScore        `json:"scores"`
	Events        []heldEvent        `json:"events"`
	Others        []string           `json:"also_watched_by"`
	StoredAnswers int                `json:"kept_answers_that_mention_the_person"`
}

// partnerRef names the partner that holds the data.
type partnerRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Officer answers for the partner's use of personal data.
	Officer string `json:"officer,omitempty"`
}

// heldSubscription is a subscription in a statement, with everything that the partner sent of the person.
type heldSubscription struct {
	Plan        string `json:"plan_id"`
	Start       string `json:"start_date"`
	Expiry      string `json:"expiry_date"`
	Name        string `json:"name"`
	CPF         string `json:"cpf"`
	BirthDate   string `json:"birth_date"`
	Gender      string `json:"gender"`
	Email       string `json:"email"`
	Phone       string `json:"phone_number"`
	PrimaryCard string `json:"primary_card"`
	UserCard    string `json:"user_card"`
	Address     string `json:"address"`
	Holder      string `json:"benefit_holder"`
	InternalID  string `json:"partner_internal_id"`
	Metadata    string `json:"metadata"`
	CreatedAt   string `json:"created_at"`
	SuspendedAt string `json:"suspended_at"`
	EndedAt     string `json:"ended_at"`
}

// heldAsset is a watched value in a statement, in clear, with the history of its status.
type heldAsset struct {
	ID      string   `json:"id"`
	Type    string   `json:"type"`
	Value   string   `json:"value"`
	User    string   `json:"user_hash"`
	Status  string   `json:"status"`
	AddedAt string   `json:"added_at"`
	History []string `json:"history"`
}

// heldFinding is a finding in a statement: the breach, what it exposed, and what the person did about it.
type heldFinding struct {
	ID         string     `json:"id"`
	Asset      string     `json:"asset_id"`
	Type       string     `json:"type"`
	Breach     string     `json:"breach"`
	Title      string     `json:"title"`
	Date       string     `json:"breach_date"`
	Exposes    []string   `json:"exposed"`
	Basis      string     `json:"basis"`
	Sites      []string   `json:"sites,omitempty"`
	TakenOn    string     `json:"taken_on,omitempty"`
	LeakedAs   []string   `json:"leaked_as,omitempty"`
	Severity   string     `json:"severity"`
	FoundAt    string     `json:"found_at"`
	Resolution string     `json:"resolution"`
	Steps      []heldStep `json:"steps"`
}

// heldStep is a step of a finding's plan that the person marked.
type heldStep struct {
	Step  string `json:"step"`
	What  string `json:"what"`
	State string `json:"state"`
	At    string `json:"marked_at"`
}

// heldCase is a request for help in a statement.
type heldCase struct {
	ID           string     `json:"id"`
	Service      string     `json:"service_id"`
	Status       string     `json:"status"`
	Appointments []string   `json:"appointments"`
	Answers      []string   `json:"answers"`
	OpenedAt     string     `json:"opened_at"`
	History      []heldMove `json:"history"`
}

// heldMove is an entry of a case's history.
type heldMove struct {
	Kind  string `json:"kind,omitempty"`
	From  string `json:"from"`
	To    string `json:"to"`
	Actor string `json:"actor"`
	Note  string `json:"note"`
	At    string `json:"at"`
}

// heldDevice is a protected device in a statement.
type heldDevice struct {
	ID         string `json:"id"`
	System     string `json:"operating_system"`
	Name       string `json:"name"`
	Key        string `json:"key"`
	IssuedAt   string `json:"issued_at"`
	ValidUntil string `json:"valid_until"`
	EndedAt    string `json:"ended_at"`
}

// heldAnswer is an answer to a question of the assessment.
type heldAnswer struct {
	Content string `json:"content_id"`
	Value   string `json:"value"`
	At      string `json:"answered_at"`
}

// heldScore is the person's score on a day.
type heldScore struct {
	Day        string  `json:"day"`
	Breach     float64 `json:"breach"`
	Assessment float64 `json:"assessment"`
}

// heldEvent is an event about the person and the deliveries of it to the partner's webhooks.
type heldEvent struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	At         string          `json:"at"`
	Body       json.RawMessage `json:"body"`
	Deliveries []string        `json:"deliveries"`
}

// statementOf returns what is held, partner by partner, in the form of the JSON statement. Lists are made and so never
// nil, which JSON would call null. Values are unmasked, as the person has a right to all of them.
func statementOf(all []Held) []heldView {
	views := make([]heldView, len(all))
	for i, h := range all {
		views[i] = viewHeld(h)
	}
	return views
}

// viewHeld returns what one partner holds as the statement shows it.
func viewHeld(h Held) heldView {
	view := heldView{
		Partner: partnerRef{
			ID:      string(h.Partner.ID),
			Name:    h.Partner.Name,
			Officer: h.Partner.Settings.Officer,
		},
		Subscriptions: make([]heldSubscription, len(h.Subscriptions)),
		Watched:       make([]heldAsset, len(h.Assets)),
		Findings:      make([]heldFinding, len(h.Findings)),
		Cases:         make([]heldCase, len(h.Cases)),
		Devices:       make([]heldDevice, len(h.Devices)),
		Answers:       make([]heldAnswer, len(h.Answers)),
		Scores:        make([]heldScore, len(h.Scores)),
		Events:        make([]heldEvent, len(h.Events)),
		Others:        make([]string, len(h.Others)),
		StoredAnswers: h.StoredAnswers,
	}
	for i, s := range h.Subscriptions {
		view.Subscriptions[i] = viewHeldSubscription(s)
	}
	for i, a := range h.Assets {
		view.Watched[i] = viewHeldAsset(a)
	}
	for i, f := range h.Findings {
		view.Findings[i] = viewHeldFinding(f, h.Steps)
	}
	for i, c := range h.Cases {
		view.Cases[i] = viewHeldCase(c)
	}
	for i, d := range h.Devices {
		view.Devices[i] = heldDevice{
			string(d.ID),
			string(d.System),
			d.Name,
			d.Key,
			formatTime(d.IssuedAt),
			formatTime(d.ValidUntil),
			formatTime(d.EndedAt),
		}
	}
	for i, a := range h.Answers {
		view.Answers[i] = heldAnswer{string(a.Content), a.Value, formatTime(a.At)}
	}
	for i, s := range h.Scores {
		day := s.Date().Format(time.DateOnly)
		view.Scores[i] = heldScore{day, float64(s.Breach) / 10, float64(s.Assessment) / 10}
	}
	for i, e := range h.Events {
		view.Events[i] = viewHeldEvent(e)
	}
	for i, user := range h.Others {
		view.Others[i] = string(user)
	}
	return view
}

// statusUnlooked is the status of a value that was not looked for in past breaches yet: it is neither found nor clean.
const statusUnlooked = "nao_verificado"

// viewHeldAsset returns a watched value with its changes of status.
func viewHeldAsset(a Watched) heldAsset {
	history := make([]string, len(a.History))
	for i, c := range a.History {
		history[i] = formatTime(c.At) + " " + string(c.Before) + " -> " + string(c.Then)
	}
	status := string(a.Status)
	if a.IsUnlooked() {
		status = statusUnlooked
	}
	return heldAsset{
		string(a.ID),
		a.Kind.String(),
		a.Value,
		string(a.User),
		status,
		formatTime(a.AddedAt),
		history,
	}
}

// viewHeldCase returns a case with its course.
func viewHeldCase(c Case) heldCase {
	moves := make([]heldMove, len(c.Moves))
	for i, m := range c.Moves {
		moves[i] = heldMove{string(m.Kind), string(m.From), string(m.To), m.Actor, m.Note, formatTime(m.At)}
	}
	return heldCase{
		string(c.ID),
		string(c.Service),
		string(c.Status),
		append([]string{}, c.Appointments...),
		append([]string{}, c.Answers...),
		formatTime(c.CreatedAt),
		moves,
	}
}

// viewHeldEvent returns an event with its deliveries.
func viewHeldEvent(e Event) heldEvent {
	deliveries := make([]string, len(e.Deliveries))
	for i, d := range e.Deliveries {
		deliveries[i] = strings.TrimSpace(d.Endpoint + " " + d.State + " " + formatTime(d.At))
	}
	return heldEvent{e.ID, e.Type, formatTime(e.At), e.Body, deliveries}
}

// viewHeldSubscription returns a subscription as the statement shows it.
func viewHeldSubscription(s subscription.Subscription) heldSubscription {
	b := s.Beneficiary
	return heldSubscription{
		Plan:        string(s.Plan),
		Start:       s.Start.String(),
		Expiry:      s.Expiry.String(),
		Name:        b.Name,
		CPF:         b.CPF,
		BirthDate:   b.BirthDate,
		Gender:      b.Gender,
		Email:       b.Email,
		Phone:       b.Phone,
		PrimaryCard: b.PrimaryCard,
		UserCard:    b.UserCard,
		Address:     addressLine(b.Address),
		Holder:      s.Holder,
		InternalID:  s.InternalID,
		Metadata:    s.Metadata,
		CreatedAt:   formatTime(s.CreatedAt),
		SuspendedAt: formatTime(s.SuspendedAt),
		EndedAt:     formatTime(s.EndedAt),
	}
}

// viewHeldFinding returns a finding with the steps that the person marked.
func viewHeldFinding(f cyber.Finding, marks []cyber.StepMark) heldFinding {
	plan := cyber.NewFindingPlan(f, marks)
	exposes := make([]string, len(f.Breach.Exposes))
	for i, class := range f.Breach.Exposes {
		exposes[i] = string(class)
	}
	steps := []heldStep{}
	for _, m := range marks {
		if m.Finding != f.ID {
			continue
		}
		held := heldStep{Step: string(m.Step), State: string(m.State), At: formatTime(m.At)}
		if s, ok := plan.Step(m.Step); ok {
			held.What = s.What(partner.Portuguese)
		}
		steps = append(steps, held)
	}
	return heldFinding{
		ID:         string(f.ID),
		Asset:      string(f.Asset),
		Type:       f.Kind.String(),
		Breach:     f.Breach.Name,
		Title:      f.Breach.Title,
		Date:       f.Breach.Date.Format(time.DateOnly),
		Exposes:    exposes,
		Basis:      string(f.Basis()),
		Sites:      f.Trace.Sites,
		TakenOn:    formatDay(f.Trace.TakenOn()),
		LeakedAs:   f.LeakedAs(),
		Severity:   string(f.Severity),
		FoundAt:    formatTime(f.FoundAt),
		Resolution: string(f.Resolution),
		Steps:      steps,
	}
}

// addressLine returns an address in one line, without the parts that are empty.
func addressLine(a subscription.Address) string {
	parts := []string{
		strings.TrimSpace(a.Street + " " + a.Number),
		a.Complement,
		a.Neighborhood,
		strings.Trim(a.City+"/"+a.State, "/"),
		a.Zipcode,
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// formatDay writes a day; nothing of the zero time.
func formatDay(t time.Time) string {
	day, _, _ := strings.Cut(formatTime(t), "T")
	return day
}

// WriteJSON writes the complete statement for another program.
func WriteJSON(w io.Writer, all []Held) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(statementOf(all))
}

// WriteText writes the statement in plain words, for the person.
func WriteText(w io.Writer, all []Held) error {
	b := bufio.NewWriter(w)
	writeHeld(b, all)
	return b.Flush()
}

// writeHeld writes the statement as a text in Portuguese for the person to read. Empty fields are left out.
func writeHeld(w io.Writer, all []Held) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	sayTitle := func(lines int, title string) {
		if lines > 0 {
			say("\n%s\n", title)
		}
	}
	say("DADOS PESSOAIS TRATADOS PELO SERVIÇO VIGIA\n(Lei 13.709/2018, art. 18, II e art. 19)\n")
	for _, v := range statementOf(all) {
		say("\n== Parceiro: %s ==\n", v.Partner.Name)
		for _, s := range v.Subscriptions {
			say("\nAssinatura do plano %s, de %s%s\n", s.Plan, s.Start, withSince(" até ", s.Expiry))
			for _, line := range [][2]string{
				{"Nome", s.Name},
				{"CPF", s.CPF},
				{"Nascimento", s.BirthDate},
				{"Gênero", s.Gender},
				{"E-mail", s.Email},
				{"Telefone", s.Phone},
				{"Endereço", s.Address},
				{"Cartão principal", s.PrimaryCard},
				{"Cartão do usuário", s.UserCard},
				{"Empresa (CNPJ)", s.Holder},
				{"Referência do parceiro", s.InternalID},
				{"Outros dados do parceiro", s.Metadata},
				{"Cadastrada em", s.CreatedAt},
				{"Suspensa em", s.SuspendedAt},
				{"Encerrada em", s.EndedAt},
			} {
				if line[1] != "" {
					say("  %-26s %s\n", line[0], line[1])
				}
			}
		}
		// What leaked of the person is told from what a breach exposed in general.
		sayTitle(len(v.Watched), "Dados monitorados em vazamentos")
		for _, a := range v.Watched {
			status := a.Status
			if status == statusUnlooked {
				status = statusWords[status]
			}
			say("  %s: %s (%s), desde %s\n", a.Type, a.Value, status, a.AddedAt)
		}
		sayTitle(len(v.Findings), "Vazamentos encontrados")
		for _, f := range v.Findings {
			exposed := "seus dados que estavam ali: "
			if f.Basis == string(cyber.BasisBreach) {
				exposed = "o vazamento expôs: "
			}
			say(
				"  %s em %s (%s); %s%s%s; gravidade %s; encontrado em %s%s\n",
				f.Type,
				f.Title,
				f.Date,
				exposed,
				strings.Join(f.Exposes, ", "),
				withSince(
					"; acessos levados: ",
					strings.Join(f.Sites, ", "),
				)+withSince(
					" até ",
					f.TakenOn,
				),
				f.Severity,
				f.FoundAt,
				withSince("; resolvido: ", f.Resolution),
			)
			for _, st := range f.Steps {
				say("    %s em %s: %s\n", stepWords[st.State], st.At, cmp.Or(st.What, st.Step))
			}
		}
		for _, a := range v.Answers {
			say("\nResposta à pergunta %s: %s, em %s\n", a.Content, a.Value, a.At)
		}
		sayTitle(len(v.Scores), "Pontuação de risco (vazamentos, avaliação), nos dias em que mudou")
		for _, s := range v.Scores {
			say("  %s: %.1f, %.1f\n", s.Day, s.Breach, s.Assessment)
		}
		for _, c := range v.Cases {
			say("\nAtendimento %s (%s): %s, aberto em %s\n", c.ID, c.Service, c.Status, c.OpenedAt)
			for _, text := range append(c.Appointments, c.Answers...) {
				say("  informado: %s\n", text)
			}
			for _, m := range c.History {
				say("  %s: %s%s\n", m.At, m.To, withSince(" - ", m.Note))
			}
		}
		sayTitle(len(v.Devices), "Dispositivos protegidos")
		for _, d := range v.Devices {
			say(
				"  %s (%s), chave %s, de %s até %s%s\n",
				d.Name,
				d.System,
				d.Key,
				d.IssuedAt,
				d.ValidUntil,
				withSince(", encerrada em ", d.EndedAt),
			)
		}
		sayTitle(len(v.Events), "Avisos enviados ao parceiro")
		for _, e := range v.Events {
			say("  %s: %s, %d destinos\n", e.At, e.Type, len(e.Deliveries))
		}
		if v.StoredAnswers > 0 {
			say(
				"\nRespostas a pedidos do parceiro guardadas por até 24 horas que citam a pessoa: %d\n",
				v.StoredAnswers,
			)
		}
		if len(v.Others) > 0 {
			say("\nO CPF também é monitorado em nome de outra pessoa deste parceiro (%d).\n", len(v.Others))
		}
	}
	say("\nA pessoa também pode pedir o registro de quem consultou estes dados.\n")
}

// withSince writes a word with the time since which it holds.
func withSince(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

// stepWords are what the letter calls the states of a step.
var stepWords = map[string]string{string(cyber.StepDone): "feito", string(cyber.StepSkipped): "dispensado"}

// formatTime returns how times are written; the zero time is empty.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
