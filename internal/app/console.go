package app

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/console"
)

// consoleHandler returns the handler of the console. ctx and group own the imports that a page starts.
func (s *Server) consoleHandler(ctx context.Context, group *errgroup.Group) (http.Handler, error) {
	a := s.app
	public, err := s.cfg.ParsePublicURL()
	if err != nil {
		return nil, err
	}
	var pages url.URL
	if s.cfg.PageURL != "" { // without it pages are under the console's address, which has no reference
		if pages, err = s.cfg.ParsePageURL(); err != nil {
			return nil, err
		}
	} else if at, ok := s.APIAddr.(*net.TCPAddr); ok && at.IP.IsLoopback() { // for a console on this machine
		pages = url.URL{Scheme: "http", Host: at.String()}
	}
	work := s.newConsoleWork(ctx, group)
	if err := work.sweepUploads(); err != nil {
		return nil, err
	}
	parts := &consoleParts{
		app:      a,
		work:     work,
		outgoing: s.outgoing,
		feeds:    *a.Feeds(s.outgoing.Downloads),
		persons:  s.personRules(),
	}
	return console.NewConsole(console.Options{
		Rules: parts.consoleRules(a.Rules, a.Store.Areas),
		InTx:  parts.runInTransaction,
		Begin: parts.work.beginDetached,
		Log:   s.log, Now: a.now, Stopping: s.stopping.Load, SecondFactorOptional: s.secondFactorOptional,
		Callers: s.callers, Strangers: s.strangers, Public: public, API: pages, UploadLimit: s.cfg.UploadBytes(),
		Latency: func() []telemetry.Latency {
			list, err := s.metrics.Latencies()
			if err != nil {
				s.log.Error("latencies cannot be read", "cause", err.Error())
			}
			return list
		},
	})
}

// RelaxSecondFactor lets operators in without an authenticator app: for the demo, before Run.
func (s *Server) RelaxSecondFactor() { s.secondFactorOptional = true }
