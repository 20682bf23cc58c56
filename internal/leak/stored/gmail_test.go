package stored_test

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const gmail, googlemail = "@gmail" + ".com", "@googlemail" + ".com"

// spelled writes what a person is told of a Gmail mailbox: breach, classes, how it leaked, status.
func (v *env) spelled(user string) string {
	v.T.Helper()
	findings, err := v.Monitoring.ListFindings(v.T.Context(), v.Live.Partner, partner.UserHash(user))
	if err != nil {
		v.T.Fatal(err)
	}
	if len(findings) == 0 {
		return ""
	}
	f := findings[0]
	return f.Breach.Name + " " + strings.Join(f.LeakedAs(), " ") + " " + string(f.Basis())
}

// TestGmailAsOne: a watched Gmail address is found in whatever spelling leaked, which the finding and its alert name
// without a letter, whether it was watched before the import or after; the setting leaves only those spelled alike. At
// other providers dots and tags make another address.
func TestGmailAsOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		watch := func(when string) {
			v.Watch(v.Live, when+" plain", "email", "JoaoSilva"+gmail)
			v.Watch(v.Live, when+" dots", "email", "bia.lima"+gmail)
			v.Watch(v.Live, when+" other", "email", "joao.silva@exemplo.com")
		}
		watch("before")
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach), v.File(
			"a.csv",
			"email,senha\njoao.silva+loja"+googlemail+",segredo1\nj.oaosilva"+gmail+",\nb.ialima"+gmail+",segredo2\njoaosilva@exemplo.com,segredo3\n",
		))
		v.RunJobs()
		v.LoadPublished()
		watch("after")
		for _, when := range []string{"before", "after"} {
			v.WantEqual(when, v.spelled(when+" plain"), "loja ***.***"+gmail+" ***.***+***"+googlemail+" row")
			v.WantEqual(when, v.spelled(when+" dots"), "loja ***.***"+gmail+" row")
			v.WantEqual(when+", another provider", v.spelled(when+" other"), "")
		}
		if got := v.events(); !strings.Contains(got, `"leakedAs":["***.***`+gmail+`","***.***+***`+googlemail+`"]`) {
			t.Error(got)
		}
		e.Clock.Advance(24 * time.Hour) // before that nobody may ask
		sum := sha1.Sum([]byte("segredo1"))
		held, err := v.Monitoring.CheckCredential(
			t.Context(),
			v.Live,
			"before plain",
			binary.BigEndian.Uint64(sum[:])>>24,
		)
		if err != nil || !held {
			t.Errorf("the password beside another spelling is not known: %v", err)
		}
		e.Store.GmailAsOne(false)
		watch("exact")
		v.WantEqual("only its own spelling", v.spelled("exact plain"), "")
		v.WantEqual("spelled alike", v.spelled("exact dots"), "loja ***.***"+gmail+" row")
		v.Import(
			dumptest.MakeBreach("prosa", cyber.SourceBreach, cyber.ExposedEmail),
			v.File("b.txt", "Escreva para joaosilva"+gmail+" amanhã.\n"),
		)
		v.RunJobs()
		v.WantEqual("its own spelling, without a record", v.spelled("exact plain"), "prosa ***"+gmail+" breach")
	})
}

// events are the bodies of all events of the partner.
func (v *env) events() string {
	v.T.Helper()
	rows, err := v.DB.ReadPool().QueryContext(context.Background(), `SELECT id, body FROM event WHERE partner_id = $1 ORDER BY seq`, v.Live.Partner.Number())
	if err != nil {
		v.T.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all []byte
	for rows.Next() {
		var id string
		var sealed []byte
		if err := rows.Scan(&id, &sealed); err != nil {
			v.T.Fatal(err)
		}
		body, err := v.Keys.Unseal(
			seal.Place{Table: "event", Column: "body", Partner: string(v.Live.Partner), Row: id},
			sealed,
		)
		if err != nil {
			v.T.Fatal(err)
		}
		all = append(all, body...)
	}
	if err := rows.Err(); err != nil {
		v.T.Fatal(err)
	}
	return string(all)
}
