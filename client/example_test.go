package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/vigiahq/vigia/client"
)

func ExampleVerifyWebhook() {
	// The secret that creating the endpoint returned, from your own secret store.
	keys := []string{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}
	clock := func() time.Time { return time.Unix(1767225600, 0) } // time.Now in production
	handled := map[string]bool{}                                  // a table with a unique id in production

	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil {
			http.Error(w, "body", http.StatusBadRequest)
			return
		}
		event, err := client.VerifyWebhook(keys, r.Header, body, clock())
		switch {
		case errors.Is(err, client.ErrKey):
			http.Error(w, "configuration", http.StatusInternalServerError)
			return
		case err != nil:
			http.Error(w, "refused", http.StatusUnauthorized)
			return
		}
		if !handled[event.ID] {
			handled[event.ID] = true
			fmt.Println("handled", event.ID, event.Body.Type)
		}
		w.WriteHeader(http.StatusNoContent)
	}

	body := `{"type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{}}`
	for range 2 { // the second one is a repeat
		r := httptest.NewRequest(http.MethodPost, "/webhooks", strings.NewReader(body))
		r.Header.Set("webhook-id", "evt_01")
		r.Header.Set("webhook-timestamp", "1767225600")
		r.Header.Set("webhook-signature", "v1,1Qp0M5Hv93Rwt6Qq3UGb44dbw/dgDfjNUHMuZBbTi30=")
		w := httptest.NewRecorder()
		receive(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// handled evt_01 webhook.test
	// 204
	// 204
}

func ExampleVerifyWebhook_rotation() {
	// While a secret is rotated every attempt carries two signatures: knowing either key is enough.
	keys := []string{
		"whsec_ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoM=", // new
		"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", // old
	}
	header := http.Header{}
	header.Set("webhook-id", "evt_01")
	header.Set("webhook-timestamp", "1767225600")
	header.Set("webhook-signature", "v1,1Qp0M5Hv93Rwt6Qq3UGb44dbw/dgDfjNUHMuZBbTi30=")
	body := []byte(`{"type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{}}`)

	event, err := client.VerifyWebhook(keys, header, body, time.Unix(1767225600, 0))
	fmt.Println(event.Body.Type, err)

	_, err = client.VerifyWebhook(keys, header, body, time.Unix(1767225600, 0).Add(time.Hour))
	fmt.Println(err)
	// Output:
	// webhook.test <nil>
	// client: webhook timestamp is outside the tolerance
}

func ExampleUserHash() {
	fmt.Println(client.UserHash("529.982.247-25", "sal-do-parceiro-1")[:16])
	// Output: f3a6d2a6bf5aab2f
}

func ExampleNew() {
	// A stand-in for the service, so that this example runs anywhere.
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `[{"id":"as_1","type":"email","value":"ana.souza@exemplo.com.br","status":"alerta"}]`)
	}))
	defer service.Close()

	vigia, err := client.New(client.Config{URL: service.URL, Key: "vg_test_..."})
	if err != nil {
		fmt.Println(err)
		return
	}
	assets, err := vigia.ListMonitoredAssets(
		context.Background(),
		client.UserHash("529.982.247-25", "sal-do-parceiro-1"),
	)
	var refused *client.Error
	switch {
	case errors.Is(err, client.ErrCredentials):
		fmt.Println("ask the operator for a key")
	case errors.As(err, &refused):
		fmt.Println(refused.StatusCode, refused.Message, refused.Detail)
	case err == nil:
		fmt.Println(assets[0].Value, assets[0].Status == client.AssetStatusAlerta)
	}
	// Output: ana.souza@exemplo.com.br true
}
