package sources

import (
	"cmp"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/mirror"
)

// Opened returns a source that an embedding program has opened, with what it is read through. It logs types of events
// that are not declared.
func Opened(src eventlog.Source, types eventlog.Types, log *slog.Logger) *Source {
	s := &Source{Source: &undeclaredTypes{Source: src, types: types, log: log}}
	s.Log, _ = src.(eventlog.Log)
	s.Mirror, s.Upstream = behind(src)
	return s
}

// behind returns the copy on this machine that a source is read from, and the server whose log it follows; nil where
// there is none.
func behind(src eventlog.Source) (copied *mirror.Mirror, upstream *httpsource.Source) {
	for {
		switch at := src.(type) {
		case *httpsource.Source:
			return copied, at
		case *mirror.Mirror:
			copied, src = cmp.Or(copied, at), at.Source()
		case eventlog.Wrapper:
			src = at.Unwrap()
		default:
			return copied, nil
		}
	}
}
