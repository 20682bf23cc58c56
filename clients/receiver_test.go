package clients_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// checkReceiver starts a receiver that a README shows, and sends it a webhook that is signed, and one that is forged.
func checkReceiver(t *testing.T, folder string, program ...string) {
	t.Helper()
	gatetest.Needs(t, gatetest.Clients)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	secret := bytes.Repeat([]byte{7}, 32)
	var printed bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &printed, &printed
	cmd.Env = append(os.Environ(), "PORT="+port, "WEBHOOK_SECRET=whsec_"+base64.StdEncoding.EncodeToString(secret))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() {
		_ = cmd.Process.Kill() // it serves until it is stopped
		_ = cmd.Wait()
	}
	defer stop()

	const body = `{"type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{"nome":"João"}}`
	post := func(key []byte) (status int) {
		stamp := strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("evt_01." + stamp + "." + body))
		polltest.Watch(t, func() (string, bool) {
			req, err := http.NewRequestWithContext(
				t.Context(),
				http.MethodPost,
				"http://127.0.0.1:"+port+"/",
				strings.NewReader(body),
			)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("webhook-id", "evt_01")
			req.Header.Set("webhook-timestamp", stamp)
			req.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return err.Error(), false // it does not listen yet
			}
			_ = res.Body.Close()
			status = res.StatusCode
			return "", true
		})
		return status
	}
	if status := post(secret); status != http.StatusNoContent {
		t.Errorf("a signed webhook: %d", status)
	}
	if status := post(bytes.Repeat([]byte{8}, 32)); status != http.StatusUnauthorized {
		t.Errorf("a forged webhook: %d", status)
	}
	stop() // what it printed is whole now
	if got := printed.String(); !strings.Contains(got, "verified evt_01 webhook.test") ||
		!strings.Contains(got, "refused signature") {
		t.Errorf("it printed %q", got)
	}
}
