package config

import (
	"path/filepath"
	"strings"
)

// Source says where events come from.
type Source struct {
	Kind string // log or file
	Path string // of a file, "-" for standard input; of a log its data directory, "" for the one that belongs to the store
}

// parseSource reads "log:", "log:DIR" or "file:PATH".
func parseSource(text string) (Source, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && kind == Log && rest == "":
		return Source{Kind: Log}, nil
	case ok && kind == Log && strings.HasPrefix(rest, "?"):
		return Source{}, Wrong("events", "%q has options, and a log has none; write log: or log:DIR", text)
	case ok && kind == Log:
		return Source{Kind: Log, Path: filepath.Clean(rest)}, nil
	case ok && kind == File && rest != "":
		return Source{Kind: File, Path: rest}, nil
	case kind == File:
		return Source{}, Wrong("events", "%q names no file; write file:PATH, or file:- for standard input", text)
	}
	return Source{}, Wrong("events", "%q is no source of events; write log: for the log of the store, log:DIR, "+
		"or file:PATH", text)
}
