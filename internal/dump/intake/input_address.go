package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// AddressInput returns what an http or https address answers with; client fetches it.
func AddressInput(client *http.Client, address string) Input {
	return Input{
		Name: strings.TrimSuffix(ShownAddress(address), "/"),
		Size: -1,
		Mark: addressMark(address),
		open: func(ctx context.Context) (io.ReadCloser, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			if err != nil {
				return nil, ErrInput.With("inputs", fault.NotAnAddress).Because(err)
			}
			res, err := client.Do(req)
			if err != nil {
				return nil, fmt.Errorf("fetch input: %w", err)
			}
			if res.StatusCode != http.StatusOK {
				return nil, errors.Join(fmt.Errorf("fetch input: answered %d", res.StatusCode), res.Body.Close())
			}
			return res.Body, nil
		},
	}
}

// secretAddress reports whether an address may hold a secret: what signs a link stands behind its question mark.
func secretAddress(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.User != nil || u.RawQuery != ""
}

// addressMark returns an address in a form that reveals no secret.
func addressMark(address string) string {
	if !secretAddress(address) {
		return address
	}
	sum := sha256.Sum256([]byte(address))
	return ShownAddress(address) + " " + hex.EncodeToString(sum[:16])
}

// ShownAddress returns an address as people may read it: what follows the question mark can hold secrets. A path of
// this machine is shown as it is.
func ShownAddress(address string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	u.User, u.RawQuery = nil, ""
	return strings.TrimSuffix(u.String(), "/") + "/"
}
