package server

import (
	"path/filepath"
	"strings"
)

// storePlace says where rows are kept.
type storePlace struct {
	kind string // embedded or memory
	dir  string // the data directory of an embedded store
}

// The kinds of stores and sources.
const (
	embeddedStore = "embedded"
	memoryStore   = "memory"
	logSource     = "log"
	fileSource    = "file"
)

// parseStore reads "embedded:DIR" or "memory:".
func parseStore(text string) (storePlace, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && kind == embeddedStore && rest != "":
		return storePlace{kind: embeddedStore, dir: filepath.Clean(rest)}, nil
	case ok && kind == memoryStore && rest == "":
		return storePlace{kind: memoryStore}, nil
	case kind == embeddedStore:
		return storePlace{}, wrongConfig("store", "%q names no directory; write embedded:DIR, for example embedded:./data", text)
	}
	return storePlace{}, wrongConfig("store", "%q is no store; write embedded:DIR, or memory: to try things out", text)
}

func (p storePlace) String() string { return p.kind + ":" + p.dir }

func (p storePlace) rows() string { return filepath.Join(p.dir, "rows") }
func (p storePlace) log() string  { return filepath.Join(p.dir, "log") }

// sourcePlace says where events come from.
type sourcePlace struct {
	kind string // log or file
	path string // of a file, "-" for standard input
}

// parseSource reads "log:" or "file:PATH".
func parseSource(text string) (sourcePlace, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && kind == logSource && rest == "":
		return sourcePlace{kind: logSource}, nil
	case ok && kind == fileSource && rest != "":
		return sourcePlace{kind: fileSource, path: rest}, nil
	case kind == fileSource:
		return sourcePlace{}, wrongConfig("events", "%q names no file; write file:PATH, or file:- for standard input", text)
	}
	return sourcePlace{}, wrongConfig("events", "%q is no source of events; write log: for the log beside the rows, or file:PATH", text)
}
