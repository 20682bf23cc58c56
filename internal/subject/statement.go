package subject

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// WriteText writes the statement in plain words, for the person.
func WriteText(w io.Writer, all []Held) error {
	b := bufio.NewWriter(w)
	writeHeld(b, all)
	return b.Flush()
}

// writeHeld writes the statement as a text in Portuguese for the person to read. Empty fields are left out.
func writeHeld(w io.Writer, all []Held) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	sayTitle := func(lines int, title string) {
		if lines > 0 {
			say("\n%s\n", title)
		}
	}
	say("DADOS PESSOAIS TRATADOS PELO SERVIÇO VIGIA\n(Lei 13.709/2018, art. 18, II e art. 19)\n")
	for _, v := range statementOf(all) {
		say("\n== Parceiro: %s ==\n", v.Partner.Name)
		for _, s := range v.Subscriptions {
			say("\nAssinatura do plano %s, de %s%s\n", s.Plan, s.Start, withSince(" até ", s.Expiry))
			for _, line := range [][2]string{
				{"Nome", s.Name},
				{"CPF", s.CPF},
				{"Nascimento", s.BirthDate},
				{"Gênero", s.Gender},
				{"E-mail", s.Email},
				{"Telefone", s.Phone},
				{"Endereço", s.Address},
				{"Cartão principal", s.PrimaryCard},
				{"Cartão do usuário", s.UserCard},
				{"Empresa (CNPJ)", s.Holder},
				{"Referência do parceiro", s.InternalID},
				{"Outros dados do parceiro", s.Metadata},
				{"Cadastrada em", s.CreatedAt},
				{"Suspensa em", s.SuspendedAt},
				{"Encerrada em", s.EndedAt},
			} {
				if line[1] != "" {
					say("  %-26s %s\n", line[0], line[1])
				}
			}
		}
		// What leaked of the person is told from what a breach exposed in general.
		sayTitle(len(v.Watched), "Dados monitorados em vazamentos")
		for _, a := range v.Watched {
			status := a.Status
			if status == statusUnlooked {
				status = statusWords[status]
			}
			say("  %s: %s (%s), desde %s\n", a.Type, a.Value, status, a.AddedAt)
		}
		sayTitle(len(v.Findings), "Vazamentos encontrados")
		for _, f := range v.Findings {
			exposed := "seus dados que estavam ali: "
			if f.Basis == string(cyber.BasisBreach) {
				exposed = "o vazamento expôs: "
			}
			say(
				"  %s em %s (%s); %s%s%s; gravidade %s; encontrado em %s%s\n",
				f.Type,
				f.Title,
				f.Date,
				exposed,
				strings.Join(f.Exposes, ", "),
				withSince("; acessos levados: ", strings.Join(f.Sites, ", "))+withSince(" até ", f.TakenOn),
				f.Severity,
				f.FoundAt,
				withSince("; resolvido: ", f.Resolution),
			)
			for _, st := range f.Steps {
				say("    %s em %s: %s\n", stepWords[st.State], st.At, cmp.Or(st.What, st.Step))
			}
		}
		for _, a := range v.Answers {
			say("\nResposta à pergunta %s: %s, em %s\n", a.Content, a.Value, a.At)
		}
		sayTitle(len(v.Scores), "Pontuação de risco (vazamentos, avaliação), nos dias em que mudou")
		for _, s := range v.Scores {
			say("  %s: %.1f, %.1f\n", s.Day, s.Breach, s.Assessment)
		}
		for _, c := range v.Cases {
			say("\nAtendimento %s (%s): %s, aberto em %s\n", c.ID, c.Service, c.Status, c.OpenedAt)
			for _, text := range append(c.Appointments, c.Answers...) {
				say("  informado: %s\n", text)
			}
			for _, m := range c.History {
				say("  %s: %s%s\n", m.At, m.To, withSince(" - ", m.Note))
			}
		}
		sayTitle(len(v.Devices), "Dispositivos protegidos")
		for _, d := range v.Devices {
			say(
				"  %s (%s), chave %s, de %s até %s%s\n",
				d.Name,
				d.System,
				d.Key,
				d.IssuedAt,
				d.ValidUntil,
				withSince(", encerrada em ", d.EndedAt),
			)
		}
		sayTitle(len(v.Events), "Avisos enviados ao parceiro")
		for _, e := range v.Events {
			say("  %s: %s, %d destinos\n", e.At, e.Type, len(e.Deliveries))
		}
		if v.StoredAnswers > 0 {
			say(
				"\nRespostas a pedidos do parceiro guardadas por até 24 horas que citam a pessoa: %d\n",
				v.StoredAnswers,
			)
		}
		if len(v.Others) > 0 {
			say("\nO CPF também é monitorado em nome de outra pessoa deste parceiro (%d).\n", len(v.Others))
		}
	}
	say("\nA pessoa também pode pedir o registro de quem consultou estes dados.\n")
}

// withSince writes a word with the time since which it holds.
func withSince(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

// stepWords are what the letter calls the states of a step.
var stepWords = map[string]string{string(cyber.StepDone): "feito", string(cyber.StepSkipped): "dispensado"}

// formatTime returns how times are written; the zero time is empty.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
