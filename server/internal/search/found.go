package search

import (
	"bytes"
	"encoding/json"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// Found is an event that a search has found, and where it stands.
type Found struct {
	Partition string `json:"partition"`
	Offset    uint64 `json:"offset"`
	// Event is the CloudEvent in the JSON format, on one line; nil where it is malformed.
	Event json.RawMessage `json:"event,omitempty"`
	// Malformed says why the source could not read the event, and Text is what stands there.
	Malformed string `json:"malformed,omitempty"`
	Text      string `json:"text,omitempty"`
}

// Ref names the event: PARTITION:OFFSET.
func (f *Found) Ref() string { return FormatPosition(eventlog.Offsets{f.Partition: f.Offset}) }

func found(e *eventlog.Event) Found {
	f := Found{Partition: e.Partition, Offset: e.Offset}
	switch {
	case e.Malformed != nil:
		f.Malformed, f.Text = e.Malformed.Error(), string(e.Data)
	case !json.Valid(e.Data):
		f.Malformed, f.Text = "its data is not JSON", string(e.Data)
	default:
		f.Event = onOneLine(cloudevents.Append(nil, e))
	}
	return f
}

// onOneLine is the event without line breaks, which JSON may have between values.
func onOneLine(event []byte) []byte {
	if bytes.IndexByte(event, '\n') < 0 {
		return event
	}
	var line bytes.Buffer
	if err := json.Compact(&line, event); err != nil {
		panic(err) // the data was found to be JSON, and the attributes are written as such
	}
	return line.Bytes()
}
