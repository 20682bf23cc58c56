package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
)

// The queue that a team writes in an afternoon: a table of what to post, and a loop that selects, posts and marks as
// done. It posts the same bodies with the same client and time-out over as many connections, and signs them with one
// secret (ours also signs with a public key).

const queueConns = 32

// fillQueue writes the same events as fillOutbox, in the same turns.
func fillQueue(ctx context.Context, s *site.Site, urls []string, events int) {
	site.Exec(ctx, s.DB, `CREATE TABLE queue (id BIGINT PRIMARY KEY, event TEXT NOT NULL, url TEXT NOT NULL, body TEXT NOT NULL, done BIGINT NOT NULL)`)
	site.Exec(ctx, s.DB, `CREATE INDEX queue_open ON queue (done, id)`)
	site.LoadRows(ctx, s.DB, "queue", []string{"id", "event", "url", "body", "done"}, 0, int64(events)-1, func(i int64) ([]any, error) {
		e := site.NewEvent(s.Partner, int(i))
		body, err := e.Body()
		return []any{i, string(e.ID), urls[int(i)%len(urls)], string(body), int64(0)}, err
	})
}

type queued struct {
	id               int64
	event, url, body string
}

// runQueue works until the process is killed.
func runQueue(ctx context.Context, db *sqldb.DB, inBatches bool) {
	client := site.Guard.Client(webhook.ClientOptions{MaxIdlePerHost: queueConns})
	secret := load.Must(webhook.NewSecret(rand.Reader))
	for {
		batch := selectOpen(ctx, db)
		if len(batch) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		var next atomic.Int64
		sent := make([][]int64, queueConns)
		load.Parallel(queueConns, func(w int) {
			for i := next.Add(1) - 1; i < int64(len(batch)); i = next.Add(1) - 1 {
				q := batch[i]
				out := webhook.Send(ctx, client, webhook.Attempt{URL: q.url, EventID: q.event, At: time.Now(), Body: []byte(q.body), Keys: []webhook.Key{secret}})
				switch {
				case out.Status != http.StatusNoContent:
				case inBatches:
					sent[w] = append(sent[w], q.id)
				default:
					_ = load.Try(func() { markDone(ctx, db, q.id) }) // it stays open and is sent again
				}
			}
		})
		if done := slices.Concat(sent...); len(done) > 0 {
			markDone(ctx, db, done...)
		}
	}
}

func selectOpen(ctx context.Context, db *sqldb.DB) (list []queued) {
	rows := load.Must(db.Reader().QueryContext(ctx, `SELECT id, event, url, body FROM queue WHERE done = 0 ORDER BY id LIMIT 100`))
	defer rows.Close()
	for rows.Next() {
		var q queued
		load.Check(rows.Scan(&q.id, &q.event, &q.url, &q.body))
		list = append(list, q)
	}
	load.Check(rows.Err())
	return list
}

func markDone(ctx context.Context, db *sqldb.DB, ids ...int64) {
	site.Exec(ctx, db, `UPDATE queue SET done = 1 WHERE id IN (`+strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")+`)`)
}
