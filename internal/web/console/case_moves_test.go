package console

import (
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
)

// TestPartnerReadsNoWordsOfTheService: a partner's people read what their own colleagues and the person wrote. Of the
// service they read replies, under its name; an internal note and what was noted with a move are not for them.
func TestPartnerReadsNoWordsOfTheService(t *testing.T) {
	colleague, support := "bia@banco.example", "ana@exemplo.com.br"
	shown := movesForPartner([]cyber.CaseMove{
		{Kind: cyber.MoveStatus, To: cyber.CaseOpen},
		{Kind: cyber.MoveNote, Actor: support, Note: "parece golpe interno"},
		{Kind: cyber.MoveNote, Actor: colleague, Note: "cliente antigo"},
		{
			Kind: cyber.MoveStatus, Actor: support, From: cyber.CaseOpen, To: cyber.CaseInProgress,
			Note: "suspeita do gerente",
		},
		{Kind: cyber.MoveReply, Actor: support, Note: "Pode enviar a mensagem?"},
		{Kind: cyber.MoveMessage, Note: "segue a mensagem"},
	}, []operator.Operator{{Email: colleague}})
	want := []cyber.CaseMove{
		{Kind: cyber.MoveStatus, To: cyber.CaseOpen},
		{Kind: cyber.MoveNote, Actor: colleague, Note: "cliente antigo"},
		{Kind: cyber.MoveStatus, Actor: theService, From: cyber.CaseOpen, To: cyber.CaseInProgress},
		{Kind: cyber.MoveReply, Actor: theService, Note: "Pode enviar a mensagem?"},
		{Kind: cyber.MoveMessage, Note: "segue a mensagem"},
	}
	if len(shown) != len(want) {
		t.Fatalf("%d lines, want %d: %+v", len(shown), len(want), shown)
	}
	for i := range want {
		if shown[i] != want[i] {
			t.Errorf("line %d: %+v, want %+v", i, shown[i], want[i])
		}
	}
}
