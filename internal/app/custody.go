package app

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tink-crypto/tink-go/v2/core/registry"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// UseKMS lets a key management service be the root. The service may be on an inner address, because the
// operator names it; a cloud's address of credentials is not among those.
var UseKMS = sync.OnceFunc(func() {
	var inner []netip.Prefix
	for _, p := range []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"} {
		inner = append(inner, netip.MustParsePrefix(p))
	}
	guard := webhook.NewGuard(inner)
	guard.Ports = append(guard.Ports, 8200)
	registry.RegisterKMSClient(
		seal.NewKMSClient(seal.KMSOptions{HTTP: guard.NewClient(webhook.ClientOptions{}), Env: os.Getenv}),
	)
})

// KeysBesideData reports whether a copy of the data folder includes the root key.
func KeysBesideData(c config.Common) bool {
	inside, err := filepath.Rel(c.Data, c.KeyFilePath())
	return err == nil && c.KMS == "" && inside != ".." &&
		!strings.HasPrefix(inside, ".."+string(filepath.Separator))
}

// WarnOfCustody says at each start what an operator has chosen, or left as it was, that lets others at the data.
func (a *App) WarnOfCustody(log *slog.Logger, standby string) {
	if KeysBesideData(a.Config) {
		log.Warn("the key file is in the data folder: whoever copies the folder, or the disk, can read everything",
			"file", a.Config.KeyFilePath(),
			"mend", "move it and name it with --key-file, or use a KMS: vigia keys root --new")
	}
	for option, address := range map[string]string{
		"--database":      a.Config.DatabaseAddress(),
		"--database-read": standby,
	} {
		if sqldb.Unverified(address) {
			log.Warn(
				"the database's certificate is not checked: anybody on the way could answer in its place",
				"option", option,
				"mend", "add sslmode=verify-full to the address and leave --database-insecure out",
			)
		}
	}
}
