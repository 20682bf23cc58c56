package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// keyEvents are what a partner was told of its keys, one line each: type, reason, and whether it names a person and a
// key that took the place.
func keyEvents(t *testing.T, e *storetest.Env, id partner.ID) (lines []string) {
	t.Helper()
	found, err := e.Alerts.EventsAfter(context.Background(), id, alert.Everything, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range found.Events {
		var body struct {
			Type string
			Data struct{ UserHash, KeyID, Reason, MovedTo string }
		}
		if err := json.Unmarshal(one.Body, &body); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(body.Type, "epp.") {
			continue
		}
		lines = append(
			lines,
			strings.TrimSpace(
				fmt.Sprintf("%s %s user=%t moved=%t", strings.TrimPrefix(body.Type, "epp.key_"), body.Data.Reason,
					body.Data.UserHash != "", body.Data.MovedTo != ""),
			),
		)
	}
	return lines
}

// TestKeyLife: a key is activated once however often its device reports, moved, revoked and over; each is told once,
// and nobody does it to another partner's key.
func TestKeyLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		q, _ := e.NewPartner(t, partner.Live)
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		d, err := endpoints.IssueKey(ctx, p.ID, phone("u1", "Celular"))
		if err != nil || d.KeyStateAt(e.Clock.Now()) != cyber.KeyIssued {
			t.Fatal(d, err)
		}
		protected := func(user partner.UserHash) bool {
			t.Helper()
			posture, err := e.Advice.ReadPosture(ctx, p.ID, user, false)
			if err != nil {
				t.Fatal(err)
			}
			return len(posture.Devices) > 0
		}
		if !protected("u1") {
			t.Error("where no device reports, a live key does not protect")
		}
		if _, err := endpoints.IssueKey(ctx, p.ID, phone("u2", "Outro celular")); err != nil {
			t.Fatal(err)
		}
		for _, named := range []string{d.Key, string(d.ID)} {
			_, own := endpoints.FindOwnDevice(ctx, q.ID, named)
			_, report := endpoints.ReportProtected(ctx, q.ID, named)
			_, revoke := endpoints.RevokeOwnDevice(ctx, q.ID, named)
			_, move := endpoints.MoveOwnDevice(ctx, q.ID, named, phone("u1", "Outro"))
			for _, err := range []error{own, report, revoke, move} {
				if !errors.Is(err, cyber.ErrDeviceUnknown) {
					t.Error("another partner's key:", err)
				}
			}
		}
		if _, err := e.Devices.EndOwnKey(ctx, q.ID, d.ID, cyber.EndRevoked); !errors.Is(err, cyber.ErrDeviceUnknown) {
			t.Error("another partner ended a key:", err)
		}

		start := e.Clock.Now()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := endpoints.ReportProtected(ctx, p.ID, d.Key); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if !protected("u1") || protected("u2") {
			t.Error("where devices report, only activated keys protect:", protected("u1"), protected("u2"))
		}
		for _, step := range []struct{ advance, seen time.Duration }{
			{9 * time.Minute, 0},
			{time.Minute, 10 * time.Minute},
		} {
			e.Clock.Advance(step.advance)
			got, err := endpoints.ReportProtected(ctx, p.ID, string(d.ID))
			if err != nil || !got.ActivatedAt.Equal(start) || !got.SeenAt.Equal(start.Add(step.seen)) {
				t.Errorf("seen %v after the first report, want %v: %v", got.SeenAt.Sub(start), step.seen, err)
			}
		}
		if posture, err := e.Advice.ReadPosture(ctx, p.ID, "u1", false); err != nil || len(posture.Devices) != 1 {
			t.Error("an activated key protects nothing:", posture, err)
		}
		if sources, err := endpoints.ListSources(ctx); err != nil || sources[0].Live != 2 || sources[0].Active != 1 {
			t.Errorf("%+v %v", sources[0], err)
		}

		next, err := endpoints.MoveOwnDevice(ctx, p.ID, d.Key, phone("", "Celular novo"))
		if err != nil {
			t.Fatal(err)
		}
		moved := next
		moved.User, moved.ValidUntil = "u1", d.ValidUntil
		difftest.Must(t, "a key that was moved", next, moved)
		difftest.Must(t, "its state", next.KeyStateAt(e.Clock.Now()), cyber.KeyIssued)
		if _, err := endpoints.ReportProtected(ctx, p.ID, d.Key); !errors.Is(err, cyber.ErrDeviceEnded) {
			t.Error("a key that was moved is activated:", err)
		}
		for range 2 {
			if ended, err := endpoints.RevokeOwnDevice(
				ctx,
				p.ID,
				string(next.ID),
			); err != nil ||
				ended.EndReason != cyber.EndRevoked {
				t.Error(ended, err)
			}
		}
		// Over by their time: one is found by a worker, one by the next request of its person.
		for _, user := range []string{"u1", "u2"} {
			if _, err := endpoints.IssueKey(ctx, p.ID, phone(user, "Celular")); err != nil {
				t.Fatal(err)
			}
		}
		e.Clock.Advance(366 * day)
		if _, err := endpoints.IssueKey(ctx, p.ID, phone("u2", "Celular")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := endpoints.GiveNotices(ctx); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"activated  user=true moved=false",
			"ended moved user=true moved=true",
			"ended revoked user=true moved=false",
			"ended expired user=true moved=false",
			"ended expired user=true moved=false",
			"ended expired user=true moved=false",
		}
		if got := keyEvents(t, e, p.ID); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got := keyEvents(t, e, q.ID); len(got) != 0 {
			t.Error("another partner was told:", got)
		}
	})
}

// TestErasedKeys: whoever installed the keys of somebody who was erased hears of their end, by the key alone.
func TestErasedKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		before := len(keyEvents(t, e, w.partner.ID))
		live, err := e.Devices.ListDevices(ctx, w.partner.ID, w.people[0].user)
		if err != nil || len(live) == 0 {
			t.Fatal(live, err)
		}
		_, _, err = e.Subjects.EraseRows(ctx, subject.Held{Partner: w.partner}, w.people[0].who(), "pedido da pessoa",
			func(operator.Ledger, subject.Erased, subject.Tombstone) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		got := keyEvents(t, e, w.partner.ID)
		if len(got) != len(live) {
			t.Fatalf("%d events after the erasure of %d keys, %d before: %v", len(got), len(live), before, got)
		}
		for _, line := range got {
			if line != "ended erased user=false moved=false" {
				t.Error(line)
			}
		}
	})
}

// TestInstallLinks: one for each system, changed and taken away.
func TestInstallLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		for _, set := range []struct {
			system cyber.System
			link   string
		}{
			{cyber.Linux, "https://a.example/linux"},
			{cyber.IOS, "https://a.example/1"},
			{cyber.IOS, "https://a.example/2"},
			{cyber.Linux, ""},
		} {
			if err := endpoints.SetInstallLink(ctx, set.system, set.link); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := endpoints.InstallLinks(ctx); err != nil || len(got) != 1 ||
			got[cyber.IOS] != "https://a.example/2" {
			t.Error(got, err)
		}
	})
}

// TestErasedKeysEndOnce: a key that was revoked or is past its time has ended; the erasure of its person ends it no
// second time.
func TestErasedKeysEndOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		for name, end := range map[string]func(w *lives, d cyber.Device) error{
			"revoked": func(w *lives, d cyber.Device) error {
				_, err := e.Devices.EndOwnKey(ctx, w.partner.ID, d.ID, cyber.EndRevoked)
				return err
			},
			"past its time": func(_ *lives, d cyber.Device) error {
				e.Clock.Advance(d.ValidUntil.Sub(e.Clock.Now()))
				return nil
			},
		} {
			w := newLives(t, e, 1)
			live, err := e.Devices.ListDevices(ctx, w.partner.ID, w.people[0].user)
			if err != nil || len(live) != 1 {
				t.Fatal(live, err)
			}
			if err := end(w, live[0]); err != nil {
				t.Fatal(err)
			}
			_, _, err = e.Subjects.EraseRows(
				ctx,
				subject.Held{Partner: w.partner},
				w.people[0].who(),
				"pedido da pessoa",
				func(operator.Ledger, subject.Erased, subject.Tombstone) error { return nil },
			)
			if err != nil {
				t.Fatal(err)
			}
			if got := keyEvents(t, e, w.partner.ID); len(got) != 0 {
				t.Errorf("%s: told again at the erasure: %v", name, got)
			}
		}
	})
}

// TestUsedKeyIsNotIssuedAgain: a vendor's key that is revoked goes back to the pool unless a device was activated with
// it.
func TestUsedKeyIsNotIssuedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		if _, err := e.Devices.LoadKeyPool(ctx, cyber.Android, []cyber.VendorKey{{Key: "VENDOR-1"}}); err != nil {
			t.Fatal(err)
		}
		returns := true
		if err := endpoints.UpdateSource(ctx, cyber.Android, cyber.SourceChange{Returns: &returns}); err != nil {
			t.Fatal(err)
		}
		issue := func(user string) (cyber.Device, error) {
			return endpoints.IssueKey(ctx, p.ID, phone(user, "Celular"))
		}
		revoke := func(d cyber.Device) {
			t.Helper()
			if _, err := e.Devices.EndOwnKey(ctx, p.ID, d.ID, cyber.EndRevoked); err != nil {
				t.Fatal(err)
			}
		}
		unused, err := issue("u1")
		if err != nil {
			t.Fatal(err)
		}
		revoke(unused)
		used, err := issue("u2")
		if err != nil || used.Key != unused.Key {
			t.Fatal("a key that no device used is not issued again:", err)
		}
		_, err = e.Devices.NoteReport(ctx, p.ID, used.ID, func(d cyber.Device, now time.Time) (cyber.Device, bool) {
			d.ActivatedAt, d.SeenAt = now, now
			return d, true
		})
		if err != nil {
			t.Fatal(err)
		}
		revoke(used)
		if again, err := issue("u3"); !errors.Is(err, cyber.ErrPoolEmpty) {
			t.Errorf("a key that a device used is issued again: %q, %v", again.Key, err)
		}
	})
}

// TestOnlyRevokedKeyReturns: a vendor's key that ended for another reason than being revoked stays out of the pool, used
// or not: it has run out, or the person's protection moved or ended with it.
func TestOnlyRevokedKeyReturns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		reasons := []cyber.EndReason{cyber.EndExpired, cyber.EndMoved, cyber.EndSubscription}
		for i := range reasons {
			keys := []cyber.VendorKey{{Key: fmt.Sprint("VENDOR-", i)}}
			if _, err := e.Devices.LoadKeyPool(ctx, cyber.Android, keys); err != nil {
				t.Fatal(err)
			}
		}
		returns := true
		if err := endpoints.UpdateSource(ctx, cyber.Android, cyber.SourceChange{Returns: &returns}); err != nil {
			t.Fatal(err)
		}
		for i, reason := range reasons {
			d, err := endpoints.IssueKey(ctx, p.ID, phone(fmt.Sprint("u", i), "Celular"))
			if err != nil {
				t.Fatal(reason, err)
			}
			if _, err := e.Devices.EndOwnKey(ctx, p.ID, d.ID, reason); err != nil {
				t.Fatal(reason, err)
			}
		}
		if again, err := endpoints.IssueKey(ctx, p.ID, phone("u9", "Celular")); !errors.Is(err, cyber.ErrPoolEmpty) {
			t.Errorf("a key that was not revoked is issued again: %q, %v", again.Key, err)
		}
	})
}
