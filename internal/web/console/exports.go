package console

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
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
type Work func(ctx context.Context, kind, subject string, busy error, do func(ctx context.Context, tell func(progress any)) (result any, err error)) error

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

// sentFilter reads the filter that a form sends along, as the page had it.
func (c *Console) sentFilter(r *request, l *listing) filter {
	q, err := url.ParseQuery(r.PostFormValue("query"))
	if err != nil {
		r.keepFailure(errForm.With("query", fault.Unreadable))
	}
	id := partner.ID(q.Get("partner"))
	if id == "" && c.confined {
		id = r.scope.at.ID
	}
	f := c.parseFilterQuery(r, l, q, id, c.visiblePartners(r))
	f.After = ""
	return f
}

// exportList begins to write a list into a file.
func exportList(c *Console, r *request) (answer, error) {
	l := listNamed(r)
	f := c.sentFilter(r, l)
	if f.valueOfName("owner") == ownerMe {
		f.values.Set("owner", r.who.Email)
	}
	format := operator.CSV
	if r.trimmedField("format") == string(operator.JSON) {
		format = operator.JSON
	}
	e := c.newExport(r, l.name, "", format)
	c.changeWithAudit(r, "list.export", func(ctx context.Context, in *Rules) (string, string, error) {
		return e.ID, l.name + " " + f.encodeQuery(), in.Saved.BeginExport(ctx, e)
	})
	if r.failure != nil {
		return nil, r.failure
	}
	err := c.Begin(r.Context(), KindExport, e.ID, errForm, func(ctx context.Context, tell func(any)) (any, error) {
		return c.writeList(ctx, l, f, e, tell)
	})
	return redirect{"/exports", "export.started"}, err
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
	ctx context.Context,
	l *listing,
	f filter,
	e operator.Export,
	tell func(any),
) (listWork, error) {
	var done listWork
	out, file := listWriter{format: e.Format, header: l.header}, sealedFile{ctx: ctx, saved: c.Rules.Saved, Export: e, begun: true}
	end := ""
	if e.Format == operator.JSON {
		out.appendText("[")
		end = "\n]\n"
	} else {
		out.writeRow(l.header)
	}
	for more := true; more; {
		lines, next, err := l.read(ctx, &c.Rules, f, atOnce)
		if err != nil {
			return done, err
		}
		for _, line := range lines {
			out.writeLine(line.cells)
		}
		done.Lines += int64(len(lines))
		f.After, more = next, next != "" && done.Lines < operator.MaxExport
		if !more {
			out.appendText(end)
		}
		file.Lines = done.Lines
		if _, err := file.Write(out.Bytes()); err != nil {
			return done, err
		}
		out.Reset()
		tell(done)
	}
	return done, file.finishFile(done.Lines)
}

// listWriter writes lines as a table for spreadsheets or as JSON.
type listWriter struct {
	bytes.Buffer
	format operator.Format
	header []string
	lines  int
}

// appendText writes to the buffer, which takes everything.
func (w *listWriter) appendText(text string) { _, _ = w.WriteString(text) }

// writeRow writes a line of a table; nothing in it is taken for a formula.
func (w *listWriter) writeRow(cells []string) {
	out := csv.NewWriter(&w.Buffer)
	out.Comma = ';'
	_ = out.Write(mapList(cells, plainCell)) // a buffer takes everything
	out.Flush()
}

// writeLine writes a line as it is.
func (w *listWriter) writeLine(cells []string) {
	if w.format != operator.JSON {
		w.writeRow(cells)
		return
	}
	mark := ",\n{"
	if w.lines++; w.lines == 1 {
		mark = "\n{"
	}
	for i, cell := range cells {
		name, _ := json.Marshal(w.header[i]) // texts can always be written
		value, _ := json.Marshal(cell)
		w.appendText(mark + string(name) + ":" + string(value))
		mark = ","
	}
	w.appendText("}")
}

// showExports lists one's own files.
func showExports(c *Console, r *request) (answer, error) {
	list := callRuleWith(r, c.Rules.Saved.ListExports, r.who.ID)
	return view{"exports", "Exportações", slices.DeleteFunc(list, func(e operator.Export) bool { return e.List == checkedFile })}, nil // that was sent, not asked for
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
	e := callRuleWith2(r, c.Rules.Saved.GetExport, r.who.ID, r.PathValue("id"))
	if e.List == checkedFile {
		r.keepFailure(operator.ErrNoExport)
	}
	c.recordAction(r, "list.download", e.ID, e.List+": "+strconv.FormatInt(e.Lines, 10))
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

// keepFilter keeps the filter of a list under a name.
func keepFilter(c *Console, r *request) (answer, error) {
	l := listNamed(r)
	f := c.sentFilter(r, l)
	name := r.trimmedField("name")
	if n := utf8.RuneCountInString(name); n < 1 || n > 60 || strings.ContainsAny(name, "\r\n\t") {
		return nil, operator.ErrFilter.With("name", fault.Length, 60)
	}
	id := uuid.Must(uuid.NewV7())
	return c.changeAndRedirect(
		r,
		"filter.keep",
		redirect{"/" + l.name + "?" + f.encodeQuery(), "filter.kept"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return l.name, "", in.Saved.KeepFilter(
				ctx,
				operator.KeptFilter{
					Operator: r.who.ID,
					ID:       "fl_" + id.String(),
					List:     l.name,
					Name:     name,
					Query:    f.encodeQuery(),
				},
			)
		},
	)
}

// dropFilter removes one of one's own.
func dropFilter(c *Console, r *request) (answer, error) {
	l := listNamed(r)
	return c.changeAndRedirect(
		r,
		"filter.drop",
		redirect{"/" + l.name, "filter.dropped"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return l.name, "", in.Saved.DropFilter(ctx, r.who.ID, r.PathValue("filter"))
		},
	)
}

// Files beside the lists. Both hold personal data as an operator uploaded it: they are sealed, readable by that operator
// only, and deleted after a day.
const (
	// checkedFile was sent to be checked, and waits to be created.
	checkedFile = "subscriptions.checked"
	// rejectedFile holds the records that were refused.
	rejectedFile = "assinaturas-recusadas"
)

// sealedFile writes a file in sealed parts; it is begun by its first byte.
type sealedFile struct {
	ctx   context.Context // of the one request that writes it
	saved Saved
	operator.Export
	begun bool
	held  bytes.Buffer
}

// newSealedFile returns a file that belongs to the operator of the request.
func (c *Console) newSealedFile(r *request, list, about string, format operator.Format) *sealedFile {
	return &sealedFile{ctx: r.Context(), saved: c.Rules.Saved, Export: c.newExport(r, list, about, format)}
}

// Write adds to the file.
func (f *sealedFile) Write(text []byte) (int, error) {
	if !f.begun {
		if err := f.saved.BeginExport(f.ctx, f.Export); err != nil {
			return 0, err
		}
		f.begun = true
	}
	_, _ = f.held.Write(text) // a buffer takes everything
	if f.held.Len() >= partBytes {
		return len(text), f.keepPart(false)
	}
	return len(text), nil
}

// keepPart seals and keeps what was written since.
func (f *sealedFile) keepPart(done bool) error {
	f.Parts++
	err := f.saved.AddExportPart(f.ctx, f.ID, f.Parts, f.Lines, f.held.Bytes(), done)
	f.held.Reset()
	return err
}

// finishFile says how many lines it has, if anything was written.
func (f *sealedFile) finishFile(lines int64) error {
	if f.Lines = lines; !f.begun {
		return nil
	}
	return f.keepPart(true)
}

// sealedReader reads a file part by part.
type sealedReader struct {
	ctx   context.Context // as above
	saved Saved
	file  operator.Export
	part  int64
	left  bytes.Reader
}

// Read reads on.
func (s *sealedReader) Read(p []byte) (int, error) {
	for s.left.Len() == 0 {
		if s.part == s.file.Parts {
			return 0, io.EOF
		}
		s.part++
		body, err := s.saved.ExportPart(s.ctx, s.file.ID, s.part)
		if err != nil {
			return 0, err
		}
		s.left.Reset(body)
	}
	return s.left.Read(p)
}
