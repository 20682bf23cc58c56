package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

// answersPage is the data of the page of ready answers, which operators insert into messages of cases.
type answersPage struct {
	Answers []cyber.ReadyAnswer
	// Title and Text are the answer that is being changed.
	Title, Text string
}

// showAnswers lists the answers that operators keep ready.
func showAnswers(c *Console, r *request) (answer, error) {
	list, err := c.Rules.Cases.ReadyAnswers(r.Context())
	if err != nil {
		return nil, err
	}
	page := answersPage{Answers: list, Title: r.trimmedField("title"), Text: r.trimmedField("text")}
	for _, a := range list {
		if a.Title == r.URL.Query().Get("edit") {
			page.Title, page.Text = a.Title, a.Text
		}
	}
	return view{"answers", "Respostas prontas", page}, nil
}

// saveAnswer stores a ready answer under its title; one with the same title is replaced.
func saveAnswer(c *Console, r *request) (answer, error) {
	a := cyber.ReadyAnswer{Title: r.trimmedField("title"), Text: r.trimmedField("text")}
	next := redirect{"/answers", "answer.saved"}
	return c.changeAndRedirect(r, "answer.save", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return a.Title, "", in.Cases.SaveReadyAnswer(ctx, a)
	})
}

// deleteAnswer removes a ready answer. It is found by its title.
func deleteAnswer(c *Console, r *request) (answer, error) {
	title := r.trimmedField("title")
	next := redirect{"/answers", "answer.deleted"}
	return c.changeAndRedirect(r, "answer.delete", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return title, "", in.Cases.DeleteReadyAnswer(ctx, title)
	})
}
