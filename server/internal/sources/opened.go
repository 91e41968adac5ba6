package sources

import (
	"cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/mirror"
)

// Opened returns a source that another program has opened, with what it is read through.
func Opened(src eventlog.Source) *Source {
	s := &Source{Source: src}
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
