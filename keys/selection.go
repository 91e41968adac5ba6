package keys

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// selection is the rows of a partition whose sort keys begin with the given values. Its methods compose ranges of them,
// by what is asked of the values that follow.
type selection struct {
	layout *Layout
	given  []Value
}

// next is the segment of the first value that is not given, nil where all are.
func (s selection) next() *Segment {
	if len(s.given) == len(s.layout.Segments) {
		return nil
	}
	return &s.layout.Segments[len(s.given)]
}

// with returns the rows that also have v as their next value.
func (s selection) with(v Value) selection { return selection{s.layout, append(s.given, v)} }

// all returns the ranges of all the rows.
func (s selection) all() ([]Range, error) {
	l := s.layout
	closed, err := l.Compose(s.given...)
	switch {
	case err != nil:
		return nil, operandError(err)
	case len(s.given) == len(l.Segments):
		return []Range{{Op: RangeEqual, Lo: closed}}, nil
	case closed == "":
		return []Range{{}}, nil
	case !l.MayBeTruncated || len(s.given) == 0:
		return []Range{{Op: RangePrefix, Lo: closed}}, nil
	}
	own, err := l.ComposeTruncated(s.given...)
	if err != nil {
		return nil, operandError(err)
	}
	return []Range{{Op: RangeEqual, Lo: own}, {Op: RangePrefix, Lo: closed}}, nil
}

// beginning returns the ranges of the rows whose next string, date or date-time begins with text.
func (s selection) beginning(text string) ([]Range, error) {
	l := s.layout
	switch kind := s.next().Kind; {
	case text == "" || kind != KindDate && kind != KindDateTime:
	case kind == KindDateTime && isClock(text):
		return s.inPeriod(text)
	case !kind.mayBegin(text):
		return nil, wrongOperand(OperandPrefix, "no %v begins with %.40q", kind, text)
	default:
		text = strings.ToUpper(text)
	}
	closed, err := l.Compose(s.given...)
	if err != nil {
		return nil, operandError(err)
	}
	_, name := l.cutBefore(len(s.given))
	start := len(closed) + len(name)
	if start+len(text) == 0 {
		return []Range{{}}, nil
	}
	var ranges []Range
	for _, beginning := range encoding.Case(l.Casing).Beginnings(text) {
		key := []byte(closed + name + beginning)
		if l.Escape == EscapePercent && !l.isBare() {
			key = encoding.Escape(key, start, l.Sep[0], false)
		}
		ranges = append(ranges, Range{Op: RangePrefix, Lo: string(key)})
	}
	return ranges, nil
}

// inPeriod returns the range of the rows whose next date-time is of the period that a part of one stands for. A whole
// one begins those that are finer.
func (s selection) inPeriod(text string) ([]Range, error) {
	first, last, ok := parseTimes(text)
	if !ok {
		return nil, wrongOperand(OperandPrefix, "%.40q is outside the years 0000 to 9999", text)
	}
	if c, _ := encoding.ParseTime(text); c.Complete() {
		lo, err := s.layout.ComposeTruncated(bound(s.given, first)...)
		if err != nil {
			return nil, operandError(err)
		}
		return []Range{{Op: RangePrefix, Lo: lo}}, nil
	}
	return s.between(bound(s.given, first), bound(s.given, last))
}

// between returns the range between two inclusive bounds, of which one may be nil. Each is the given values and some
// that follow them, and covers all that lies under it.
func (s selection) between(from, to []Value) ([]Range, error) {
	l := s.layout
	least, err := l.Compose(s.given...)
	if err != nil {
		return nil, operandError(err)
	}
	r := Range{Op: RangeBetween, Lo: least, Hi: least + last}
	if from != nil {
		if r.Lo, err = l.ComposeTruncated(from...); err != nil {
			return nil, operandError(err)
		}
	}
	if to != nil {
		if r.Hi, err = l.Compose(to...); err != nil {
			return nil, operandError(err)
		}
		if len(to) < len(l.Segments) {
			r.Hi += last
		}
	}
	switch {
	case r.Lo == r.Hi:
		return []Range{{Op: RangeEqual, Lo: r.Lo}}, nil
	case least == "" && to == nil:
		return []Range{{Op: RangeAtLeast, Lo: r.Lo}}, nil
	case least == "" && from == nil:
		return []Range{{Op: RangeAtMost, Lo: r.Hi}}, nil
	}
	return []Range{r}, nil
}

// bound returns the given values and v in a slice of its own, nil where v is absent.
func bound(given []Value, v Value) []Value {
	if !v.Present() {
		return nil
	}
	return append(slices.Clip(given), v)
}

// last sorts above every text that follows a separator and begins with a character. It is none itself. A longer text
// that begins with it sorts above: inclusive bounds of text, which are all that every store has, have no higher end.
const last = "\U0010FFFF"
