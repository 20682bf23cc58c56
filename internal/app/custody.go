package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/core/registry"

	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
)

// UseKMS lets key files be wrapped by a key management service. The service may be on an inner address, because the
// operator names it; a cloud's address of credentials is not among those.
var UseKMS = sync.OnceFunc(func() {
	var inner []netip.Prefix
	for _, p := range []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"} {
		inner = append(inner, netip.MustParsePrefix(p))
	}
	guard := webhook.NewGuard(inner)
	guard.Ports = append(guard.Ports, 8200)
	registry.RegisterKMSClient(seal.NewKMSClient(seal.KMSOptions{HTTP: guard.NewClient(webhook.ClientOptions{}), Env: os.Getenv}))
})

// KeysBesideData reports whether a copy of the data folder includes the keys in the clear.
func KeysBesideData(c config.Common, keys *seal.Keys) bool {
	inside, err := filepath.Rel(c.Data, c.KeyFilePath())
	return err == nil && keys.KMS() == "" && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator))
}

// WarnOfCustody says at each start what an operator has chosen, or left as it was, that lets others at the data.
func (a *App) WarnOfCustody(log *slog.Logger, standby string) {
	if KeysBesideData(a.Config, a.Keys) {
		log.Warn("the key file is in the data folder: whoever copies the folder, or the disk, can read everything",
			"file", a.Keys.Path(), "mend", "move it and name it with --key-file, or wrap it with --kms")
	}
	for option, address := range map[string]string{"--database": a.Config.DatabaseAddress(), "--database-read": standby} {
		if sqldb.Unverified(address) {
			log.Warn("the database's certificate is not checked: anybody on the way could answer in its place", "option", option,
				"mend", "add sslmode=verify-full to the address and leave --database-insecure out")
		}
	}
}

// keySettle is how long a rotation takes to be known: every server looks at the key file each second.
const keySettle = 10 * time.Second

// DropOldKeys removes every key but the one that seals now, for good, and returns their ids. It is refused while anything is
// sealed under one of them, or a server may not have noticed the last rotation. What it cannot see are backups: those
// made before need a key file of their time.
func (a *App) DropOldKeys(ctx context.Context) ([]uint32, error) {
	if _, err := a.Keys.ReloadFile(); err != nil {
		return nil, err
	}
	info, err := os.Stat(a.Keys.Path())
	if err != nil {
		return nil, fmt.Errorf("drop keys: %w", err)
	}
	if age := a.now().Sub(info.ModTime()); age < keySettle {
		return nil, seal.ErrKeyNeeded.Note("the key file was changed a moment ago and a server may still seal under an older key; try again in %s",
			(keySettle - age).Round(time.Second))
	}
	left, err := a.Store.Upkeep.SealedByOlder(ctx)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, seal.ErrKeyNeeded.Note("still sealed under older keys: %s; a running worker seals them anew after 'vigia keys rotate'", strings.Join(left, ", "))
	}
	dropped := []uint32{}
	for _, id := range a.Keys.IDs() {
		if id == a.Keys.PrimaryID() {
			continue
		}
		if err := a.Keys.DropKey(id); err != nil {
			return dropped, err
		}
		dropped = append(dropped, id)
	}
	return dropped, nil
}
