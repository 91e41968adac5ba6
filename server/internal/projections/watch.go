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

// watch finds out, for all units at once, whether other processes have changed generations, and which rows there are.
type watch struct {
	mu    sync.Mutex
	notes map[string]string // the fingerprints of what is on record, by the names of projections
	at    time.Time         // before they were read

	surveying sync.Mutex
	surveyed  surveyOfAll
}

// surveyOfAll is which rows there are of all projections of the program.
type surveyOfAll struct {
	rows  map[string]projection.Generations // by the names of projections
	notes map[string]string                 // as watch has them, of before
	at    time.Time                         // before all of that was read
	err   error                             // why that is not known
}

// changesWithin is within which time changes of other processes are to be noticed, as far as they are on record.
const changesWithin = time.Second

// read is the fingerprint of what is on record for the unit, which is not older than the time given.
func (w *watch) read(ctx context.Context, u *unit, within time.Duration) (string, error) {
	db := u.set.keep.DB
	if !db.MultiWriter() {
		return "", nil
	}
	all, err := w.recent(ctx, db, within)
	return concerning(u, all), err
}

// concerning are the fingerprints that concern the unit, as one. They leave out what is on record of other units of
// this program, so that a change of one has no survey of all. What is there under other names may be about any: another
// version of the program may have other projections. Where it has given a table of this unit to a projection of another
// unit, the next survey finds that, after surveyEvery.
func concerning(u *unit, all map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if one := u.set.Find(name); one == nil || one.unit == u {
			text.WriteString(name + "\n" + all[name])
		}
	}
	return text.String()
}

func (w *watch) recent(ctx context.Context, db *querydb.DB, within time.Duration) (map[string]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); w.at.IsZero() || now.Sub(w.at) > within {
		all, err := projection.Fingerprints(ctx, db)
		if err != nil {
			return nil, err
		}
		w.notes, w.at = all, now
	}
	return w.notes, nil
}

// survey is the last survey of the rows of all projections, also one that has failed, or another where that began
// before since. Those who ask meanwhile wait for it.
func (w *watch) survey(ctx context.Context, of *Set, since time.Time) (surveyOfAll, error) {
	w.surveying.Lock()
	defer w.surveying.Unlock()
	if w.surveyed.at.Before(since) {
		w.surveyed = w.surveyAll(ctx, of)
	}
	return w.surveyed, w.surveyed.err
}

func (w *watch) surveyAll(ctx context.Context, of *Set) (s surveyOfAll) {
	s.at = time.Now()
	if of.keep.DB.MultiWriter() {
		if s.notes, s.err = w.recent(ctx, of.keep.DB, pollBuildEvery/2); s.err != nil {
			return s
		}
	}
	all, err := projection.LookUp(ctx, of.keep.DB, of.Projections)
	s.rows, s.err = map[string]projection.Generations{}, err
	for i := range all {
		s.rows[of.Projections[i].Name] = all[i]
	}
	return s
}
