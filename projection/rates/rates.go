// Package rates keeps how fast the rows of projections were made last, beside the rows, and says by that how long the
// next rebuild or index build takes.
//
// A fold of the whole log is measured from its first event to the moment at which its rows are complete, by the process
// that completes it; a copy of rows, which builds an index, likewise. What takes less than a thousand events or rows is
// not kept: it would say how long a start takes.
//
// 'server tables plan' prints the times that follow, and writes them to a file for 'foldql diff'.
package rates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/foldql/foldql/querydb"
)

// Rate is a measurement.
type Rate struct {
	Count   uint64    `json:"count"` // of events or rows
	Seconds float64   `json:"seconds"`
	At      time.Time `json:"at"` // when it was over
}

// Since is the Rate of a count between two moments.
func Since(began, ended time.Time, count uint64) *Rate {
	return &Rate{Count: count, Seconds: ended.Sub(began).Seconds(), At: ended.UTC()}
}

// least is the count below which a measurement says little.
const least = 1000

// perSecond is the count in a second.
func (r *Rate) perSecond() float64 { return float64(r.Count) / r.Seconds }

// Rates are the last measurements of a projection, nil where there is none.
type Rates struct {
	Fold *Rate `json:"fold,omitempty"` // of events of the log
	Copy *Rate `json:"copy,omitempty"` // of rows, whose copies got other index keys
}

// Forecast is by what it is said how long work on the rows of a projection takes.
type Forecast struct {
	// Events are those that the rows which serve show, by their offsets: a rebuild folds them again, but for those that
	// the source has forgotten since.
	Events uint64 `json:"events"`
	Rates
}

// unknown is of what was never measured.
const unknown = "not known: none that was large enough to measure has been done yet"

// Rebuild says how long a fold of the whole log takes.
func (f *Forecast) Rebuild() string {
	if f.Fold == nil {
		return unknown
	}
	speed := f.Fold.perSecond()
	return fmt.Sprintf("about %s for up to %d events, at the %.0f events a second of %s", period(float64(f.Events)/speed),
		f.Events, speed, f.Fold.At.Format(time.DateOnly))
}

// IndexBuild says how long a copy of the rows takes, which are about as many as they were last time.
func (f *Forecast) IndexBuild() string {
	if f.Copy == nil {
		return unknown
	}
	return fmt.Sprintf("about %s, as the last one did for %d rows on %s", period(f.Copy.Seconds), f.Copy.Count,
		f.Copy.At.Format(time.DateOnly))
}

// period is a time as people read it.
func period(seconds float64) string {
	const longest = 100 * 365 * 24 * 3600 // of which nobody waits for the end
	if seconds < 1 {
		return "a second"
	}
	return time.Duration(min(seconds, longest) * float64(time.Second)).Round(time.Second).String()
}

// kind is that of the notes.
const kind = "rates"

// Read reads the last measurements of a projection.
func Read(ctx context.Context, db *querydb.DB, projection string) (r Rates, err error) {
	b, err := db.Notes().Value(ctx, kind, projection)
	if errors.Is(err, querydb.ErrNotFound) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read how fast projection %s was folded last: %w", projection, err)
	}
	for _, one := range []**Rate{&r.Fold, &r.Copy} {
		if *one != nil && !(*one).valid() {
			*one = nil
		}
	}
	return r, nil
}

// valid reports whether anything follows from the measurement.
func (r *Rate) valid() bool { return r.Count >= least && r.Seconds > 0 }

// Save keeps the measurements that are given, unless they say too little, beside those that are on record.
func Save(ctx context.Context, db *querydb.DB, projection string, measured Rates) error {
	all, err := Read(ctx, db, projection)
	if err != nil {
		all = Rates{} // which takes the place of what cannot be read
	}
	known := all
	if measured.Fold != nil && measured.Fold.valid() {
		all.Fold = measured.Fold
	}
	if measured.Copy != nil && measured.Copy.valid() {
		all.Copy = measured.Copy
	}
	if all == known {
		return nil
	}
	b, err := json.Marshal(all)
	if err == nil {
		err = db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{{Kind: kind, ID: projection, Value: b}}})
	}
	if err != nil {
		return fmt.Errorf("record how fast projection %s was folded: %w", projection, err)
	}
	return nil
}

// WriteFile writes forecasts, by projection, for ReadFile.
func WriteFile(path string, all map[string]Forecast) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write how long rebuilds take: %w", err)
	}
	return nil
}

// ReadFile reads what WriteFile has written.
func ReadFile(path string) (all map[string]Forecast, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read how long rebuilds take, as 'server tables plan --rates' writes it: %w", err)
	}
	for name, f := range all {
		if f.Fold != nil && !f.Fold.valid() || f.Copy != nil && !f.Copy.valid() {
			return nil, fmt.Errorf("read how long rebuilds take: %s says of projection %q what cannot have been measured",
				path, name)
		}
	}
	return all, nil
}
