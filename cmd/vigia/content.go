package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
)

type contentCmd struct {
	List   contentListCmd   `cmd:"" help:"List the catalogue, most urgent first."`
	Show   contentShowCmd   `cmd:"" help:"Show one item as YAML."`
	Add    contentAddCmd    `cmd:"" help:"Add new items from a YAML file."`
	Edit   contentEditCmd   `cmd:"" help:"Change an item's texts, rank or type."`
	Retire contentRetireCmd `cmd:"" help:"Show an item to nobody any more; --offer undoes it."`
	Reset  contentResetCmd  `cmd:"" help:"Forget the changes of an item: it is as this version of Vigia brings it."`
	Import contentImportCmd `cmd:"" help:"Put the items of a YAML file over those that are there."`
	Export contentExportCmd `cmd:"" help:"Write the whole catalogue as YAML."`
}

type contentView struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Device   string `json:"device"`
	Rank     int    `json:"rank"`
	Title    string `json:"title"`
	Question bool   `json:"question"`
	Retired  bool   `json:"retired"`
}

func viewContent(it cyber.Item) contentView {
	return contentView{string(it.ID), string(it.Type), string(it.Device), it.Rank, it.Title, it.Question != nil, it.Retired}
}

func (o *output) content(it cyber.Item) error {
	return o.print(viewContent(it), func(w io.Writer) { _ = cyber.WriteContent(w, []cyber.Item{it}) })
}

type contentListCmd struct{}

// Help shows examples.
func (contentListCmd) Help() string { return "Example:\n  vigia content list" }

// Run lists the catalogue.
func (contentListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Content.All(ctx)
		if err != nil {
			return err
		}
		t := table[contentView]{heading: "RANK\tITEM\tTYPE\tDEVICE\t\tTITLE"}
		for _, it := range all {
			v := viewContent(it)
			marks := ""
			if v.Question {
				marks = "asks"
			}
			if v.Retired {
				marks = "RETIRED"
			}
			t.add(v, v.Rank, v.ID, v.Type, v.Device, marks, v.Title)
		}
		return t.print(o)
	})
}

type contentShowCmd struct {
	ID string `arg:"" name:"item" help:"The item's id."`
}

// Help shows examples.
func (contentShowCmd) Help() string { return "Example:\n  vigia content show senha-vazada" }

// Run shows an item.
func (s *contentShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		it, err := a.Content.Item(ctx, cyber.ContentID(s.ID))
		if err != nil {
			return err
		}
		return o.content(it)
	})
}

type contentAddCmd struct {
	File string `arg:"" type:"existingfile" help:"YAML, in the form that export writes."`
}

// Help shows examples.
func (contentAddCmd) Help() string {
	return "An item that exists is refused; import puts items over others.\n\nExample:\n  vigia content add novo.yaml"
}

// Run adds items.
func (s *contentAddCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return importContent(ctx, c, o, s.File, true)
}

type contentImportCmd struct {
	File string `arg:"" type:"existingfile" help:"YAML, in the form that export writes."`
}

// Help shows examples.
func (contentImportCmd) Help() string {
	return "All items or none. Items that the file does not name stay.\n\nExample:\n  vigia content export catalogo.yaml\n  vigia content import catalogo.yaml"
}

// Run imports items.
func (s *contentImportCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return importContent(ctx, c, o, s.File, false)
}

func importContent(ctx context.Context, c *config.Common, o *output, path string, fresh bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open content: %w", err)
	}
	items, err := cyber.ReadContent(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.Content.Import(ctx, items, fresh); err != nil {
			return err
		}
		return o.print(map[string]int{"items": len(items)}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%d items kept\n", len(items)) })
	})
}

type contentExportCmd struct {
	File string `arg:"" optional:"" help:"Where to; standard output when left out."`
}

// Help shows examples.
func (contentExportCmd) Help() string { return "Example:\n  vigia content export > catalogo.yaml" }

// Run exports the catalogue.
func (s *contentExportCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Content.All(ctx)
		if err != nil {
			return err
		}
		if s.File == "" {
			return cyber.WriteContent(o.w, all)
		}
		file, err := os.Create(s.File)
		if err != nil {
			return fmt.Errorf("write content: %w", err)
		}
		if err := errors.Join(cyber.WriteContent(file, all), file.Close()); err != nil {
			return err
		}
		return o.print(map[string]int{"items": len(all)}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%d items written\n", len(all)) })
	})
}

type contentEditCmd struct {
	ID     string  `arg:"" name:"item" help:"The item's id."`
	Title  *string `placeholder:"TEXT" help:"New title."`
	Body   *string `placeholder:"TEXT" help:"New text; may hold {vazamento}, {valor} and {data} where the item is about a finding."`
	Rank   *int    `placeholder:"N" help:"Urgency, 1 to 1000; higher comes first."`
	Type   *string `placeholder:"TYPE" help:"alert, advice or tip."`
	Device *string `placeholder:"DEVICE" help:"all, mobile or desktop."`
}

// Help shows examples.
func (contentEditCmd) Help() string {
	return "Conditions and questions are changed through export and import.\n\nExample:\n  vigia content edit wifi-publico --rank 520"
}

// Run edits an item.
func (s *contentEditCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		it, err := a.Content.Edit(ctx, cyber.ContentID(s.ID), func(it *cyber.Item) {
			set(&it.Title, s.Title)
			set(&it.Body, s.Body)
			set(&it.Rank, s.Rank)
			if s.Type != nil {
				it.Type = cyber.ContentType(*s.Type)
			}
			if s.Device != nil {
				it.Device = cyber.DeviceType(*s.Device)
			}
		})
		if err != nil {
			return err
		}
		return o.content(it)
	})
}

type contentRetireCmd struct {
	ID    string `arg:"" name:"item" help:"The item's id."`
	Offer bool   `help:"Offer it again instead."`
}

// Help shows examples.
func (contentRetireCmd) Help() string { return "Example:\n  vigia content retire qr-code" }

// Run retires an item.
func (s *contentRetireCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		it, err := a.Content.Edit(ctx, cyber.ContentID(s.ID), func(it *cyber.Item) { it.Retired = !s.Offer })
		if err != nil {
			return err
		}
		return o.content(it)
	})
}

type contentResetCmd struct {
	ID string `arg:"" name:"item" help:"The item's id."`
}

// Help shows examples.
func (contentResetCmd) Help() string { return "Example:\n  vigia content reset wifi-publico" }

// Run resets an item.
func (s *contentResetCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.Content.Reset(ctx, cyber.ContentID(s.ID)); err != nil {
			return err
		}
		return o.print(map[string]string{"reset": s.ID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "reset", s.ID) })
	})
}
