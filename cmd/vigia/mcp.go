package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/assistant"
)

// mcpCmd is 'vigia mcp', a server of tools for AI assistants that asks the partner API with the partner's key.
type mcpCmd struct {
	API    string `name:"api" env:"VIGIA_API" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the partner API that is asked."`
	APIKey string `name:"api-key" env:"VIGIA_API_KEY" default:"" placeholder:"KEY" help:"API key of the partner, best one with the scopes cyber:read and subscriptions:read alone. Use the environment or VIGIA_API_KEY_FILE. Over HTTP each request brings its own."`
	Salt   string `name:"salt" env:"VIGIA_SALT" default:"" placeholder:"SALT" help:"The partner's salt, for a tool that finds people by name. Use the environment or VIGIA_SALT_FILE. Over HTTP each request brings its own."`
	Write  bool   `name:"write" help:"Add the tools that change something: open_case and send_page_link. The key needs the scope cyber, too."`
	Listen string `name:"listen" default:"" placeholder:"ADDR" help:"Serve over HTTP at this address instead of standard input and output."`
}

func (mcpCmd) Help() string {
	return "Tools for assistants, by the Model Context Protocol: they only read unless --write is given, ask the " +
		"partner API with the partner's key, and mask personal values.\n\n" +
		"Examples:\n  VIGIA_API_KEY_FILE=/run/secrets/key vigia mcp --api https://vigia.exemplo.com.br\n  vigia mcp " +
		"--listen 127.0.0.1:8090"
}

// Run answers until standard input ends, or a signal comes.
func (m *mcpCmd) Run(ctx context.Context, o *output) error {
	if m.Listen != "" {
		return m.serveHTTP(ctx, o)
	}
	if !partner.WellFormed(m.APIKey) {
		return config.Problems{"--api-key: a partner's API key is needed, from VIGIA_API_KEY or VIGIA_API_KEY_FILE"}
	}
	ask, err := client.New(client.Config{URL: m.API, Key: m.APIKey})
	if err != nil {
		return config.Problems{"--api: " + err.Error()}
	}
	log := telemetry.NewLogger(o.err, telemetry.LogOptions{})
	tools := assistant.New(versionText(), ask, assistant.Options{Salt: m.Salt, Write: m.Write}, log)
	err = tools.Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serveHTTP answers over HTTP.
func (m *mcpCmd) serveHTTP(ctx context.Context, o *output) error {
	if _, err := client.New(client.Config{URL: m.API, Key: "of-each-request"}); err != nil {
		return config.Problems{"--api: " + err.Error()}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	server := &http.Server{
		Handler: assistant.Handler(
			versionText(),
			m.API,
			m.Write,
			nil,
			telemetry.NewLogger(o.err, telemetry.LogOptions{}),
		),
		ReadTimeout:    15 * time.Second,
		WriteTimeout:   time.Minute,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(o.err, "Tools for assistants at http://%s\n", listener.Addr())
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(stopping); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
