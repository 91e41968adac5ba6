package eventlog_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

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
		{`{"a":[1.50,{"b":100}]}`, `{"a":[1.5,{"b":1e2}]}`, true},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":"1.0"}`, `{"a":"1"}`, false},
		{`{"a":[1]}`, `{"a":[1,1]}`, false},
		{`{"a":-0}`, `{"a":0e999999999999999999999}`, true},
		{`{"a":1e999999999999}`, `{"a":0.1E+1000000000000}`, true},
		{`{"a":1e999999999999}`, `{"a":-1e999999999999}`, false},
		{`{"a":1e00000000000000000000000001}`, `{"a":10}`, true},
		{`{"a":1e-9999999999999999999999}`, `{"a": 1e-9999999999999999999999}`, true},
		{`{"a":1e-9999999999999999999999}`, `{"a":1e9999999999999999999999}`, false},
	}
	for _, c := range cases {
		a, b := eventlog.Event{Data: []byte(c.again)}, eventlog.Event{Data: []byte(c.stored)}
		if got := eventlog.SameContent(&a, &b); got != c.want {
			t.Errorf("%s and %s: same %v, want %v", c.again, c.stored, got, c.want)
		}
	}
}

// TestEqualNumbersAreTheSame, and no others are, however they are written.
func TestEqualNumbersAreTheSame(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][05]{0,3})(\.[05]{1,3})?([eE][+-]?0?[0-3])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		again, stored := eventlog.Event{Data: []byte(a)}, eventlog.Event{Data: []byte(b)}
		if same := eventlog.SameContent(&again, &stored); same != (x.Cmp(y) == 0) {
			t.Fatalf("%s and %s: same %v", a, b, same)
		}
	})
}

// TestANumberIsTheSameWithItsPointElsewhere: the exponent says by how much.
func TestANumberIsTheSameWithItsPointElsewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[1-9][0-9]{0,40}`).Draw(t, "digits")
		by := rapid.Int64Range(-1e15, 1e15).Draw(t, "exponent")
		at := rapid.IntRange(1, len(digits)).Draw(t, "point")
		moved := fmt.Sprintf("%s.%s0e%d", digits[:at], digits[at:], by+int64(len(digits)-at))
		again, stored := eventlog.Event{Data: fmt.Appendf(nil, "%se%d", digits, by)}, eventlog.Event{Data: []byte(moved)}
		if !eventlog.SameContent(&again, &stored) {
			t.Fatalf("%s and %s differ", again.Data, moved)
		}
	})
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
