package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

// installLink is where the program of a system is installed from.
type installLink struct {
	system cyber.System
	link   string
}

// installColumns are those that scanInstall expects, in its order.
const installColumns = `system, link, mac`

// scanInstall reads an install link and checks its MAC: people follow the link and run what it downloads.
func (c core) scanInstall(row scanner, into *checked[installLink]) error {
	l := &into.value
	err := row.Scan(
		&l.system,
		&l.link,
		c.checksMAC(&into.forged, "epp_install", func() *grant { return installGrant(l.system, l.link) }),
	)
	into.row = "epp_install " + string(l.system)
	return err
}

// installGrant covers an install link and the system it is for, so that two links cannot be swapped.
func installGrant(system cyber.System, link string) *grant {
	return new(grant).addTexts(string(system), link)
}

// InstallLinks returns where the program of each system is installed from; there is none where the row is forged.
func (s Devices) InstallLinks(ctx context.Context) (map[cyber.System]string, error) {
	rows, err := collectGenuine(ctx, s.readQuerier(), s.scanInstall, `SELECT `+installColumns+` FROM epp_install`)
	links := map[cyber.System]string{}
	for _, r := range rows {
		links[r.system] = r.link
	}
	return links, err
}

// SetInstallLink changes where the program of a system is installed from: see cyber.LifeStore.
func (s Devices) SetInstallLink(ctx context.Context, system cyber.System, link string) error {
	if link == "" {
		return s.execAlone(ctx, `DELETE FROM epp_install WHERE system = $1`, system)
	}
	return s.execAlone(
		ctx,
		`INSERT INTO epp_install (system, link, mac) VALUES ($1, $2, $3) ON CONFLICT (system)
		DO UPDATE SET link = excluded.link,
		mac = excluded.mac`,
		system,
		link,
		s.grantMAC("epp_install", installGrant(system, link)),
	)
}
