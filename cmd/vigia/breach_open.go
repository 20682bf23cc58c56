package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// importOpening says how to open what is packed.
type importOpening struct {
	Password     []string `placeholder:"TEXT" sep:"none" help:"A password for what is encrypted; may be given several times. The usual ones, and names beside the archive, are tried too."`
	PasswordFile string   `placeholder:"FILE" help:"Passwords, a line each; - is the standard input."`
	Mapping      string   `placeholder:"FILE" help:"A mapping of a vendor's fields, by which the records of all inputs are read, and nothing is guessed: see docs/formats/vigia-records.md."`
	Ratio        int64    `placeholder:"N" help:"How many bytes may come out of each that is packed; 0 means 200. Honest logs that repeat themselves may need more."`
	Limit        byteSize `placeholder:"SIZE" help:"How much may be unpacked from one input, such as 500GiB; 4096GiB if it is not given."`
}

// importSpec returns what a command reads: its inputs, and how they are opened.
func (o *importOpening) importSpec(
	ctx context.Context, through config.Outgoing, inputs []string,
) (spec intake.Spec, err error) {
	out, err := app.OpenOutgoing(through)
	if err != nil {
		return spec, err
	}
	if err := checkInputs(inputs); err != nil {
		return spec, err
	}
	if spec.Inputs, err = intake.ListInputs(ctx, out.Downloads, inputs); err != nil {
		return spec, err
	}
	if spec.Passwords, err = o.passwords(); err != nil {
		return spec, err
	}
	spec.Mapping, err = o.readMapping()
	return spec, err
}

// byteSize is a number of bytes with a unit: 256MiB.
type byteSize int64

// UnmarshalText reads 1048576, 1024KiB, 256MiB or 1GiB.
func (s *byteSize) UnmarshalText(text []byte) error {
	digits, shift := string(text), 0
	for unit, by := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if cut, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = cut, by
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n<<shift < scan.PieceSize || n<<shift > 1<<40 {
		return errors.New("expected a size from 1MiB to 1024GiB, such as 256MiB")
	}
	*s = byteSize(n << shift)
	return nil
}

// checkInputs names the first file or folder that is not there, with its whole path. Addresses are left to the import.
func checkInputs(inputs []string) error {
	for _, input := range inputs {
		if strings.Contains(input, "://") {
			continue
		}
		if _, err := os.Stat(input); err != nil {
			return unreadableFile(input, err)
		}
	}
	return nil
}

// setLimits sets how much inputs may unfold into.
func (o *importOpening) setLimits(im *intake.Importer) {
	im.Limits.Ratio, im.Limits.Bytes = o.Ratio, int64(o.Limit)
}

// passwordsMost bounds a file of passwords: each of them costs time at every archive.
const passwordsMost = 1000

// passwords returns the passwords of archives, from the flags and the file.
func (o *importOpening) passwords() ([]string, error) {
	all := o.Password
	if o.PasswordFile == "" {
		return all, nil
	}
	f := os.Stdin
	if o.PasswordFile != "-" {
		var err error
		if f, err = openNamedFile(o.PasswordFile); err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // only read
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if all = append(all, lines.Text()); len(all) > passwordsMost {
			return nil, errors.New("--password-file: at most 1000 passwords")
		}
	}
	return all, lines.Err()
}

// readMapping returns the mapping of a vendor's fields in a file; nil without a file.
func (o *importOpening) readMapping() (*stated.Mapping, error) {
	if o.Mapping == "" {
		return nil, nil //nolint:nilnil // most imports have none, and nil is what an import takes for that
	}
	return readMapping(o.Mapping)
}

// readMapping reads a mapping's file; no name is no mapping, whose text is empty.
func readMapping(name string) (*stated.Mapping, error) {
	if name == "" {
		return &stated.Mapping{}, nil
	}
	text, err := readNamedFile(name)
	if err != nil {
		return nil, err
	}
	return stated.ParseMapping(text)
}
