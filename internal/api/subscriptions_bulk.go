package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/fault"
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
	pass, err := s.works.enterBulk(r.caller.Partner, length)
	if err != nil {
		return nil, err
	}
	defer pass.leaveBulk()
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
	turn := s.works.newProcessorTurn()
	turn.beginProcessorTurn()
	defer turn.endProcessorTurn()
	err = readItems(&r.in, turn, pass.growRoom, enrolment.AddItemToBatch)
	turn.endProcessorTurn()
	s.limits.chargeBulk(r.caller, pass.items, pass.bytes, s.Now())
	if err != nil {
		return nil, err
	}
	r.allowTime(r.workTime())
	if !dryRun { // it numbers subscriptions, one request after the other
		r.claim.Queue, r.claim.IsBulk = "subscriptions", pass.places > 0
		if pass.places > 0 {
			endLoad, err := pass.beginLoad(r.ctx)
			if err != nil {
				return nil, err
			}
			defer endLoad()
		}
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
	turn.beginProcessorTurn()
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

// itemsInTurn is how many items a bulk checks before others get its turn.
const itemsInTurn = 64

// readItems reads an array of items and calls add for each. Only one item is held in memory. A member of the wrong type
// is an item's own affair; JSON that is broken anywhere is returned, and then nothing that add was given may be kept.
func readItems(body io.Reader, turn *processorTurn, grow func(items, bytes int) error, add func(item int, d *subscription.Draft)) error {
	in := &pieces{body: body, turn: turn}
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
		if err != nil {
			return streamFault(err)
		}
		if item == subscription.MaxItems {
			return errBodyTooLarge.With("body", fault.ItemsAtMost, subscription.MaxItems)
		}
		if err := checkItemDepth(raw); err != nil {
			return err
		}
		if err := reader.Read(raw, &itemDraft); err != nil {
			return itemFault(item, err)
		}
		add(item, &itemDraft)
		bytesRead += len(raw)
		// Reserve memory and yield the processor once per itemsInTurn: doing so for each item would cost more than the item.
		if item%itemsInTurn == itemsInTurn-1 {
			if err := grow(itemsInTurn, bytesRead); err != nil {
				return err
			}
			bytesRead = 0
			turn.yieldProcessor()
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return streamFault(err)
	}
	if err := endOfBody(d); err != nil {
		return err
	}
	return grow(item%itemsInTurn, bytesRead)
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
	turn    *processorTurn // given up while the body is awaited
	// at is where what the decoder holds begins, and white how much of it is known to be white space: a megabyte is not
	// looked at again for every piece that follows.
	at    int64
	white int
}

// maxItemBody is far above what the fields of an item can take.
const maxItemBody = 1 << 20

func (p *pieces) Read(into []byte) (int, error) {
	const white = " \t\r\n"
	for {
		p.turn.endProcessorTurn()
		n, err := p.body.Read(into)
		p.turn.beginProcessorTurn()
		if at := p.decoder.InputOffset(); at != p.at {
			p.at, p.white = at, 0
		}
		if held := p.decoder.UnreadBuffer(); len(held) > maxItemBody {
			if len(bytes.TrimLeft(held[p.white:], white)) > 0 {
				return 0, errBodyTooLarge.With("body", fault.ItemBytes, maxItemBody)
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

// checkItemDepth bounds the nesting; the array around the item is one level.
func checkItemDepth(item jsontext.Value) error {
	if bytes.Count(item, []byte{'{'})+bytes.Count(item, []byte{'['}) < maxDepth {
		return nil
	}
	depth, quoted := 1, false
	for i := 0; i < len(item); i++ {
		switch c := item[i]; {
		case c == '\\':
			i++ // only inside a string
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > maxDepth {
				return errBodyInvalid.With("body", fault.NestedDeeper, maxDepth)
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return nil
}
