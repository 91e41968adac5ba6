package item

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// A row keeps a position for each slot: a partition of the source or, where several projections write the row, a writer
// and a partition, "writer/partition". In either name a slash is escaped, so that a slot without one is of no writer.
var (
	slotEscapes   = strings.NewReplacer("%", "%25", "/", "%2F")
	slotUnescapes = strings.NewReplacer("%25", "%", "%2F", "/")
)

// SlotOf is the slot of a partition; writer is "" where one projection writes the row.
func SlotOf(writer, partition string) string {
	slot := slotEscapes.Replace(partition)
	if writer != "" {
		slot = slotEscapes.Replace(writer) + "/" + slot
	}
	return slot
}

// partitionOf returns the partition of a slot; ok is false where the slot is of another writer.
func partitionOf(slot, writer string) (partition string, ok bool) {
	owner, partition, owned := strings.Cut(slot, "/")
	if !owned {
		owner, partition = "", slot
	}
	return slotUnescapes.Replace(partition), owner == slotEscapes.Replace(writer)
}

// stepDigits is how many digits of fraction the step of a position has.
const (
	stepDigits = 6
	MostSteps  = 999_999
)

// PositionText is a position as a number: the offset, and the step as its fraction.
func PositionText(p driver.Position) string {
	s := strconv.FormatUint(p.Offset, 10)
	if p.Step > 0 {
		s += fmt.Sprintf(".%0*d", stepDigits, p.Step)
	}
	return s
}

// ParsePosition reads what positionText wrote, in DynamoDB's notation, which has no zeros at the end.
func ParsePosition(digits, partition string) (driver.Position, error) {
	whole, fraction, _ := strings.Cut(digits, ".")
	p := driver.Position{Partition: partition}
	offset, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || len(fraction) > stepDigits {
		return p, fmt.Errorf("%q is no position", digits)
	}
	step, err := strconv.ParseUint(fraction+strings.Repeat("0", stepDigits-len(fraction)), 10, 32)
	if err != nil {
		return p, fmt.Errorf("%q is no position", digits)
	}
	p.Offset, p.Step = offset, uint32(step)
	return p, nil
}

// positions reads what an item knows of positions: where it was written last, by whichever writer, and what the writer
// has applied to it, by partition.
func positions(it Item, writer string) (last driver.Position, applied []driver.Position, err error) {
	by, _ := StringOf(it[layout.AttrBy])
	for attr, v := range it {
		slot, is := strings.CutPrefix(attr, layout.AttrPos)
		if !is {
			continue
		}
		partition, own := partitionOf(slot, writer)
		if !own && slot != by {
			continue
		}
		digits, _ := NumberOf(v)
		p, err := ParsePosition(digits, partition)
		if err != nil {
			return driver.Position{}, nil, err
		}
		if slot == by {
			last = p
		}
		if own {
			applied = append(applied, p)
		}
	}
	slices.SortFunc(applied, func(a, b driver.Position) int { return strings.Compare(a.Partition, b.Partition) })
	return last, applied, nil
}

// InstantText is an instant as a number: seconds since 1970, with their fraction.
func InstantText(t time.Time) string {
	seconds, nanos := t.Unix(), t.Nanosecond()
	sign := ""
	if seconds < 0 {
		sign = "-"
		if nanos > 0 {
			seconds, nanos = seconds+1, 1e9-nanos
		}
		seconds = -seconds
	}
	s := sign + strconv.FormatInt(seconds, 10)
	if nanos > 0 {
		s += strings.TrimRight(fmt.Sprintf(".%09d", nanos), "0")
	}
	return s
}

// parseInstant reads what InstantText wrote.
func parseInstant(digits string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(digits, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 {
		return time.Time{}, fmt.Errorf("%q is no instant", digits)
	}
	part, err := strconv.ParseUint(fraction+strings.Repeat("0", 9-len(fraction)), 10, 32)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no instant", digits)
	}
	nanos := int64(part)
	if strings.HasPrefix(whole, "-") {
		nanos = -nanos
	}
	return time.Unix(seconds, nanos), nil
}
