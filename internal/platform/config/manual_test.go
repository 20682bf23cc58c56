package config_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/config"
)

//go:generate go test -vet=off . -run TestManual -update

// codeQuotes are the quotes that stand for backticks, which a raw string cannot hold.
var codeQuotes = regexp.MustCompile(`'([^' ]+)'`)

// configurationPage returns docs/configuration.md: every setting with its flag, variable, default and meaning, from the
// struct tags.
func configurationPage() string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" +
		"Made from the code by `go generate ./internal/platform/config`; edit the field tags there, not this page.\n\n" +
		"A flag wins over its environment variable; its default stands in parentheses. All problems of a configuration are\n" +
		"listed at once, before anything is created. A setting marked *secret* can also be given as the path of a file in the\n" +
		"variable with `_FILE` at its end.\n\n" +
		"Every command also reads `/etc/vigia/environment`, or the file that `VIGIA_SETTINGS_FILE` names: lines `NAME=VALUE`,\n" +
		"of which those that begin with `VIGIA_` are taken. What the environment or a flag says wins. For a user who may not\n" +
		"read the file it is as if there were none.\n")
	writeSection(&b, "Every command", "These go before or after the command's name.", reflect.TypeFor[config.Common]())
	writeSection(&b, "`vigia serve`", "What a running server takes.", reflect.TypeFor[config.Serve]())
	b.WriteString(codeQuotes.ReplaceAllString(`
## Other commands

The help of each command has its flags. Some of them have variables, too:

- 'VIGIA_API', 'VIGIA_API_KEY': address of the partner API, and the key, of 'listen' and 'trigger'. *The key is secret.*
- 'VIGIA_WEBHOOK_SECRET': what 'listen' and 'trigger' sign with.
- 'VIGIA_CONSOLE_URL': what the one-time links of the group 'operator' begin with.
- 'VIGIA_FEED_KEY': the key of a feed that is added.

## Traces

Spans of partners' requests, their statements and of jobs are collected by OpenTelemetry's library and sent when its
variables name a collector: 'OTEL_EXPORTER_OTLP_ENDPOINT' or 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', by OTLP over HTTP
('http/protobuf'). 'OTEL_EXPORTER_OTLP_HEADERS', '_TIMEOUT' (milliseconds), '_CERTIFICATE', '_CLIENT_CERTIFICATE' and
'_CLIENT_KEY' are read, also with 'TRACES_' in them, and the library's own of sampling, batches and resources. A caller's
'traceparent' is followed. No path, parameter or value of a person stands in a span.

## Buckets

Where a setting or a command takes 's3://bucket', parameters may follow: 'region', 'endpoint' (of a service that
speaks like S3), 'use_path_style=true', 'disable_https=true', 'profile', 'anonymous=true', 'metadata=true'. What they
leave open comes from the usual variables: 'AWS_REGION', 'AWS_ENDPOINT_URL_S3', 'AWS_ACCESS_KEY_ID',
'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'; then from '~/.aws'; with 'metadata=true', which is needed for
the role of a machine or container, from its metadata. A folder is 'file:///path'. There are no other kinds.

The bucket of '--corpora' must exist: a server does not start without it, and prints the command that makes it. Its
credentials must be able to list, read, write and delete objects.
`, "`$1`"))
	return b.String()
}

// writeSection adds a struct's settings, a list for each group of them.
func writeSection(b *strings.Builder, title, about string, t reflect.Type) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", title, about)
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		if group := tag.Get("section"); i == 0 || group != t.Field(i-1).Tag.Get("section") {
			if group != "" {
				fmt.Fprintf(b, "\n### %s\n", group)
			}
			b.WriteString("\n")
		}
		flag := "--" + tag.Get("name")
		if p := tag.Get("placeholder"); p != "" {
			flag += " " + p
		}
		env, def, help := tag.Get("env"), tag.Get("default"), tag.Get("help")
		if slices.Contains(config.SecretVariables, env) {
			help += " *Secret.*"
		}
		if def != "" {
			def = " (`" + def + "`)"
		}
		fmt.Fprintf(b, "- `%s`, `%s`%s: %s\n", flag, env, def, help)
	}
}
