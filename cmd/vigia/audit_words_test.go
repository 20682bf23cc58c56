package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
)

// TestCommandsHaveWords: every command that leaves a line in the audit trail has words for it.
func TestCommandsHaveWords(t *testing.T) {
	parser, err := newParser(&cli{}, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		name := command.Path()
		action := strings.ReplaceAll(name, " ", ".")
		if _, known := operator.DescribeAction(action); !known && !slices.Contains(unrecorded, name) {
			t.Errorf("%s has no words", name)
		}
	}
}
