package subject

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the complete statement for another program.
func WriteJSON(w io.Writer, all []Held) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(statementOf(all))
}

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
