package item

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/querydb/driver"
)

func TestPositionsReadBackAndSortAsNumbers(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) driver.Position {
		return driver.Position{Partition: "p", Offset: rapid.Uint64().Draw(t, "offset"),
			Step: rapid.Uint32Range(0, MostSteps).Draw(t, "step")}
	})
	rapid.Check(t, func(t *rapid.T) {
		p, o := draw.Draw(t, "p"), draw.Draw(t, "o")
		if rapid.Bool().Draw(t, "same offset") {
			o.Offset = p.Offset
		}
		digits := PositionText(p)
		if strings.Contains(digits, ".") {
			digits = strings.TrimRight(digits, "0") // as DynamoDB has it
		}
		if got, err := ParsePosition(digits, "p"); err != nil || got != p {
			t.Fatalf("%v reads back as %v, %v", p, got, err)
		}
		if before := numberBefore(PositionText(p), PositionText(o)); before != p.Before(o) {
			t.Fatalf("%s before %s: %t", PositionText(p), PositionText(o), before)
		}
	})
}

// numberBefore compares decimal numbers without a sign.
func numberBefore(a, b string) bool {
	whole, fraction, _ := strings.Cut(a, ".")
	otherWhole, otherFraction, _ := strings.Cut(b, ".")
	if len(whole) != len(otherWhole) {
		return len(whole) < len(otherWhole)
	}
	if whole != otherWhole {
		return whole < otherWhole
	}
	return fraction < otherFraction
}

func TestSlotsTellWritersAndPartitionsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[a/%2F5]{0,4}`)
		writer, partition, other := part.Draw(t, "writer"), part.Draw(t, "partition"), part.Draw(t, "other")
		got, own := partitionOf(SlotOf(writer, partition), writer)
		if got != partition || !own {
			t.Fatalf("%q reads back as %q, own: %t", SlotOf(writer, partition), got, own)
		}
		if _, own := partitionOf(SlotOf(writer, partition), other); own != (other == writer) {
			t.Fatalf("%q is taken for one of writer %q", SlotOf(writer, partition), other)
		}
	})
}

func TestARowTellsAWriterItsOwnPositionsOnly(t *testing.T) {
	it := Item{
		"_by": Text("v/events"), "_pos.v/events": Number("9"), "_pos.w/events": Number("5.00001"), "_pos.w/a%2Fb": Number(
			"3"), "_pos.events": Number("2"),
	}
	at := func(partition string, offset uint64, step uint32) driver.Position {
		return driver.Position{Partition: partition, Offset: offset, Step: step}
	}
	tests := []struct {
		writer  string
		last    driver.Position
		applied []driver.Position
	}{
		{"v", at("events", 9, 0), []driver.Position{at("events", 9, 0)}},
		{"w", at("events", 9, 0), []driver.Position{at("a/b", 3, 0), at("events", 5, 10)}},
		{"", at("events", 9, 0), []driver.Position{at("events", 2, 0)}},
		{"x", at("events", 9, 0), nil},
	}
	for _, test := range tests {
		last, applied, err := positions(it, test.writer)
		if err != nil || last != test.last || cmp.Diff(test.applied, applied) != "" {
			t.Errorf("writer %q: %v, %v, %v", test.writer, last, applied, err)
		}
	}
}

func TestInstantsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "seconds"),
			rapid.Int64Range(0, 1e9-1).Draw(t, "nanos"))
		if got, err := parseInstant(InstantText(at)); err != nil || !got.Equal(at) {
			t.Fatalf("%v is %s, which reads as %v, %v", at, InstantText(at), got, err)
		}
	})
	for _, digits := range []string{"", "x", "1.x", "1.0000000001", "1.-1"} {
		if at, err := parseInstant(digits); err == nil {
			t.Errorf("%q is read as %v", digits, at)
		}
		if p, err := ParsePosition(digits, ""); err == nil {
			t.Errorf("%q is read as %v", digits, p)
		}
	}
}
