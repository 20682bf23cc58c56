package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

const (
	// itemsInTurn is how many items a bulk checks before others get its turn.
	itemsInTurn = 64
	// fewItems are written like a single one, in a transaction that others may share.
	fewItems = 10
)

// readItems reads an array of items and calls add for each. Only one item is held in memory. A member of the wrong type
// is an item's own affair; JSON that is broken anywhere is returned, and then nothing that add was given may be kept.
func readItems(body io.Reader, work *bulkWork, add func(item int, d *subscription.Draft)) error {
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
		return n, err // a reader's errors are its caller's
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
