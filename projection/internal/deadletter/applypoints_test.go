package deadletter

import (
	"testing"

	"github.com/foldql/foldql/projection/internal/position"
)

// TestEventsOfOneApplyPointAreTriedOneAfterTheOther: two servers may have decided at the same one.
func TestEventsOfOneApplyPointAreTriedOneAfterTheOther(t *testing.T) {
	at := func(offset uint64) position.Ref { return position.Ref{Partition: "0", Offset: offset} }
	all := ApplyPoints{}
	for _, d := range []Decision{{Ref: at(1), Moment: 8}, {Ref: at(2), Moment: 8, Seq: 4}, {Ref: at(9), Skip: true}} {
		all.Add(&d)
	}
	for _, c := range []struct {
		Decision
		want int
	}{
		{Decision{Ref: at(1), Moment: 8}, 0},
		{Decision{Ref: at(3), Moment: 8}, 5},
		{Decision{Ref: at(3), Moment: 8, Seq: 1}, 1},
		{Decision{Ref: at(3), Moment: 7}, 0},
		{Decision{Ref: at(3), Skip: true}, 0},
	} {
		if all.MakeRoom(&c.Decision); c.Seq != c.want {
			t.Errorf("%+v: tried as %d, want %d", c.Decision, c.Seq, c.want)
		}
	}
}

// TestRowsBesideEachOtherNeverTakeOneApplyPoint, whatever they know of each other; and none takes one before what is
// known.
func TestRowsBesideEachOtherNeverTakeOneApplyPoint(t *testing.T) {
	none, some := ApplyPoints{}, ApplyPoints{}
	for _, d := range []Decision{
		{Moment: 8}, {Moment: 8, Seq: 5}, {Moment: 7, Seq: 90}, {Skip: true, Moment: 8, Seq: 90},
	} {
		d.Ref = position.Ref{Partition: "0", Offset: 1}
		some.Add(&d)
	}
	taken := map[bool]map[int]bool{false: {}, true: {}}
	for known, first := range map[*ApplyPoints]int{&none: 0, &some: 6} {
		for _, built := range []bool{false, true} {
			for replayed := range 10 {
				done := position.Cursor{Offset: 8, Replayed: replayed}
				free := known.Free("0", done, built)
				if free.Offset != 8 || free.Replayed < max(first, replayed) || free.Replayed > max(first, replayed)+1 {
					t.Errorf("rows, built: %t, at %v take %v, want the first that is behind %d", built, done, free, first)
				}
				taken[built][free.Replayed] = true
			}
		}
	}
	for point := range taken[true] {
		if taken[false][point] {
			t.Errorf("rows that serve and rows that are built both take %d", point)
		}
	}
}
