package registry

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
	"pgregory.net/rapid"
)

func TestOrderSortsVersionsByPrecedence(t *testing.T) {
	ascending := []string{
		"0.9.9", "1.0.0-0", "1.0.0-9", "1.0.0-10", "1.0.0-20240115123456789012", "1.0.0--", "1.0.0-0a", "1.0.0-alpha",
		"1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-alpha-1", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
		"1.0.0", "1.9.0", "1.10.0", "2.0.0-canary.20240115", "2.0.0", "3.0.0beta4", "3.0.0rc1", "3.0.0", "10.0.0",
	}
	orders := make([]string, len(ascending))
	for i, v := range ascending {
		orders[i] = Order(v)
	}
	if !slices.IsSorted(orders) {
		t.Errorf("orders of ascending versions do not ascend: %q", orders)
	}
}

// TestOrderIsPrecedence compares with another implementation of https://semver.org.
func TestOrderIsPrecedence(t *testing.T) {
	number := rapid.OneOf(rapid.StringMatching(`[0-2]`), rapid.StringMatching(`[1-9][0-9]{0,19}`))
	word := rapid.StringMatching(`[0-9]{0,18}[A-Za-z-][0-9A-Za-z-]{0,3}`)
	version := rapid.Custom(func(t *rapid.T) string {
		// Most versions differ in their pre-release alone: that is where precedence is intricate.
		v := rapid.SampledFrom([]string{"1.0.0", "1.0.0", "1.0.0", "0.9.0", number.Draw(t, "major") + ".0.1"}).Draw(t,
			"numbers")
		if pre := rapid.SliceOfN(rapid.OneOf(number, word), 0, 3).Draw(t, "pre-release"); len(pre) > 0 {
			v += "-" + strings.Join(pre, ".")
		}
		return v
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := version.Draw(t, "a"), version.Draw(t, "b")
		if !semver.IsValid("v"+a) || !semver.IsValid("v"+b) {
			t.Fatalf("%q or %q is no version", a, b)
		}
		if got, want := cmp.Compare(Order(a), Order(b)), semver.Compare("v"+a, "v"+b); got != want {
			t.Errorf("%q and %q: orders %q and %q compare as %d, want %d", a, b, Order(a), Order(b), got, want)
		}
	})
}

// TestOrderTellsVersionsApart: two versions are never one row.
func TestOrderTellsVersionsApart(t *testing.T) {
	seen := map[string]string{}
	for _, v := range []string{
		"1.0.0", "1.0.0+a", "1.0.0+b", "01.0.0", "1.0", "1.0.0.0", "1.0.0-", "1.0.0-a", "1.0.0a", "1.0.0-a+1", "1.0.0-01",
		"1.0.0-1", "1.0.0-a..b", "1.0.0-a.b", "1.0.0-a,b", "1..0", "v1.0.0", "latest", "",
	} {
		if other, ok := seen[Order(v)]; ok {
			t.Errorf("%q and %q share the order %q", v, other, Order(v))
		}
		seen[Order(v)] = v
	}
}

func TestLaterPrefersReleases(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.0.0", "2.0.0-rc.1", true},
		{"2.0.0-rc.1", "1.0.0", false},
		{"1.0.0", "2.0.0rc1", true},
		{"1.0.0+build", "2.0.0-rc.1", true},
		{"1.10.0", "1.9.0", true},
		{"1.9.0", "1.9.0", false},
		{"2.0.0-rc.2", "2.0.0-rc.1", true},
	} {
		if got := later(Order(c.a), Order(c.b)); got != c.want {
			t.Errorf("later(%s, %s) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
