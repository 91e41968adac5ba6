package registry

import (
	"slices"
	"testing"
)

func TestOrderSortsVersionsByPrecedence(t *testing.T) {
	ascending := []string{
		"0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "1.9.0", "1.10.0", "2.0.0-canary.20240115", "2.0.0", "10.0.0",
	}
	orders := make([]string, len(ascending))
	for i, v := range ascending {
		orders[i] = Order(v)
	}
	if !slices.IsSorted(orders) {
		t.Errorf("orders of ascending versions do not ascend: %q", orders)
	}
}

func TestOrderTellsBuildsApart(t *testing.T) {
	if a, b := Order("1.0.0+a"), Order("1.0.0+b"); a == b {
		t.Errorf("two builds share the order %q", a)
	}
}

func TestLaterPrefersReleases(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.0.0", "2.0.0-rc.1", true},
		{"2.0.0-rc.1", "1.0.0", false},
		{"1.10.0", "1.9.0", true},
		{"2.0.0-rc.2", "2.0.0-rc.1", true},
	} {
		if got := later(Order(c.a), Order(c.b)); got != c.want {
			t.Errorf("later(%s, %s) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
