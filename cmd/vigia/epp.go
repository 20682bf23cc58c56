package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

type eppCmd struct {
	Load    eppLoadCmd    `cmd:"" help:"Put a vendor's keys into the pool of a system."`
	Status  eppStatusCmd  `cmd:"" help:"Where each system's keys come from, and how many are left."`
	Source  eppSourceCmd  `cmd:"" help:"Take a system's keys from its pool or generate them; set when a pool counts as low."`
	Show    eppShowCmd    `cmd:"" help:"Show one issued key by its id, or by the activation key itself."`
	Revoke  eppRevokeCmd  `cmd:"" help:"End a key."`
	Replace eppReplaceCmd `cmd:"" help:"Give a person a key for another device in place of one they have no more."`
	Install eppInstallCmd `cmd:"" help:"Where people install the program of each system from: show, or set one."`
}

type eppLoadCmd struct {
	OS   string `name:"os" required:"" enum:"android,ios,windows,macos" help:"System: android, ios, windows, macos."`
	File string `arg:"" type:"existingfile" help:"One key a line, or a CSV with a column named key and, where keys end, one named expires."`
}

// Help shows examples.
func (eppLoadCmd) Help() string {
	return "Keys that are known already are passed over, so a load that was interrupted is simply repeated. From the first load on\n" +
		"the system's keys come from its pool. A column named expires (2027-12-31, 31/12/2027 or a date-time with its zone) says when the\n" +
		"vendor ends a key: it is never issued after that, and no device is told a later date. Loading known keys again with that column\n" +
		"ends them in time.\n\nExample:\n  vigia epp load --os android chaves.csv"
}

// Run loads a pool.
func (e *eppLoadCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	file, err := os.Open(e.File)
	if err != nil {
		return fmt.Errorf("open key file: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	return withApp(ctx, c, func(a *app.App) error {
		bar := o.progress("load", "keys")
		done, err := a.Endpoints.LoadPool(ctx, cyber.System(e.OS), file, func(l cyber.Loaded) {
			bar.set(int64(l.Read), 0, fmt.Sprintf("%d new", l.New))
		})
		bar.end()
		if err != nil {
			return err
		}
		return o.print(map[string]any{"os": e.OS, "read": done.Read, "new": done.New}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "%d keys read, %d of them new\n", done.Read, done.New)
		})
	})
}

type eppStatusCmd struct{}

type sourceView struct {
	OS     string `json:"os"`
	Source string `json:"source"`
	Free   int64  `json:"free"`
	Taken  int64  `json:"taken"`
	Over   int64  `json:"expired"`
	Mark   int64  `json:"low_mark"`
	Low    bool   `json:"low"`
	Live   int64  `json:"live"`
	Active int64  `json:"active"`
	// Shares are those of partners that have one of their own or took keys.
	Shares []shareView `json:"shares,omitempty"`
}

type shareView struct {
	Partner  string `json:"partner_id"`
	Used     int64  `json:"used"`
	Quota    int64  `json:"quota"`
	Reserved int64  `json:"reserved"`
}

// sharesOf are the shares of one resource.
func sharesOf(all []cyber.Share, of cyber.Resource) (views []shareView) {
	for _, s := range all {
		if s.Resource == of {
			views = append(views, shareView{string(s.Partner), s.Used, s.Quota, s.Reserved})
		}
	}
	return views
}

// String is a line of the table of pools.
func (v shareView) String() string {
	quota := "default"
	if v.Quota > 0 {
		quota = strconv.FormatInt(v.Quota, 10)
	}
	return fmt.Sprintf("%s took %d, quota %s, reserved %d", v.Partner, v.Used, quota, v.Reserved)
}

// Help shows examples.
func (eppStatusCmd) Help() string { return "Example:\n  vigia epp status" }

// Run shows the sources.
func (eppStatusCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		sources, err := a.Endpoints.Sources(ctx)
		if err != nil {
			return err
		}
		shares, err := a.Endpoints.Shares(ctx)
		if err != nil {
			return err
		}
		t := table[sourceView]{heading: "SYSTEM\tSOURCE\tFREE\tTAKEN\tEXPIRED\tLOW BELOW\tLIVE KEYS\tACTIVATED\t"}
		for _, s := range sources {
			v := sourceView{OS: string(s.System), Source: "generated", Free: s.Free, Taken: s.Taken, Over: s.Expired, Mark: s.LowMark, Low: s.Low(), Live: s.Live, Active: s.Active}
			v.Shares = sharesOf(shares, cyber.PoolResource(s.System))
			state := ""
			if s.Pooled {
				v.Source = "pool"
			}
			if s.Low() {
				state = "LOW"
			}
			for _, h := range v.Shares {
				state = strings.TrimPrefix(state+"; "+h.String(), "; ")
			}
			n := func(x int64) string { return strconv.FormatInt(x, 10) }
			t.add(v, v.OS, v.Source, n(v.Free), n(v.Taken), n(v.Over), n(v.Mark), n(v.Live), n(v.Active), state)
		}
		return t.print(o)
	})
}

type eppSourceCmd struct {
	OS    string  `name:"os" required:"" enum:"android,ios,windows,macos" help:"System: android, ios, windows, macos."`
	From  *string `enum:"pool,generated" placeholder:"pool|generated" help:"Where its keys come from."`
	LowAt *int64  `name:"low-below" placeholder:"N" help:"The pool counts as low with fewer free keys."`
	// A pointer: without the flag the setting stays as it is.
	Returns *bool `negatable:"" help:"The vendor lets a revoked key that no device used be issued again."`

	Partner string `placeholder:"PARTNER" help:"Whose share --quota and --reserve set."`
	Quota   *int64 `placeholder:"N" help:"Keys of this pool that the partner may take in all; 0 means half of the pool while there are several live partners."`
	Reserve *int64 `placeholder:"N" help:"Keys of this pool that are kept for the partner, those it took included."`
}

// Help shows examples.
func (eppSourceCmd) Help() string {
	return "Example:\n  vigia epp source --os android --from generated\n  vigia epp source --os ios --low-below 500 --returns\n" +
		"  vigia epp source --os ios --partner pt_... --quota 5000 --reserve 1000"
}

// Run changes a source.
func (e *eppSourceCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if (e.Partner == "") != (e.Quota == nil && e.Reserve == nil) {
		return cyber.ErrShareInvalid.With("--partner goes with --quota or --reserve")
	}
	err := withApp(ctx, c, func(a *app.App) error {
		if e.Partner != "" {
			if err := a.Endpoints.SetShare(ctx, partner.ID(e.Partner), cyber.PoolResource(cyber.System(e.OS)), e.Quota, e.Reserve); err != nil {
				return err
			}
		}
		var pooled *bool
		if e.From != nil {
			is := *e.From == "pool"
			pooled = &is
		}
		return a.Endpoints.SetSource(ctx, cyber.System(e.OS), cyber.SourceChange{Pooled: pooled, LowMark: e.LowAt, Returns: e.Returns})
	})
	if err != nil {
		return err
	}
	return eppStatusCmd{}.Run(ctx, c, o)
}

type deviceView struct {
	ID         string `json:"key_id"`
	Partner    string `json:"partner_id"`
	User       string `json:"user_hash"`
	OS         string `json:"os"`
	Device     string `json:"device"`
	Key        string `json:"epp_key"`
	IssuedAt   string `json:"issued_at"`
	ValidUntil string `json:"valid_until"`
	State      string `json:"state"`
	Activated  string `json:"activated_at"`
	LastSeen   string `json:"last_seen_at"`
	EndedAt    string `json:"ended_at"`
	EndReason  string `json:"end_reason"`
	Plan       string `json:"ends_with_plan"`
}

func (o *output) device(d cyber.Device) error {
	v := deviceView{
		ID: string(d.ID), Partner: string(d.Partner), User: string(d.User), OS: string(d.System), Device: d.Name, Key: d.Key,
		IssuedAt: stamp(d.IssuedAt), ValidUntil: stamp(d.ValidUntil), State: string(d.StateAt(time.Now())), Activated: stamp(d.ActivatedAt), LastSeen: stamp(d.SeenAt), EndedAt: stamp(d.EndedAt), EndReason: string(d.EndReason), Plan: string(d.Plan),
	}
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Key      %s\nPartner  %s\nUser     %s\nDevice   %s (%s)\nEPP key  %s\nIssued   %s\nValid    until %s\n",
			v.ID, v.Partner, v.User, v.Device, v.OS, v.Key, v.IssuedAt, v.ValidUntil)
		if v.Activated != "" {
			_, _ = fmt.Fprintf(w, "Active   since %s, last seen %s\n", v.Activated, v.LastSeen)
		}
		if v.EndedAt != "" {
			_, _ = fmt.Fprintf(w, "Ended    %s (%s)\n", v.EndedAt, v.EndReason)
		}
		if v.Plan != "" {
			_, _ = fmt.Fprintf(w, "Ends     with the last subscription of plan %s\n", v.Plan)
		}
	})
}

type eppShowCmd struct {
	Key string `arg:"" help:"The key's id (ek_...), or the activation key."`
}

// Help shows examples.
func (eppShowCmd) Help() string {
	return "Example:\n  vigia epp show ek_0198c0de-7a00-7000-8000-000000000001\n  vigia epp show K7M2Q-9RTXW-4HNPC-VD3FJ-6YGA8"
}

// Run shows a key.
func (e *eppShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		show := a.Endpoints.Find
		if len(e.Key) > 3 && e.Key[:3] == "ek_" {
			show = func(ctx context.Context, id string) (cyber.Device, error) {
				return a.Endpoints.Show(ctx, cyber.KeyID(id))
			}
		}
		d, err := show(ctx, e.Key)
		if err != nil {
			return err
		}
		return o.device(d)
	})
}

type eppRevokeCmd struct {
	ID string `arg:"" name:"key" help:"The key's id (ek_...)."`
}

// Help shows examples.
func (eppRevokeCmd) Help() string {
	return "Example:\n  vigia epp revoke ek_0198c0de-7a00-7000-8000-000000000001"
}

// Run revokes a key.
func (e *eppRevokeCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		d, err := a.Endpoints.Revoke(ctx, cyber.KeyID(e.ID))
		if err != nil {
			return err
		}
		return o.device(d)
	})
}

type eppReplaceCmd struct {
	ID     string `arg:"" name:"key" help:"The key's id (ek_...)."`
	OS     string `name:"os" required:"" enum:"android,ios,windows,macos" help:"System of the new device: android, ios, windows, macos."`
	Device string `required:"" placeholder:"NAME" help:"Name of the new device."`
}

// Help shows examples.
func (eppReplaceCmd) Help() string {
	return "The old key ends; the new one is valid until the old one would have been. The plan's device limit is not asked.\n\n" +
		"Example:\n  vigia epp replace ek_0198c0de-7a00-7000-8000-000000000001 --os android --device 'Celular novo'"
}

// Run replaces a device.
func (e *eppReplaceCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		d, err := a.Endpoints.Replace(ctx, cyber.KeyID(e.ID), cyber.System(e.OS), e.Device)
		if err != nil {
			return err
		}
		return o.device(d)
	})
}

type eppInstallCmd struct {
	OS   string  `name:"os" enum:"android,ios,windows,macos,linux," default:"" placeholder:"SYSTEM" help:"System whose link is set: android, ios, windows, macos, linux."`
	Link *string `placeholder:"URL" help:"https address; empty takes the link away."`
}

type installView struct {
	OS   string `json:"os"`
	Link string `json:"link"`
}

// Help shows examples.
func (eppInstallCmd) Help() string {
	return "Partners read the links with a key (GET /v1/cyber/epp/{key}) and show them to the person.\n\n" +
		"Example:\n  vigia epp install\n  vigia epp install --os android --link https://play.google.com/store/apps/details?id=com.example.av"
}

// Run sets a link and shows all.
func (e *eppInstallCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if (e.OS == "") != (e.Link == nil) {
		return cyber.ErrDeviceInvalid.With("--os goes with --link")
	}
	return withApp(ctx, c, func(a *app.App) error {
		if e.Link != nil {
			if err := a.Endpoints.SetInstallLink(ctx, cyber.System(e.OS), *e.Link); err != nil {
				return err
			}
		}
		links, err := a.Endpoints.InstallLinks(ctx)
		if err != nil {
			return err
		}
		t := table[installView]{heading: "SYSTEM\tLINK"}
		for _, s := range cyber.InstallSystems() {
			t.add(installView{string(s), links[s]}, string(s), links[s])
		}
		return t.print(o)
	})
}
