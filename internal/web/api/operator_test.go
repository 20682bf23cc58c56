package api

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

// operator is what an operator does between two requests of a transcript, always for the live partner:
//
//	! operator hash ana 52998224725                        makes {ana_256}, {ana_512} and {ana_b64} of a CPF
//	! operator plan basico limit=1000 devices=1 days=30 ends     sets a plan up, or changes it
//	! operator default basico                              covers people without a subscription
//	! operator pool android KEY-1 KEY-2                    loads vendor keys
//	! operator link android https://...                    says where a system's program is installed from
//	! operator question NAME sv_x required Text? A|B       asks before a case is opened; {NAME} is the question's id
//	! operator slot sv_x 2026-12-01T14:00:00Z              puts a time into a calendar
//	! operator case {case} em-andamento                    moves a case
//	! operator end basico 52998224725                      ends a subscription; also suspend and resume
//	! operator chores                                      runs what workers do each minute
//	! operator leak loja 2026-05-01 email,password email=ana@exemplo.com.br     publishes a breach that holds these values
func (tr *transcript) operator(t *testing.T, line string) {
	t.Helper()
	args := strings.Fields(tr.fill(line))
	act, args := args[0], args[1:]
	do := map[string]func(*testing.T, []string) error{
		"hash": tr.hashes, "plan": tr.setPlan, "default": tr.setDefault, "pool": tr.loadPool, "question": tr.ask, "slot": tr.addSlot,
		"case": tr.moveCase, "end": tr.moveSubscription(subscription.End), "suspend": tr.moveSubscription(subscription.Suspend),
		"resume": tr.moveSubscription(subscription.Resume), "chores": tr.chores, "leak": tr.leak, "link": tr.setLink,
	}[act]
	if do == nil {
		t.Fatalf("the operator cannot %q", act)
	}
	if err := do(t, args); err != nil {
		t.Fatalf("operator %s: %v", line, err)
	}
}

func (tr *transcript) hashes(_ *testing.T, args []string) error {
	d256, d512 := partner.PersonDigests(args[1], tr.s.Live.Salt)
	tr.vars[args[0]+"_256"] = hex.EncodeToString(d256[1:])
	tr.vars[args[0]+"_512"] = strings.ToUpper(hex.EncodeToString(d512[1:]))
	tr.vars[args[0]+"_b64"] = base64.RawURLEncoding.EncodeToString(d512[1:])
	secret(args[1], tr.vars[args[0]+"_256"], tr.vars[args[0]+"_512"], tr.vars[args[0]+"_b64"])
	return nil
}

func (tr *transcript) setPlan(t *testing.T, args []string) error {
	ctx, plans := context.Background(), plan.NewCatalogue(tr.s.Store.Plans, tr.s.Clock.Now)
	id := plan.ID(args[0])
	if _, err := plans.GetPlan(ctx, tr.s.Live.ID, id); err != nil {
		tr.s.plan(t, tr.s.Live, args[0])
	}
	_, err := plans.EditPlan(ctx, tr.s.Live.ID, id, func(p *plan.Plan) {
		for _, set := range args[1:] {
			name, value, _ := strings.Cut(set, "=")
			n, _ := strconv.Atoi(value)
			switch name {
			case "limit":
				p.Coverage.Limit, p.Coverage.Plan, p.Coverage.SubLimits = plan.Money(n)*100, "Plano "+args[0], nil
			case "sublimit":
				p.Coverage.SubLimits = []plan.SubLimit{{Name: "Roubo de identidade", Limit: plan.Money(n) * 100}}
			case "waiting":
				p.Coverage.WaitingDays = n
			case "devices":
				p.MaxDevices = n
			case "days":
				p.KeyDays = n
			case "ends":
				p.KeysEndWithSubscription = true
			default:
				t.Fatalf("a plan has no %q", name)
			}
		}
	})
	return err
}

func (tr *transcript) setDefault(_ *testing.T, args []string) error {
	_, err := partner.NewRegistry(tr.s.Store.Partners, tr.s.Clock.Now, nil).UpdatePartner(context.Background(), tr.s.Live.ID, func(p *partner.Partner) {
		p.Settings.DefaultPlan = strings.Join(args, "")
	})
	return err
}

func (tr *transcript) loadPool(_ *testing.T, args []string) error {
	var keys []cyber.VendorKey
	for _, text := range args[1:] { // KEY, or KEY=days after which its vendor ends it
		key, days, _ := strings.Cut(text, "=")
		k := cyber.VendorKey{Key: key}
		if days != "" {
			n, err := strconv.Atoi(days)
			if err != nil {
				return err
			}
			k.Expires = tr.s.Clock.Now().AddDate(0, 0, n)
		}
		keys = append(keys, k)
	}
	_, err := tr.s.Devices.LoadKeyPool(context.Background(), cyber.System(args[0]), keys)
	return err
}

func (tr *transcript) ask(_ *testing.T, args []string) error {
	cases := cyber.NewCases(tr.s.Store.Cases, tr.s.Clock.Now)
	text, options := strings.Join(args[3:], " "), []string(nil)
	if before, after, ok := strings.Cut(text, "? "); ok {
		text, options = before+"?", strings.Split(after, "|")
	}
	q, err := cases.AddQuestion(context.Background(), cyber.ServiceID(args[1]), text, args[2] == "required", options)
	tr.vars[args[0]] = string(q.ID)
	return err
}

func (tr *transcript) addSlot(_ *testing.T, args []string) error {
	at, err := cyber.ParseAppointment("slot", args[1])
	if err != nil {
		return err
	}
	_, err = tr.s.Cases.InsertSlots(
		context.Background(),
		[]cyber.Slot{{ID: cyber.SlotID("sl_" + args[1]), Service: cyber.ServiceID(args[0]), Starts: at}},
	)
	return err
}

func (tr *transcript) moveCase(_ *testing.T, args []string) error {
	to, err := cyber.ParseCaseStatus(args[1])
	if err != nil {
		return err
	}
	_, err = cyber.NewCases(tr.s.Store.Cases, tr.s.Clock.Now).MoveCase(context.Background(), cyber.CaseID(args[0]), to, "bruna", "")
	return err
}

func (tr *transcript) moveSubscription(move subscription.Move) func(*testing.T, []string) error {
	return func(_ *testing.T, args []string) error {
		_, err := subscription.NewRegistry(tr.s.Store.Subscriptions, tr.s.Store.Plans, tr.s.Store.Partners, tr.s.Clock.Now).MoveSubscriptions(context.Background(), tr.s.Live.ID,
			subscription.Selection{Plan: plan.ID(args[0]), CPF: args[1]}, move)
		return err
	}
}

func (tr *transcript) setLink(_ *testing.T, args []string) error {
	return cyber.NewEndpoints(tr.s.Store.Devices, tr.s.Clock.Now, nil).SetInstallLink(context.Background(), cyber.System(args[0]), args[1])
}

func (tr *transcript) chores(*testing.T, []string) error {
	ctx, endpoints := context.Background(), cyber.NewEndpoints(tr.s.Store.Devices, tr.s.Clock.Now, nil)
	if _, err := endpoints.GiveNotices(ctx); err != nil {
		return err
	}
	_, err := endpoints.EndUnsubscribed(ctx)
	return err
}

func (tr *transcript) leak(_ *testing.T, args []string) error {
	ctx := context.Background()
	day, err := time.Parse(time.DateOnly, args[1])
	if err != nil {
		return err
	}
	now := tr.s.Clock.Now()
	err = tr.s.Breaches.InsertBreach(ctx, leak.Record{State: leak.Published, PublishedAt: now, Breach: cyber.Breach{
		Name:     args[0],
		Title:    "Vazamento " + args[0],
		Date:     day,
		Exposes:  leak.ParseExposes(strings.Split(args[2], ",")),
		Kind:     cyber.SourceBreach,
		Verified: true,
		AddedAt:  now,
	}})
	if err != nil {
		return err
	}
	var prints []leak.Probes
	for _, named := range args[3:] {
		name, value, _ := strings.Cut(named, "=")
		kind, err := identifier.ParseKind(name)
		if err != nil {
			return err
		}
		normal, err := identifier.ParseValue(kind, value, identifier.Required)
		if err != nil {
			return err
		}
		prints = append(
			prints,
			leak.Probes{
				Partner:      tr.s.Live.ID,
				Fingerprints: []uint64{tr.s.Keys.Fingerprint(byte(kind), []byte(normal))},
			},
		)
	}
	_, err = tr.s.TellMatched(ctx, args[0], 100, prints...)
	return err
}
