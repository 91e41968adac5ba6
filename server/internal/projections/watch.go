package projections

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// watch finds out whether other processes have changed generations, for all units at once: a survey reads much.
type watch struct {
	mu  sync.Mutex
	all map[string]string // the fingerprints of what is on record, by the names of projections
	at  time.Time
}

// read is the fingerprint of what is on record for the unit, which is not older than half the time between two looks.
// It leaves out what is on record of other units of this program, so that a change of one has no survey of all. What is
// there under other names may be about any: another version of the program may have other projections. Where it has
// given a table of this unit to a projection of another unit, the next survey finds that, after surveyEvery.
func (w *watch) read(ctx context.Context, u *unit) (string, error) {
	db := u.set.keep.DB
	if !db.MultiWriter() {
		return "", nil
	}
	all, err := w.recent(ctx, db)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if one := u.set.Find(name); one == nil || one.unit == u {
			text.WriteString(name + "\n" + all[name])
		}
	}
	return text.String(), nil
}

func (w *watch) recent(ctx context.Context, db *querydb.DB) (map[string]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); w.at.IsZero() || now.Sub(w.at) > lookBuildEvery/2 {
		all, err := projection.Fingerprints(ctx, db)
		if err != nil {
			return nil, err
		}
		w.all, w.at = all, now
	}
	return w.all, nil
}
