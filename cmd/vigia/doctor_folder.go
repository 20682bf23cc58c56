package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vigiahq/vigia/internal/app"
)

// checkFolder looks at the data folder and at what others may do with it.
func (p *checkup) checkFolder() {
	const area = "data folder"
	info, err := os.Stat(p.common.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.reportWarning(
			area,
			p.common.Data+" does not exist yet",
			"the first start makes it; if you expected data there, check --data and the folder you are in",
		)
		return
	case err != nil:
		p.reportProblem(area, oneLineReason(err), "let the service's user read it")
		return
	case !info.IsDir():
		p.reportProblem(area, p.common.Data+" is not a folder", "name another one with --data")
		return
	}
	if err := app.RefuseRestoring(p.common.Data); err != nil {
		p.reportProblem(area, oneLineReason(err), "run the same vigia restore again")
	}
	if runtime.GOOS == "windows" {
		p.reportWarning(
			area,
			"Windows has no modes: Vigia cannot see who may read "+p.common.Data,
			"let its access list name the service's user and nobody else",
		)
	} else if open := info.Mode().Perm() & 0o077; open != 0 {
		p.reportWarning(
			area,
			fmt.Sprintf("others can look into %s (mode %04o)", p.common.Data, info.Mode().Perm()),
			"chmod 700 "+p.common.Data,
		)
		return
	}
	probe, err := os.CreateTemp(p.common.Data, ".doctor-*")
	if err != nil {
		p.reportProblem(
			area,
			"nothing can be written into "+p.common.Data+": "+oneLineReason(err),
			"let the service's user write there, or run doctor as that user",
		)
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	p.reportOK(area, "%s, private and writable", p.common.Data)
}

// Less room than this and the next large import, or the database's log, may fill the disk.
const (
	scarce    = 5 << 30
	tooLittle = 500 << 20
)

// checkDisk looks at the space that is left.
func (p *checkup) checkDisk() {
	path := p.common.Data
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			break
		}
		path = filepath.Dir(path)
	}
	free, err := app.FreeSpace(path)
	text := fmt.Sprintf("%.1f GB free", float64(free)/1e9)
	switch {
	case err != nil:
		p.reportWarning("disk", "free space cannot be told: "+oneLineReason(err), "")
	case free < tooLittle:
		p.reportProblem("disk", text, "make room: a full disk stops every write")
	case free < scarce:
		p.reportWarning("disk", text, "enough to serve, not to import a large dump")
	default:
		p.reportOK("disk", "%s", text)
	}
}

// checkServing names the servers that run on the data folder, of which there should be one.
func (p *checkup) checkServing() {
	const area = "servers"
	list, err := app.ListServing(p.common.Data)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	for _, s := range list {
		text := fmt.Sprintf("number %d on this data folder: process %d, %s and %s, since %s",
			s.Number, s.PID, s.Listen, s.ConsoleListen, formatTime(s.Since))
		if len(list) == 1 {
			p.reportOK(area, "%s", text)
		} else {
			p.reportWarning(area, text, "run one server on an embedded database; for several use PostgreSQL")
		}
	}
}
