package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// ServingProcess is a server that runs on a data folder. Two of them on one embedded database work, but share its one
// writer and each grants a partner the whole rate; usually the second was started by mistake.
type ServingProcess struct {
	// Number is 1 for the first server on the folder; the log lines of all others carry it.
	Number        int       `json:"-"`
	PID           int       `json:"pid"`
	Listen        string    `json:"listen"`
	ConsoleListen string    `json:"console_listen"`
	Since         time.Time `json:"since"`
}

// mostServing bounds the servers that are told apart.
const mostServing = 8

// servingFile is where a server notes itself, locked for as long as it runs.
func servingFile(data string, number int) string {
	return filepath.Join(data, fmt.Sprintf("serving-%d.json", number))
}

// noteServing takes the first free number of the data folder for this server. The note is gone with the process, even
// if that is killed, because its lock is.
func (s *Server) noteServing() (number int, release func() error, err error) {
	for number = 1; number <= mostServing; number++ {
		file, err := os.OpenFile(servingFile(s.app.Config.Data, number), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return 0, nil, fmt.Errorf("note this server: %w", err)
		}
		locked, err := durable.TryLockFile(file)
		if err != nil {
			return 0, nil, errors.Join(fmt.Errorf("note this server: %w", err), file.Close())
		}
		if !locked {
			_ = file.Close() // nothing was written
			continue
		}
		if err := s.writeNote(file); err != nil {
			return 0, nil, errors.Join(fmt.Errorf("note this server: %w", err), file.Close())
		}
		return number, file.Close, nil
	}
	return 0, func() error { return nil }, nil
}

// writeNote writes what doctor shows of this server.
func (s *Server) writeNote(file *os.File) error {
	text, err := json.Marshal(ServingProcess{
		PID:           os.Getpid(),
		Listen:        s.cfg.Listen,
		ConsoleListen: s.cfg.ConsoleListen,
		Since:         s.app.now().UTC(),
	})
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(text, 0)
	return err
}

// ListServing returns the servers that run on a data folder now.
func ListServing(data string) ([]ServingProcess, error) {
	var list []ServingProcess
	for number := 1; number <= mostServing; number++ {
		file, err := os.OpenFile(servingFile(data, number), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		isFree, err := durable.TryLockFile(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		if isFree {
			continue
		}
		found := ServingProcess{Number: number}
		text, err := os.ReadFile(servingFile(data, number))
		if err != nil {
			return nil, err
		}
		if json.Unmarshal(text, &found) != nil {
			continue // it is being written
		}
		list = append(list, found)
	}
	return list, nil
}

// tellApart notes this server and, when others run on the same embedded database, says so and marks its log lines.
func (s *Server) tellApart() (release func() error, err error) {
	if s.app.Engine != sqldb.SQLite {
		return func() error { return nil }, nil
	}
	number, release, err := s.noteServing()
	if err != nil || number == 1 {
		return release, err
	}
	others, err := ListServing(s.app.Config.Data)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	s.log = s.log.With("server", number)
	for _, other := range others {
		if other.PID != os.Getpid() {
			s.log.Warn("another server runs on this data folder; was this one started by mistake?",
				"pid", other.PID, "listen", other.Listen, "console", other.ConsoleListen, "since", other.Since)
		}
	}
	return release, nil
}
