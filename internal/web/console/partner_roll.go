package console

import (
	"context"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// rollPage is the data of the page that asks before a key is replaced.
type rollPage struct {
	Partner partner.Partner
	Key     keyRow
}

// confirmRoll asks for confirmation before a key is replaced, because the partner has to install the new one.
func confirmRoll(c *Console, r *request) (answer, error) {
	id := partnerOf(r)
	p, err := c.Rules.Partners.PartnerByID(r.Context(), id)
	if err != nil {
		return nil, err
	}
	keys, err := c.Rules.Partners.ListKeys(r.Context(), id)
	if err != nil {
		return nil, err
	}
	for _, k := range c.newKeyRows(keys, nil) {
		if string(k.ID) == r.PathValue("key") {
			return view{"key-roll", "Trocar chave", rollPage{p, k}}, nil
		}
	}
	return nil, partner.ErrKeyNotFound
}

// replaceKey replaces a key and shows the new one once.
func replaceKey(c *Console, r *request) (answer, error) {
	id, key := partnerOf(r), partner.KeyID(r.PathValue("key"))
	hours, ok := parseWhole(r.trimmedField("hours"))
	if !ok {
		return nil, partner.ErrInvalid.With("hours", fault.ZeroTo, 168)
	}
	var text string
	err := c.changeWithAudit(r, "key.roll", func(ctx context.Context, in *Rules) (string, string, error) {
		k, made, err := in.Partners.RollKey(ctx, id, key, time.Duration(hours)*time.Hour)
		text = made
		return string(key), string(k.ID) + " " + k.AuditDetail(), err
	})
	if err != nil {
		return nil, err
	}
	said := "A chave antiga vale por mais " + strconv.Itoa(hours) + " h. A nova aparece só agora."
	return showKeyNext(r, "Chave trocada", said, text, id)
}

// revokeKey ends a key at once, with the keys that were made by it; the trail names all of them.
func revokeKey(c *Console, r *request) (answer, error) {
	id, key := partnerOf(r), partner.KeyID(r.PathValue("key"))
	next := redirect{partnerPath(id), "key.revoked"}
	return c.changeAndRedirect(r, "key.revoke", next, func(ctx context.Context, in *Rules) (string, string, error) {
		ended, err := in.Partners.RevokeKey(ctx, id, key)
		return string(key), partner.JoinKeyIDs(ended), err
	})
}
