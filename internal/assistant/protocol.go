package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// versions of the protocol, newest first. With the first one each request says its version, and there is no session.
// With the older ones a client begins with initialize; nothing of that is remembered, as nothing here depends on it.
//
// Batches are in 2025-03-26 alone, which asks servers to take them; the next version took them out. They are refused
// in all versions: one message would be hundreds of calls.
var versions = []string{stateless, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const stateless = "2026-07-28"

// Members of _meta.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// Codes of JSON-RPC, and two of the protocol's own.
const (
	badJSON        = -32700
	badRequest     = -32600
	unknownMethod  = -32601
	badParams      = -32602
	internalError  = -32603
	headerMismatch = -32020
	unknownVersion = -32022
)

// message is one of JSON-RPC as it arrives. Members are raw, so that a bad one does not hide the id.
type message struct {
	JSONRPC jsontext.Value `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  jsontext.Value `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

// params are those of all methods that are answered.
type params struct {
	Meta            map[string]jsontext.Value `json:"_meta"`
	ProtocolVersion string                    `json:"protocolVersion"`
	Cursor          string                    `json:"cursor"`
	Name            string                    `json:"name"`
	Arguments       jsontext.Value            `json:"arguments"`
	RequestID       jsontext.Value            `json:"requestId"`
}

// request is a message that was read. Without an id it is a notification, or an answer to what was never asked.
type request struct {
	id      jsontext.Value
	method  string
	params  params
	version string // as the request itself says it; empty with the old versions
}

// reply is an answer. It leaves out an id that could not be read, as the protocol's schema wants it; JSON-RPC has null.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Result  map[string]any  `json:"result,omitzero"`
	Error   *failure        `json:"error,omitempty"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func failed(code int, format string, args ...any) *failure {
	return &failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

func notSupported(version string) *failure {
	return &failure{Code: unknownVersion, Message: "unsupported protocol version", Data: map[string]any{"supported": versions, "requested": version}}
}

// read takes a message apart. What it returns beside a failure has the id, where there is one.
func read(text []byte) (r request, _ *failure) {
	var m message
	if err := strict.Unmarshal(text, &m); err != nil {
		if _, ok := errors.AsType[*strict.SemanticError](err); ok {
			return r, failed(badRequest, "one object is expected; batches are not taken")
		}
		return r, failed(badJSON, "one JSON object is expected, of at most %d bytes, with no name twice", maxMessage)
	}
	if kind := m.ID.Kind(); m.ID != nil && kind != jsontext.KindString && (kind != jsontext.KindNumber || strings.ContainsAny(string(m.ID), ".eE")) {
		return r, failed(badRequest, "id: must be a string or an integer")
	}
	r.id = m.ID
	switch {
	case string(m.JSONRPC) != `"2.0"`:
		return r, failed(badRequest, `jsonrpc: must be "2.0"`)
	case m.Method == nil && (m.Result != nil || m.Error != nil):
		return request{}, nil
	case m.Method.Kind() != jsontext.KindString || strict.Unmarshal(m.Method, &r.method) != nil:
		return r, failed(badRequest, "method: must be a string")
	}
	var err error
	if m.Params != nil {
		err = strict.Unmarshal(m.Params, &r.params)
	}
	if r.id == nil {
		return r, nil // a notification is never answered, not even a bad one
	}
	if wrong, ok := errors.AsType[*strict.SemanticError](err); ok {
		return r, failed(badParams, "params%s: is of the wrong type", wrong.JSONPointer)
	}
	return r, r.readMeta()
}

// readMeta reads which version a request is of, and what it must say from the stateless one on.
func (r *request) readMeta() *failure {
	version, there := r.params.Meta[metaVersion]
	switch {
	case !there:
		return nil
	case version.Kind() != jsontext.KindString || strict.Unmarshal(version, &r.version) != nil:
		return failed(badParams, "params/_meta: %s must be a string", metaVersion)
	case !slices.Contains(versions, r.version):
		return notSupported(r.version)
	case r.version == stateless && r.params.Meta[metaCapabilities].Kind() != jsontext.KindBeginObject:
		return failed(badParams, "params/_meta: %s must be an object", metaCapabilities)
	}
	return nil
}

// answer to a request that was read, or to one that failed before.
func (s *Server) answer(ctx context.Context, r request, f *failure) reply {
	a := reply{JSONRPC: "2.0", ID: json.RawMessage(r.id), Error: f}
	if f == nil {
		a.Result, a.Error = s.result(ctx, r)
	}
	if a.Error == nil && r.version == stateless {
		a.Result["resultType"] = "complete"
		a.Result["_meta"] = map[string]any{metaServer: s.about()}
	}
	return a
}

func (s *Server) about() map[string]any {
	return map[string]any{"name": "vigia", "title": "Vigia", "version": s.version}
}

// result does what a request asks for. Tools are all that this server says it has, and their list never changes.
func (s *Server) result(ctx context.Context, r request) (map[string]any, *failure) {
	capabilities := map[string]any{"tools": map[string]any{}}
	switch old := r.version != stateless; {
	case old && r.method == "initialize":
		version := r.params.ProtocolVersion
		if version == "" {
			return nil, failed(badParams, "params/protocolVersion: is missing")
		}
		if !slices.Contains(versions[1:], version) {
			version = versions[1] // the client leaves if it does not know that one
		}
		return map[string]any{"protocolVersion": version, "capabilities": capabilities, "serverInfo": s.about(), "instructions": instructions}, nil
	case old && r.method == "ping":
		return map[string]any{}, nil
	case !old && r.method == "server/discover":
		return map[string]any{"supportedVersions": versions, "capabilities": capabilities, "instructions": instructions, "ttlMs": 0, "cacheScope": "public"}, nil
	case r.method == "tools/list":
		if r.params.Cursor != "" {
			return nil, failed(badParams, "params/cursor: was not given out; all tools are on one page")
		}
		return map[string]any{"tools": each(tools, tool.shown), "ttlMs": 0, "cacheScope": "public"}, nil
	case r.method == "tools/call":
		return s.call(ctx, r.params)
	}
	return nil, failed(unknownMethod, "method not found: %q", r.method)
}

// call asks a tool. What it refuses is a result, because an assistant reads it and can ask better; what is wrong with
// the request is not. It is written as the client's types say, which is encoding/json's way.
func (s *Server) call(ctx context.Context, p params) (result map[string]any, f *failure) {
	defer func() {
		if recover() != nil { // its value may quote what was asked, so it is not logged
			s.log.ErrorContext(ctx, "panic", "tool", p.Name, "stack", string(debug.Stack()))
			result, f = nil, failed(internalError, "internal error")
		}
	}()
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == p.Name })
	if i < 0 {
		return nil, failed(badParams, "params/name: there is no tool %q", p.Name)
	}
	in, err := tools[i].read(p.Arguments)
	var out any
	if err == nil {
		out, err = tools[i].ask(ctx, s.ask, in)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(out)
	}
	if err != nil {
		return map[string]any{"content": said(explained(err).Error()), "isError": true}, nil
	}
	return map[string]any{"content": said(string(text)), "structuredContent": json.RawMessage(text)}, nil
}

func said(text string) []map[string]string {
	return []map[string]string{{"type": "text", "text": text}}
}
