package events

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/search"
)

// TestWhoFindsNoEventAtAPlaceIsToldWhy, and of the end of a partition only where it ends before that place: what comes
// behind the place is not read.
func TestWhoFindsNoEventAtAPlaceIsToldWhy(t *testing.T) {
	at, gone := eventlog.Offsets{"SHOP": 17}, []search.Gap{{Partition: "SHOP", After: 16, UpTo: 17}}
	for want, page := range map[string]search.Page{
		"the partition ends at SHOP:16":  {UpTo: eventlog.Offsets{"SHOP": 16}},
		"the partition reaches that far": {UpTo: at, Next: at},
		"has forgotten":                  {UpTo: at, Next: at, Forgotten: gone},
		"is not in the copy":             {UpTo: at, Unread: at},
	} {
		err := missing(&page, "SHOP", 17)
		if !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "ends at SHOP:17") || strings.Contains(err.Error(), "behind") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
