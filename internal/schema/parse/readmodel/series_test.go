package readmodel

import (
	"testing"
	"time"
)

func TestDurationsAreThoseThatAreAlwaysAsLong(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"P30D": 30 * day, "P2W": 14 * day, "PT12H": 12 * time.Hour, "P1DT1H1M1S": 25*time.Hour + time.Minute + time.Second,
		"PT90M": 90 * time.Minute, "P36525D": 36525 * day,
		"": 0, "P": 0, "PT": 0, "P1DT": 0, "P0D": 0, "P1Y": 0, "P1M": 0, "30D": 0, "-P1D": 0, "P1.5D": 0, "P36526D": 0,
		"P99999999999999999999D": 0, "p1d": 0, "P1D1W": 0,
	} {
		if got, ok := parseDuration(text); ok != (want > 0) || ok && got != want {
			t.Errorf("%q is %v, %t, want %v", text, got, ok, want)
		}
	}
}
