package keys

import (
	"errors"
	"slices"
	"strconv"
)

// ErrFormerLayout is the error of a query that keys of a former layout cannot answer: they are not in the order that it
// needs.
var ErrFormerLayout = errors.New("keys: stored keys of a former layout are not in the order that is asked for")

// Composer composes half a key for queries, whose arguments are those of a layout: with that layout, or with a former
// one of the same attributes, by which the stored keys are composed. Where the former one cannot give what is asked,
// its methods fail with [ErrFormerLayout]; all other errors are of the arguments, as those of the layout's own methods.
type Composer struct {
	Layout Layout
	// Enums are, of each segment whose field is of an enum, the values that it may have in text of the half, and nil of
	// the others; nil where no field is of an enum.
	Enums  [][]string
	stored *Layout // nil for Layout itself
	from   []int   // of each stored segment: the ordinal of its attribute in Layout
	alike  bool    // keys of both are in one order
}

// NewComposer makes the composer of a layout for keys that are stored by another. ok is false where those keys do not
// say what the layout's do: they have other attributes, by name and kind, or other values are one to them.
func NewComposer(layout, stored Layout) (c Composer, ok bool) {
	if sameLayout(&layout, &stored) {
		return Composer{Layout: layout, alike: true}, true
	}
	c = Composer{Layout: layout, stored: &stored, alike: alike(layout, stored)}
	if layout.Exists() != stored.Exists() || len(layout.Segments) != len(stored.Segments) ||
		layout.MayBeTruncated != stored.MayBeTruncated {
		return c, false
	}
	for _, s := range stored.Segments {
		at := slices.IndexFunc(layout.Segments, func(o Segment) bool { return o.Field == s.Field && o.Kind == s.Kind })
		if at < 0 {
			return c, false
		}
		c.from = append(c.from, at)
	}
	if !c.alike && layout.MayBeTruncated {
		return c, false
	}
	return c, c.alike || !hasText(&layout) || sameText(&layout, &stored)
}

// hasText reports whether a value of the half is text.
func hasText(l *Layout) bool {
	return slices.ContainsFunc(l.Segments, func(s Segment) bool { return s.Kind == KindString })
}

// sameText reports whether texts that are one to the keys of the one layout are one to those of the other.
func sameText(l, o *Layout) bool {
	return l.Casing == o.Casing && l.Escape == o.Escape && (l.Escape == EscapePercent || len(l.Segments) == 1)
}

// sameLayout reports whether both compose the same keys.
func sameLayout(l, o *Layout) bool {
	return l.Head == o.Head && l.Tail == o.Tail && l.Sep == o.Sep && l.Casing == o.Casing && l.Escape == o.Escape &&
		l.MayBeTruncated == o.MayBeTruncated && slices.Equal(l.Segments, o.Segments)
}

// alike reports whether keys of both are in one order: they differ in literal text alone.
func alike(l, o Layout) bool {
	plain := func(l *Layout) {
		bare := l.isBare()
		if bare || len(l.Segments) == 0 {
			l.Sep = ""
		}
		if !hasText(l) {
			l.Casing, l.Escape = CasingNone, EscapePercent
		}
		l.Segments = slices.Clone(l.Segments)
		for i := range l.Segments {
			l.Segments[i].Before = ""
		}
		if l.Head, l.Tail = "", mark(l.Tail); !bare {
			l.Head = mark("x")
		}
	}
	plain(&l)
	plain(&o)
	return sameLayout(&l, &o) || byValue(&l, &o)
}

// byValue reports whether keys of both are in the order of the same values, whatever their form: none of them is text.
func byValue(l, o *Layout) bool {
	unordered := func(s Segment) bool { return s.Kind == KindString || s.Digits == Unpadded }
	return !slices.ContainsFunc(l.Segments, unordered) && !slices.ContainsFunc(o.Segments, unordered) &&
		slices.EqualFunc(l.Segments, o.Segments, func(a, b Segment) bool { return a.Field == b.Field && a.Kind == b.Kind }) &&
		l.MayBeTruncated == o.MayBeTruncated
}

// mark stands for any literal text.
func mark(text string) string {
	if text == "" {
		return ""
	}
	return "x"
}

// InOrder reports whether the stored keys are in the order that those of the layout have.
func (c *Composer) InOrder() bool { return c.alike }

// SameMembers reports whether a row has a stored key whenever it has one of the layout, so that a partition of an index
// holds the same rows: one whose half would be the empty text and nothing else is in none.
func (c *Composer) SameMembers() bool {
	return c.stored == nil || !hasText(&c.Layout) || c.Layout.isBare() == c.stored.isBare()
}

// Same reports whether the stored keys are those of the layout.
func (c *Composer) Same() bool { return c.stored == nil }

// IsText reports whether Compose gives back the text that is the one value of the half, whatever that is.
func (c *Composer) IsText() bool { return c.stored == nil && isText(&c.Layout) }

// Compose composes the half as [Layout.Compose] does.
func (c *Composer) Compose(vals ...Value) (string, error) {
	text, err := c.Layout.Compose(vals...)
	if err != nil || c.stored == nil || text == "" {
		return text, err
	}
	return c.compose(vals)
}

// compose composes the stored half. The empty text is no key, in whichever layout.
func (c *Composer) compose(vals []Value) (string, error) {
	stored, ok := c.leading(c.stored, vals)
	if !ok {
		return "", ErrFormerLayout
	}
	text, err := c.stored.Compose(stored...)
	if err != nil || text == "" && len(vals) > 0 {
		return "", ErrFormerLayout
	}
	return text, nil
}

// ComposeTruncated composes the half as [Layout.ComposeTruncated] does.
func (c *Composer) ComposeTruncated(vals ...Value) (string, error) {
	text, err := c.Layout.ComposeTruncated(vals...)
	switch {
	case err != nil || c.stored == nil:
		return text, err
	case !c.alike:
		return "", ErrFormerLayout
	}
	return c.stored.ComposeTruncated(vals...)
}

// ParseKey composes the half as [Layout.ParseKey] does.
func (c *Composer) ParseKey(arg, text string) (string, error) {
	key, err := c.Layout.ParseKey(arg, text)
	if err == nil && c.Enums != nil {
		err = c.enumCheck().key(arg, text)
	}
	if err != nil || c.stored == nil {
		return key, err
	}
	vals, err := c.ParseKeyValues(arg, text)
	if err != nil {
		return "", err
	}
	return c.compose(vals)
}

// ParseKeyValues parses an argument as [Layout.ParseKey] does, and returns the values of the fields of the half, in its
// order.
func (c *Composer) ParseKeyValues(arg, text string) ([]Value, error) {
	if _, err := c.Layout.ParseKey(arg, text); err != nil {
		return nil, err
	}
	vals, _, err := operandText{layout: c.Layout.exact(), arg: arg, text: text}.values()
	return vals, err
}

// Select selects rows as [Layout.Select] does.
func (c *Composer) Select(given []Value, where Condition) ([]Range, error) {
	ranges, err := c.Layout.Select(given, where)
	if err != nil || c.stored == nil {
		return ranges, err
	}
	return c.selected(given[:CountLeading(given)], where)
}

// ParseOperands selects rows as [Layout.ParseOperands] does.
func (c *Composer) ParseOperands(o Operands, given ...Value) (Range, error) {
	r, err := c.Layout.ParseOperands(o, given...)
	if err == nil && c.Enums != nil {
		err = c.enumCheck().operands(o, given)
	}
	if err != nil || c.stored == nil {
		return r, err
	}
	ranges, err := c.operands(o, given)
	switch {
	case err != nil:
		return Range{}, err
	case len(ranges) != 1:
		return Range{}, ErrFormerLayout
	}
	return ranges[0], nil
}

func (c *Composer) operands(o Operands, given []Value) ([]Range, error) {
	l := c.Layout.exact()
	operand := func(arg string, text *string) operandText { return operandText{l, given, arg, *text} }
	switch {
	case o.Eq != nil:
		first, last, err := operand(OperandEq, o.Eq).values()
		if err != nil {
			return nil, err
		}
		return c.between(len(first)-1, first, last)
	case o.Prefix != nil:
		vals, beginning, err := operand(OperandPrefix, o.Prefix).prefix()
		if err != nil {
			return nil, err
		}
		return c.selected(vals, Condition{Prefix: beginning})
	}
	if o.From == nil && o.To == nil {
		return c.selected(given, Condition{})
	}
	var from, to []Value
	var err error
	if o.From != nil {
		if from, _, err = operand(OperandFrom, o.From).values(); err != nil {
			return nil, err
		}
	}
	if o.To != nil {
		if _, to, err = operand(OperandTo, o.To).values(); err != nil {
			return nil, err
		}
	}
	return c.between(len(given), from, to)
}

// between selects the rows between two bounds, either of which may be nil, that have the same first n values.
func (c *Composer) between(n int, from, to []Value) ([]Range, error) {
	given := from
	if given == nil {
		given = to
	}
	if len(from) > n+1 || len(to) > n+1 {
		if !c.alike {
			return nil, ErrFormerLayout
		}
		return former(selection{c.exactStored(), given[:n]}.between(from, to))
	}
	var where Condition
	if len(from) > n {
		where.From = from[n]
	}
	if len(to) > n {
		where.To = to[n]
	}
	if where.From.Present() && where.From == where.To {
		where = Condition{Eq: where.From}
	}
	return c.selected(given[:n], where)
}

// selected selects the rows that have the first values, and of which the condition holds for the next one.
func (c *Composer) selected(given []Value, where Condition) ([]Range, error) {
	if where.Eq.Present() {
		given, where.Eq = bound(given, where.Eq), Value{}
	}
	n, l := len(given), c.exactStored()
	stored, ok := c.leading(l, given)
	if !ok || where != (Condition{}) && (c.from[n] != n || !c.ordered(n, &where)) {
		return nil, ErrFormerLayout
	}
	if n < len(l.Segments) {
		where.From, where.To = where.From.as(l.Segments[n].Kind), where.To.as(l.Segments[n].Kind)
	}
	return former(l.Select(stored, where))
}

// former is an answer of the stored layout: that it has none is not the fault of the arguments.
func former(ranges []Range, err error) ([]Range, error) {
	if err != nil {
		return nil, ErrFormerLayout
	}
	return ranges, nil
}

func (c *Composer) exactStored() *Layout {
	l := c.stored.exact()
	return &l
}

// leading are the values in the order of the stored segments. ok is false where they are not those of the first
// segments.
func (c *Composer) leading(l *Layout, vals []Value) (stored []Value, ok bool) {
	for i := range vals {
		from := c.from[i]
		if from >= len(vals) {
			return nil, false
		}
		stored = append(stored, vals[from].as(l.Segments[i].Kind))
	}
	return stored, true
}

// ordered reports whether the stored keys are ordered by the segment as those of the layout are, as far as the
// condition asks for it.
func (c *Composer) ordered(n int, where *Condition) bool {
	l, o := &c.Layout, c.stored
	if c.alike || !where.From.Present() && !where.To.Present() {
		return true
	}
	if l.Segments[n].Kind != KindString {
		return o.Segments[n].Digits != Unpadded
	}
	return l.Sep == o.Sep && l.isBare() == o.isBare() && mark(l.Tail) == mark(o.Tail)
}

// as is a decimal that is a whole number as an integer, and an integer as a decimal, where one of that kind is wanted.
func (v Value) as(kind Kind) Value {
	switch {
	case v.kind == KindDecimal && kind == KindInt:
		if n, err := strconv.ParseInt(v.text, 10, 64); err == nil {
			return Int(n)
		}
	case v.kind == KindInt && kind == KindDecimal:
		return DecimalOf(Decimal(strconv.FormatInt(v.num, 10)))
	}
	return v
}
