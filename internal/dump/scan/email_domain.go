package scan

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

// encodedLabel begins a label of an international domain in its ASCII form.
var encodedLabel = []byte("xn--")

// trimDomain returns the longest start of host, cut at dots and hyphens, that is a domain name: the rest is the text
// that followed.
func trimDomain(host []byte) []byte {
	for len(host) > 0 {
		if identifier.ValidDomain(host) {
			dot := bytes.LastIndexByte(host, '.')
			if !notDomain(host[dot+1:]) {
				return host
			}
			if !document(host[dot+1:]) {
				return nil
			}
		}
		cut := len(host) - 1
		for cut >= 0 && host[cut] != '.' && host[cut] != '-' {
			cut--
		}
		host = host[:max(0, cut)]
	}
	return nil
}

// notDomain knows the endings of picture and style file names such as logo@2x.png, which are no top-level domains.
func notDomain(ending []byte) bool {
	switch string(ending) {
	case "png",
		"jpg",
		"jpeg",
		"gif",
		"svg",
		"webp",
		"avif",
		"bmp",
		"ico",
		"css",
		"scss",
		"js",
		"mjs",
		"jsx",
		"tsx",
		"html",
		"htm",
		"xml",
		"json",
		"txt",
		"pdf",
		"woff",
		"ttf",
		"dll",
		"exe":
		return true
	}
	return false
}

// document knows the endings of files that lists of addresses are kept in: an address may be the name of one.
func document(ending []byte) bool {
	switch string(ending) {
	case "txt", "pdf", "json", "xml":
		return true
	}
	return false
}
