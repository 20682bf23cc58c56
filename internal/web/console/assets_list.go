package console

import (
	"cmp"
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

var assetStates = listField{Name: "status", Label: "Situação", Options: []choiceOption{
	{string(cyber.StatusCompromised), "Comprometidos"},
	{string(cyber.StatusAlert), "Em alerta"},
	{string(cyber.StatusMonitored), "Sem ocorrências"},
	{everyStatus, "Todos"},
	{notSearched, "Sem busca retroativa"},
}}

// notSearched is the word in an address for watched values that wait for their first look into past breaches.
const notSearched = "esperando"

// everyStatus is the word in an address for watched values in whatever status.
const everyStatus = "todos"

var assetsList = listOf(listing{
	name:    "monitoring",
	title:   "Dados monitorados",
	persons: true,
	access:  everyone,
	fields:  []listField{partnerField, assetStates, kindField, fromField, toField, sortField},
	gather:  (*Console).gatherAssets,
}, filter.readAssets, rowOfAsset)

// rowOfAsset has no columns of the page, which shows some values in clear and asks for a reason beside the others.
func rowOfAsset(a cyber.Asset, f filter) listRow {
	status := string(a.Status)
	if a.IsUnlooked() { // one that was not looked for is not clean
		status = "ainda não verificado"
	}
	return listRow{Cells: []listCell{
		exportCell("tipo", kindWords[a.Kind]),
		exportCell("valor", identifier.MaskValue(a.Kind, a.Value)),
		exportCell("situação", status),
		exportCell("parceiro", f.partners[a.Partner]),
		stampCell("desde", a.AddedAt),
		exportCell("id", string(a.ID)),
	}}
}

// assetStatus returns the status of the watched values that are asked for.
func (f filter) assetStatus() cyber.Status {
	status := cmp.Or(f.valueOfName("status"), string(cyber.StatusCompromised))
	if status == everyStatus || status == notSearched {
		return ""
	}
	return cyber.Status(status)
}

// readAssets returns a page of watched values.
func (f filter) readAssets(ctx context.Context, in *Rules, limit int) ([]cyber.Asset, string, error) {
	list, next, err := in.Review.ListAssets(ctx, cyber.AssetFilter{
		Status:      f.assetStatus(),
		Partner:     f.Partner,
		LiveOnly:    f.isOfLivePartners(),
		WaitsOnly:   f.valueOfName("status") == notSearched,
		User:        f.user,
		Kind:        f.valueOfName("kind"),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		Before:      f.parseMark(),
		Limit:       limit,
	})
	return list, formatMark(next), err
}
