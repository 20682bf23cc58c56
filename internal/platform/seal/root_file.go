package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	aeads "github.com/tink-crypto/tink-go/v2/aead/subtle"
)

const (
	fileVersion = 2
	fileKind    = "vigia root key"
	secretSize  = 32
	fileNote    = "Vigia root key. It opens the ring of keys in the database: with both, all personal data can be " +
		"read; without this file nobody can. Keep it mode 0600, and a copy apart from the database and its backups. " +
		"The service never writes it. Do not edit."
	// labelRootID keeps the id of a root apart from every other use of its key.
	labelRootID = "vigia root id 1"
)

// rootFile is the key file as written.
type rootFile struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	Note    string `json:"note,omitzero"`
	Key     []byte `json:"key"`
}

// newFileRoot returns the root whose key a file holds.
func newFileRoot(path string, key []byte) (*Root, error) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(labelRootID))
	a, err := aeads.NewXChaCha20Poly1305(bytes.Clone(key))
	if err != nil {
		return nil, malformed(path, "its key is not usable")
	}
	return &Root{id: "file:" + hex.EncodeToString(h.Sum(nil)[:8]), place: path, aead: a}, nil
}

// CreateRootFile makes a key file with a new random root, mode 0600, and opens it. It never replaces a file.
func CreateRootFile(path string) (*Root, error) {
	unlock, err := lockKeyFile(path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	f := rootFile{Version: fileVersion, Kind: fileKind, Note: fileNote, Key: newSecret()}
	defer clear(f.Key)
	raw, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil {
		return nil, errors.New("seal: encode the key file")
	}
	defer clear(raw)
	if err := writeNewFile(path, append(raw, '\n')); err != nil {
		return nil, err
	}
	r, err := OpenRoot(path)
	if err == nil {
		r.made = true
	}
	return r, err
}

// newSecret returns a random secret.
func newSecret() []byte {
	key := make([]byte, secretSize)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the program instead
	return key
}

// decodeFile reads the bytes of a key file. path is only for messages; no message quotes the bytes.
func decodeFile(path string, raw []byte) (f rootFile, err error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return f, malformed(path, "it is not JSON with a version ("+errorPosition(err)+")")
	}
	if head.Version != fileVersion {
		return f, ErrKeyFileVersion.Note(
			"%+q has version %d, this program reads %d: run the program that wrote it, or a newer one",
			path,
			head.Version,
			fileVersion,
		)
	}
	if err := json.Unmarshal(raw, &f, json.RejectUnknownMembers(true)); err != nil {
		return f, malformed(path, fmt.Sprintf("its members are not those of version %d (%s)", fileVersion,
			errorPosition(err)))
	}
	if f.Kind != fileKind {
		return f, malformed(path, "its kind is not "+fileKind)
	}
	if len(f.Key) != secretSize || bytes.Equal(f.Key, make([]byte, secretSize)) {
		return f, malformed(path, fmt.Sprintf("its key is not %d random bytes", secretSize))
	}
	return f, nil
}

// malformed returns the error for a file whose content is not a key file's.
func malformed(path, why string) error {
	return ErrKeyFileMalformed.Note("%+q is not a key file: %s; restore it from its copy", path, why)
}

// errorPosition returns where a parser stopped, without its message, which may quote a secret.
func errorPosition(err error) string {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return "it ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("syntax, at byte %d", syntax.ByteOffset)
	case errors.As(err, &meaning):
		return fmt.Sprintf("at byte %d", meaning.ByteOffset)
	}
	return "unreadable"
}
