package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/corpus/password"
)

// Passwords are the corpora of breached passwords. What takes long is begun as a job.
type Passwords interface {
	ReadStatus() ([]password.Corpus, error)
	Verify(ctx context.Context) error
	// Import replaces a corpus by files.
	Import(ctx context.Context, a password.Algorithm, source string, from Input) error
	// Download fetches what changed at the public range service.
	Download(ctx context.Context, a password.Algorithm) error
}

// passwordsPage is the data of the page about the corpora of leaked passwords.
type passwordsPage struct {
	recentJobs
	Corpora []password.Corpus
}

var algorithmOptions = []choiceOption{{password.SHA1.String(), "SHA-1"}, {password.NTLM.String(), "NTLM"}}

// showPasswords shows the state of each corpus of leaked passwords and the latest jobs on them.
func showPasswords(c *Console, r *request) (answer, error) {
	corpora, err := c.Rules.Passwords.ReadStatus()
	if err != nil {
		return nil, err
	}
	kinds := []string{password.KindImport, password.KindDownload, password.KindVerify}
	jobs, err := c.latestJobs(r.Context(), shownJobs, kinds...)
	return newView("passwords", "Senhas vazadas", passwordsPage{recentJobs{jobs}, corpora}, err)
}

// passwordWork records and begins work on the corpora.
func (c *Console) passwordWork(r *request, action, subject, detail string, begin func() error) (answer, error) {
	return c.recordAndRun(r, action, subject, detail, redirect{"/passwords", "job.started"}, begin)
}

// verifyPasswords starts a job that reads every corpus in full and checks it.
func verifyPasswords(c *Console, r *request) (answer, error) {
	return c.passwordWork(r, "passwords.verify", "", "", func() error { return c.Rules.Passwords.Verify(r.Context()) })
}

// importPasswords starts the import of a corpus.
func importPasswords(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	from, detail := form.readInput()
	a, err := password.ParseAlgorithm(r.trimmedField("algorithm"))
	form.noteFault(err)
	if err := form.err(); err != nil {
		return nil, err
	}
	return c.passwordWork(r, "passwords.import", a.String(), detail, func() error {
		return c.Rules.Passwords.Import(r.Context(), a, r.trimmedField("source"), from)
	})
}

// downloadPasswords starts a job that downloads the public corpus of an algorithm.
func downloadPasswords(c *Console, r *request) (answer, error) {
	a, err := password.ParseAlgorithm(r.trimmedField("algorithm"))
	if err != nil {
		return nil, err
	}
	return c.passwordWork(r, "passwords.download", a.String(), "", func() error {
		return c.Rules.Passwords.Download(r.Context(), a)
	})
}
