// Package data has events to begin with.
package data

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

//go:embed sample.jsonl
var sample []byte

// Sample yields the events of sample.jsonl, which serve --sample appends to an empty log.
func Sample(yield func(eventlog.Event) bool) {
	for line := range bytes.Lines(sample) {
		e, err := cloudevents.Decoder{}.Decode(line)
		if err != nil {
			panic(fmt.Errorf("data/sample.jsonl: event %q: %w: correct it", e.ID, err))
		}
		if !yield(e) {
			return
		}
	}
}
