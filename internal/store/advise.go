package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ cyber.PersonStore = Advice{}

// postureQuery reads what advice is made from in one round trip: rows of watched values with the names of their open
// breaches, and, without an id, rows of devices, answers and cases: part tells which. Those stand under the digest as
// sent or under the person's other digest, which is NULL until it is known whose the hash is. A live key counts as a
// protected device unless devices report to the vendor of the partner's keys: then one that did not is not installed.
// Plain rows are what both
// engines give at the least cost: an aggregate for each list, or a half of the statement for each digest, took
// PostgreSQL half as long again.
const postureQuery = `WITH other (digest) AS MATERIALIZED (SELECT user_256 FROM person
	WHERE partner_id = $1 AND user_512 = $2
		UNION ALL SELECT user_512 FROM person WHERE partner_id = $1 AND user_256 = $2 LIMIT 1)
	SELECT a.id, a.kind, a.created_at, a.value, a.value_index, a.status, a.open_breaches, a.look
		FROM asset a WHERE a.partner_id = $1 AND a.user_index IN ($2, (SELECT digest FROM other))
	UNION ALL SELECT '', 1, k.valid_until, NULL, NULL, k.system, '', 0
		FROM epp_key k WHERE k.partner_id = $1 AND k.user_index IN ($2, (SELECT digest
		FROM other)) AND k.ended_at = 0 AND k.valid_until > $3
			AND (k.activated_at > 0 OR NOT EXISTS (SELECT 1 FROM epp_key r
			WHERE r.partner_id = $1 AND r.system = k.system AND r.activated_at > 0))
	UNION ALL SELECT '', 2, q.answered_at, q.value, q.user_index, q.content_id, '', 0
		FROM content_answer q WHERE q.partner_id = $1 AND q.user_index IN ($2, (SELECT digest FROM other))
	UNION ALL SELECT '', 3, 0, NULL, NULL, c.status, '', 0
		FROM support_case c WHERE c.partner_id = $1 AND c.user_index IN ($2, (SELECT digest FROM other))`

// scoredQuery reads the last score as well.
const scoredQuery = postureQuery + `
	UNION ALL SELECT '', 4, l.day, l.sealed, l.user_index, '', '', 0 FROM (
		SELECT d.day, d.sealed, d.user_index FROM score_day d
		WHERE d.partner_id = $1 AND d.user_index IN ($2, (SELECT digest FROM other))
		ORDER BY d.day DESC, d.kept_at DESC LIMIT 1) l`

// The parts of a posture that are not watched values.
const (
	devicePart = 1 + iota
	answerPart
	casePart
	scorePart
)

// ReadPosture reads where a person stands: see cyber.PersonStore.
func (s Advice) ReadPosture(
	ctx context.Context,
	id partner.ID,
	sent partner.UserHash,
	scored bool,
) (*cyber.Posture, error) {
	text := postureQuery
	if scored {
		text = scoredQuery
	}
	var r postureReader
	err := eachRow(
		ctx,
		s.readQuerier(),
		func(row scanner) error { return r.addRow(s, id, row) },
		text,
		id,
		s.blindUserIndex(id, sent),
		s.now(),
	)
	if err != nil {
		return nil, err
	}
	return r.buildPosture(), nil
}

// postureReader gathers the rows of postureQuery.
type postureReader struct {
	p      cyber.Posture
	assets []postureAsset
	// answered is when what stands in p was said: a person may have answered under both digests, and the later one
	// counts.
	answered map[cyber.ContentID]int64
}

// postureAsset is one watched value of a person, with what is needed to sort the values and to find duplicates.
type postureAsset struct {
	cyber.PostureAsset
	id      cyber.AssetID
	created int64
	twin    string // the value's index
}

// buildPosture puts the values in the order they were added; one that was added under both digests counts once.
func (r *postureReader) buildPosture() *cyber.Posture {
	slices.SortFunc(
		r.assets,
		func(a, b postureAsset) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id)) },
	)
	seen := make(map[string]bool, len(r.assets))
	for _, a := range r.assets {
		if !seen[a.twin] {
			seen[a.twin] = true
			r.p.Assets = append(r.p.Assets, a.PostureAsset)
		}
	}
	return &r.p
}

func (r *postureReader) addRow(s Advice, id partner.ID, row scanner) error {
	a := cyber.Asset{Partner: id}
	var at, kind, look int64
	var sealed, index sql.RawBytes
	var first, second string
	if err := row.Scan(&a.ID, &kind, &at, &sealed, &index, &first, &second, &look); err != nil {
		return err
	}
	if a.ID == "" {
		switch kind {
		case scorePart:
			r.p.Last.Day = at
			return s.openDayScore(id, index, &r.p.Last, sealed)
		case answerPart:
			var value string
			err := s.openSealed(sealedAnswerPlace(id, index, cyber.ContentID(first)), sealed, &value)
			r.addAnswer(at, cyber.ContentID(first), value)
			return err
		}
		r.addDeviceOrCase(kind, at, first)
		return nil
	}
	if err := Monitoring(s).openAssetValue(&a, sealed); err != nil {
		return err
	}
	r.assets = append(r.assets, postureAsset{
		PostureAsset: cyber.PostureAsset{
			Kind:     identifier.Kind(kind),
			Value:    a.Value,
			Status:   cyber.Status(first),
			AddedAt:  fromMicros(at),
			Waits:    look != lookDone,
			Breaches: second,
		},
		id: a.ID, created: at, twin: string(index),
	})
	return nil
}

// addAnswer reads what a person said; the later of two counts.
func (r *postureReader) addAnswer(at int64, id cyber.ContentID, value string) {
	if r.answered == nil {
		r.p.Answers, r.answered = map[cyber.ContentID]string{}, map[cyber.ContentID]int64{}
	}
	if at >= r.answered[id] {
		r.answered[id], r.p.Answers[id] = at, value
	}
}

// addDeviceOrCase reads a row of a device or a case.
func (r *postureReader) addDeviceOrCase(part, at int64, first string) {
	switch part {
	case devicePart:
		r.p.Devices = append(r.p.Devices, cyber.PostureDevice{System: cyber.System(first), ValidUntil: fromMicros(at)})
	case casePart:
		if status := cyber.CaseStatus(first); status.Open() {
			r.p.OpenCases++
			if status == cyber.CaseWaiting {
				r.p.WaitingCases++
			}
		}
	}
}

func (s Advice) BreachesByName(ctx context.Context, names []string) ([]cyber.Breach, error) {
	found, err := s.breachesByName(ctx, s.readQuerier(), names)
	return slices.Collect(maps.Values(found)), err
}

// sealedAnswerPlace binds a sealed answer to its row.
func sealedAnswerPlace(id partner.ID, user []byte, item cyber.ContentID) seal.Place {
	return seal.Place{
		Table:   "content_answer",
		Column:  "value",
		Partner: string(id),
		Row:     string(user) + "/" + string(item),
	}
}

// KeepAnswer stores a person's answer to a validation question.
func (s Advice) KeepAnswer(
	ctx context.Context,
	id partner.ID,
	sent partner.UserHash,
	item cyber.ContentID,
	value string,
) error {
	return s.runAsUser(ctx, id, sent, func(tx *sqldb.Tx, u user) error {
		sealed, err := s.sealValue(sealedAnswerPlace(id, u.write, item), value)
		if err != nil {
			return err
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO content_answer (partner_id, user_index, content_id, value, answered_at)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partner_id, user_index, content_id)
			DO UPDATE SET value = excluded.value, answered_at = excluded.answered_at`,
			id,
			u.write,
			item,
			sealed,
			s.now(),
		)
	})
}

var _ cyber.ContentStore = Advice{}

// contentColumns are those that scanning an item of the catalogue expects, in its order.
const contentColumns = `id, item, retired, mac`

// scanContent reads one content item. The text of a forged row is not even parsed.
func (c core) scanContent(row scanner, into *checked[cyber.Item]) error {
	var id, text string
	var retired bool
	var mac []byte
	if err := row.Scan(&id, &text, &retired, &mac); err != nil {
		return err
	}
	into.row = "content " + id
	if into.forged = !c.isGenuine("content", contentGrant(id, text, retired), mac); into.forged {
		return nil
	}
	items, err := cyber.ReadContent(bytes.NewReader([]byte(text)))
	if err != nil || len(items) != 1 {
		return fmt.Errorf("read kept content: %w", err)
	}
	into.value, into.value.Retired = items[0], retired
	return nil
}

// ContentChanges returns what the operator changed in the catalogue. A forged change is left out: the built-in item
// stands.
func (s Advice) ContentChanges(ctx context.Context) ([]cyber.Item, error) {
	return collectGenuine(ctx, s.readQuerier(), s.scanContent, `SELECT `+contentColumns+` FROM content ORDER BY id`)
}

// KeepContent stores items over what was there.
func (s Advice) KeepContent(ctx context.Context, items []cyber.Item) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		for _, it := range items {
			var text bytes.Buffer
			if err := cyber.WriteContent(&text, []cyber.Item{it}); err != nil {
				return err
			}
			if err := execStatement(
				ctx,
				tx,
				`INSERT INTO content (id, item, retired, changed_at, mac) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (id) DO UPDATE SET item = excluded.item, retired = excluded.retired,
				changed_at = excluded.changed_at, mac = excluded.mac`,
				it.ID,
				text.String(),
				it.Retired,
				s.now(),
				s.grantMAC("content", contentGrant(string(it.ID), text.String(), it.Retired)),
			); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropContent deletes the operator's change of an item.
func (s Advice) DropContent(ctx context.Context, id cyber.ContentID) error {
	return s.expectAlone(
		ctx,
		cyber.ErrContentNotFound.With("content", fault.WasNotChanged),
		`DELETE FROM content WHERE id = $1`,
		id,
	)
}

// scorePlace returns where a day's score is sealed. A person's risk is sensitive: a copy of the table must not reveal
// it.
func scorePlace(id partner.ID, user []byte, day int64) seal.Place {
	return seal.Place{
		Table:   "score_day",
		Column:  "sealed",
		Partner: string(id),
		Row:     string(user) + "/" + strconv.FormatInt(day, 10),
	}
}

// sealDayScore has the same length for every score.
func (s Advice) sealDayScore(id partner.ID, user []byte, d cyber.ScoreDay) ([]byte, error) {
	plain := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(d.Breach)), uint64(d.Assessment))
	return s.sealValue(scorePlace(id, user, d.Day), plain)
}

// openDayScore fills in the score of a day.
func (s Advice) openDayScore(id partner.ID, user []byte, d *cyber.ScoreDay, sealed []byte) error {
	var plain []byte
	if err := s.openSealed(scorePlace(id, user, d.Day), sealed, &plain); err != nil {
		return err
	}
	if len(plain) != 16 {
		return fmt.Errorf("open score: %d bytes", len(plain))
	}
	d.Breach, d.Assessment = int64(binary.BigEndian.Uint64(plain)), int64(binary.BigEndian.Uint64(plain[8:]))
	return nil
}

// KeepScore stores the score of a day, over an earlier one of the same day.
func (s Advice) KeepScore(ctx context.Context, id partner.ID, sent partner.UserHash, d cyber.ScoreDay) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.keepUser(ctx, tx, id, sent)
		if err != nil {
			return err
		}
		sealed, err := s.sealDayScore(id, u.write, d)
		if err != nil {
			return err
		}
		return execStatement(ctx, tx, `INSERT INTO score_day (partner_id, user_index, day, kept_at, sealed)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partner_id, user_index, day)
			DO UPDATE SET kept_at = excluded.kept_at, sealed = excluded.sealed`,
			id,
			u.write,
			d.Day,
			s.now(),
			sealed,
		)
	})
}

// ScoreDays returns the days on which a person's score changed, oldest first. A day kept under both digests counts as
// it was kept once the person was known.
func (s Advice) ScoreDays(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.ScoreDay, error) {
	return collectOfUser(
		ctx,
		s.core,
		id,
		sent,
		s.scanScoreDay(id),
		`SELECT `+scoreColumns+` FROM score_day d WHERE d.partner_id = $1 AND (d.user_index = $2
			OR d.user_index = $3 AND NOT EXISTS (SELECT 1 FROM score_day w
			WHERE w.partner_id = $1 AND w.user_index = $2 AND w.day = d.day))
		ORDER BY d.day`,
	)
}

// scoreColumns are what scoreDay reads; the table goes by d.
const scoreColumns = `d.day, d.user_index, d.sealed`

// scanScoreDay returns what reads a day of a partner's person.
func (s Advice) scanScoreDay(id partner.ID) func(scanner, *cyber.ScoreDay) error {
	return func(row scanner, d *cyber.ScoreDay) error {
		var user []byte
		return row.Scan(
			&d.Day,
			&user,
			scanFunc(func(sealed []byte) error { return s.openDayScore(id, user, d, sealed) }),
		)
	}
}

var _ cyber.CoverStore = Cover{}

// LoadEntitled returns the plans of a person's subscriptions in force and the partner's default plan.
func (s Cover) LoadEntitled(ctx context.Context, id partner.ID, sent partner.UserHash) (cyber.Entitled, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, sent)
	if err != nil {
		return cyber.Entitled{}, err
	}
	return s.readEntitled(ctx, q, id, u)
}

// readEntitled is LoadEntitled for a querier.
func (s Cover) readEntitled(ctx context.Context, q querier, id partner.ID, u user) (cyber.Entitled, error) {
	const columns = `p.partner_id, p.id, p.name, p.coverage, p.max_devices, p.key_days, p.keys_end,
		p.watch, p.retired, p.created_at, p.mac`
	var e cyber.Entitled
	err := eachRow(ctx, q, func(row scanner) error {
		var byDefault bool
		var start, expiry subscription.Day
		var found checked[plan.Plan]
		err := s.scanPlanRow(leading{row, []any{&byDefault, &start, &expiry}}, &found)
		switch {
		case err != nil:
		case found.forged:
			err = found.forgedError()
		case byDefault:
			e.Default = append(e.Default, cyber.Entitlement{Plan: found.value})
		default:
			e.Subscribed = append(
				e.Subscribed,
				cyber.Entitlement{Plan: found.value, From: start.Time(), Until: expiry.Time()},
			)
		}
		return err
	}, `SELECT FALSE, b.start_day, b.expiry_day, `+columns+` FROM subscription b
		JOIN plan p ON p.partner_id = b.partner_id AND p.id = b.plan_id
		WHERE b.partner_id = $1 AND b.cpf = $2 AND b.ended_at = 0 AND b.suspended_at = 0 AND b.start_day <= $3
			AND (b.expiry_day = 0 OR b.expiry_day >= $3)
		UNION ALL SELECT TRUE, 0, 0, `+columns+` FROM partner t JOIN plan p ON p.partner_id = t.id
		AND p.id = t.default_plan WHERE t.id = $1`,
		id,
		orEmptyBytes(u.cpf),
		subscription.DayInBrazil(s.now()),
	) // an empty index matches no row
	return e, err
}

// leading scans columns before those of a row's own scan.
type leading struct {
	scanner
	first []any
}

func (l leading) Scan(dest ...any) error { return l.scanner.Scan(append(l.first, dest...)...) }

// blindCPFIndex returns the keyed index by which a CPF is found; the CPF itself is stored only sealed.
func (s core) blindCPFIndex(id partner.ID, cpf string) []byte {
	return s.keys.BlindIndex("cpf", string(id), []byte(cpf))
}

// blindUserIndex returns the keyed index of a user hash, the same for every spelling; empty for no user.
func (s core) blindUserIndex(id partner.ID, u partner.UserHash) []byte {
	if u == "" {
		return []byte{}
	}
	return s.keys.BlindIndex("user", string(id), u.Canonical())
}

// personColumns gives the columns of a person's row.
func (s core) personColumns(id partner.ID, cpf, salt string) (cpfIndex, user256, user512 []byte) {
	d256, d512 := partner.PersonDigests(cpf, salt)
	user256 = s.keys.BlindIndex("user", string(id), d256)
	user512 = s.keys.BlindIndex("user", string(id), d512)
	return s.blindCPFIndex(id, cpf), user256, user512
}

// user is the indexes under which one person's rows in the cyber area may stand.
type user struct {
	// write is where new rows go: the 512-bit form once the person is known, the form as sent before that.
	write []byte
	// other is the second form, or the same as write.
	other []byte
	// cpf is the index of the person's CPF; nil while no request has said which CPF the hash belongs to.
	cpf []byte
}

// findUser joins the forms of a user hash through the person they belong to.
func (s core) findUser(ctx context.Context, q querier, id partner.ID, u partner.UserHash) (user, error) {
	return s.readUser(ctx, q, id, u, "")
}

// keepUser is findUser for a transaction that stores something under what it finds: the person's row, which joins both
// forms, is not swept or erased before that is committed.
func (s core) keepUser(ctx context.Context, tx *sqldb.Tx, id partner.ID, u partner.UserHash) (user, error) {
	return s.readUser(ctx, tx, id, u, s.db.KeepRows())
}

// readUser is findUser with what the query adds to lock the person's row.
func (s core) readUser(ctx context.Context, q querier, id partner.ID, u partner.UserHash, lock string) (user, error) {
	sent := s.blindUserIndex(id, u)
	column := ""
	switch len(u.Digest()) {
	case 32:
		column = "user_256"
	case 64:
		column = "user_512"
	default: // a name that the partner made up
		return user{write: sent, other: sent}, nil
	}
	var found user
	err := readColumns(ctx, q, []any{&found.cpf, &found.other, &found.write},
		`SELECT cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND `+column+` = $2`+lock,
		id,
		sent,
	)
	if errors.Is(err, sql.ErrNoRows) {
		return user{write: sent, other: sent}, nil
	}
	return found, err
}

// collectOfUser runs a query for rows of a person: $1 is the partner, $2 and $3 are the person's indexes, and more
// follow.
func collectOfUser[T any](
	ctx context.Context,
	c core,
	id partner.ID,
	hash partner.UserHash,
	scan func(scanner, *T) error,
	query string,
	more ...any,
) ([]T, error) {
	q := c.readQuerier()
	u, err := c.findUser(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, q, scan, query, append([]any{id, u.write, u.other}, more...)...)
}

// runAsUser runs fn in a transaction about a person whom a request that writes names: see findAndNameUser.
func (s core) runAsUser(
	ctx context.Context,
	id partner.ID,
	hash partner.UserHash,
	fn func(tx *sqldb.Tx, u user) error,
) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, hash)
		if err != nil {
			return err
		}
		return fn(tx, u)
	})
}

// IsSamePerson reports whether two user hashes name one person: two spellings of one digest, or both digests of a known
// person.
func (s core) IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error) {
	q := s.readQuerier()
	one, err := s.findUser(ctx, q, id, a)
	if err != nil {
		return false, err
	}
	two, err := s.findUser(ctx, q, id, b)
	return bytes.Equal(one.write, two.write), err
}

// linkPerson makes both digests of a CPF known as one person. It writes also when they are, so that the row is locked
// and no sweep deletes it before the transaction is committed.
func (s core) linkPerson(ctx context.Context, tx *sqldb.Tx, id partner.ID, cpf, salt string) error {
	return tx.RunStatements(ctx, []sqldb.Statement{s.linkPersonStatement(id, cpf, salt)})
}

// linkPersonStatement is the statement of linkPerson.
func (s core) linkPersonStatement(id partner.ID, cpf, salt string) sqldb.Statement {
	index, d256, d512 := s.personColumns(id, cpf, salt)
	return sqldb.NewStatement(
		`INSERT INTO person (partner_id, cpf, user_256, user_512, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (partner_id, cpf) DO UPDATE SET created_at = person.created_at`,
		id,
		index,
		d256,
		d512,
		s.now(),
	)
}

// How a partner spelt a person last is kept under one index, and dropped under the other digest of the person.
const (
	keepPersonName = `INSERT INTO person_name (partner_id, user_index, name, named_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (partner_id, user_index) DO UPDATE SET name = excluded.name, named_at = excluded.named_at`
	dropPersonName = `DELETE FROM person_name WHERE partner_id = $1 AND user_index = $2`
)

// sealedNamePlace binds a sealed spelling to its person.
func sealedNamePlace(id partner.ID, index []byte) seal.Place {
	return seal.Place{Table: "person_name", Column: "name", Partner: string(id), Row: string(index)}
}

// findAndNameUser is keepUser for a request that names a person. It also remembers the spelling in which the partner
// names the person, because events use that spelling. Most requests name the person as the previous one did, and write
// nothing here. For a person without a known CPF, who may turn out to be the same as another, the time is stored as
// well.
func (s core) findAndNameUser(ctx context.Context, tx *sqldb.Tx, id partner.ID, hash partner.UserHash) (user, error) {
	u, err := s.keepUser(ctx, tx, id, hash)
	if err != nil {
		return u, err
	}
	var index []byte
	var last string
	err = readColumns(
		ctx,
		tx,
		[]any{&index, s.unseals(&last, func() seal.Place { return sealedNamePlace(id, index) })},
		`SELECT user_index, name FROM person_name
		WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY named_at DESC LIMIT 1`,
		id,
		u.write,
		u.other,
	)
	if err != nil && !errors.Is(err, sql.ErrNoRows) || err == nil && last == string(hash) && u.cpf != nil {
		return u, err
	}
	sealed, err := s.sealValue(sealedNamePlace(id, u.write), string(hash))
	if err != nil {
		return u, err
	}
	err = execStatement(ctx, tx, keepPersonName, id, u.write, sealed, s.now())
	if err == nil && !bytes.Equal(u.write, u.other) {
		err = execStatement(ctx, tx, dropPersonName, id, u.other)
	}
	return u, err
}

// person is who stands behind an index.
type person struct {
	// key is the one index by which all that belongs to a person is told apart: that of the longer digest once both are
	// known.
	key []byte
	// d256 and d512 are empty while only one index is known.
	d256, d512 string
	// name is how the partner spelt the user hash last; empty when it never did.
	name    partner.UserHash
	namedAt int64
}

// otherIndex returns the second index of the person; empty when there is none.
func (p person) otherIndex(index string) string {
	if index == p.d512 {
		return p.d256
	}
	return p.d512
}

// findPersons finds out who stands behind indexes; each of them has its entry.
func (s core) findPersons(ctx context.Context, q querier, id partner.ID, indexes [][]byte) (map[string]person, error) {
	people := make(map[string]person, len(indexes))
	wanted := make([]string, 0, len(indexes))
	for _, index := range indexes {
		if _, seen := people[string(index)]; !seen && len(index) > 0 {
			people[string(index)] = person{key: index}
			wanted = append(wanted, string(index))
		}
	}
	const batch = 300
	for part := range slices.Chunk(wanted, batch) {
		args := []any{id}
		isAsked := s.inIndexes(&args, part)
		const joined = `SELECT p.user_256, p.user_512, n.user_index, n.name, n.named_at FROM person p
			LEFT JOIN person_name n ON n.partner_id = p.partner_id AND n.user_index IN (p.user_256, p.user_512)
			WHERE p.partner_id = $1 AND `
		err := eachRow(ctx, q, func(row scanner) error { return s.addPersonRow(id, people, row) },
			joined+`p.user_512 `+isAsked+` UNION ALL `+joined+`p.user_256 `+isAsked+`
			UNION ALL SELECT NULL, NULL, user_index, name, named_at FROM person_name
			WHERE partner_id = $1 AND user_index `+isAsked,
			args...,
		)
		if err != nil {
			return nil, err
		}
	}
	return people, nil
}

// addPersonRow takes a row of personsOf into what is known of the people asked for.
func (s core) addPersonRow(id partner.ID, people map[string]person, row scanner) error {
	var d256, d512, index, sealed []byte
	var at sql.NullInt64
	if err := row.Scan(&d256, &d512, &index, &sealed, &at); err != nil {
		return err
	}
	var name []byte
	if sealed != nil {
		var err error
		if name, err = s.keys.Unseal(sealedNamePlace(id, index), sealed); err != nil {
			return fmt.Errorf("open name: %w", err)
		}
	}
	about := []string{string(d256), string(d512)}
	if d512 == nil {
		about = []string{string(index)}
	}
	for _, one := range about {
		p, asked := people[one]
		if !asked {
			continue
		}
		if d512 != nil {
			p.key, p.d256, p.d512 = d512, string(d256), string(d512)
		}
		if len(name) > 0 && (p.name == "" || at.Int64 > p.namedAt) {
			p.name, p.namedAt = partner.UserHash(name), at.Int64
		}
		people[one] = p
	}
	return nil
}
