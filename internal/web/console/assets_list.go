package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
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

var assetsList = listing{
	name: "monitoring", title: "Dados monitorados", persons: true, role: operator.Viewer, portal: look,
	fields: []listField{partnerField, assetStates, kindField, fromField, toField, sortField},
	header: []string{"tipo", "valor", "situação", "parceiro", "desde", "id"},
	read: linesOf(filter.readAssets, func(_ filter, partners map[partner.ID]string, a cyber.Asset) listLine {
		return listLine{string(a.Partner) + "/" + string(a.ID), []string{
			kindWords[a.Kind],
			identifier.MaskValue(a.Kind, a.Value),
			assetStatusWord(a),
			partners[a.Partner],
			formatStamp(a.AddedAt),
			string(a.ID),
		}}
	}),
}

// assetStatusWord returns the status of a watched value in an export: one that was not looked for is not clean.
func assetStatusWord(a cyber.Asset) string {
	if a.IsUnlooked() {
		return "ainda não verificado"
	}
	return string(a.Status)
}

// assetStatus returns the status of the watched values that are asked for.
func (f filter) assetStatus() cyber.Status {
	status := f.valueOr("status", string(cyber.StatusCompromised))
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
