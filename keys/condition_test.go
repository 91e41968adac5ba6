package keys

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// tasks is a sort half of three composites.
func tasks() Layout {
	return key("Task").SK(Segment{Field: "status", Kind: KindString}, Segment{Field: "priority", Kind: KindInt},
		Segment{Field: "taskId", Kind: KindString})
}

func TestConditionsSelectWhatTheyMean(t *testing.T) {
	const head = "$myapp#v1#task"
	text := func(s string) *string { return &s }
	truncates := tasks()
	truncates.MayBeTruncated = true
	members := template(t, "team#{id}#member#{n:4}#in#{on}#end", scalarKinds)
	bare := template(t, "{id}", scalarKinds)
	pair := template(t, "{n:4}#{id}", scalarKinds)
	constant := key("Task").SK()
	times := key("Task").SK(Segment{Field: "at", Kind: KindDateTime}, Segment{Field: "taskId", Kind: KindString})
	tests := []struct {
		name   string
		layout Layout
		given  []Value
		c      Condition
		want   []Range
	}{
		{"nothing", tasks(), nil, Condition{}, []Range{{Op: RangePrefix, Lo: head + "#"}}},
		{"nothing, of a constant", constant, nil, Condition{}, []Range{{Op: RangeEqual, Lo: head}}},
		{"one", tasks(), []Value{String("Done"), {}, {}}, Condition{},
			[]Range{{Op: RangePrefix, Lo: head + "#status_done#"}}},
		{"all", tasks(), []Value{String("Done"), Int(5), String("t")}, Condition{},
			[]Range{{Op: RangeEqual, Lo: head + "#status_done#priority_0000000000000005#taskid_t"}}},
		{"eq", tasks(), []Value{String("Done")}, Condition{Eq: Int(5)},
			[]Range{{Op: RangePrefix, Lo: head + "#status_done#priority_0000000000000005#"}}},
		{"eq of the last", tasks(), []Value{String("Done"), Int(5)}, Condition{Eq: String("T")},
			[]Range{{Op: RangeEqual, Lo: head + "#status_done#priority_0000000000000005#taskid_t"}}},
		{"prefix", tasks(), nil, Condition{Prefix: text("Do#")}, []Range{{Op: RangePrefix, Lo: head + "#status_do%23"}}},
		{"empty prefix", tasks(), nil, Condition{Prefix: text("")}, []Range{{Op: RangePrefix, Lo: head + "#status_"}}},
		{"prefix of a date", members, []Value{String("t1"), Int(7)}, Condition{Prefix: text("2024-01")},
			[]Range{{Op: RangePrefix, Lo: "team#t1#member#0007#in#2024-01"}}},
		{"prefix of a date-time", times, nil, Condition{Prefix: text("2024-01-15T10")},
			[]Range{{Op: RangeBetween, Lo: head + "#at_2024-01-15t10:00:00.000z",
				Hi: head + "#at_2024-01-15t10:59:59.999z999999#\U0010FFFF"}}},
		{"prefix that is no date-time yet", times, nil, Condition{Prefix: text("2024-01-1")},
			[]Range{{Op: RangePrefix, Lo: head + "#at_2024-01-1"}}},
		{"from", tasks(), []Value{String("Done")}, Condition{From: Int(5)}, []Range{{Op: RangeBetween,
			Lo: head + "#status_done#priority_0000000000000005", Hi: head + "#status_done#\U0010FFFF"}}},
		{"to", tasks(), []Value{String("Done")}, Condition{To: Int(5)}, []Range{{Op: RangeBetween,
			Lo: head + "#status_done#", Hi: head + "#status_done#priority_0000000000000005#\U0010FFFF"}}},
		{"from and to of the last", tasks(), []Value{String("Done"), Int(5)}, Condition{From: String("A"), To: String("B")},
			[]Range{{Op: RangeBetween, Lo: head + "#status_done#priority_0000000000000005#taskid_a",
				Hi: head + "#status_done#priority_0000000000000005#taskid_b"}}},
		{"from and to of one value", tasks(), []Value{String("Done"), Int(5)}, Condition{From: String("A"), To: String("a")},
			[]Range{{Op: RangeEqual, Lo: head + "#status_done#priority_0000000000000005#taskid_a"}}},

		{"one, truncating", truncates, []Value{String("Done")}, Condition{}, []Range{
			{Op: RangeEqual, Lo: head + "#status_done"}, {Op: RangePrefix, Lo: head + "#status_done#"}}},
		{"eq, truncating", truncates, nil, Condition{Eq: String("Done")}, []Range{
			{Op: RangeEqual, Lo: head + "#status_done"}, {Op: RangePrefix, Lo: head + "#status_done#"}}},
		{"nothing, truncating", truncates, nil, Condition{}, []Range{{Op: RangePrefix, Lo: head + "#"}}},

		{"literals follow", members, []Value{String("t1")}, Condition{}, []Range{{Op: RangePrefix, Lo: "team#t1#member#"}}},
		{"literals follow eq", members, []Value{String("t1")}, Condition{Eq: Int(7)},
			[]Range{{Op: RangePrefix, Lo: "team#t1#member#0007#in#"}}},
		{"literals follow to", members, []Value{String("t1")}, Condition{To: Int(7)},
			[]Range{{Op: RangeBetween, Lo: "team#t1#member#", Hi: "team#t1#member#0007#in#\U0010FFFF"}}},
		{"all, and a literal", members, []Value{String("t1"), Int(7), DateOf("2024-01-15")}, Condition{},
			[]Range{{Op: RangeEqual, Lo: "team#t1#member#0007#in#2024-01-15#end"}}},

		{"bare", bare, nil, Condition{}, []Range{{}}},
		{"bare from", bare, nil, Condition{From: String("a#")}, []Range{{Op: RangeAtLeast, Lo: "a#"}}},
		{"bare to", bare, nil, Condition{To: String("a")}, []Range{{Op: RangeAtMost, Lo: "a"}}},
		{"bare prefix", bare, nil, Condition{Prefix: text("a#%")}, []Range{{Op: RangePrefix, Lo: "a#%"}}},
		{"bare empty prefix", bare, nil, Condition{Prefix: text("")}, []Range{{}}},
		{"no head to", pair, nil, Condition{To: Int(7)}, []Range{{Op: RangeAtMost, Lo: "0007#\U0010FFFF"}}},
	}
	for _, test := range tests {
		got, err := test.layout.Select(test.given, test.c)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
}

// TestOpenRangesSelectEveryTextThatBeginsWithACharacter, in the place after the bound, up to the last one that there
// may be.
func TestOpenRangesSelectEveryTextThatBeginsWithACharacter(t *testing.T) {
	l := template(t, "{n:4}#{id}", scalarKinds)
	got, err := l.Select(nil, Condition{To: Int(7)})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"\x00", "~", "\uffff", "\U0001f600", "\U0010fffd\U0010ffff", "\U0010ffff"} {
		if sk, err := l.Compose(Int(7), String(id)); err != nil || !got[0].Contains(sk) {
			t.Errorf("%q is not selected by %v (%v)", sk, got, err)
		}
	}
}

func TestDoneNeverSelectsDoneArchived(t *testing.T) {
	l := tasks()
	got, err := l.Select([]Value{String("Done")}, Condition{})
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[string]bool{"Done": true, "DONE": true, "Done_archived": false, "Done late": false,
		"Done#": false} {
		sk, err := l.Compose(String(status), Int(1), String("t-1"))
		if err != nil || got[0].Contains(sk) != want {
			t.Errorf("Done selects %q: %v, want %v (%v)", sk, !want, want, err)
		}
	}
}

func TestWrongConditionsAreErrorsThatNameThem(t *testing.T) {
	text := "x"
	tests := []struct {
		given []Value
		c     Condition
		want  []string
	}{
		{nil, Condition{Eq: String("a"), Prefix: &text}, []string{"eq", "prefix"}},
		{nil, Condition{Eq: String("a"), From: String("a")}, []string{"eq", "from"}},
		{nil, Condition{Prefix: &text, From: String("a"), To: String("b")}, []string{"prefix", "from", "to"}},
		{nil, Condition{Prefix: &text, To: String("b")}, []string{"prefix", "to"}},
		{nil, Condition{Eq: Int(1)}, []string{"eq"}},
		{[]Value{String("a")}, Condition{Prefix: &text}, []string{"prefix"}}, // of a number
		{[]Value{String("a")}, Condition{From: Int(1), To: String("b")}, []string{"to"}},
		{[]Value{{}, Int(1)}, Condition{}, []string{"status", "priority"}},
		{[]Value{String("a"), {}, String("t")}, Condition{}, []string{"priority", "taskId"}},
		{[]Value{String("a"), Int(1), String("t")}, Condition{Eq: String("t")}, []string{"eq"}},
		{[]Value{String("a"), Int(1), String("t")}, Condition{From: String("t"), To: String("u")}, []string{"from", "to"}},
	}
	for _, test := range tests {
		got, err := tasks().Select(test.given, test.c)
		var wrong *OperandError
		if !errors.As(err, &wrong) {
			t.Errorf("Select = %v, %v, want an OperandError for %v", got, err, test.want)
			continue
		}
		if diff := cmp.Diff(test.want, wrong.Args); diff != "" {
			t.Errorf("%v:\n%s", err, diff)
		}
		for _, arg := range test.want {
			if !strings.Contains(wrong.Error(), arg) {
				t.Errorf("%q does not name %s", wrong.Error(), arg)
			}
		}
	}
	for _, given := range [][]Value{{Int(1)}, {String("a"), Int(1), String("t"), String("u")}} {
		if got, err := tasks().Select(given, Condition{}); err == nil {
			t.Errorf("Select(%v) = %v, want an error", given, got)
		}
	}
}

func TestRangesHoldExactlyTheRowsMeant(t *testing.T) { rapid.Check(t, selecting) }
func FuzzRangesHoldExactlyTheRowsMeant(f *testing.F) { f.Fuzz(rapid.MakeFuzz(selecting)) }

// selecting compares Select with the meaning of a condition, of a row that has much in common with it.
func selecting(t *rapid.T) {
	l := layouts().Draw(t, "layout")
	l.MayBeTruncated = rapid.Bool().Draw(t, "truncates")
	row := characters(t, valuesOf(t, l))
	query := characters(t, neighbours(t, l, row))
	other := characters(t, neighbours(t, l, row))
	given := rapid.IntRange(0, len(row)).Draw(t, "given")
	has := len(row)
	if l.MayBeTruncated {
		has = rapid.IntRange(1, len(row)).Draw(t, "has")
	}
	sk, err := l.ComposeTruncated(row[:has]...)
	if err != nil {
		t.Fatal(err)
	}
	m := meaning{l, row[:has], sk}
	want := m.under(query[:given])
	var c Condition
	if given < len(row) {
		switch op := rapid.SampledFrom([]string{"", "eq", "prefix", "from", "to", "between"}).Draw(t, "operator"); op {
		case "eq":
			c.Eq = query[given]
			want = m.under(query[:given+1])
		case "prefix":
			if query[given].kind != KindString {
				break
			}
			text := query[given].text
			c.Prefix = &text
			want = want && has > given && m.begins(given, text)
		case "from":
			c.From = query[given]
			want = want && has > given && m.atLeast(given, c.From)
		case "to":
			c.To = query[given]
			want = want && has > given && m.atMost(given, c.To)
		case "between":
			c.From, c.To = query[given], other[given]
			want = want && has > given && m.atLeast(given, c.From) && m.atMost(given, c.To)
		}
	}
	ranges, err := l.Select(query[:given], c)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, r := range ranges {
		if r.Contains(sk) {
			held++
		}
	}
	if held > 1 || held == 1 != want {
		t.Fatalf("%q is held by %d of %v, want it held: %v", sk, held, ranges, want)
	}
	if diff := cmp.Diff(ranges, SortRanges(ranges...)); diff != "" {
		t.Fatalf("the ranges are out of order:\n%s", diff)
	}
}

// characters takes the last code point, which is none, out of strings.
func characters(t *rapid.T, vals []Value) []Value {
	for i, v := range vals {
		if v.kind == KindString {
			vals[i] = String(strings.ReplaceAll(v.text, last, ""))
		}
	}
	return vals
}

// meaning is what conditions mean for one row.
type meaning struct {
	l   Layout
	row []Value
	sk  string
}

func (m meaning) under(vals []Value) bool {
	return len(m.row) >= len(vals) && firstDifference(m.l, m.row[:len(vals)], vals) < 0
}

// begins also holds where the prefix would be other letters in the casing if one more followed.
func (m meaning) begins(i int, prefix string) bool {
	within, ok := strings.CutSuffix(m.text(String(prefix+"x")), m.l.Casing.Apply("x"))
	text := m.text(m.row[i])
	return strings.HasPrefix(text, m.text(String(prefix))) || ok && strings.HasPrefix(text, within)
}

func (m meaning) atLeast(i int, bound Value) bool {
	if bound.kind != KindString {
		return compare(m.row[i], bound, m.l.Casing) >= 0
	}
	if i == len(m.l.Segments)-1 && m.l.Tail != "" {
		return m.text(m.row[i])+m.l.Sep >= m.text(bound)+m.l.Sep
	}
	return m.followed(i, m.row[i]) >= m.text(bound)
}

func (m meaning) atMost(i int, bound Value) bool {
	if bound.kind != KindString {
		return compare(m.row[i], bound, m.l.Casing) <= 0
	}
	switch {
	case i < len(m.l.Segments)-1:
	case m.l.Tail == "":
		return m.text(m.row[i]) <= m.text(bound)
	default:
		return m.text(m.row[i])+m.l.Sep <= m.text(bound)+m.l.Sep
	}
	return m.text(m.row[i]) == m.text(bound) || m.followed(i, m.row[i]) < m.text(bound)+m.l.Sep
}

// followed is the text of a string and of the separator that follows it, if a value does.
func (m meaning) followed(i int, v Value) string {
	if i < len(m.row)-1 {
		return m.text(v) + m.l.Sep
	}
	return m.text(v)
}

// text is the text of a string in a key.
func (m meaning) text(v Value) string {
	text := m.l.Casing.Apply(v.text)
	if m.l.isBare() {
		return text
	}
	return string(encoding.Escape([]byte(text), 0, m.l.Sep[0], false))
}

func TestNumbersWithoutPaddingAreInNoOrder(t *testing.T) {
	l, err := templateLayout("a#{n}#{s}", CasingNone, func(field string) Kind {
		return map[string]Kind{"n": KindInt, "s": KindString}[field]
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Condition{{From: Int(9)}, {To: Int(10)}, {From: Int(9), To: Int(10)}} {
		var operand *OperandError
		if got, err := l.Select(nil, c); !errors.As(err, &operand) {
			t.Errorf("%+v selects %v, %v", c, got, err)
		}
	}
	if got, err := l.Select(nil, Condition{Eq: Int(9)}); err != nil || !slices.ContainsFunc(got, func(r Range) bool {
		return r.Contains("a#9#x")
	}) {
		t.Errorf("one value selects %v, %v", got, err)
	}
	if got, err := l.Select([]Value{Int(9)}, Condition{From: String("x")}); err != nil || len(got) != 1 ||
		!got[0].Contains("a#9#y") {
		t.Errorf("a range of what follows is %v, %v", got, err)
	}
}

func TestAPrefixThatEndsInASigmaHasTwoRanges(t *testing.T) {
	text := func(s string) *string { return &s }
	l := Layout{Casing: CasingLower, Segments: []Segment{{Field: "a", Kind: KindString}}}
	for _, test := range []struct {
		prefix *string
		want   []Range
	}{
		{text("ΟΔΟΣ"), []Range{{Op: RangePrefix, Lo: "οδος"}, {Op: RangePrefix, Lo: "οδοσ"}}},
		{text("ΟΔΟΣ'"), []Range{{Op: RangePrefix, Lo: "οδος'"}, {Op: RangePrefix, Lo: "οδοσ'"}}},
		{text("ΟΔΟΣ "), []Range{{Op: RangePrefix, Lo: "οδος "}}},
		{text("ΟΔΟΣΑ"), []Range{{Op: RangePrefix, Lo: "οδοσα"}}},
		{text("οδος"), []Range{{Op: RangePrefix, Lo: "οδος"}}},
		{text("Σ"), []Range{{Op: RangePrefix, Lo: "σ"}}},
	} {
		got, err := l.Select(nil, Condition{Prefix: test.prefix})
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", *test.prefix, err, diff)
		}
	}
}

func TestAPrefixHoldsAllThatBeginsWithIt(t *testing.T) {
	text := rapid.StringMatching(`[ΣσςΑİßa '.\x{301}ʰ#%]{0,5}`)
	end := rapid.SampledFrom([]string{"", "ΑΣ", "σΣ'", "ΑΣ\u0301"})
	rapid.Check(t, func(t *rapid.T) {
		begin, rest := text.Draw(t, "begin")+end.Draw(t, "end"), text.Draw(t, "rest")
		l := Layout{Head: "h", Segments: []Segment{{Field: "a", Kind: KindString, Before: "a_"}}, Sep: "#"}
		l.Casing = rapid.SampledFrom([]Casing{CasingNone, CasingLower, CasingUpper}).Draw(t, "casing")
		ranges, err := l.Select(nil, Condition{Prefix: &begin})
		if err != nil {
			t.Fatal(err)
		}
		sk, err := l.Compose(String(begin + rest))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(ranges, func(r Range) bool { return r.Contains(sk) }) {
			t.Fatalf("%q is not held by %v", sk, ranges)
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	prefix := "t-"
	done := []Value{String("Done"), Int(5)}
	for _, bench := range []struct {
		name  string
		given []Value
		c     Condition
	}{
		{"under", done[:1], Condition{}},
		{"eq", done[:1], Condition{Eq: Int(5)}},
		{"prefix", done, Condition{Prefix: &prefix}},
		{"between", done[:1], Condition{From: Int(1), To: Int(9)}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := tasks()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Select(bench.given, bench.c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
