package cyber

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

var errOnPurpose = errors.New("failed on purpose")

// drawer is where a test's watched values go.
type drawer struct {
	MonitoringStore
	kept     []NewAsset
	resolved []Resolution
	salt     error
}

func (d *drawer) InsertAssets(_ context.Context, _ partner.ID, list []NewAsset, most int) ([]AddedAsset, error) {
	if most != MaxAssets {
		return nil, errOnPurpose
	}
	d.kept = append(d.kept, list...)
	return []AddedAsset{{IsNew: true}}, nil
}

func (d *drawer) OpenSalt(context.Context, partner.ID) (string, error) { return "salt", d.salt }

func (d *drawer) ResolveFinding(_ context.Context, _ partner.ID, _ partner.UserHash, _ FindingID, r Resolution) error {
	d.resolved = append(d.resolved, r)
	return nil
}

// oneBreach has seen every value.
type oneBreach struct {
	Unasked
	asked []uint64
}

func (o *oneBreach) ProbeFingerprint(f uint64) Sighting {
	o.asked = append(o.asked, f)
	return Sighting{Epoch: 7, Breaches: []Seen{{Breach: "loja"}}}
}

func newMonitoring() (*Monitoring, *drawer, *oneBreach) {
	d, o := &drawer{}, &oneBreach{}
	print := func(kind byte, normal []byte) uint64 { return uint64(kind)<<32 | uint64(len(normal)) }
	return NewMonitoring(d, d, o, print, func() time.Time { return modelNow }), d, o
}

// madeUpCPF has right check digits.
func madeUpCPF(t *testing.T) string {
	t.Helper()
	for n := range 100 {
		cpf := "1234567" + string(rune('0'+n/10)) + string(rune('0'+n%10))
		for d := range 100 {
			full := cpf + string(rune('0'+d/10)) + string(rune('0'+d%10))
			if _, err := identifier.ParseCPF(full, identifier.Required); err == nil {
				return full
			}
		}
	}
	t.Fatal("no CPF was made")
	return ""
}

// TestWatch: a live value is looked up in the breaches by its fingerprint; a sandbox value never is.
func TestWatch(t *testing.T) {
	ctx := context.Background()
	m, d, o := newMonitoring()
	if _, err := m.AddAsset(
		ctx,
		AssetRequest{
			Owner: Owner{Partner: "pt_1", Mode: partner.Live},
			User:  "u",
			Type:  "email",
			Value: "Ana@Exemplo.com.br",
		},
	); err != nil {
		t.Fatal(err)
	}
	a := d.kept[0]
	want := uint64(identifier.Email)<<32 | uint64(len("ana@exemplo.com.br"))
	difftest.Check(t, "fingerprints that were asked", o.asked, []uint64{want})
	kept := a
	kept.Matched, kept.Fingerprint, kept.Seen.Epoch = true, want, 7
	kept.Normal, kept.Value, kept.Kind = "ana@exemplo.com.br", "Ana@Exemplo.com.br", identifier.Email
	kept.Partner, kept.User, kept.AddedAt = "pt_1", "u", modelNow
	difftest.Check(t, "the value", a, kept)
	difftest.Check(t, "the first breach", a.Seen.Breaches[0].Breach, "loja")
	if !strings.HasPrefix(string(a.ID), "as_") {
		t.Errorf("the id %s", a.ID)
	}
	if _, err := m.AddAsset(
		ctx,
		AssetRequest{Owner: Owner{Mode: partner.Sandbox}, User: "u", Type: "email", Value: "ana@exemplo.com.br"},
	); err != nil {
		t.Fatal(err)
	}
	type met struct {
		matched     bool
		fingerprint uint64
		breaches    int
		asked       int
	}
	a = d.kept[1]
	sandbox := met{a.Matched, a.Fingerprint, len(a.Seen.Breaches), len(o.asked)}
	difftest.Check(t, "a sandbox value met the breaches", sandbox, met{asked: 1})
	for kind, value := range map[string]string{"domain": "exemplo.com.br", "": "x", "name": "Ana", "email": "ana", "cpf": "1"} {
		if _, err := m.AddAsset(ctx, AssetRequest{Owner: Owner{Mode: partner.Live}, User: "u", Type: kind, Value: value}); !errors.Is(err, ErrAssetInvalid) {
			t.Errorf("%s %q: %v", kind, value, err)
		}
	}
	if added, err := m.AddAsset(
		ctx,
		AssetRequest{
			Owner: Owner{Mode: partner.Live},
			User:  "u",
			Group: OperatorAdds,
			Type:  "domain",
			Value: "exemplo.com.br",
		},
	); err != nil ||
		!added.IsNew {
		t.Error("the operator adds domains:", err)
	}
	if _, err := m.AddAsset(
		ctx,
		AssetRequest{
			Owner: Owner{Mode: partner.Sandbox},
			User:  "u",
			Type:  "cpf",
			Value: strings.Repeat("1234567890", 2)[:11],
		},
	); err != nil {
		t.Error("sandbox people need no check digits:", err)
	}
}

// TestSandboxLeaks: the values that the documentation promises a leak for, and no others.
func TestSandboxLeaks(t *testing.T) {
	for kind, values := range map[identifier.Kind][2]string{
		identifier.Email: {"x@vazamento.test", "x@exemplo.com.br"}, identifier.CPF: {"00000000191", "00000000192"},
		identifier.Phone: {"+5511999990000", "+5511999990001"}, identifier.Card: {"4000000000000002", "4000000000000010"},
		identifier.Domain: {"vazamento.test", "exemplo.com.br"}, 99: {"", ""},
	} {
		if leaked := sandboxLeak(kind, values[0]); leaked != (kind != 99) || sandboxLeak(kind, values[1]) {
			t.Errorf("%v: %t", kind, leaked)
		}
	}
}

// TestSandboxTellsOfTheRecord: what people of the sandbox are told stood in the record of the value, and comes to the
// statuses that the documentation promises. Nobody is told of a password who had none.
func TestSandboxTellsOfTheRecord(t *testing.T) {
	whole := Breach{Name: SandboxBreach, Kind: SourceBreach, Exposes: AllExposed()}
	for _, c := range []struct {
		kind, value string
		exposed     []Exposed
		status      Status
	}{
		{"email", "ana@vazamento.test", []Exposed{ExposedEmail, ExposedPassword, ExposedName}, StatusCompromised},
		{"cpf", "000.000.001-91", []Exposed{ExposedCPF, ExposedName, ExposedBirthDate}, StatusCompromised},
		{"phone", "(11) 99999-0000", []Exposed{ExposedPhone, ExposedName}, StatusAlert},
		{"credit_card", "4000 0000 0000 0002", []Exposed{ExposedCard, ExposedName}, StatusCompromised},
		{"pix_key", "00000000-0000-4000-8000-000000000002", []Exposed{ExposedName, ExposedFinancial}, StatusAlert},
		{"cnpj", "VAZAMENTO00103", []Exposed{ExposedName, ExposedOther}, StatusAlert},
		{"domain", "vazamento.test", []Exposed{ExposedEmail, ExposedPassword, ExposedName}, StatusCompromised},
	} {
		m, d, _ := newMonitoring()
		if _, err := m.AddAsset(
			t.Context(),
			AssetRequest{
				Owner: Owner{Mode: partner.Sandbox},
				User:  "u",
				Group: append(slices.Clone(ContractAdds), OperatorAdds...),
				Type:  c.kind,
				Value: c.value,
			},
		); err != nil {
			t.Fatal(err)
		}
		seen := d.kept[0].Seen.Breaches
		if len(seen) != 1 || seen[0].Breach != SandboxBreach {
			t.Fatalf("%s: %+v", c.kind, seen)
		}
		f := Finding{Breach: whole.ForTrace(seen[0].Trace), Trace: seen[0].Trace}
		if f.Basis() != BasisRow || !slices.Equal(f.Breach.Exposes, c.exposed) ||
			ComputeStatus([]Finding{f}) != c.status {
			t.Errorf("%s: %s %v %s", c.kind, f.Basis(), f.Breach.Exposes, ComputeStatus([]Finding{f}))
		}
	}
}

// TestRecognise: a CPF of which the user hash was made, in either digest, makes the person known; another's does not.
func TestRecognise(t *testing.T) {
	ctx, cpf := context.Background(), madeUpCPF(t)
	d256, d512 := partner.PersonDigests(cpf, "salt")
	for user, own := range map[string]bool{
		hex.EncodeToString(d256[1:]): true, hex.EncodeToString(d512[1:]): true, "somebody else": false,
	} {
		m, d, _ := newMonitoring()
		if _, err := m.AddAsset(
			ctx,
			AssetRequest{Owner: Owner{Mode: partner.Live}, User: partner.UserHash(user), Type: "cpf", Value: cpf},
		); err != nil {
			t.Fatal(err)
		}
		if a := d.kept[0]; (a.OwnCPF == cpf) != own || (a.Salt == "salt") != own {
			t.Errorf("%s: %+v", user, a)
		}
	}
	m, d, _ := newMonitoring()
	d.salt = errOnPurpose
	if _, err := m.AddAsset(
		ctx,
		AssetRequest{Owner: Owner{Mode: partner.Live}, User: "u", Type: "cpf", Value: cpf},
	); !errors.Is(err, errOnPurpose) ||
		len(d.kept) != 0 {
		t.Error(err)
	}
}

// TestResolve: only a person's reasons; withdrawing is the service's own.
func TestResolve(t *testing.T) {
	m, d, _ := newMonitoring()
	for reason, ok := range map[string]bool{
		"password_changed": true, "account_closed": true, "card_replaced": true, "not_me": true, "other": true, "retracted": false, "": false,
	} {
		if err := m.ResolveFinding(
			context.Background(),
			"pt_1",
			"u",
			"fd_1",
			reason,
		); ok && err != nil ||
			!ok && !errors.Is(err, ErrResolutionInvalid) {
			t.Errorf("%q: %v", reason, err)
		}
	}
	if len(d.resolved) != 5 {
		t.Error(d.resolved)
	}
}

// watchedPerson is a person's values and enrolment.
type watchedPerson struct {
	*drawer
	assets   []Asset
	enrolled []EnrolledValue
	spent    bool
	fails    error
}

func (p *watchedPerson) AssetsOfUser(context.Context, partner.ID, partner.UserHash) ([]Asset, error) {
	return p.assets, p.fails
}

func (p *watchedPerson) EnrolledValues(context.Context, partner.ID, partner.UserHash) ([]EnrolledValue, error) {
	return p.enrolled, p.fails
}

func (p *watchedPerson) TakeGuesses(
	_ context.Context, _ partner.ID, fingerprints []uint64, limits GuessLimits,
) ([]uint64, error) {
	if p.spent || limits != (GuessLimits{OfPartner: 20, OfAll: 200}) {
		return nil, p.fails
	}
	return fingerprints, p.fails
}

// pairs is a corpus that holds one pair.
type pairs struct {
	*oneBreach
	asked int
}

func (p *pairs) HoldsPair(_ context.Context, prints []uint64, password uint64) (bool, error) {
	p.asked++
	return slices.Contains(prints, 7) && password == 9, nil
}

// TestCheckCredential: a password is known together with a watched value or it is not; the sandbox has one documented
// pair and never asks the corpora. Values that were added lately are asked about only if the enrolment names them.
func TestCheckCredential(t *testing.T) {
	day := modelNow.Add(-24 * time.Hour)
	leaked, safe := Asset{Kind: identifier.Email, Value: "ana@vazamento.test", AddedAt: day}, Asset{Kind: identifier.Email, Value: "ana@exemplo.com.br", AddedAt: day}
	fresh, waiting := leaked, leaked
	fresh.AddedAt, waiting.Waits = day.Add(time.Second), true
	named := []EnrolledValue{{identifier.Phone, "ana@vazamento.test"}, {identifier.Email, "Ana@Vazamento.test"}}
	for name, c := range map[string]struct {
		mode     partner.Mode
		assets   []Asset
		enrolled []EnrolledValue
		spent    bool
		password uint64
		want     bool
		asked    int
		err      error
	}{
		"the pair":                        {partner.Live, []Asset{safe, leaked}, nil, false, 9, true, 1, nil},
		"another password":                {partner.Live, []Asset{safe, leaked}, nil, false, 8, false, 1, nil},
		"nobody who is watched":           {partner.Live, nil, named, false, 9, false, 0, nil},
		"added within a day":              {partner.Live, []Asset{fresh}, nil, false, 9, false, 0, ErrTooNew},
		"named in the enrolment":          {partner.Live, []Asset{fresh}, named, false, 9, true, 1, nil},
		"as a phone":                      {partner.Live, []Asset{fresh}, named[:1], false, 9, false, 0, ErrTooNew},
		"without a first look":            {partner.Live, []Asset{waiting}, named, false, 9, false, 0, ErrTooNew},
		"asked about too often":           {partner.Live, []Asset{leaked}, nil, true, 9, false, 0, ErrGuesses},
		"the sandbox's pair":              {partner.Sandbox, []Asset{safe, fresh}, nil, true, SandboxPassword, true, 0, nil},
		"the sandbox's, another password": {partner.Sandbox, []Asset{leaked}, nil, false, 9, false, 0, nil},
		"the sandbox's, another value":    {partner.Sandbox, []Asset{safe}, nil, false, SandboxPassword, false, 0, nil},
		"no password in its record":       {partner.Sandbox, []Asset{{Kind: identifier.CPF, Value: "00000000191"}}, nil, false, SandboxPassword, false, 0, nil},
		"not a value at all":              {partner.Sandbox, []Asset{{Kind: identifier.Email, Value: "vazamento.test"}}, nil, false, SandboxPassword, false, 0, nil},
	} {
		p, corpus := &watchedPerson{assets: c.assets, enrolled: c.enrolled, spent: c.spent}, &pairs{}
		print := func(_ byte, normal []byte) uint64 { return map[string]uint64{"ana@vazamento.test": 7}[string(normal)] }
		m := NewMonitoring(p, p, corpus, print, func() time.Time { return modelNow })
		if got, err := m.CheckCredential(
			t.Context(),
			Owner{Mode: c.mode},
			"u",
			c.password,
		); !errors.Is(err, c.err) || got != c.want ||
			corpus.asked != c.asked {
			t.Errorf("%s: %t, asked %d times: %v", name, got, corpus.asked, err)
		}
		p.fails = errOnPurpose
		if got, err := m.CheckCredential(
			t.Context(),
			Owner{Mode: c.mode},
			"u",
			0,
		); !errors.Is(err, errOnPurpose) ||
			got {
			t.Errorf("%s: without a database: %t, %v", name, got, err)
		}
	}
}

// TestInvalidValueSaysWhy: what is wrong with a value is said without the value.
func TestInvalidValueSaysWhy(t *testing.T) {
	m, _, _ := newMonitoring()
	_, why := identifier.ParseValue(identifier.CPF, "123", identifier.Required)
	_, err := m.AddAsset(
		t.Context(),
		AssetRequest{Owner: Owner{Mode: partner.Live}, User: "u", Type: "cpf", Value: "123"},
	)
	var f *fault.Error
	if !errors.As(why, &f) || f.Detail() == "" || !errors.Is(err, ErrAssetInvalid) ||
		!strings.Contains(err.Error(), "value: "+f.Detail()) {
		t.Errorf("%v, want it to say %q", err, f.Detail())
	}
	if err := invalidValue(errOnPurpose); !strings.Contains(err.Error(), "value: not valid") {
		t.Error(err)
	}
}
