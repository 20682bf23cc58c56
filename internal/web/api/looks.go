package api

import (
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
)

// The headers tell how many values that an answer shows, counts or adds wait for their first look into past breaches,
// and those of a list also when the last of them will have had it.
const (
	waitingHeader = "x-first-looks-waiting"
	untilHeader   = "x-first-looks-until"
)

// tellLooks sets the headers that say on how many looks an answer rests.
func (r *request) tellLooks(looks cyber.PersonLooks) error {
	if looks.Waiting == 0 {
		return nil
	}
	status, err := r.rules.FirstLooks.LookStatusSince(r.ctx, r.caller.Partner, r.caller.Settings, looks.Newest)
	if err != nil {
		return err
	}
	r.reply.Set(waitingHeader, strconv.Itoa(looks.Waiting))
	if !status.Until.IsZero() { // the last of them may have got its token meanwhile
		r.reply.Set(untilHeader, status.Until.UTC().Format(alert.TimeFormat))
	}
	return nil
}

// tellLooksOfUser sets the headers for all values of the person whom the request names.
func (r *request) tellLooksOfUser() error {
	looks, err := r.rules.FirstLooks.CountLooksOf(r.ctx, r.caller.Partner, r.user)
	if err != nil {
		return err
	}
	return r.tellLooks(looks)
}
