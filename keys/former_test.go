package keys

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAFormerLayoutSelectsTheRowsOfTheNewOne(t *testing.T) { rapid.Check(t, formerSelects) }
func FuzzAFormerLayoutSelectsTheRowsOfTheNewOne(f *testing.F) { f.Fuzz(rapid.MakeFuzz(formerSelects)) }

// formerOf draws a layout of the attributes of another, in any order and form.
func formerOf(t *rapid.T, l Layout) (stored Layout, order []int) {
	for i := range l.Segments {
		order = append(order, i)
	}
	if rapid.Bool().Draw(t, "another order") {
		order = rapid.Permutation(order).Draw(t, "order")
	}
	stored = layouts().Draw(t, "stored")
	if rapid.Bool().Draw(t, "one separator") {
		stored.Sep = l.Sep
	}
	if rapid.Bool().Draw(t, "one casing") {
		stored.Casing = l.Casing
	}
	if rapid.IntRange(0, 3).Draw(t, "one form") == 0 {
		stored.Head, stored.Tail = l.Head, l.Tail
	}
	before := stored.Segments[0].Before
	stored.Segments = nil
	for _, i := range order {
		s := l.Segments[i]
		s.Before = before
		s.Digits = rapid.SampledFrom([]int{0, 1, 16, Unpadded}).Draw(t, "digits")
		stored.Segments = append(stored.Segments, s)
	}
	return stored, order
}

func formerSelects(t *rapid.T) {
	l := layouts().Draw(t, "layout")
	stored, order := formerOf(t, l)
	c, ok := NewComposer(l, stored)
	if !ok {
		t.Skip("the keys say other things")
	}
	a := valuesOf(t, l)
	want, got, err := rangesFor(t, l, &c, a)
	if err != nil {
		if !errors.Is(err, ErrFormerLayout) {
			t.Fatal(err)
		}
		return
	}
	for range 4 {
		row := neighbours(t, l, a)
		there := make([]Value, len(row))
		for i, from := range order {
			there[i] = row[from]
		}
		in, has := compose(t, l, row), compose(t, stored, there)
		contains := func(ranges []Range, key string) bool {
			return slices.ContainsFunc(ranges, func(r Range) bool { return r.Contains(key) })
		}
		if contains(want, in) != contains(got, has) {
			t.Fatalf("%q in %+v: %v; %q in %+v: %v", in, want, contains(want, in), has, got, contains(got, has))
		}
	}
}

// TestOfATextHalfTheKeyIsTheText: what IsText says of a layout, and of no other, holds for every text.
func TestOfATextHalfTheKeyIsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := layouts().Draw(t, "layout")
		stored := l
		if rapid.Bool().Draw(t, "former") {
			stored, _ = formerOf(t, l)
		}
		c, ok := NewComposer(l, stored)
		if !ok || len(l.Segments) != 1 || l.Segments[0].Kind != KindString {
			if ok && c.IsText() {
				t.Fatalf("%+v is no text", l)
			}
			return
		}
		for _, text := range []string{texts().Draw(t, "text"), "", "aÄß/%"} {
			key, err := c.Compose(String(text))
			if c.IsText() && (key != text || err != nil) {
				t.Fatalf("the key of %q is %q, %v", text, key, err)
			}
			if bare := c.Same() && l.Head+l.Tail+l.Segments[0].Before == "" && l.Casing == CasingNone; bare != c.IsText() {
				t.Fatalf("%+v is a text: %t, want %t", l, c.IsText(), bare)
			}
		}
	})
}

// rangesFor draws what is asked near values, and returns what the layout selects, and what the composer does.
func rangesFor(t *rapid.T, l Layout, c *Composer, a []Value) (want, got []Range, err error) {
	n := rapid.IntRange(0, len(a)).Draw(t, "given")
	var where Condition
	if n < len(a) {
		switch at := a[n]; rapid.IntRange(0, 5).Draw(t, "condition") {
		case 0:
			where.Eq = at
		case 1:
			where.From = at
		case 2:
			where.To = at
		case 3:
			where.From, where.To = at, near(t, at)
		case 4:
			if at.Kind() == KindString {
				text := at.text[:len(at.text)/2]
				where.Prefix = &text
			}
		}
	}
	if want, err = l.Select(a[:n], where); err != nil {
		t.Skip(err)
	}
	got, err = c.Select(a[:n], where)
	return want, got, err
}

func TestOperandsAreReadByTheNewLayoutAndAskedOfTheFormerOne(t *testing.T) {
	text := func(s string) *string { return &s }
	layout := func(head, sep string, segments ...Segment) Layout {
		return Layout{Head: head, Sep: sep, Segments: segments}
	}
	status := Segment{Field: "status", Kind: KindString}
	amount := Segment{Field: "amount", Kind: KindInt}
	short := Segment{Field: "amount", Kind: KindInt, Digits: 4, Before: "amount_"}
	both := layout("", "/", status, amount)
	for _, test := range []struct {
		now, stored Layout
		given       []Value
		operands    Operands
		want        Range
		err         error
	}{
		{both, layout("x", "#", status, short), nil, Operands{Eq: text("open/7")},
			Range{Op: RangeEqual, Lo: "x#open#amount_0007"}, nil},
		{both, layout("x", "#", short, status), nil, Operands{Eq: text("open/7")},
			Range{Op: RangeEqual, Lo: "x#amount_0007#open"}, nil},
		{both, layout("x", "#", short, status), nil, Operands{Prefix: text("open/")}, Range{}, ErrFormerLayout},
		{both, layout("x", "#", status, short), nil, Operands{Prefix: text("op")}, Range{Op: RangePrefix, Lo: "x#op"}, nil},
		{both, layout("x", "#", status, short), []Value{String("open")}, Operands{From: text("7")},
			Range{Op: RangeBetween, Lo: "x#open#amount_0007", Hi: "x#open#" + last}, nil},
		{both, layout("", "/", status, Segment{Field: "amount", Kind: KindInt, Before: "n"}), nil,
			Operands{From: text("a/7"), To: text("b")},
			Range{Op: RangeBetween, Lo: "a/n0000000000000007", Hi: "b/" + last}, nil},
		{both, layout("x", "#", status, short), nil, Operands{From: text("a"), To: text("b")}, Range{}, ErrFormerLayout},
		{layout("", "/", amount), layout("x", "#", short), nil, Operands{Eq: text("7")},
			Range{Op: RangeEqual, Lo: "x#amount_0007"}, nil},
		{layout("", "/", amount), layout("x", "#", short), nil, Operands{From: text("7.5")}, Range{}, ErrFormerLayout},
		{both, layout("x", "#", status, short), nil, Operands{}, Range{Op: RangePrefix, Lo: "x#"}, nil},
	} {
		c, ok := NewComposer(test.now, test.stored)
		if !ok {
			t.Errorf("%+v by %+v: not of the same attributes", test.now, test.stored)
			continue
		}
		got, err := c.ParseOperands(test.operands, test.given...)
		if !errors.Is(err, test.err) || test.err == nil && (err != nil || got != test.want) {
			t.Errorf("%+v: %+v, %v, want %+v, %v", test.stored, got, err, test.want, test.err)
		}
	}
}
