package console

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Saved is what operators keep for themselves: filters under names, and files that lists were written into.
type Saved interface {
	KeepFilter(ctx context.Context, f operator.KeptFilter) error
	KeptFilters(ctx context.Context, owner operator.ID) ([]operator.KeptFilter, error)
	DropFilter(ctx context.Context, owner operator.ID, id string) error
	BeginExport(ctx context.Context, e operator.Export) error
	// AddExportPart appends to a file; lines counts all so far, and done says that this was the last part.
	AddExportPart(ctx context.Context, id string, number, lines int64, body []byte, done bool) error
	ListExports(ctx context.Context, owner operator.ID) ([]operator.Export, error)
	GetExport(ctx context.Context, owner operator.ID, id string) (operator.Export, error)
	ExportPart(ctx context.Context, id string, number int64) ([]byte, error)
	DropExport(ctx context.Context, owner operator.ID, id string) error
}

// Work begins what outlives a page, as a job in this process; busy is answered while the same is under way.
type Work func(
	ctx context.Context,
	kind, subject string,
	busy error,
	do func(ctx context.Context, tell func(progress any)) (result any, err error),
) error

// Kinds of jobs.
const (
	KindExport = "list.export"
	KindBulk   = "list.bulk"
)

// errPerson means that a list cannot be narrowed to one person by what was typed.
var errPerson = fault.New(fault.Invalid, "list.person")

const (
	// atOnce is how many lines a job reads at a time, partBytes how large a part of a file becomes.
	atOnce    = 500
	partBytes = 512 << 10
)

// listWork is how far an export or a bulk action is.
type listWork struct {
	Lines, Refused int64
}

// exportList begins to write a list into a file.
func exportList(c *Console, r *request) (answer, error) {
	l, f, err := c.sentFilter(r)
	if err != nil {
		return nil, err
	}
	if f.valueOfName("owner") == ownerMe {
		f.values.Set("owner", r.who.Email)
	}
	format := operator.CSV
	if r.trimmedField("format") == string(operator.JSON) {
		format = operator.JSON
	}
	e := c.newExport(r, l.name, "", format)
	err = c.changeWithAudit(r, "list.export", func(ctx context.Context, in *Rules) (string, string, error) {
		return e.ID, l.name + " " + f.values.Encode(), in.Saved.BeginExport(ctx, e)
	})
	if err != nil {
		return nil, err
	}
	err = c.Begin(r.Context(), KindExport, e.ID, errForm, func(ctx context.Context, tell func(any)) (any, error) {
		return c.writeList(ctx, l, f, e, tell)
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/exports", "export.started"}, nil
}

// newExport returns a file that belongs to the operator of the request.
func (c *Console) newExport(r *request, list, about string, format operator.Format) operator.Export {
	return operator.Export{
		ID: "ex_" + uuid.Must(uuid.NewV7()).String(), Operator: r.who.ID, List: list, About: about, Format: format,
		CreatedAt: c.Now(), Until: c.Now().Add(operator.ExportLife),
	}
}

// writeList reads a list to its end and keeps it in sealed parts.
func (c *Console) writeList(
	ctx context.Context, l *listing, f filter, e operator.Export, tell func(any),
) (done listWork, err error) {
	header, _ := l.head(f).exported()
	out := listWriter{format: e.Format, header: header}
	file := sealedFile{ctx: ctx, saved: c.Rules.Saved, Export: e, begun: true}
	end := ""
	if e.Format == operator.JSON {
		out.appendText("[")
		end = "\n]\n"
	} else {
		out.writeRow(header)
	}
	for row, err := range l.rows(ctx, &c.Rules, f) {
		if err != nil {
			return done, err
		}
		_, texts := row.exported()
		out.writeLine(texts)
		done.Lines++
		file.Lines = done.Lines
		if _, err := out.WriteTo(&file); err != nil {
			return done, err
		}
		tell(done)
		if done.Lines == operator.MaxExport {
			break
		}
	}
	out.appendText(end)
	if _, err := out.WriteTo(&file); err != nil {
		return done, err
	}
	return done, file.finishFile(done.Lines)
}

func showExports(c *Console, r *request) (answer, error) {
	list, err := c.Rules.Saved.ListExports(r.Context(), r.who.ID)
	if err != nil {
		return nil, err
	}
	// A file that was sent to be checked was not asked for.
	list = slices.DeleteFunc(list, func(e operator.Export) bool { return e.List == checkedFile })
	return view{"exports", "Exportações", list}, nil
}

// fileTitle returns what a file holds, in words.
func fileTitle(list string) string {
	if at := slices.IndexFunc(listings, func(l *listing) bool { return l.name == list }); at >= 0 {
		return listings[at].title
	}
	return strings.Replace(list, rejectedFile, "Assinaturas recusadas", 1)
}

// downloadExport sends an exported file to the operator who requested it, and records the download in the audit trail.
func downloadExport(c *Console, r *request) (answer, error) {
	e, err := c.Rules.Saved.GetExport(r.Context(), r.who.ID, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if e.List == checkedFile {
		return nil, operator.ErrNoExport
	}
	if err := c.recordAction(r, "list.download", e.ID, e.List+": "+strconv.FormatInt(e.Lines, 10)); err != nil {
		return nil, err
	}
	kind, ending := "text/csv; charset=utf-8", string(e.Format)
	switch {
	case e.Format == operator.JSON && e.List == rejectedFile:
		kind, ending = "application/jsonl", "jsonl"
	case e.Format == operator.JSON:
		kind = "application/json"
	}
	name := e.List + "-" + e.CreatedAt.In(brazil).Format("2006-01-02-1504") + "." + ending
	return download{name, kind, &sealedReader{ctx: r.Context(), saved: c.Rules.Saved, file: e}}, nil
}
