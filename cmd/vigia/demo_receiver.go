package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/vigiahq/vigia/client"
)

// receiver is the partner's side of the demo: it takes alerts, verifies their signatures the way a partner would, and
// shows them on a page that renews itself.
type receiver struct {
	url string
	srv *http.Server

	mu      sync.Mutex
	secrets []string
	got     []received
}

// received is a webhook that reached the receiver; Verified says that its signature was right.
type received struct {
	At       time.Time
	ID, Type string
	Verified bool
	Body     string
}

// keepReceived bounds the page.
const keepReceived = 100

// newReceiver starts a receiver of webhooks for the demo. Besides the good path it has one that always refuses, to
// show retries.
func newReceiver(ctx context.Context, address string) (*receiver, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--receiver-listen: %w", err)
	}
	r := &receiver{url: "http://" + ln.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+alertsPath, r.takeWebhook)
	mux.HandleFunc("POST "+brokenPath, refuseRequest)
	mux.HandleFunc("GET /{$}", r.showPage)
	r.srv = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = r.srv.Serve(ln) }() // ends with close
	return r, nil
}

// closeServer stops the receiver.
func (r *receiver) closeServer() error {
	if err := r.srv.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// trustSecret adds the secret of an endpoint that sends here.
func (r *receiver) trustSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, secret)
}

// The paths of the receiver: one takes alerts, the other is a system that is down, so that failures can be looked at.
const (
	alertsPath = "/alertas"
	brokenPath = "/crm-fora-do-ar"
)

// refuseRequest answers like a system that is down.
func refuseRequest(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "em manutenção", http.StatusServiceUnavailable)
}

// takeWebhook verifies and keeps a webhook.
func (r *receiver) takeWebhook(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 64<<10))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	event, err := client.VerifyWebhook(r.secrets, req.Header, body, time.Now())
	if err != nil {
		http.Error(w, "signature refused", http.StatusBadRequest)
		return
	}
	if slices.ContainsFunc(r.got, func(old received) bool { return old.ID == event.ID }) {
		return // a repeat: taken, and counted once
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	r.got = append(r.got, received{
		At:       event.Body.Timestamp,
		ID:       event.ID,
		Type:     string(event.Body.Type),
		Verified: true,
		Body:     indented.String(),
	})
	if len(r.got) > keepReceived {
		r.got = r.got[1:]
	}
}

// receiverPage shows the alerts that arrived at the demo's receiver, newest first.
var receiverPage = template.Must(template.New("receiver").Parse(`<!doctype html>
<html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="3"><title>Alertas recebidos</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid #8886; border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0; }
h2 { font-size: 1rem; margin: 0; } p { margin: .25rem 0; } pre { overflow: auto; margin: .5rem 0 0; font-size: .85rem; }
</style></head><body>
<h1>Alertas recebidos</h1>
<p>
  Esta página faz o papel do sistema do parceiro: cada alerta foi entregue por HTTP e sua assinatura conferida.
  Ela se renova a cada 3 segundos.
</p>
{{range .}}
<article>
  <h2>{{.Type}}</h2>
  <p>{{.At.Format "02/01/2006 15:04:05"}} UTC, assinatura conferida, {{.ID}}</p>
  <pre>{{.Body}}</pre>
</article>
{{else}}
<p>
  Nenhum alerta ainda. Cole no terminal a linha do passeio que monitora um e-mail em @vazamento.test, ou importe no
  console o arquivo que o terminal mostra.
</p>
{{end}}
</body></html>
`))

// showPage lists what arrived.
func (r *receiver) showPage(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	list := slices.Clone(r.got)
	r.mu.Unlock()
	slices.Reverse(list)
	w.Header().Set("content-type", "text/html; charset=utf-8")
	w.Header().Set("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = receiverPage.Execute(w, list) // the client may have disconnected
}
