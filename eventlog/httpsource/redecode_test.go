package httpsource_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
)

// TestWhatAServerCouldNotReadIsNotReadWithoutIt, though it looks like an event: another log would come of it.
func TestWhatAServerCouldNotReadIsNotReadWithoutIt(t *testing.T) {
	s, err := httpsource.Open(httpsource.Options{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	want := eventlog.Event{ID: "1", Malformed: errors.New("too large"),
		Data: []byte(`{"specversion":"1.0","id":"1","source":"/s","type":"T","data":{}}`)}
	if diff := cmp.Diff(want, eventlog.Redecode(s, want), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
