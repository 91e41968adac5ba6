package driver

import (
	"strconv"

	"github.com/foldql/foldql/keys"
)

// PrintableKey is a key as messages show it, cut where it is long.
func PrintableKey(k keys.Key) string {
	if k.SK == "" {
		return quoted(k.PK)
	}
	return quoted(k.PK) + " " + quoted(k.SK)
}

func quoted(s string) string {
	const most = 128
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
