package diff

import (
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/eventlock"
)

// compareEvents finds what a log may have by the lock of the former schemas, and the present ones do not fit. Their own
// lock does not tell: it may have been removed, or begun anew.
func compareEvents(was *eventlock.Lock, now *schema.Model) (all []Change) {
	for _, d := range was.CheckLater(now) {
		at := d.Type
		if d.Field != "" {
			at += "." + d.Field
		}
		all = append(all, Change{Effect: Breaking, At: at, What: d.Message})
	}
	return all
}
