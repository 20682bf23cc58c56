package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fileIn copies a file, or writes a text.
func fileIn(t *testing.T, folder, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestImportNamesWhatIsNotRead: of a folder, links, pipes and what is no file are listed as not read, and nothing waits
// for them.
func TestImportNamesWhatIsNotRead(t *testing.T) {
	data, folder := filepath.Join(t.TempDir(), "data"), t.TempDir()
	fileIn(t, folder, "a.txt", []byte("ana@exemplo.com.br\n"))
	socket, err := net.Listen("unix", filepath.Join(folder, "s")) // stands for devices too, which only root can make
	if err = errors.Join(
		err,
		os.Symlink("/dev/zero", filepath.Join(folder, "link")),
		os.Symlink(folder, filepath.Join(folder, "round")),
		syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }() // was never used
	code, out, errs := vigia(
		t,
		"breach",
		"import",
		"--name",
		"pasta",
		"--title",
		"Pasta",
		"--date",
		"2026-01-02",
		"--force",
		"--data",
		data,
		"--json",
		folder,
	)
	if code != exitOK {
		t.Fatal(code, errs)
	}
	made := decode(t, out)
	if inputs, _ := made["inputs"].(map[string]any); inputs["not_read"] != 4.0 || made["verdict"] != "partly read" {
		t.Error(out)
	}
	code, out, errs = vigia(t, "breach", "show", "--name", "pasta", "--data", data)
	for _, reason := range []string{
		"a symbolic link: not followed", "a named pipe: not read",
		"a device or socket: not read",
	} {
		if code != exitOK || !strings.Contains(out, reason) {
			t.Errorf("%q is not said: %s%s", reason, out, errs)
		}
	}
}

// TestImportPasswords: an archive opens by a flag, by a file of passwords, by its own name, by the name of what lies
// beside it, and by a usual password; without one it is named as encrypted.
func TestImportPasswords(t *testing.T) {
	usual := sample(t, "../../internal/dump/container/testdata/zip/aes256.zip") // "infected"
	own := sample(t, "testdata/senha-da-loja.zip")
	for name, c := range map[string]struct {
		archive      []byte
		file, beside string
		flags        []string
		shut         bool
	}{
		"none": {archive: own, file: "a.zip", shut: true},
		"flag": {
			archive: own, file: "a.zip",
			flags: []string{"--password", "errada", "--password", "senha-da-loja"},
		},
		"file": {
			archive: own, file: "a.zip",
			flags: []string{"--password-file", fileIn(t, t.TempDir(), "lista", []byte("errada\nsenha-da-loja\n"))},
		},
		"own name":    {archive: own, file: "senha-da-loja.zip"},
		"name beside": {archive: own, file: "a.zip", beside: "senha-da-loja.txt"},
		"usual":       {archive: usual, file: "a.zip"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			fileIn(t, folder, c.file, c.archive)
			if c.beside != "" {
				fileIn(t, folder, c.beside, []byte("leia\n"))
			}
			args := append(
				[]string{
					"breach",
					"import",
					"--name",
					"loja",
					"--title",
					"Loja",
					"--date",
					"2026-01-02",
					"--data",
					filepath.Join(t.TempDir(), "data"),
					"--json",
				},
				c.flags...,
			)
			code, out, errs := vigia(t, append(args, folder)...)
			if c.shut {
				if code == exitOK || !strings.Contains(out, "encrypted: none of the passwords fits") {
					t.Error(code, out, errs)
				}
				return
			}
			if code != exitOK {
				t.Fatal(code, errs)
			}
			if found, _ := decode(t, out)["found"].(map[string]any); found["email"] == nil {
				t.Error(out)
			}
		})
	}
}

func sample(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
