package subscription

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

var (
	noon         = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	errOnPurpose = errors.New("failed on purpose")
)

// fakeStore is a store that notes what is asked of it; the real one is tested beside it.
type fakeStore struct {
	Store
	asked []string
	fail  string
	plans []plan.Plan
	// there are the CPFs that the partner already has.
	there []string
	moves []Moved
	// rows and register are those of the last request.
	rows     []Row
	register []plan.ID
}

func (s *fakeStore) note(format string, args ...any) error {
	s.asked = append(s.asked, fmt.Sprintf(format, args...))
	if word, _, _ := strings.Cut(s.asked[len(s.asked)-1], " "); word == s.fail {
		return errOnPurpose
	}
	return nil
}

func (s *fakeStore) ListPlans(context.Context, partner.ID) ([]plan.Plan, error) {
	return s.plans, s.note("plans")
}

func (s *fakeStore) NewSealer(context.Context, partner.ID) (Sealer, error) {
	return func(item int, sub *Subscription, create bool) (Row, error) {
		row := fakeRow{item: item, cpf: sub.Beneficiary.CPF, asked: !create}
		if !create {
			return row, nil
		}
		return row, s.note("add %d", item)
	}, s.note("sealer")
}

func (s *fakeStore) ActivePage(_ context.Context, _ partner.ID, offset int64, limit int) (Page, error) {
	return Page{Total: offset}, s.note("page %d %d", offset, limit)
}

func (s *fakeStore) SubscriptionOf(_ context.Context, _ partner.ID, p plan.ID, cpf string) (Subscription, error) {
	return Subscription{Plan: p, Beneficiary: Beneficiary{CPF: cpf}}, nil
}

func (s *fakeStore) MoveSubscriptions(
	_ context.Context,
	id partner.ID,
	which Selection,
	move Move,
	after int64,
	limit int,
) (Moved, error) {
	err := s.note("move %s %+v %d after %d by %d", id, which, move, after, limit)
	if len(s.moves) == 0 {
		return Moved{}, err
	}
	step := s.moves[0]
	s.moves = s.moves[1:]
	return step, err
}

func (s *fakeStore) ListPartners(context.Context) ([]partner.Partner, error) {
	return []partner.Partner{{ID: "pt_1"}, {ID: "pt_2"}}, s.note("partners")
}

// fakeRow is an item as fakeStore keeps it.
type fakeRow struct {
	item  int
	cpf   string
	asked bool
}

func (s *fakeStore) Enrol(
	_ context.Context, _ partner.ID, rows []Row, register []plan.Plan, dryRun bool,
) (done Enrolled, err error) {
	s.rows, s.register = rows, nil
	for _, p := range register {
		s.register = append(s.register, p.ID)
	}
	byItem := map[int]string{}
	for _, r := range rows {
		byItem[r.(fakeRow).item] = r.(fakeRow).cpf
	}
	seen := map[string]bool{}
	for item := range 100 {
		cpf, there := byItem[item]
		if there && (seen[cpf] || slices.Contains(s.there, cpf)) {
			done.Duplicates = append(done.Duplicates, item)
		}
		seen[cpf] = there
	}
	return done, s.note("keep %t", dryRun)
}

// askedItems are the items of the last request that were only asked for.
func (s *fakeStore) askedItems() (items []int) {
	for _, r := range s.rows {
		if r.(fakeRow).asked {
			items = append(items, r.(fakeRow).item)
		}
	}
	return items
}

// draftOf is a good item for somebody made up: sandbox partners need no check digits.
func draftOf(n int, planID string) *Draft {
	return &Draft{
		StartDate:    NewTextField("2026-02-01"),
		ExpiryDate:   NewTextField(""),
		PlanID:       NewTextField(planID),
		IsGroup:      Flag{Presence: Given},
		Beneficiary:  Given,
		PrimaryCard:  NewTextField("1"),
		UserCard:     NewTextField("2"),
		Name:         NewTextField("Ana"),
		CPF:          NewTextField(fmt.Sprintf("%011d", n)),
		BirthDate:    NewTextField("1990-05-17"),
		Gender:       NewTextField("F"),
		Email:        NewTextField("ana@exemplo.com.br"),
		Phone:        NewTextField("+5511987654321"),
		Address:      Given,
		Zipcode:      NewTextField("01001000"),
		Street:       NewTextField("R"),
		Number:       NewTextField("1"),
		Neighborhood: NewTextField("C"),
		City:         NewTextField("S"),
		State:        NewTextField("SP"),
	}
}

func (s *fakeStore) registry() *Registry {
	return NewRegistry(s, s, s, func() time.Time { return noon })
}

func (s *fakeStore) enrol(t *testing.T, mode partner.Mode) *Enrolment {
	t.Helper()
	e, err := s.registry().BeginEnrolment(context.Background(), "pt_1", mode, 0)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// told writes an outcome in one line.
func told(o Outcome) string {
	words := []string{fmt.Sprint(o.Created)}
	for _, f := range o.Failures {
		words = append(words, fmt.Sprint(f.Item, f.Problems))
	}
	return strings.Join(words, "; ")
}

// TestEnrol: failures come in the order of the request with all that is wrong, duplicates among them, and a repeat says
// the same.
func TestEnrol(t *testing.T) {
	s := &fakeStore{
		plans: []plan.Plan{{ID: "ouro"}, {ID: "velho", Retired: true}},
		there: []string{fmt.Sprintf("%011d", 7)},
	}
	e := s.enrol(t, partner.Sandbox)
	broken := draftOf(7, "ouro")
	broken.Name = NewTextField("")
	e.AddItem(4, broken)              // refused, and would have been a duplicate
	e.AddItem(0, draftOf(1, "ouro"))  // good
	e.AddItem(3, draftOf(7, "ouro"))  // there already
	e.AddItem(1, draftOf(1, "ouro"))  // the same as item 0
	e.AddItem(2, draftOf(2, "velho")) // takes no more
	e.AddItem(5, draftOf(5, "novo"))  // a sandbox partner's new plan
	e.AddItem(6, &Draft{Broken: RuleNotObject})
	want := "1 [{beneficiary.cpf exists}]; 2 [{plan_id plan_retired}]; 3 [{beneficiary.cpf exists}]; " +
		"4 [{beneficiary.name required} {beneficiary.cpf exists}]; 6 [{item not_object}]"
	for range 2 {
		out, err := s.registry().KeepEnrolment(context.Background(), e, false)
		if err != nil || told(out) != "2; "+want {
			t.Errorf("%v\n got %s\nwant %s", err, told(out), "2; "+want)
		}
	}
	if !slices.Equal(s.register, []plan.ID{"novo"}) || !slices.Equal(s.askedItems(), []int{4, 2}) {
		t.Errorf("registered %v, asked %v", s.register, s.askedItems())
	}
	if s.asked[len(s.asked)-1] != "keep false" {
		t.Error(s.asked)
	}
}

// TestEnrolLive: a live partner's unknown plan is refused and not made; check digits are asked for.
func TestEnrolLive(t *testing.T) {
	s := &fakeStore{plans: []plan.Plan{{ID: "ouro"}}}
	e := s.enrol(t, partner.Live)
	e.AddItem(0, draftOf(1, "novo"))
	out, err := s.registry().KeepEnrolment(context.Background(), e, true)
	if err != nil || told(out) != "0; 0 [{beneficiary.cpf identifier.check_digits} {plan_id plan_unknown}]" ||
		len(s.register) != 0 {
		t.Error(told(out), err, s.register)
	}
	if s.asked[len(s.asked)-1] != "keep true" {
		t.Error("a dry run must stay one:", s.asked)
	}
	if f := out.Failures[0]; f.CPF != fmt.Sprintf("%011d", 1) || f.Plan != "novo" || f.Holder != "" {
		t.Errorf("%+v", f)
	}
}

// TestEnrolPlansInOrder: new plans are made in one order, whatever the order of the items: two requests do not wait in
// a circle.
func TestEnrolPlansInOrder(t *testing.T) {
	s := &fakeStore{}
	e := s.enrol(t, partner.Sandbox)
	want := []plan.ID{}
	for i := range 20 {
		id := plan.ID(fmt.Sprintf("p%02d", 19-i))
		want = append(want, id)
		e.AddItem(i, draftOf(i+1, string(id)))
	}
	slices.Sort(want)
	_, err := s.registry().KeepEnrolment(context.Background(), e, false)
	if err != nil || !slices.Equal(s.register, want) {
		t.Error(s.register, err)
	}
	made := e.demo("p00")
	demo := made
	demo.ID, demo.Partner, demo.Name, demo.CreatedAt = "p00", "pt_1", "p00", noon
	difftest.Check(t, "the plan", made, demo)
	if made.Coverage.Plan == "" {
		t.Error("its coverage names no plan")
	}
}

// TestEnrolRemembers: what callers of one epoch have read of a partner is not read again, and no item of one request is
// in another's batch. A plan that nobody remembers is looked for; one that was retired moves the epoch.
func TestEnrolRemembers(t *testing.T) {
	s := &fakeStore{plans: []plan.Plan{{ID: "ouro"}}}
	r := s.registry()
	enrol := func(epoch int64, p string) (created int, reads []string) {
		t.Helper()
		s.asked = nil
		e, err := r.BeginEnrolment(context.Background(), "pt_1", partner.Live, epoch)
		if err != nil {
			t.Fatal(err)
		}
		d := draftOf(1, p)
		d.CPF = NewTextField("52998224725")
		e.AddItem(0, d)
		e.AddItem(1, d)
		reads = slices.DeleteFunc(
			slices.Clone(s.asked),
			func(what string) bool { return what != "plans" && what != "sealer" },
		)
		out, err := r.KeepEnrolment(context.Background(), e, true)
		if err != nil || len(s.rows) > 2 {
			t.Fatal(s.rows, err)
		}
		return out.Created, reads
	}
	both := []string{"plans", "sealer"}
	for _, step := range []struct {
		does    string
		before  func()
		epoch   int64
		plan    string
		created int
		reads   []string
	}{
		{"the first reads", nil, 7, "ouro", 1, both},
		{"the second does not", nil, 7, "ouro", 1, nil},
		{"another epoch reads", nil, 8, "ouro", 1, both},
		{"no epoch always reads", nil, 0, "ouro", 1, both},
		{"and is not remembered", nil, 0, "ouro", 1, both},
		{"an unknown plan is looked for once", nil, 8, "prata", 0, []string{"plans"}},
		{"a new one is found", func() { s.plans = append(s.plans, plan.Plan{ID: "prata"}) }, 8, "prata", 1, []string{"plans"}},
		{"one retired since", func() { s.plans[0].Retired = true }, 9, "ouro", 0, both},
	} {
		if step.before != nil {
			step.before()
		}
		if created, reads := enrol(step.epoch, step.plan); created != step.created || !slices.Equal(reads, step.reads) {
			t.Errorf("%s: created %d, read %q", step.does, created, reads)
		}
	}
	s.fail = "plans" // a database that is gone while a plan is looked for is an error, not a refused item
	e, err := r.BeginEnrolment(context.Background(), "pt_1", partner.Sandbox, 9)
	if err != nil {
		t.Fatal(err)
	}
	e.AddItem(0, draftOf(1, "bronze"))
	if _, err := r.KeepEnrolment(context.Background(), e, false); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
}

// TestEnrolFails: a store that fails is an error, not a refused item.
func TestEnrolFails(t *testing.T) {
	for _, step := range []string{"plans", "sealer"} {
		_, err := (&fakeStore{fail: step}).registry().BeginEnrolment(context.Background(), "pt_1", partner.Sandbox, 0)
		if !errors.Is(err, errOnPurpose) {
			t.Error(step, err)
		}
	}
	for _, step := range []string{"add", "keep"} {
		s := &fakeStore{fail: step}
		e := s.enrol(t, partner.Sandbox)
		e.AddItem(0, draftOf(1, "ouro"))
		out, err := s.registry().KeepEnrolment(context.Background(), e, false)
		if !errors.Is(err, errOnPurpose) || out.Created != 0 {
			t.Error(step, out, err)
		}
	}
}

// TestCut: what an answer repeats is bounded in letters.
func TestCut(t *testing.T) {
	for text, want := range map[string]int{" x ": 1, strings.Repeat("é", 255): 255, strings.Repeat("é", 256): 255} {
		if got := []rune(truncateText(NewTextField(text))); len(got) != want {
			t.Errorf("%d letters became %d", len([]rune(text)), len(got))
		}
	}
}

// TestMove: exactly one form of selection, in batches that go on where the last one ended, and nothing found is not
// found.
func TestMove(t *testing.T) {
	ctx := context.Background()
	cpf, cnpj := fmt.Sprintf("%011d", 1), "12ABC34501DE35"
	for name, which := range map[string]Selection{
		"nothing": {}, "no CPF": {Plan: "ouro"}, "no plan": {CPF: cpf}, "both": {Plan: "ouro", CPF: cpf, Holder: cnpj},
		"by date": {Plan: "ouro", CPF: cpf, Over: 1}, "no CNPJ": {Holder: "1"}, "short CPF": {Plan: "ouro", CPF: "1"},
		"a company and a plan": {Plan: "ouro", Holder: cnpj},
	} {
		s := &fakeStore{}
		_, err := s.registry().MoveSubscriptions(ctx, "pt_1", which, End)
		if !errors.Is(err, ErrSelection) || len(s.asked) > 0 {
			t.Errorf("%s: %v, %v", name, err, s.asked)
		}
	}
	s := &fakeStore{moves: []Moved{{Found: 500, Changed: 400, Last: 77, More: true}, {Found: 2, Changed: 1, Last: 99}}}
	moved, err := s.registry().MoveSubscriptions(ctx, "pt_1", Selection{Holder: cnpj}, Suspend)
	if err != nil || moved.Found != 502 || moved.Changed != 401 {
		t.Error(moved, err)
	}
	if len(s.asked) != 2 || !strings.HasSuffix(s.asked[0], "after 0 by 500") ||
		!strings.HasSuffix(s.asked[1], "after 77 by 500") {
		t.Error(s.asked)
	}
	one := Selection{Plan: "ouro", CPF: cpf}
	if _, err := (&fakeStore{}).registry().MoveSubscriptions(ctx, "pt_1", one, End); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	_, err = (&fakeStore{fail: "move"}).registry().MoveSubscriptions(ctx, "pt_1", one, End)
	if !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	s = &fakeStore{moves: []Moved{{Found: 1, Last: 1, More: true}, {Found: 1}}}
	got, err := s.registry().MoveSubscriptions(ended, "pt_1", Selection{Holder: cnpj}, End)
	if !errors.Is(err, context.Canceled) || got.Found != 1 {
		t.Error("a stop between batches:", got, err)
	}
}

func TestMoveChanges(t *testing.T) {
	going, paused := Subscription{}, Subscription{SuspendedAt: noon}
	for _, c := range []struct {
		move          Move
		going, paused bool
	}{{End, true, true}, {Suspend, true, false}, {Resume, false, true}} {
		if c.move.ChangesSubscription(going) != c.going || c.move.ChangesSubscription(paused) != c.paused {
			t.Errorf("move %d", c.move)
		}
	}
}

// TestSweep: every partner, those that are over in São Paulo, and what ended before a failure is told.
func TestSweep(t *testing.T) {
	s := &fakeStore{moves: []Moved{{Found: 2, Changed: 2}, {Found: 3, Changed: 3}}}
	if n, err := s.registry().SweepExpired(context.Background()); err != nil || n != 5 {
		t.Error(n, err)
	}
	if len(s.asked) != 3 || !strings.Contains(s.asked[1], "pt_1") || !strings.Contains(s.asked[2], "pt_2") ||
		!strings.Contains(s.asked[2], "Over:"+DayInBrazil(noon).String()) {
		t.Error(s.asked)
	}
	for _, step := range []string{"partners", "move"} {
		_, err := (&fakeStore{fail: step}).registry().SweepExpired(context.Background())
		if !errors.Is(err, errOnPurpose) {
			t.Error(step, err)
		}
	}
	failing := &fakeStore{fail: "move", moves: []Moved{{Found: 2, Changed: 2}}}
	if n, err := failing.registry().SweepExpired(context.Background()); err == nil || n != 0 {
		t.Error(n, err)
	}
}

// TestActive: pages count from one, hold at most a hundred, and one beyond all numbers does not wrap round.
func TestActive(t *testing.T) {
	for _, c := range []struct {
		page int64
		size int
		want string
	}{
		{1, 20, "page 0 20"},
		{3, 20, "page 40 20"},
		{2, 100, "page 100 100"},
		{2, 101, "page 100 100"},
		{1 << 62, 100, fmt.Sprintf("page %d 100", int64(1<<50)/100*100)},
	} {
		s := &fakeStore{}
		_, err := s.registry().ListActive(context.Background(), "pt_1", c.page, c.size)
		if err != nil || s.asked[0] != c.want {
			t.Errorf("page %d of %d: %v, %v", c.page, c.size, s.asked, err)
		}
	}
	got, err := (&fakeStore{}).registry().FindSubscription(context.Background(), "pt_1", "ouro", "1")
	if err != nil || got.Plan != "ouro" || got.Beneficiary.CPF != "1" {
		t.Error(got, err)
	}
	if id := (Subscription{Seq: 12}).ID(); id != "sub_12" {
		t.Error(id)
	}
}

// table is a source of drafts, which fails at its end when told to.
type table struct {
	drafts []*Draft
	at     int
	end    error
}

func (s *table) Next(d *Draft) (int, []byte, error) {
	if s.at == len(s.drafts) {
		return 0, nil, s.end
	}
	*d = *s.drafts[s.at]
	s.at++
	return s.at + 1, []byte(fmt.Sprint("record ", s.at)), nil // after a line of titles
}

// TestImport: batch by batch; what is there already is known, what is wrong is handed on with its line and
// text.
func TestImport(t *testing.T) {
	ctx := context.Background()
	file := &table{end: io.EOF}
	for n := range firstImport + 2 {
		file.drafts = append(file.drafts, draftOf(n+1, "ouro"))
	}
	file.drafts[1].Name = NewTextField("")
	s := &fakeStore{plans: []plan.Plan{{ID: "ouro"}}, there: []string{fmt.Sprintf("%011d", 1), fmt.Sprintf("%011d", 2)}}
	var rejects []Reject
	var seen []ImportReport
	reject := func(r Reject) error { rejects = append(rejects, r); return nil }
	p := partner.Partner{ID: "pt_1", Mode: partner.Sandbox}
	report, err := s.registry().ImportFile(ctx, p, file, true, reject, func(r ImportReport) { seen = append(seen, r) })
	if want := (ImportReport{Created: firstImport, Known: 1, Rejected: 1}); err != nil || report != want {
		t.Errorf("%+v, %v", report, err)
	}
	first := ImportReport{Created: firstImport - 2, Known: 1, Rejected: 1}
	if len(seen) != 2 || seen[0] != first || seen[1] != report {
		t.Errorf("%+v", seen)
	}
	difftest.Must(t, "how many are refused", len(rejects), 1)
	refused := rejects[0]
	refused.Line, refused.Text = 3, []byte("record 2")
	difftest.Check(t, "the refused record", rejects[0], refused)
	difftest.Check(t, "how many problems it has", len(rejects[0].Problems), 2)
	refuse := func(Reject) error { return errOnPurpose }
	bad := draftOf(1, "ouro")
	bad.Name = NewTextField("")
	for name, c := range map[string]struct {
		fakeStore *fakeStore
		file      *table
	}{
		"file":   {&fakeStore{}, &table{end: errOnPurpose}},
		"begin":  {&fakeStore{fail: "plans"}, &table{end: io.EOF}},
		"keep":   {&fakeStore{fail: "keep"}, &table{end: io.EOF}},
		"reject": {&fakeStore{}, &table{drafts: []*Draft{bad}, end: io.EOF}},
	} {
		_, err := c.fakeStore.registry().ImportFile(ctx, p, c.file, false, refuse, func(ImportReport) {})
		if !errors.Is(err, errOnPurpose) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMoveTable: a line that names nobody is told and stops nothing; a store that fails does.
func TestMoveTable(t *testing.T) {
	ctx := context.Background()
	file := func() *table {
		return &table{drafts: []*Draft{draftOf(1, "ouro"), draftOf(2, ""), draftOf(3, "ouro")}, end: io.EOF}
	}
	s := &fakeStore{moves: []Moved{{Found: 1, Changed: 1}}}
	var lines []int64
	total, err := s.registry().MoveTable(ctx, "pt_1", file(), End, func(n int64, _ MovedTable) { lines = append(lines, n) })
	if err != nil {
		t.Error(err)
	}
	want := total
	want.Found, want.Changed, want.NotFound, want.Lines = 1, 1, 2, []int{3, 4}
	difftest.Check(t, "the total", total, want)
	if !slices.Equal(lines, []int64{1, 2, 3}) {
		t.Error(lines)
	}
	quiet := func(int64, MovedTable) {}
	_, err = (&fakeStore{fail: "move"}).registry().MoveTable(ctx, "pt_1", file(), End, quiet)
	if !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
	_, err = (&fakeStore{}).registry().MoveTable(ctx, "pt_1", &table{end: fault.New(fault.Invalid, "x")}, End, quiet)
	if err == nil {
		t.Error("a file that cannot be read")
	}
}

// TestDays: of São Paulo, and as the contract writes them.
func TestDays(t *testing.T) {
	late := time.Date(2026, 11, 16, 2, 59, 59, 0, time.UTC)
	if DayInBrazil(late).String() != "2026-11-15" || DayInBrazil(late.Add(time.Second)).String() != "2026-11-16" {
		t.Error(DayInBrazil(late))
	}
	if d, ok := ParseDay("0001-01-01"); !ok || d != 1 {
		t.Error(d, ok)
	}
	if Day(0).String() != "" || !Day(0).Time().IsZero() {
		t.Error("no day")
	}
	for text, ok := range map[string]bool{
		"2026-02-28":            true,
		"2026-02-29":            false,
		"2024-02-29":            true,
		"2026-00-01":            false,
		"2026-12-31":            true,
		"2026-13-01":            false,
		"2026-01-00":            false,
		"0000-01-01":            false,
		"2026/01/01":            false,
		"2026-01/01":            false,
		"2026-1-1":              false,
		"":                      false,
		"2026-01-01T00:00:00Z":  true,
		"2026-01-01T00:00:00.5": true,
		"2026-01-01 00:00:00":   false,
		"202a-01-01":            false,
		"2026-0a-01":            false,
		"2026-01-0a":            false,
		"9999-12-31":            true,
	} {
		d, got := ParseDay(text)
		if got != ok || ok && d.String() != text[:10] {
			t.Errorf("%q: %v, %t", text, d, got)
		}
	}
}
