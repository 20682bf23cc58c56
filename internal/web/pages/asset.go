package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// asset is a file that goes with the program: as it is, and compressed where that makes it shorter.
type asset struct {
	kind          string
	plain, zipped []byte
	plainTag      string
	zippedTag     string
}

func newAsset(name string, body []byte) (asset, error) {
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:8])
	a := asset{kind: mime.TypeByExtension(path.Ext(name)), plain: body, plainTag: `"` + tag + `"`}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return asset{}, err
	}
	if _, err := w.Write(body); err != nil {
		return asset{}, err
	}
	if err := w.Close(); err != nil {
		return asset{}, err
	}
	if zipped.Len() < len(body) {
		a.zipped, a.zippedTag = zipped.Bytes(), `"`+tag+`-gzip"`
	}
	return a, nil
}

// serve answers with the form of the file that the browser takes. Each form has its own entity tag, because a cache
// between must not answer one with the other.
func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("content-type", a.kind)
	body, tag := a.plain, a.plainTag
	if a.zipped != nil {
		header.Add("vary", "accept-encoding")
		if acceptsGzip(r.Header.Values("accept-encoding")) {
			body, tag = a.zipped, a.zippedTag
			header.Set("content-encoding", "gzip")
		}
	}
	header.Set("etag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// acceptsGzip reports whether a browser takes gzip: it is named, or all is, and not with a quality of zero.
func acceptsGzip(values []string) bool {
	accepts := false
	for _, part := range strings.Split(strings.Join(values, ","), ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		if coding != "gzip" && coding != "*" {
			continue
		}
		quality := 1.0
		if value, found := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q="); found {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return false
			}
			quality = q
		}
		if coding == "gzip" {
			return quality > 0 // what is said of gzip itself goes before what is said of all
		}
		accepts = quality > 0
	}
	return accepts
}

// ServeFiles serves the files of a folder by their names, compressed for browsers that take it. Browsers may keep them
// for age; they change only with the program.
func ServeFiles(files fs.FS, age time.Duration) (http.Handler, error) {
	assets := map[string]asset{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		assets[path.Base(name)], err = newAsset(name, body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("files of pages: %w", err)
	}
	return CacheFor(age, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := assets[path.Base(r.URL.Path)]
		if !ok {
			w.Header().Set("cache-control", "no-store")
			http.NotFound(w, r)
			return
		}
		a.serve(w, r)
	})), nil
}
