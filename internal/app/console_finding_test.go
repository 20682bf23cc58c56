package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestFindingIsExplainedAndRetracted: a finding says where the value was, what stood beside it, since when, and why it is
// so grave; taken back with a reason it is in no list and no status any more, and the trail has the reason.
func TestFindingIsExplainedAndRetracted(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	s.must(t, "POST", s.api+"/subscriptions", s.key, "["+fmt.Sprintf(simItem, s.cpf)+"]")
	s.must(t, "POST", s.api+"/cyber/monitoring", s.key,
		`{"userHash":"`+s.user+`","type":"email","value":"alguem7@exemplo.org"}`)
	_, token, err := a.Operators.CreateOperator(s.ctx, "analisa@exemplo.com.br", operator.Admin)
	s.come(token, err)

	s.wait("/findings?breach="+oldBreach, "Em aberto")
	s.see("1 de 1 nesta página")
	s.press("tbody a.open")
	finding := eval[string](s.browser, "location.pathname")
	for _, said := range []string{
		"está no vazamento Loja Antiga junto com uma senha legível",
		"registro com este dado",
		"vazou em 01/03/2025, encontrado em",
		"nenhum vazamento anterior tinha este dado",
		"o parceiro foi avisado",
		"Há uma senha legível, que pode ser tentada em outras contas",
	} {
		s.see(said)
	}
	if text := eval[string](s.browser, pageText); strings.Contains(text, "alguem7") {
		t.Error("the finding shows the value:", text)
	}
	s.look("finding")
	s.unfold(`form[action$="/resolve"]`)
	s.glance("finding-resolve-open")
	s.visit(finding)
	s.unfold(`form[action$="/retract"]`)
	s.glance("finding-retract-open")

	// Without a reason the browser does not send the form, and neither does the server take it.
	s.tap(`form[action$="/retract"] button`)
	if !eval[bool](s.browser, `document.querySelector('form[action$="/retract"] :invalid') !== null`) {
		t.Error("a retraction without a reason is sent")
	}
	s.fill(`form[action$="/retract"]`, "reason", "registro falso, chamado 12")
	s.press(`form[action$="/retract"] button`)
	s.see("Ocorrência retratada")
	s.look("finding-retracted")
	if eval[bool](s.browser, `document.querySelector('form[action$="/retract"], form[action$="/resolve"]') !== null`) {
		t.Error("a retracted finding can be decided again")
	}
	s.visit("/findings?breach=" + oldBreach)
	s.see("Nenhuma ocorrência")
	if now := s.must(t, "GET", s.api+"/cyber/monitoring/"+s.user, s.key, ""); !strings.Contains(now, `"monitorado"`) {
		t.Error("a retracted finding still counts:", now)
	}
	s.visit("/audit?action=finding.retract")
	s.see("retratou uma ocorrência")
	s.see("registro falso, chamado 12")
	if rows := eval[int](s.browser, `document.querySelectorAll("tbody tr").length`); rows != 1 {
		t.Errorf("the trail has %d lines of the retraction", rows)
	}
}
