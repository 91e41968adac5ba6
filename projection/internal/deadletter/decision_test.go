package deadletter

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/projection/internal/position"
)

// TestAPlanIsOfTheVersionThatFolds: what failed again under another version has no place but its own, and blocks
// nothing; what took effect, or is skipped, is moved for every version.
func TestAPlanIsOfTheVersionThatFolds(t *testing.T) {
	at := func(offset uint64) position.Ref { return position.Ref{Partition: "p", Offset: offset} }
	records := map[position.Ref]Decision{}
	for _, d := range []Decision{
		{Ref: at(1), Subject: "s", Moment: 9, Event: &position.Anchor{Source: "x"}},
		{Ref: at(2), Subject: "s", Moment: 9, Seq: 1, Failed: "v1", Event: &position.Anchor{Source: "x"}},
		{Ref: at(3), Subject: "s", Skip: true, Event: &position.Anchor{Source: "x"}},
	} {
		records[d.Ref] = d
	}
	for _, c := range []struct {
		version string
		moved   map[position.Ref]bool
		pending []uint64
	}{
		{"v1", map[position.Ref]bool{at(1): true, at(2): true, at(3): true}, []uint64{1, 2}},
		{"v2", map[position.Ref]bool{at(1): true, at(3): true}, []uint64{1}},
	} {
		p := PlanReplays(records, c.version, 1)
		var pending []uint64
		for _, d := range p.Pending("p", position.Cursor{Offset: 8}, 9) {
			pending = append(pending, d.Offset)
		}
		if diff := cmp.Diff(c.moved, p.Moved) + cmp.Diff(c.pending, pending); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.version, diff)
		}
	}
}

// TestAnEventWaitsForThoseOfItsSubjectThatAreTriedLater: from their own places on until they have been.
func TestAnEventWaitsForThoseOfItsSubjectThatAreTriedLater(t *testing.T) {
	records := map[position.Ref]Decision{}
	for _, d := range []Decision{
		{Ref: position.Ref{Partition: "p", Offset: 2}, Subject: "s", Moment: 9, Event: &position.Anchor{Source: "x"}},
		{Ref: position.Ref{Partition: "p", Offset: 4}, Subject: "s", Moment: 12, Event: &position.Anchor{Source: "x"}},
		{Ref: position.Ref{Partition: "p", Offset: 5}, Moment: 12, Seq: 1, Event: &position.Anchor{Source: "x"}},
	} {
		records[d.Ref] = d
	}
	p := PlanReplays(records, "", 1)
	s := Subject{"p", "x", "s"}
	for _, c := range []struct {
		subject Subject
		offset  uint64
		done    position.Cursor
		behind  uint64 // 0 for none
	}{
		{s, 1, position.Cursor{Offset: 1}, 0},
		{s, 3, position.Cursor{Offset: 3}, 2},
		{s, 6, position.Cursor{Offset: 9}, 2},
		{s, 6, position.Cursor{Offset: 9, Replayed: 1}, 4},
		{s, 3, position.Cursor{Offset: 9, Replayed: 1}, 0},
		{s, 13, position.Cursor{Offset: 13}, 0},
		{Subject{"p", "x", "other"}, 3, position.Cursor{Offset: 3}, 0},
		{Subject{"p", "y", "s"}, 3, position.Cursor{Offset: 3}, 0},
		{Subject{"p", "x", ""}, 6, position.Cursor{Offset: 6}, 0},
	} {
		if at, blocked := p.Blocking(c.subject, c.offset, c.done); at.Offset != c.behind || blocked != (c.behind > 0) {
			t.Errorf("%v, offset %d, at %v: behind %v (%t), want %d", c.subject, c.offset, c.done, at, blocked, c.behind)
		}
	}
}
