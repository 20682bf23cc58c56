package console

import (
	"context"
	"io"

	"github.com/vigiahq/vigia/internal/password"
)

// Passwords are the corpora of breached passwords. What takes long is begun as a job.
type Passwords interface {
	ReadStatus() ([]password.Corpus, error)
	Verify(ctx context.Context) error
	// Import replaces a corpus by files behind paths of the server, Upload by a file that is kept for the time of its
	// import.
	Import(ctx context.Context, a password.Algorithm, source string, paths []string) error
	Upload(ctx context.Context, a password.Algorithm, source, name string, file io.Reader) error
	// Download fetches what changed at the public range service.
	Download(ctx context.Context, a password.Algorithm) error
}

// passwordsPage is the data of the page about the corpora of leaked passwords.
type passwordsPage struct {
	recentJobs
	Corpora    []password.Corpus
	Algorithms []choiceOption
}

var algorithmOptions = []choiceOption{{password.SHA1.String(), "SHA-1"}, {password.NTLM.String(), "NTLM"}}

// shownJobs is how many jobs a page about something else lists.
const shownJobs = 8

// showPasswords shows the state of each corpus of leaked passwords and the latest jobs on them.
func showPasswords(c *Console, r *request) (answer, error) {
	corpora, err := c.Rules.Passwords.ReadStatus()
	if err != nil {
		return nil, err
	}
	jobs, err := c.latestJobs(r, password.KindImport, password.KindDownload, password.KindVerify)
	if err != nil {
		return nil, err
	}
	page := passwordsPage{recentJobs{jobs[:min(len(jobs), shownJobs)]}, corpora, algorithmOptions}
	return view{"passwords", "Senhas vazadas", page}, nil
}

// passwordWork records and begins work on the corpora.
func (c *Console) passwordWork(r *request, action, subject, detail string, begin func() error) (answer, error) {
	if err := c.recordAction(r, action, subject, detail); err != nil {
		return nil, err
	}
	err := begin()
	return redirect{"/passwords", "job.started"}, err
}

// verifyPasswords starts a job that reads every corpus in full and checks it.
func verifyPasswords(c *Console, r *request) (answer, error) {
	return c.passwordWork(r, "passwords.verify", "", "", func() error { return c.Rules.Passwords.Verify(r.Context()) })
}

// importPasswords starts the import of a corpus from files on the server.
func importPasswords(c *Console, r *request) (answer, error) {
	a, err := password.ParseAlgorithm(r.trimmedField("algorithm"))
	if err != nil {
		return nil, err
	}
	return c.passwordWork(r, "passwords.import", a.String(), r.trimmedField("paths"), func() error {
		return c.Rules.Passwords.Import(r.Context(), a, r.trimmedField("source"), splitLines(r.trimmedField("paths")))
	})
}

// uploadPasswords starts the import of a corpus from an uploaded file, which is streamed and never held in memory.
func uploadPasswords(c *Console, r *request) (answer, error) {
	file, err := fieldsAndFile(r)
	if err != nil {
		return nil, err
	}
	a, err := password.ParseAlgorithm(r.PostForm.Get("algorithm"))
	if err != nil {
		return nil, err
	}
	return c.passwordWork(r, "passwords.import", a.String(), "upload", func() error {
		return c.Rules.Passwords.Upload(r.Context(), a, r.PostForm.Get("source"), file.FileName(), file)
	})
}

// downloadPasswords starts a job that downloads the public corpus of an algorithm.
func downloadPasswords(c *Console, r *request) (answer, error) {
	a, err := password.ParseAlgorithm(r.trimmedField("algorithm"))
	if err != nil {
		return nil, err
	}
	return c.passwordWork(r, "passwords.download", a.String(), "", func() error { return c.Rules.Passwords.Download(r.Context(), a) })
}
