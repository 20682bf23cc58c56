package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app/apptest"
)

func made(t *testing.T) []byte {
	t.Helper()
	document, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	text, err := collection(document)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCollectionIsFresh(t *testing.T) {
	if kept, err := os.ReadFile(collectionFile); err != nil || !bytes.Equal(kept, made(t)) {
		t.Error("the collection is stale: go generate ./clients/collections", err)
	}
}

// TestCollectionWorks sends every request of the collection as a reader of the format would, against the real service.
// Ids of the contract's examples do not exist there, so a 404 in our own words is an answer too; a 400, 403 or 405 is
// not.
func TestCollectionWorks(t *testing.T) {
	s := apptest.Start(t)
	var f file
	if err := json.Unmarshal(made(t), &f); err != nil {
		t.Fatal(err)
	}
	vigia, err := client.New(client.Config{URL: s.URL, Key: s.Sandbox.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	services, err := vigia.ListSupportServices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, group := range f.Item {
		for _, it := range group.Item {
			count++
			status := send(t, s, it.Request, services.Services[0].ID)
			if status != http.StatusOK && status != http.StatusNotFound {
				t.Errorf("%s: %d", it.Name, status)
			}
		}
	}
	if count != 62 {
		t.Errorf("%d requests", count)
	}
}

func send(t *testing.T, s *apptest.Service, r request, serviceID string) int {
	t.Helper()
	target := strings.ReplaceAll(r.URL.Raw, "{{url}}", s.URL)
	for _, v := range r.URL.Variable {
		target = strings.ReplaceAll(target, ":"+v.Key, v.Value)
	}
	var text string
	if r.Body != nil {
		text = strings.NewReplacer("0198c0de-7a00-7000-8000-0000000000a1", serviceID, "parceiro.exemplo.com.br", "127.0.0.1:9").Replace(r.Body.Raw)
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, target, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Header {
		if !h.Disabled {
			req.Header.Set(h.Key, strings.ReplaceAll(h.Value, "{{$guid}}", "pedido-1"))
		}
	}
	req.Header.Set("x-api-key", s.Sandbox.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
