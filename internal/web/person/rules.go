package person

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// Rules are what the pages ask: the partner API's.
type Rules struct {
	Sessions   *cyber.PortalSessions
	Themes     Themes
	Monitoring *cyber.Monitoring
	FirstLooks *cyber.FirstLooks
	Persons    *cyber.Persons
	Cases      *cyber.Cases
	Services   *cyber.Services
	Endpoints  *cyber.Endpoints
	Cover      *cyber.Cover
	Names      Names
	Subjects   Subjects
	Audit      *operator.Trail
}

// Themes knows how partners' pages look.
type Themes interface {
	GetTheme(ctx context.Context, id partner.ID) (partner.Theme, error)
}

// Names knows how people are called whom a partner enrolled.
type Names interface {
	NamesOfUsers(ctx context.Context, id partner.ID, users []partner.UserHash) (map[partner.UserHash]string, error)
}

// Subjects hands out what is held about a person.
type Subjects interface {
	Reference(p subject.Person) string
	ExportPerson(ctx context.Context, p subject.Person) ([]subject.Held, error)
}
