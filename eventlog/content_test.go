package eventlog_test

import (
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
)

func TestDataAreTheSameHoweverTheyAreWritten(t *testing.T) {
	cases := []struct {
		again, stored string
		want          bool
	}{
		{`{"a":1}`, `{"a":1}`, true},
		{`{"a":1,"b":[null,"é"]}`, ` { "b" : [ null , "\u00e9" ] , "a" : 1 } `, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{"a":`, `{"a": `, false},
	}
	for _, c := range cases {
		a, b := eventlog.Event{Data: []byte(c.again)}, eventlog.Event{Data: []byte(c.stored)}
		if got := eventlog.SameContent(&a, &b); got != c.want {
			t.Errorf("%s and %s: same %v, want %v", c.again, c.stored, got, c.want)
		}
	}
}

func TestAnEventSentAgainWithoutTimeIsTheSame(t *testing.T) {
	at := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	timed, other := eventlog.Event{Time: at.In(time.FixedZone("", 3600))}, eventlog.Event{Time: at.Add(1)}
	stored := eventlog.Event{Time: at}
	if !eventlog.SameContent(&eventlog.Event{}, &stored) || !eventlog.SameContent(&timed, &stored) {
		t.Error("the same instant, or none, differs")
	}
	if eventlog.SameContent(&other, &stored) {
		t.Error("another time is the same")
	}
}
