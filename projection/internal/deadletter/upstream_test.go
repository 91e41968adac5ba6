package deadletter

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/projection/internal/position"
)

// FuzzParseUpstream: whatever another server says is refused, or is a decision that can be followed and given on.
func FuzzParseUpstream(f *testing.F) {
	for _, text := range []string{
		`{"partition":"0","offset":2,"moment":8,"seq":1,"event":{"offset":2,"source":"/s","id":"1"},"after":{"offset":8}}`,
		`{"partition":"0","offset":2,"skip":true}`,
		`{"partition":"0","offset":2,"skip":true,"moment":3}`,
		`{"partition":"0","offset":2,"moment":1}`,
		`{"partition":"0","offset":2,"moment":3,"seq":-1}`,
		`{"partition":"0","offset":2,"moment":3,"event":{"offset":3}}`,
		`{"partition":"","offset":0}`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		u, err := ParseUpstream(text)
		if err != nil {
			return
		}
		d := u.Decision(nil)
		if d.Offset == 0 || !d.Skip && d.Done().Before(position.Cursor{Offset: d.Offset}) || d.Seq < 0 {
			t.Errorf("%s is taken for a decision: %+v", text, d)
		}
		sent, err := json.Marshal(d.AsUpstream())
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseUpstream(sent)
		if err != nil {
			t.Fatalf("%s is given on as %s: %v", text, sent, err)
		}
		if diff := cmp.Diff(u, again); diff != "" {
			t.Errorf("%s is given on otherwise (-want +got):\n%s", text, diff)
		}
	})
}

// TestWhatIsDecidedHereStands, unless it is a retry that has failed and the other server has decided later.
func TestWhatIsDecidedHereStands(t *testing.T) {
	retry := Verdict{Moment: 8}
	for _, c := range []struct {
		name   string
		theirs Verdict
		old    Decision
		stands bool
	}{
		{"the same", retry, Decision{Moment: 8}, true},
		{"taken over", retry, Decision{Moment: 8, Seq: 1, Upstream: &retry}, true},
		{"decided otherwise there", Verdict{Moment: 9}, Decision{Moment: 8, Upstream: &retry}, false},
		{"retried here", retry, Decision{Moment: 5}, true},
		{"skipped here", retry, Decision{Skip: true}, true},
		{"failed here before", retry, Decision{Moment: 5, Failed: "1"}, false},
		{"failed here after", retry, Decision{Moment: 9, Failed: "1"}, true},
		{"failed here, skipped there", Verdict{Skip: true}, Decision{Moment: 9, Failed: "1"}, false},
		{"failed both", Verdict{Moment: 9, Failed: "1"}, Decision{Moment: 8, Failed: "1"}, true},
	} {
		if u := (Upstream{Verdict: c.theirs}); u.Stands(&c.old) != c.stands {
			t.Errorf("%s: stands %t, want %t", c.name, !c.stands, c.stands)
		}
	}
}

// TestADecisionIsReplacedWhenNoRowsAwaitIt, since these would try the event twice, or never.
func TestADecisionIsReplacedWhenNoRowsAwaitIt(t *testing.T) {
	at := func(offset uint64) []Rows {
		return []Rows{{
			Generation: 1, Done: map[string]position.Cursor{"0": {Offset: offset}},
			Before: func(e position.Ref) bool { return offset < e.Offset },
		}}
	}
	d := Decision{Ref: position.Ref{Partition: "0", Offset: 2}, Moment: 8}
	for offset, awaited := range map[uint64]bool{1: false, 2: true, 8: true, 9: false} {
		if got := d.Awaited(at(offset)); got != awaited {
			t.Errorf("rows at %d: awaited %t, want %t", offset, got, awaited)
		}
	}
	if d.Beside = []int{1}; d.Awaited(at(5)) {
		t.Error("rows that try only what is a dead letter await nothing")
	}
}
