package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// manifest is what comes with a dump in a folder, and what a list holds.
type manifest struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Date        string   `json:"date"`
	Exposes     []string `json:"exposes"`
	Kind        string   `json:"kind"`
	Source      string   `json:"source"`
	Description string   `json:"description"`
	Verified    bool     `json:"verified"`
	Fabricated  bool     `json:"fabricated"`
	SpamList    bool     `json:"spam_list"`
	NoPairs     bool     `json:"no_pairs"`
	// Files are beside the manifest; URLs are fetched.
	Files []string `json:"files"`
	URLs  []string `json:"urls"`
	// IsVendors means that a vendor wrote it, and not the operator.
	IsVendors bool `json:"is_vendors,omitempty"`
}

// maxManifest bounds the list of files that a folder or bucket feed publishes.
const maxManifest = 4 << 20

// parseBreach returns the breach that a manifest describes.
func (m manifest) parseBreach() (cyber.Breach, error) {
	day, err := leak.ParseBreachDay(m.Date)
	return cyber.Breach{
		Name:           m.Name,
		Title:          m.Title,
		Date:           day,
		Exposes:        leak.ParseExposes(m.Exposes),
		Kind:           cyber.SourceKind(m.Kind),
		Source:         m.Source,
		Description:    m.Description,
		Verified:       m.Verified,
		Fabricated:     m.Fabricated,
		SpamList:       m.SpamList,
		HasVendorWords: m.IsVendors,
	}, err
}

// importItem imports what a manifest describes, unless the feed has taken that item before.
func (fs *Feeds) importItem(ctx context.Context, f *Feed, item string, m manifest, inputs []intake.Input) error {
	if taken, err := fs.Store.IsTaken(ctx, f.Name, item); err != nil || taken {
		return err
	}
	b, err := m.parseBreach()
	if err != nil {
		return err
	}
	if len(inputs) == 0 {
		return intake.ErrInput.With("files", fault.ManifestNamesNone)
	}
	b.Source = cmp.Or(b.Source, sourceOf(*f))
	by, err := f.Settings.parseMapping()
	if err != nil {
		return err
	}
	out, err := fs.Importer.ImportBreach(
		ctx,
		intake.Spec{Breach: b, Inputs: inputs, Mapping: by, NoPairs: m.NoPairs || f.Settings.NoPairs},
	)
	if err != nil && !errors.Is(err, leak.ErrBreachExists) &&
		!errors.Is(err, leak.ErrRetracted) { // those are an operator's decision, not a failure
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	f.State.Items++
	f.State.LeftOut += out.Tally.LeftOut
	f.State.Quarantined += out.Quarantined()
	return fs.Store.MarkTaken(ctx, f.Name, item, b.Name)
}
