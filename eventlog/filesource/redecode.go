package filesource

import "github.com/foldql/foldql/eventlog"

var (
	_ eventlog.Redecoder = (*Source)(nil)
	_ eventlog.Redecoder = (*Dir)(nil)
)

// wholeLine is the Envelope of a malformed event whose Data is all of its line.
const wholeLine = "line"

// Redecode implements eventlog.Redecoder. Of a line that was too long to be kept, the event stays as it is.
func (s *Source) Redecode(e eventlog.Event) eventlog.Event {
	if string(e.Envelope) != wholeLine {
		return e
	}
	var l line
	s.keep(&l, e.Data, true)
	return s.event(e.Offset, &l)
}

// Redecode implements eventlog.Redecoder.
func (d *Dir) Redecode(e eventlog.Event) eventlog.Event {
	s := d.files[e.Partition]
	if s == nil { // its file is gone
		return e
	}
	return s.Redecode(e)
}
