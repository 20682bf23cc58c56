package store_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// growing are the tables that have rows for each person, each event or each thing that somebody does.
var growing = strings.Fields(
	`subscription person person_name asset asset_history finding finding_step event delivery attempt epp_key
		support_case case_move
	audit score_day content_answer idempotency job operator_export_part tally`,
)

// askedByPages is every way in which the store is asked for a page of the console, a partner's people's or a person's
// own.
func askedByPages(ctx context.Context, in store.Tx, w *lives) map[string]func() error {
	id, user, now := w.partner.ID, w.people[0].user, w.Clock.Now()
	from, to := now.Add(-time.Hour), now.Add(time.Hour)
	everybody := []partner.ID{id}
	asked := map[string]func() error{
		"person": func() error {
			_, err := in.Subjects.ReadHeldRows(ctx, w.partner, subject.Person{User: user, Partner: id})
			return err
		},
		"copy": func() error { _, err := in.Subjects.Held(ctx, w.partner, w.people[0].who()); return err },
		"who looked": func() error {
			_, err := in.Subjects.AccessesOf(
				ctx,
				[]subject.Held{{Partner: w.partner}},
				subject.Person{User: user, Partner: id},
			)
			return err
		},
		"search, CPF": func() error { _, err := in.Subjects.PersonsOfCPF(ctx, everybody, w.people[0].cpf); return err },
		"search, value": func() error {
			_, err := in.Subjects.PersonsOfValue(ctx, everybody, identifier.Email, "n@exemplo.com.br")
			return err
		},
		"search, user": func() error { _, err := in.Subjects.PersonsOfUser(ctx, everybody, user); return err },
		"search, company": func() error {
			_, err := in.Subjects.SubscriptionsOfHolder(ctx, everybody, "11222333000181")
			return err
		},
		"events, report": func() error {
			_, err := in.Alerts.EventReport(ctx, id, alert.ReportOf{From: from, To: to, Most: 1, Show: 1})
			return err
		},
		"endings": func() error { _, err := in.Cases.EndingCases(ctx, now, 10); return err },
		"desk": func() error {
			_, err := in.Cases.WaitingCases(ctx, cyber.LaneFilter{}, "op_1", now, to)
			return err
		},
		"cover": func() error { _, err := in.Cover.LoadEntitled(ctx, id, user); return err },
		"score": func() error { _, err := in.Advice.ReadPosture(ctx, id, user, true); return err },
		"plans": func() error { _, err := in.Monitoring.FindingsOfUser(ctx, id, user); return err },
		"person's name": func() error {
			_, err := in.Subjects.FindUserByReference(
				ctx,
				id,
				in.Subjects.PersonReference(subject.Person{User: user, Partner: id}),
			)
			return err
		},
		"steps":   func() error { _, err := in.Monitoring.ListStepMarks(ctx, id, user); return err },
		"cases":   func() error { _, err := in.Cases.ListPersonCases(ctx, id, user, 10); return err },
		"figures": func() error { _, err := in.Overview.LastFigures(ctx); return err },
		"days": func() error {
			_, err := in.Overview.FiguresByDay(ctx, string(id), 7, operator.FindingsOfDay)
			return err
		},
		"parts":    func() error { _, err := in.Overview.FiguresByPart(ctx, operator.FindingsOfDay, 7); return err },
		"endpoint": func() error { _, err := in.Alerts.EndpointHealth(ctx, id, "x"); return err },
		"jobs":     func() error { _, err := in.Jobs.ListJobs(ctx, "k", 10); return err },
	}
	for _, kind := range []subject.HitKind{subject.HitCase, subject.HitEvent, subject.HitDevice, subject.HitEndpoint} {
		asked["search, "+string(kind)] = func() error {
			_, err := in.Subjects.FindByID(ctx, everybody, kind, "x")
			return err
		}
	}
	askedByLists(ctx, in, w, asked)
	return asked
}

// askedByLists adds the lists, narrowed in each way.
func askedByLists(ctx context.Context, in store.Tx, w *lives, asked map[string]func() error) {
	id, user, now := w.partner.ID, w.people[0].user, w.Clock.Now()
	from, to := now.Add(-time.Hour), now.Add(time.Hour)
	mark := cyber.Mark{At: now, ID: "x"}
	for name, f := range map[string]cyber.FindingFilter{
		"":                 {},
		"partner":          {Partner: id},
		"person":           {Partner: id, User: user},
		"open":             {State: cyber.FindingOpen},
		"breach":           {Breach: "sandbox"},
		"period":           {From: from, To: to},
		"partner's period": {Partner: id, From: from, To: to, OldestFirst: true},
		"next":             {Partner: id, Before: mark},
	} {
		asked["findings "+name] = func() error {
			f.Limit = 10
			_, _, err := in.Overview.FindingList(ctx, f)
			return err
		}
	}
	for name, f := range map[string]cyber.AssetFilter{
		"":        {Status: "alerta"},
		"partner": {Status: "alerta", Partner: id},
		"watched": {Status: "monitorado", Partner: id},
		"person":  {Status: "alerta", Partner: id, User: user},
		"period":  {Status: "alerta", From: from, To: to, Before: mark},
	} {
		asked["values "+name] = func() error { f.Limit = 10; _, _, err := in.Overview.ListAssets(ctx, f); return err }
	}
	for name, f := range map[string]cyber.DeviceFilter{
		"":       {},
		"person": {User: user},
		"period": {From: from, To: to, Before: mark},
	} {
		asked["devices "+name] = func() error {
			f.Limit = 10
			_, _, err := in.Overview.DeviceList(ctx, id, f)
			return err
		}
	}
	for name, f := range map[string]alert.EventFilter{
		"":       {},
		"person": {User: user},
		"period": {From: from, To: to, After: 1},
		"oldest": {OldestFirst: true, After: 1},
	} {
		asked["events "+name] = func() error {
			f.Limit = 10
			_, _, err := in.Overview.ListEvents(ctx, id, f)
			return err
		}
	}
	for _, state := range []alert.DeliveryState{alert.Pending, alert.Held, alert.Delivered, alert.DeliveryFailed} {
		for name, f := range map[string]alert.DeliveryFilter{
			"":        {},
			"partner": {Partner: id},
			"person":  {Partner: id, User: user},
		} {
			asked[fmt.Sprint("deliveries ", state, name)] = func() error {
				f.Limit, f.State = 10, state
				_, _, err := in.Overview.DeliveryList(ctx, f)
				return err
			}
		}
	}
	for _, state := range []subscription.ListState{
		subscription.ListRunning,
		subscription.ListSuspended,
		subscription.ListEnded,
	} {
		for name, f := range map[string]subscription.ListFilter{
			"":       {},
			"next":   {After: 10, NewestFirst: true},
			"person": {User: user},
		} {
			asked[fmt.Sprint("subscriptions ", state, name)] = func() error {
				f.Limit, f.State = 10, state
				_, _, err := in.Overview.SubscriptionList(ctx, id, f)
				return err
			}
		}
	}
	for _, status := range []cyber.CaseStatus{cyber.CaseOpen, cyber.CaseResolved} {
		for name, f := range map[string]cyber.LaneFilter{
			"":        {},
			"partner": {Partner: id},
			"person":  {Partner: id, User: user},
			"service": {Service: "sv_ajuda_phishing"},
			"owner":   {Assignee: "op_1"},
			"period":  {From: from, To: to, Order: cyber.LaneNewest},
		} {
			asked[fmt.Sprint("lane ", status, name)] = func() error {
				f.Limit, f.Status = 10, status
				_, err := in.Cases.ListLane(ctx, f)
				return err
			}
		}
	}
	for name, f := range map[string]operator.Filter{
		"":        {},
		"actor":   {Actor: "op_1"},
		"action":  {Action: "login"},
		"subject": {Subject: "x"},
		"partner": {Partner: id},
	} {
		asked["audit "+name] = func() error { f.Limit = 10; _, err := in.Audit.ListLines(ctx, f); return err }
	}
}

var (
	planStep = regexp.MustCompile(
		`^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?INDEX \w+)?(?: USING INTEGER PRIMARY KEY)?(?: \((.*)\))?`,
	)
	// ofSomebody is a condition that leaves little of a partner's, so that whoever looks for it in all of them finds no
	// first few.
	ofSomebody = regexp.MustCompile(`\b(user_index|person|cpf|user_512|user_256|value_index|holder) (=|IN) `)
)

// TestPagesReadByIndex: no page asks anything for which the engine would read all rows of a table that grows, or all of
// a partner's or of a breach's unless it stops at the first few of them. That holds before the planner has statistics,
// too.
func TestPagesReadByIndex(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newLives(t, storetest.Open(t, sqldb.SQLite), 150)
	for _, statement := range []string{
		`DELETE FROM person_name`, // no operator has looked one of them up yet
		`UPDATE subscription SET ended_at = created_at WHERE seq % 5 = 0`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
			INSERT INTO breach (name, title, day, source, description, exposes, kind, verified, fabricated, spam_list,
			state, segment, digest, tally,
			added_at, published_at, retracted_at) SELECT 'b' || i, '', 0, '', '', '', 'breach', TRUE, FALSE, FALSE,
			'published', '', '', '{}', 1, 1, 0 FROM n`,
		`UPDATE finding SET breach = 'b' || (rowid % 30 + 1)`,
	} {
		if err := storetest.Write(ctx, w.Env, statement); err != nil {
			t.Fatal(err)
		}
	}
	ctx, usedStatements := traceStatements(t)
	err := w.Store.InTransaction(ctx, func(in store.Tx) error {
		for name, ask := range askedByPages(ctx, in, w) {
			if err := ask(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.DeleteFunc(usedStatements(), func(text string) bool {
		return !strings.HasPrefix(strings.TrimSpace(text), "SELECT")
	})
	if len(texts) < 40 {
		t.Fatalf("only %d statements were seen", len(texts))
	}
	expectIndexes(t, w.Env, texts)
}

// traceStatements returns a context whose statements are traced, and what returns their texts, each once.
func traceStatements(t *testing.T) (context.Context, func() []string) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	ctx, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test").Start(t.Context(), t.Name())
	t.Cleanup(func() { span.End() })
	return ctx, func() []string {
		all := map[string]bool{}
		for _, one := range spans.Ended() {
			for _, a := range one.Attributes() {
				if a.Key == "db.query.text" {
					all[a.Value.AsString()] = true
				}
			}
		}
		return slices.Sorted(maps.Keys(all))
	}
}

// expectIndexes fails when a statement reads too much of a table, whether the planner has statistics or not.
func expectIndexes(t *testing.T, e *storetest.Env, texts []string) {
	t.Helper()
	judge := func(when string) {
		for _, text := range texts {
			steps := planned(t, e.DB, text)
			sorted := slices.Contains(steps, "USE TEMP B-TREE FOR ORDER BY")
			for _, step := range steps {
				if why := readsTooMuch(text, step, sorted); why != "" {
					t.Errorf("%s: %s\n\t%s", when, why, strings.Join(strings.Fields(text), " "))
				}
			}
		}
	}
	if err := storetest.Write(t.Context(), e, `DELETE FROM sqlite_stat1; ANALYZE sqlite_schema`); err != nil {
		t.Fatal(err)
	}
	judge("without statistics, as in the minutes after a bulk load")
	if err := e.DB.UpdateStatistics(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	judge("with statistics")
}

// TestBulksReadByIndex: neither a list of values nor an enrolment that watches, nor what ends its watch, nor a match
// reads all that a partner has. They did, and became slower with each person.
func TestBulksReadByIndex(t *testing.T) {
	t.Parallel()
	w := newLives(t, storetest.Open(t, sqldb.SQLite), 150)
	ctx, usedStatements := traceStatements(t)
	id := w.partner.ID
	sold := plan.Plan{ID: "p", Name: "P", Coverage: plan.DemoCoverage(), Watch: plan.NewWatch(plan.WatchedKinds...)}
	if err := w.Store.Plans.InsertPlan(ctx, id, sold); err != nil {
		t.Fatal(err)
	}
	subs := make([]*subscription.Subscription, 20)
	for i := range subs {
		subs[i] = person(7000+i, "p", "", 0)
		subs[i].Watch = sold.Watch
	}
	if there := enrolAll(t, w.Env, id, subs...); len(there) != 0 {
		t.Fatal(there)
	}
	// As many as one round of statements takes: told of a few values, a planner looks them up whatever it knows.
	var list []cyber.NewAsset
	match := leak.Probes{Partner: id}
	for i := range 250 {
		match.Fingerprints = append(match.Fingerprints, uint64(i+1))
		list = append(list, cyber.NewAsset{
			Matched: true, Fingerprint: match.Fingerprints[i],
			Asset: cyber.Asset{
				ID:      cyber.AssetID(fmt.Sprintf("as_list%d", i)),
				Partner: id,
				User:    partner.UserHash(fmt.Sprintf("%064x", i)),
				Kind:    identifier.Email,
				Value:   "lista@exemplo.com.br",
				Source:  cyber.AddedByItself,
				AddedAt: w.Clock.Now(),
			},
			Normal: "lista@exemplo.com.br",
		})
	}
	if _, err := w.Store.Monitoring.InsertAssets(ctx, id, list, 100); err != nil {
		t.Fatal(err)
	}
	told, err := w.TellMatched(ctx, cyber.SandboxBreach, 300, match)
	if err != nil || !slices.Equal(told, []int{250}) {
		t.Fatal(told, err)
	}
	for _, sub := range subs[:10] {
		which := subscription.Selection{Plan: sub.Plan, CPF: sub.Beneficiary.CPF}
		edit := func(s *subscription.Subscription) error {
			s.Beneficiary.Email = "novo@exemplo.com.br"
			return nil
		}
		if _, err := w.Store.Subscriptions.EditSubscription(ctx, id, which, edit); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Store.Subscriptions.MoveSubscriptions(ctx, id, which, subscription.End, 0, 10); err != nil {
			t.Fatal(err)
		}
	}
	texts := slices.DeleteFunc(usedStatements(), func(text string) bool {
		return strings.HasPrefix(strings.TrimSpace(text), "INSERT")
	})
	if len(texts) < 15 {
		t.Fatalf("only %d statements were seen", len(texts))
	}
	expectIndexes(t, w.Env, texts)
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// countParameters returns how many parameters a statement has.
func countParameters(statement string) (count int) {
	for _, match := range parameter.FindAllStringSubmatch(statement, -1) {
		n, _ := strconv.Atoi(match[1])
		count = max(count, n)
	}
	return count
}

// planned is how SQLite runs a statement.
func planned(t *testing.T, db *sqldb.DB, text string) (steps []string) {
	t.Helper()
	ctx := context.Background()
	err := db.InTransaction(ctx, func(tx *sqldb.Tx) error { // the writer's connection has the newest statistics
		rows, err := tx.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, countParameters(text))...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // only read
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			steps = append(steps, detail)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(text, err)
	}
	return steps
}

// readsTooMuch judges a step of a plan. The first few of many are few, unless all of them are sorted before or most do
// not fit.
func readsTooMuch(text, step string, sorted bool) string {
	m := planStep.FindStringSubmatch(step)
	if m == nil {
		return ""
	}
	table := ""
	for _, name := range growing {
		if m[2] == name || regexp.MustCompile(`\b`+name+`\s+(?:AS\s+)?`+m[2]+`\b`).MatchString(text) {
			table = name
		}
	}
	few := strings.Contains(text, "LIMIT") && !sorted && !ofSomebody.MatchString(text)
	switch {
	case table == "":
		return ""
	case m[1] == "SCAN" && !few:
		return "reads all of " + table + ": " + step
	case m[1] == "SEARCH" && (m[3] == "partner_id=?" || m[3] == "partner_id=? AND fingerprint>?") && !few:
		return "reads all that a partner has of " + table + ": " + step
	case m[1] == "SEARCH" && m[3] == "breach=?" && !few:
		return "reads all findings of a breach: " + step
	}
	return ""
}
