package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
)

// The queue that a team writes in an afternoon: a table of what to post, and a loop that selects, posts and marks as
// done. It posts the same bodies with the same client and time-out over as many connections, and signs them with one
// secret (ours also signs with a public key).

const queueConns = 32

// fillQueue writes the same events as fillOutbox, in the same turns.
func fillQueue(ctx context.Context, s *site.Site, urls []string, events int) error {
	return s.DB.InTx(ctx, func(tx *sqldb.Tx) error {
		for _, st := range []string{
			`CREATE TABLE queue (id BIGINT PRIMARY KEY, event TEXT NOT NULL, url TEXT NOT NULL, body TEXT NOT NULL, done BIGINT NOT NULL)`,
			`CREATE INDEX queue_open ON queue (done, id)`,
		} {
			if _, err := tx.ExecContext(ctx, st); err != nil {
				return err
			}
		}
		for i := range events {
			e, err := site.NewEvent(s.Partner, i)
			if err != nil {
				return err
			}
			body, err := e.Body()
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO queue (id, event, url, body, done) VALUES ($1, $2, $3, $4, 0)`,
				int64(i), string(e.ID), urls[i%len(urls)], string(body))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

type queued struct {
	id               int64
	event, url, body string
}

// runQueue works until the process is killed.
func runQueue(ctx context.Context, db *sqldb.DB, inBatches bool) error {
	client := site.Guard.Client(webhook.ClientOptions{MaxIdlePerHost: queueConns})
	secret, err := webhook.NewSecret(rand.Reader)
	if err != nil {
		return err
	}
	for {
		batch, err := selectOpen(ctx, db)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		var (
			wg   sync.WaitGroup
			mu   sync.Mutex
			sent []int64
			slot = make(chan struct{}, queueConns)
		)
		for _, q := range batch {
			slot <- struct{}{}
			wg.Go(func() {
				defer func() { <-slot }()
				out := webhook.Send(ctx, client, webhook.Attempt{URL: q.url, EventID: q.event, At: time.Now(), Body: []byte(q.body), Keys: []webhook.Key{secret}})
				if out.Status != http.StatusNoContent {
					return
				}
				mu.Lock()
				sent = append(sent, q.id)
				mu.Unlock()
				if !inBatches {
					_ = markDone(ctx, db, q.id) // it stays open and is sent again
				}
			})
		}
		wg.Wait()
		if inBatches && len(sent) > 0 {
			if err := markDone(ctx, db, sent...); err != nil {
				return err
			}
		}
	}
}

func selectOpen(ctx context.Context, db *sqldb.DB) ([]queued, error) {
	rows, err := db.Reader().QueryContext(ctx, `SELECT id, event, url, body FROM queue WHERE done = 0 ORDER BY id LIMIT 100`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []queued
	for rows.Next() {
		var q queued
		if err := rows.Scan(&q.id, &q.event, &q.url, &q.body); err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, rows.Err()
}

func markDone(ctx context.Context, db *sqldb.DB, ids ...int64) error {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
	return db.InTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE queue SET done = 1 WHERE id IN (`+list+`)`)
		return err
	})
}
