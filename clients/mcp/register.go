package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
)

// explained says why the service refused, in the words that it gives for people and for machines.
func explained(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("%d: %s (%s)", refused.StatusCode, refused.Message, refused.Detail)
	}
	return err
}

// aboutPerson makes a tool of what the API tells about a person, and of what is shown of that.
func aboutPerson[T, S any](
	read func(context.Context, string, ...client.Option) (T, error), show func(T) S,
) func(context.Context, personArguments) (any, error) {
	return aboutLooks(read, func(all T, _ unlooked) S { return show(all) })
}

// aboutLooks is aboutPerson for answers that rest on looks into past breaches.
func aboutLooks[T, S any](
	read func(context.Context, string, ...client.Option) (T, error), show func(T, unlooked) S,
) func(context.Context, personArguments) (any, error) {
	return func(ctx context.Context, in personArguments) (any, error) {
		var reply client.Reply
		all, err := read(ctx, in.UserHash, client.Into(&reply))
		return show(all, tellUnlooked(reply.FirstLooksWaiting)), err
	}
}

func registerTool[In any](
	server *mcp.Server, log *slog.Logger, name, description string, ask func(context.Context, In) (any, error),
) {
	addAnnotated(server, log, &mcp.Tool{
		Name:        name,
		Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)},
	}, ask)
}

// addWriter adds a tool that changes something and destroys nothing.
func addWriter[In any](
	server *mcp.Server, log *slog.Logger, name, description string, ask func(context.Context, In) (any, error),
) {
	addAnnotated(server, log, &mcp.Tool{
		Name:        name,
		Description: description,
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)},
	}, ask)
}

// addAnnotated adds a tool. What the service refuses is a result that an assistant reads, so that it can ask better.
func addAnnotated[In any](
	server *mcp.Server, log *slog.Logger, tool *mcp.Tool, ask func(context.Context, In) (any, error),
) {
	mcp.AddTool(server, tool, func(
		ctx context.Context,
		_ *mcp.CallToolRequest,
		in In,
	) (_ *mcp.CallToolResult, out any, err error) {
		defer func() {
			if recover() != nil { // its value may quote what was asked, so it is not logged
				log.ErrorContext(ctx, "panic", "tool", tool.Name, "stack", string(debug.Stack()))
				err = errors.New("internal error")
			}
		}()
		out, err = ask(ctx, in)
		return nil, out, explained(err)
	})
}
