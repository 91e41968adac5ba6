package shared

import (
	"errors"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// TestAllThatASenderCanMakeLongCounts toward the memory of the events that are kept.
func TestAllThatASenderCanMakeLongCounts(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, e := range map[string]eventlog.Event{
		"data": {Data: []byte(long)}, "id": {ID: long}, "source": {Source: long}, "type": {Type: long},
		"subject": {Subject: long}, "partition key": {PartitionKey: long}, "data schema": {DataSchema: long},
		"envelope": {Envelope: []byte(long)}, "message hash": {MessageHash: long}, "fault": {Malformed: errors.New(long)},
		"an extension": {Extensions: map[string]string{"x": long}}, "its name": {Extensions: map[string]string{long: ""}},
	} {
		if size := sizeOf([]eventlog.Event{e}); size < len(long) {
			t.Errorf("an event whose %s has %d bytes counts as %d", name, len(long), size)
		}
	}
}
