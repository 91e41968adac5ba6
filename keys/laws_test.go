package keys

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersBooleansAndTimesSortAsValuesWhereverTheyStand(t *testing.T) { rapid.Check(t, ordered) }
func FuzzNumbersBooleansAndTimesSortAsValues(f *testing.F)                  { f.Fuzz(rapid.MakeFuzz(ordered)) }

func ordered(t *rapid.T) {
	l := layouts().Draw(t, "layout")
	a := valuesOf(t, l)
	b := neighbours(t, l, a)
	first := firstDifference(l, a, b)
	if first < 0 || l.Segments[first].Kind == KindString {
		return
	}
	want := compare(a[first], b[first], l.Casing)
	if got := strings.Compare(compose(t, l, a), compose(t, l, b)); got != want {
		t.Fatalf("%v compare as %d, their keys\n%q\n%q\nas %d", l.Segments[first].Kind, want,
			compose(t, l, a), compose(t, l, b), got)
	}
}

func TestBareStringsSortByTheirBytes(t *testing.T) { rapid.Check(t, stringsOrdered) }
func FuzzBareStringsSortByTheirBytes(f *testing.F) { f.Fuzz(rapid.MakeFuzz(stringsOrdered)) }

func stringsOrdered(t *rapid.T) {
	l := half("/", KindString)
	a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
	if ka, kb := compose(t, l, []Value{String(a)}), compose(t, l, []Value{String(b)}); ka != a || kb != b {
		t.Fatalf("bare strings %q and %q have the keys %q and %q", a, b, ka, kb)
	}
}

func TestFewerCompositesAreThePrefixOfExactlyTheirKeys(t *testing.T) { rapid.Check(t, contiguous) }
func FuzzFewerCompositesAreThePrefixOfExactlyTheirKeys(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(contiguous))
}

func contiguous(t *rapid.T) {
	l := layouts().Draw(t, "layout")
	a := valuesOf(t, l)
	b := neighbours(t, l, a)
	n := rapid.IntRange(0, len(a)-1).Draw(t, "given")
	prefix := compose(t, l, a[:n])
	first := firstDifference(l, a, b)
	shared := first < 0 || first >= n
	if got := strings.HasPrefix(compose(t, l, b), prefix); got != shared {
		t.Fatalf("%q begins with %q: %v, want %v", compose(t, l, b), prefix, got, shared)
	}
	if !(Range{Op: RangePrefix, Lo: prefix}).Contains(compose(t, l, a)) {
		t.Fatalf("the prefix range of %q does not hold %q", prefix, compose(t, l, a))
	}
}

func TestMoreCompositesExtendTheKeyOfFewer(t *testing.T) { rapid.Check(t, extending) }
func FuzzMoreCompositesExtendTheKeyOfFewer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(extending)) }

func extending(t *rapid.T) {
	l := layouts().Draw(t, "layout")
	vals := valuesOf(t, l)
	n := rapid.IntRange(0, len(vals)-1).Draw(t, "given")
	short, err := l.ComposeTruncated(vals[:n]...)
	if err != nil {
		t.Fatal(err)
	}
	longer, err := l.ComposeTruncated(vals[:n+1]...)
	if err != nil {
		t.Fatal(err)
	}
	for _, long := range []string{longer, compose(t, l, vals[:n]), compose(t, l, vals)} {
		if !strings.HasPrefix(long, short) {
			t.Fatalf("%q does not begin with %q", long, short)
		}
	}
}

// Under a casing: composites that differ by more than it.
func TestDistinctCompositesNeverShareAKey(t *testing.T) { rapid.Check(t, injective) }
func FuzzDistinctCompositesNeverShareAKey(f *testing.F) { f.Fuzz(rapid.MakeFuzz(injective)) }

func injective(t *rapid.T) {
	l := layouts().Draw(t, "layout")
	a := valuesOf(t, l)
	b := neighbours(t, l, a)
	same := firstDifference(l, a, b) < 0
	if got := compose(t, l, a) == compose(t, l, b); got != same {
		t.Fatalf("same composites: %v, same key: %v: %q, %q", same, got, compose(t, l, a), compose(t, l, b))
	}
}

// TestTextsWithSeparatorsNeverShareAKey tries every pair of a small world exhaustively, which draws alone might miss.
func TestTextsWithSeparatorsNeverShareAKey(t *testing.T) {
	for _, sep := range separators {
		texts := []string{"", "a", "%", sep, sep + "a", "a" + sep, "%2F", sep + sep, "a" + sep + "a", "2F", sep[:1]}
		slices.Sort(texts)
		texts = slices.Compact(texts)
		l := half(sep, KindString, KindString, KindString)
		seen := map[string][3]string{}
		for _, a := range texts {
			for _, b := range texts {
				for _, c := range texts {
					key, err := l.Compose(String(a), String(b), String(c))
					if err != nil {
						t.Fatal(err)
					}
					if other, ok := seen[key]; ok {
						t.Errorf("separator %q: %q and %q share the key %q", sep, other, [3]string{a, b, c}, key)
					}
					seen[key] = [3]string{a, b, c}
				}
			}
		}
	}
}

// firstDifference returns the first segment in which a and b differ by more than casing, -1 where they are the same.
func firstDifference(l Layout, a, b []Value) int {
	for i := range a {
		if compare(a[i], b[i], l.Casing) != 0 {
			return i
		}
	}
	return -1
}

func compose(t *rapid.T, l Layout, vals []Value) string {
	key, err := l.Compose(vals...)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
