package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// moment is something that happened to a person. Link leads to what it is about, called Name; both may be empty.
type moment struct {
	At         time.Time
	Kind       string
	Icon       string
	IsBad      bool
	Text       string
	Link, Name string
	Detail     string
}

// Kinds of moments, as the address of the page names them.
const (
	momentOfProtection = "protecao"
	momentOfSupport    = "atendimento"
	momentOfAccess     = "acessos"
)

// timeline is what happened to a person, the newest first.
type timeline struct {
	Moments []moment
	// Kinds are what can be left of it; Total counts what is not shown too.
	Kinds []listLink
	Total int
}

// newTimeline joins what happened to a person; only is the kind that is asked for, empty for all.
func (c *Console) newTimeline(
	ctx context.Context, page personPage, looked []subject.Access, only string,
) (timeline, error) {
	accesses, err := c.accessRows(ctx, looked)
	if err != nil {
		return timeline{}, err
	}
	all := slices.Concat(
		findingMoments(page), deviceMoments(page), alertMoments(page), caseMoments(page), accessMoments(accesses),
	)
	slices.SortStableFunc(all, func(a, b moment) int { return b.At.Compare(a.At) })
	var line timeline
	kinds := []listLink{
		{Label: "Tudo"},
		{Label: "Proteção", Path: momentOfProtection},
		{Label: "Atendimento", Path: momentOfSupport},
		{Label: "Acessos", Path: momentOfAccess},
	}
	for _, kind := range kinds {
		kind.Current = kind.Path == only
		kind.Path = page.Path + "?" + url.Values{"linha": {kind.Path}}.Encode() + "#linha"
		line.Kinds = append(line.Kinds, kind)
	}
	if only != "" {
		all = slices.DeleteFunc(all, func(m moment) bool { return m.Kind != only })
	}
	line.Total = len(all)
	line.Moments = all[:min(len(all), newestFirst)]
	return line, nil
}

// findingMoments are the findings of a person, how they ended, and what the person did about them.
func findingMoments(page personPage) (list []moment) {
	for _, f := range page.Findings {
		path := joinPath("findings", page.Partner.ID, f.ID)
		list = append(list, moment{
			At: f.FoundAt, Kind: momentOfProtection, Icon: "warn",
			IsBad: f.Severity == cyber.SeverityCritical || f.Severity == cyber.SeverityHigh,
			Text:  "Ocorrência de gravidade " + strings.ToLower(severityName(f.Severity)) + " em",
			Link:  path, Name: f.Breach.Title,
		})
		ended := moment{At: f.ResolvedAt, Kind: momentOfProtection, Icon: "check", Link: path, Name: f.Breach.Title}
		switch f.State() {
		case cyber.FindingResolved:
			ended.Text, ended.Detail = "Ocorrência resolvida em", resolutionName(f.Resolution)
			list = append(list, ended)
		case cyber.FindingRetracted:
			ended.Text = "Ocorrência retratada em"
			list = append(list, ended)
		default: // it has not ended
		}
		for _, step := range f.Plan.Steps {
			text := ""
			switch step.State {
			case cyber.StepDone:
				text = "Passo concluído: "
			case cyber.StepSkipped:
				text = "Passo deixado de lado: "
			case cyber.StepTodo:
			}
			if text != "" && !step.MarkedAt.IsZero() {
				list = append(list, moment{
					At: step.MarkedAt, Kind: momentOfProtection, Icon: "check",
					Text: text + "“" + step.What(partner.Portuguese) + "”, por causa de",
					Link: path, Name: f.Breach.Title,
				})
			}
		}
	}
	return list
}

func deviceMoments(page personPage) (list []moment) {
	for _, d := range page.Devices {
		name := "Dispositivo " + cmp.Or(systemNames[d.System], string(d.System))
		if !d.ActivatedAt.IsZero() {
			list = append(list, moment{
				At: d.ActivatedAt, Kind: momentOfProtection, Icon: "phone", Text: name + " protegido",
			})
		}
		if !d.EndedAt.IsZero() {
			list = append(list, moment{
				At: d.EndedAt, Kind: momentOfProtection, Icon: "phone", Text: name + ": chave encerrada",
			})
		}
	}
	return list
}

// alertMoments are what the partner was told, and whether it arrived.
func alertMoments(page personPage) (list []moment) {
	for _, e := range page.Events {
		m := moment{
			At: e.At, Kind: momentOfProtection, Icon: "send", Text: "Aviso ao parceiro:",
			Link: joinPath("events", page.Partner.ID, e.ID),
			Name: cmp.Or(eventNames[alert.Type(e.Type)], e.Type),
		}
		arrived, failed := 0, 0
		for _, d := range e.Deliveries {
			switch d.State {
			case "delivered":
				arrived++
			case "failed":
				failed++
			}
		}
		switch {
		case failed > 0:
			m.IsBad, m.Detail = true, "não foi entregue"
		case len(e.Deliveries) == 0:
			m.Detail = "sem destino"
		case arrived == len(e.Deliveries):
			m.Detail = "entregue"
		default:
			m.Detail = "na fila"
		}
		list = append(list, m)
	}
	return list
}

// caseMoments are what was said and done in the cases of a person. Internal notes are left out: the page is also a
// partner's.
func caseMoments(page personPage) (list []moment) {
	names := map[cyber.ServiceID]string{}
	for _, s := range page.Services {
		names[s.ID] = s.Name
	}
	for _, one := range page.Held.Cases {
		path, name := joinPath("cases", one.ID), strconv.FormatInt(one.Short, 10)+", "+names[one.Service]
		for _, move := range one.Moves {
			m := moment{At: move.At, Kind: momentOfSupport, Icon: "board", Link: path, Name: name}
			switch {
			case move.Kind == cyber.MoveStatus && move.From == "":
				m.Text = "Caso aberto:"
			case move.Kind == cyber.MoveStatus && move.From != move.To:
				m.Text = "Caso passou a “" + string(move.To) + "”:"
			case move.Kind == cyber.MoveMessage:
				m.Text = "A pessoa escreveu no caso"
			case move.Kind == cyber.MoveReply:
				m.Text = "Resposta à pessoa no caso"
			default:
				continue
			}
			list = append(list, m)
		}
	}
	return list
}

// accessMoments are who looked at the person.
func accessMoments(rows []auditRow) (list []moment) {
	for _, row := range rows {
		list = append(list, moment{
			At: row.At, Kind: momentOfAccess, Icon: "eye",
			Text: row.Who + " " + describeAction(row.Action), Detail: row.Detail,
		})
	}
	return list
}
