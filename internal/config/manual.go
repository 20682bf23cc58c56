package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

//go:generate go test . -run TestManual -update

// Manual is docs/configuration.md: every setting with its flag, variable, default and meaning, from the struct tags.
func Manual() string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" +
		"Made from the code by `go generate ./internal/config`; edit the field tags there, not this page.\n\n" +
		"A flag wins over its environment variable. All problems of a configuration are listed at once, before anything is\n" +
		"created. A setting marked *secret* can also be given as the path of a file in the variable with `_FILE` at its end.\n")
	section(&b, "Every command", "These go before or after the command's name.", reflect.TypeFor[Common]())
	section(&b, "`vigia serve`", "What a running server takes.", reflect.TypeFor[Serve]())
	b.WriteString("\n## Traces\n\nTraces are sent when OpenTelemetry's own variables name a collector (`OTEL_EXPORTER_OTLP_ENDPOINT` or\n" +
		"`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`); headers, sampling and time-outs follow that specification's variables too.\n")
	return b.String()
}

func section(b *strings.Builder, title, about string, t reflect.Type) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| Flag | Variable | Default | Meaning |\n|---|---|---|---|\n", title, about)
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		flag := "--" + tag.Get("name")
		if p := tag.Get("placeholder"); p != "" {
			flag += " " + p
		}
		env, def, help := tag.Get("env"), tag.Get("default"), tag.Get("help")
		if slices.Contains(secretVariables, env) {
			help += " *Secret.*"
		}
		if def != "" {
			def = "`" + def + "`"
		}
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", flag, env, def, strings.ReplaceAll(help, "|", "\\|"))
	}
}
