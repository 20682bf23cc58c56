package api

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

// bulkWire is what became of a bulk request.
type bulkWire struct {
	Result          string           `json:"result"`
	TotalCreated    int              `json:"total_created_items"`
	TotalNotCreated int              `json:"total_not_created_items"`
	NotCreatedItems []notCreatedWire `json:"not_created_items"`
}

// notCreatedWire is a refused item of a bulk, as the contract writes it.
type notCreatedWire struct {
	CPF           string   `json:"cpf"`
	BenefitHolder string   `json:"benefit_holder,omitempty"`
	PlanID        string   `json:"plan_id"`
	Errors        []string `json:"errors"`
}

// createSubscriptions creates the subscriptions of a list that is read as a stream, or only checks them with dry_run.
func (s *Server) createSubscriptions(r *request) (any, error) {
	dryRun, err := r.flagInQuery("dry_run")
	if err != nil {
		return nil, err
	}
	length := r.http.ContentLength
	if _, packed := r.in.from.(*unpacking); packed {
		length = -1 // the unpacked length is unknown
	}
	if wait := s.limits.waitForBulk(r.caller, s.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return nil, errRateLimited.With("body", fault.ItemsOrBytes)
	}
	if isHeavyBody(length) {
		if err := r.takeHeavySlot(); err != nil {
			return nil, err
		}
	}
	r.allowTime(s.DatabaseTime)
	enrolment, err := r.rules.Subscriptions.BeginEnrolment(r.ctx, r.caller.Partner, r.caller.Mode, r.caller.Epoch)
	if err != nil {
		return nil, err
	}
	work := s.admission.beginBulk()
	defer work.end()
	work.takeProcessor()
	err = readItems(&r.in, work, enrolment.AddItemToBatch)
	work.leaveProcessor()
	s.limits.chargeBulk(r.caller, work.items, work.bytes, s.Now())
	if err != nil {
		return nil, err
	}
	r.allowTime(r.workTime())
	if !dryRun { // it numbers subscriptions, one request after the other
		r.claim.Queue, r.claim.IsBulk = "subscriptions", work.items > fewItems
		if err := enrolment.MakePeopleKnown(r.ctx); err != nil {
			return nil, err
		}
	}
	kept, err := r.runIdempotently(func(in *Rules) (any, error) {
		outcome, err := in.Subscriptions.KeepEnrolment(r.ctx, enrolment, dryRun)
		if err != nil {
			return nil, err
		}
		return packOutcome(outcome)
	})
	if err != nil || kept.Status != http.StatusOK {
		return kept, err
	}
	work.takeProcessor()
	return contractAnswer(kept, enrolment)
}

// flagInQuery reads true or false from the query; absent is false.
func (r *request) flagInQuery(name string) (bool, error) {
	values, given := r.query[name]
	if !given {
		return false, nil
	}
	if len(values) == 1 && (values[0] == "true" || values[0] == "false") {
		return values[0] == "true", nil
	}
	return false, errQueryInvalid.With(name, fault.TrueOrFalse)
}

const (
	// itemsInTurn is how many items a bulk checks before others get its turn.
	itemsInTurn = 64
	// fewItems are written like a single one, in a transaction that others may share.
	fewItems = 10
)

// readItems reads an array of items and calls add for each. Only one item is held in memory. A member of the wrong type
// is an item's own affair; JSON that is broken anywhere is returned, and then nothing that add was given may be kept.
func readItems(
	body io.Reader,
	work *bulkWork,
	add func(item int, d *subscription.Draft),
) error {
	in := &pieces{body: body, work: work}
	d := jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	in.decoder = d
	// Read the token first, so that broken JSON is reported as such and not as a value of the wrong type.
	if kind := d.PeekKind(); kind != '[' {
		if _, err := d.ReadToken(); err != nil {
			return streamFault(err)
		}
		return errBodyInvalid.With("body", fault.ExpectedJSONArray)
	}
	if _, err := d.ReadToken(); err != nil {
		return streamFault(err)
	}
	reader, item, bytesRead := subscription.NewItemReader(), 0, 0
	var itemDraft subscription.Draft
	for ; d.PeekKind() != ']'; item++ {
		raw, err := d.ReadValue()
		switch {
		case in.refused != nil: // the decoder says that the text ended too soon
			return in.refused
		case err != nil:
			return streamFault(err)
		case len(raw) > maxItemBody:
			return errItemTooLarge
		}
		if item == subscription.MaxItems {
			return errBodyTooLarge.With("body", fault.ItemsAtMost, subscription.MaxItems)
		}
		if err := checkDepth(raw, 1); err != nil {
			return err
		}
		if err := reader.Read(raw, &itemDraft); err != nil {
			return itemFault(item, err)
		}
		add(item, &itemDraft)
		bytesRead += len(raw)
		// Reserve memory and yield the processor once per itemsInTurn: doing so for each item would cost more than the
		// item.
		if item%itemsInTurn == itemsInTurn-1 {
			if err := work.growRoom(itemsInTurn, bytesRead); err != nil {
				return err
			}
			bytesRead = 0
			work.leaveProcessor()
			work.takeProcessor()
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return streamFault(err)
	}
	if err := endOfBody(d); err != nil {
		return err
	}
	return work.growRoom(item%itemsInTurn, bytesRead)
}

// itemFault names the item whose JSON is broken and the rule, and nothing of its text.
func itemFault(item int, err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errBodyInvalid.With(fmt.Sprintf("body: item %d", item), fault.DuplicateName)
	}
	return errBodyInvalid.With(fmt.Sprintf("body: item %d", item), fault.NotValidJSON)
}

// pieces hands a body on while the decoder keeps up with it. The decoder holds what it has not yet understood, and that
// would be the whole body when it is one long text, or white space and nothing else. Such a text is refused; of white
// space the rest is left out.
type pieces struct {
	body    io.Reader
	decoder *jsontext.Decoder
	work    *bulkWork // whose processor is given up while the body is awaited
	// at is where what the decoder holds begins, and white how much of it is known to be white space: a megabyte is not
	// looked at again for every piece that follows.
	at    int64
	white int
	// refused is why a text was refused.
	refused error
}

// maxItemBody is far above what the fields of an item can take.
const maxItemBody = 1 << 20

// errItemTooLarge refuses a body with a larger item.
var errItemTooLarge = errBodyTooLarge.With("body", fault.ItemBytes, maxItemBody)

func (p *pieces) Read(into []byte) (int, error) {
	const white = " \t\r\n"
	for {
		p.work.leaveProcessor()
		n, err := p.body.Read(into)
		p.work.takeProcessor()
		if at := p.decoder.InputOffset(); at != p.at {
			p.at, p.white = at, 0
		}
		if held := p.decoder.UnreadBuffer(); len(held) > maxItemBody {
			if len(bytes.TrimLeft(held[p.white:], white)) > 0 {
				p.refused = errItemTooLarge
				return 0, p.refused
			}
			p.white = len(held)
			if n = copy(into, bytes.TrimLeft(into[:n], white)); n == 0 && err == nil {
				continue
			}
		}
		return n, err //nolint:wrapcheck // a reader's errors are its caller's
	}
}

// endOfBody makes sure that nothing but white space follows; it also takes the rest of the body past the digest.
func endOfBody(d *jsontext.Decoder) error {
	_, err := d.ReadToken()
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil, errors.As(err, &syntactic):
		return errBodyInvalid.With("body", fault.OneJSONValue)
	}
	return streamFault(err)
}

// streamFault tells JSON that is broken from a body that did not arrive.
func streamFault(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic):
		return jsonFault(err)
	case errors.Is(err, errBodyTooLarge):
		return err
	case errors.Is(err, io.EOF):
		return errBodyInvalid.With("body", fault.Empty)
	}
	return bodyFault(err)
}

// All problems of an item are named, until an answer has answerErrors of them: each further item names laterErrors.
// Ten thousand items in which everything is wrong would make an answer of 15 MB otherwise.
const (
	answerErrors = 20_000
	laterErrors  = 3
)

// keptOutcome is a bulk answer as it is kept under an idempotency key: the outcome of each item without the item
// itself. A client that repeats the request sends the items again, so the kept answer needs no personal data, is small,
// and is written quickly inside the transaction.
type keptOutcome struct {
	Created int                    `json:"created"`
	Watched string                 `json:"watched,omitempty"`
	Waiting int                    `json:"waiting,omitzero"`
	Rules   []subscription.Problem `json:"rules,omitempty"`
	Failed  []keptRun              `json:"failed,omitempty"`
}

// keptRun are items one behind the other that failed alike.
type keptRun struct {
	First int   `json:"f"`
	Count int   `json:"n"`
	Rules []int `json:"r"`
	More  int   `json:"m,omitzero"`
}

func packOutcome(o subscription.Outcome) (partner.Answer, error) {
	kept := keptOutcome{Created: o.Created, Watched: o.Watched.String(), Waiting: o.Waiting}
	numbers, named := map[subscription.Problem]int{}, 0
	for _, f := range o.Failures {
		listed := f.Problems
		if named >= answerErrors {
			listed = listed[:min(len(listed), laterErrors)]
		}
		named += len(listed)
		run := keptRun{First: f.Item, Count: 1, Rules: make([]int, len(listed)), More: len(f.Problems) - len(listed)}
		for i, p := range listed {
			n, known := numbers[p]
			if !known {
				n = len(kept.Rules)
				numbers[p], kept.Rules = n, append(kept.Rules, p)
			}
			run.Rules[i] = n
		}
		if n := len(kept.Failed); n > 0 {
			last := &kept.Failed[n-1]
			if last.First+last.Count == run.First && last.More == run.More && slices.Equal(last.Rules, run.Rules) {
				last.Count++
				continue
			}
		}
		kept.Failed = append(kept.Failed, run)
	}
	return encodeAnswer(kept)
}

// contractAnswer makes the contract's answer of what was kept and of the request's items.
func contractAnswer(kept partner.Answer, e *subscription.Enrolment) (partner.Answer, error) {
	var o keptOutcome
	if err := json.Unmarshal(kept.Body, &o); err != nil {
		return partner.Answer{}, fmt.Errorf("read outcome: %w", err)
	}
	wire := bulkWire{Result: "success", TotalCreated: o.Created, NotCreatedItems: []notCreatedWire{}}
	var items []int
	for _, run := range o.Failed {
		errs := make([]string, len(run.Rules), len(run.Rules)+1)
		for i, n := range run.Rules {
			errs[i] = ItemError(o.Rules[n])
		}
		if run.More > 0 {
			errs = append(errs, moreErrors(run.More))
		}
		for item := run.First; item < run.First+run.Count; item++ {
			failed := notCreatedWire{Errors: errs}
			failed.CPF, failed.BenefitHolder, failed.PlanID = e.SentMembers(item)
			wire.NotCreatedItems, items = append(wire.NotCreatedItems, failed), append(items, item)
		}
	}
	if wire.TotalNotCreated = len(items); wire.TotalNotCreated > 0 {
		wire.Result = "failure"
		if o.Created > 0 {
			wire.Result = "partial_success"
		}
	}
	answer, err := encodeAnswer(wire)
	if err != nil {
		return answer, err
	}
	answer.Headers = map[string]string{}
	if len(items) > 0 {
		answer.Headers[notCreatedHeader] = notCreatedIndex(items)
	}
	if o.Watched != "" {
		answer.Headers[watchedHeader] = o.Watched
	}
	if o.Waiting > 0 {
		answer.Headers[waitingHeader] = strconv.Itoa(o.Waiting)
	}
	return answer, nil
}

// moreErrors says that an item has more problems than the answer names.
func moreErrors(n int) string {
	if n == 1 {
		return string(subscription.FieldItem) + ": e mais 1 erro"
	}
	return fmt.Sprintf("%s: e mais %d erros", subscription.FieldItem, n)
}

// notCreatedHeader says which items of a bulk request failed, by their places from 0: the contract's body cannot.
const notCreatedHeader = "x-not-created-index"

// watchedHeader says how many values of the created items their plans watch, or would with dry_run, by kind.
const watchedHeader = "x-watched-values"

// maxNotCreated bounds the header's value. Proxies give all headers of an answer 4 to 16 KiB before they refuse it.
const maxNotCreated = 4096

// notCreatedIndex writes the places of failures in the first of three forms that is short enough: every place
// (3,17,18,19), runs of places (3,17-19), or a bit for each item from the first on, the highest bit of a byte first,
// between colons in base64. The last one always is: ten thousand items take 1,670 characters.
func notCreatedIndex(failures []int) string {
	for _, runs := range []bool{false, true} {
		if list := encodePlaces(failures, runs); len(list) <= maxNotCreated {
			return string(list)
		}
	}
	bits := make([]byte, failures[len(failures)-1]/8+1)
	for _, f := range failures {
		bits[f/8] |= 0x80 >> (f % 8)
	}
	return ":" + base64.StdEncoding.EncodeToString(bits) + ":"
}

// encodePlaces lists places in decimal, and stops when the list has become too long. Failures are in the order of the
// request.
func encodePlaces(failures []int, runs bool) []byte {
	var list []byte
	for i := 0; i < len(failures) && len(list) <= maxNotCreated; i++ {
		first := failures[i]
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, int64(first), 10)
		last := first
		for runs && i+1 < len(failures) && failures[i+1] == last+1 {
			i++
			last++
		}
		if last > first {
			list = strconv.AppendInt(append(list, '-'), int64(last), 10)
		}
	}
	return list
}

// itemRules says in Portuguese what an item of a bulk request broke. Together with messages.go it holds every sentence
// that a partner can read.
var itemRules = map[subscription.Rule]string{
	subscription.RuleNotObject:      "deve ser um objeto JSON",
	subscription.RuleUnreadable:     "JSON inválido",
	subscription.RuleRepeatedMember: "membro repetido",
	subscription.RuleRequired:       "obrigatório",
	subscription.RuleNotText:        "deve ser um texto",
	subscription.RuleNotFlag:        "deve ser true ou false",
	subscription.RuleNotNested:      "deve ser um objeto",
	subscription.RuleLength255:      "deve ter de 1 a 255 caracteres",
	subscription.RuleLength32:       "deve ter de 1 a 32 caracteres",
	subscription.RuleLength8K:       "deve ter no máximo 8 KiB",
	subscription.RuleDate:           "data inválida, use AAAA-MM-DD",
	subscription.RuleFuture:         "não pode estar no futuro",
	subscription.RuleBeforeStart:    "não pode ser anterior a start_date",
	subscription.RuleWholeNumber:    "deve ser um número inteiro",
	subscription.RuleGroupMinimum:   "mínimo de 50",
	subscription.RuleGender:         "deve ser M ou F",
	subscription.RuleJSON:           "deve conter JSON válido",
	subscription.RulePrintable:      "contém caractere não permitido",
	subscription.RuleDots:           "não pode ser . nem ..",
	subscription.RulePlanUnknown:    "plano não cadastrado",
	subscription.RulePlanRetired:    "plano encerrado para novas assinaturas",
	subscription.RuleExists:         "assinatura já existe",
	subscription.RuleUnknown:        "nenhuma assinatura em vigor",
	subscription.RuleOver:           "não pode estar no passado",
	subscription.RuleFixed:          "não pode mudar: encerre a assinatura e cadastre de novo",
	subscription.RuleNothing:        "não diz o que mudar",
	"identifier.empty":              "obrigatório",
	"identifier.length":             "tamanho inválido",
	"identifier.character":          "contém caractere não permitido",
	"identifier.check_digits":       "dígitos verificadores inválidos",
	"identifier.repeated":           "não pode ser um único caractere repetido",
	"identifier.area_code":          "DDD desconhecido",
	"identifier.country_code":       "código do país ausente ou desconhecido",
	"identifier.number":             "número inexistente",
	"identifier.address":            "e-mail inválido",
	"identifier.domain":             "domínio inválido",
	"identifier.state":              "UF desconhecida",
}

// fieldRules are sentences that one field says better than the rule alone.
var fieldRules = map[subscription.Problem]string{
	{Field: subscription.FieldCPF, Rule: "identifier.length"}:        "deve ter 11 dígitos",
	{Field: subscription.FieldCPF, Rule: "identifier.character"}:     "deve conter somente dígitos",
	{Field: subscription.FieldHolder, Rule: "identifier.length"}:     "CNPJ deve ter 14 caracteres",
	{Field: subscription.FieldZipcode, Rule: "identifier.length"}:    "deve ter 8 dígitos",
	{Field: subscription.FieldZipcode, Rule: "identifier.character"}: "deve conter somente dígitos",
}

// ItemError returns the problem of an item as partners read it: `field: regra`.
func ItemError(p subscription.Problem) string {
	text, ok := fieldRules[p]
	if !ok {
		if text, ok = itemRules[p.Rule]; !ok {
			text = "valor inválido"
		}
	}
	return string(p.Field) + ": " + text
}
