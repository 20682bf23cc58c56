package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// PersonReference returns the audit trail's name for a person.
func (s Subjects) PersonReference(p subject.Person) string {
	if p.CPF != "" {
		return "ps_" + hex.EncodeToString(s.keys.BlindIndex("audit.person", "", []byte(p.CPF)))
	}
	return userReference(s.blindUserIndex(p.Partner, p.User))
}

// erasedReference returns the name of a person in the erasures of one partner.
func (s Subjects) erasedReference(id partner.ID, p subject.Person) string {
	if p.CPF != "" {
		return "ps_" + hex.EncodeToString(s.keys.BlindIndex("erasure.person", string(id), []byte(p.CPF)))
	}
	return userReference(s.blindUserIndex(p.Partner, p.User))
}

// userReference returns the trail's name for a user of a partner.
func userReference(index []byte) string { return "us_" + hex.EncodeToString(index) }

// FindUserByReference returns the user hash of a person by reference, as the partner spelt it last, or as the service
// would: see subject.Store.
func (s Subjects) FindUserByReference(ctx context.Context, id partner.ID, ref string) (partner.UserHash, error) {
	index, err := hex.DecodeString(strings.TrimPrefix(ref, userReference(nil)))
	if err != nil || len(index) == 0 || !strings.HasPrefix(ref, userReference(nil)) {
		return "", subject.ErrNobody
	}
	q := s.readQuerier()
	known, err := s.findPersons(ctx, q, id, [][]byte{index})
	if err != nil {
		return "", err
	}
	p := known[string(index)]
	if p.name != "" {
		return p.name, nil
	}
	if p.d512 == "" {
		return "", subject.ErrNobody
	}
	cpf, err := readRow(
		ctx,
		q,
		scanValue[[]byte],
		subject.ErrNobody,
		`SELECT cpf FROM person WHERE partner_id = $1 AND user_512 = $2`,
		id,
		[]byte(p.d512),
	)
	if err != nil {
		return "", err
	}
	held, err := Subscriptions(s).readByCPF(ctx, q, id, cpf, ` DESC LIMIT 1`)
	if err != nil || len(held) == 0 {
		return "", cmp.Or(err, error(subject.ErrNobody))
	}
	salt, err := Partners(s).OpenSalt(ctx, id)
	return partner.LongUserHash(held[0].Beneficiary.CPF, salt), err
}

// AccessesOf returns the lines of the audit trail about a person. Lines name rows by ids; those of erased rows are kept
// with the erasure, so that it can still be told who saw what is gone.
func (s Subjects) AccessesOf(ctx context.Context, held []subject.Held, p subject.Person) ([]subject.Access, error) {
	names := []string{s.PersonReference(p)}
	for _, h := range held {
		x, err := s.computeIndexes(ctx, s.readQuerier(), h.Partner.ID, p)
		if err != nil {
			return nil, err
		}
		erased, err := s.erasedIDs(ctx, h.Partner.ID, p, x.user512)
		if err != nil {
			return nil, err
		}
		names = append(
			append(append(names, userReference(x.user256), userReference(x.user512)), namesOfHeld(h)...),
			erased...,
		)
	}
	var args []any
	accesses, err := collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, a *subject.Access) error { return Audit(s).scanEntry(row, &a.Entry) },
		`SELECT `+auditColumns+` FROM audit WHERE subject `+inList(s.db.EngineName(), &args, uniqueValues(names)),
		args...,
	)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(accesses, func(a, b subject.Access) int { return cmp.Compare(b.Seq, a.Seq) })
	return accesses, nil
}
