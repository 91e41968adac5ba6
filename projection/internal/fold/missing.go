package fold

import (
	"maps"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Missing is what the evaluation of events has missed because it was not read, by model.
type Missing []missing

// None reports whether nothing was missed.
func (m Missing) None() bool {
	for _, one := range m {
		if len(one.keys)+len(one.latest)+len(one.links) > 0 {
			return false
		}
	}
	return true
}

// missing is what was missed of one model.
type missing struct {
	keys   map[keys.Key]bool
	links  map[linkQuery]bool // whether the commit cannot go on without them
	latest map[string]int     // how many of the latest rows of a partition are to be known; all of them above mostLatest
}

// How many of the latest rows of a partition are looked for where that which was remembered is gone, how many times as
// many where those are gone too, and how many at most: else the partition is read whole.
const (
	fewLatest  = 16
	moreLatest = 16
	mostLatest = fewLatest * moreLatest * moreLatest
)

// with is all that either lacks.
func (m missing) with(o missing) missing {
	all := missing{map[keys.Key]bool{}, map[linkQuery]bool{}, map[string]int{}}
	for _, some := range [...]missing{m, o} {
		maps.Copy(all.keys, some.keys)
		for q, urgent := range some.links {
			all.links[q] = all.links[q] || urgent
		}
		for pk, n := range some.latest {
			all.latest[pk] = max(all.latest[pk], n)
		}
	}
	return all
}

// missKey notes that the event in hand has to know a row that was not read. It is ErrNextCommit, or nil in a survey:
// then the row is taken for absent. A key that no row can have is an error of the event's own.
func (f *rows) missKey(key keys.Key) error {
	if err := f.db.Validate(f.desc, &querydb.Row{Key: key}); err != nil {
		return err
	}
	if !f.given.keys[key] {
		if f.misses.keys == nil {
			f.misses.keys = map[keys.Key]bool{}
		}
		f.misses.keys[key] = true
	}
	return f.nextCommit()
}

// missLatest notes that the latest row of the partition is not there for the event in hand, and which was the latest
// before is not known. It is ErrNextCommit, or nil in a survey: then the op is passed over.
func (f *partitions) missLatest(pk string) error {
	if f.misses.latest == nil {
		f.misses.latest = map[string]int{}
	}
	f.misses.latest[pk] = max(fewLatest, moreLatest*f.given.latest[pk])
	return f.nextCommit()
}

// missLinks notes that the event in hand has to know links that were not read: see missKey.
func (f *followers) missLinks(q linkQuery) error {
	if f.of.misses.links == nil {
		f.of.misses.links = map[linkQuery]bool{}
	}
	f.of.misses.links[q] = f.of.misses.links[q] || f.of.bounds.urgent
	return f.of.nextCommit()
}

// nextCommit is ErrNextCommit, or nil in a survey.
func (f *rows) nextCommit() error {
	if f.bounds.surveying {
		return nil
	}
	return ErrNextCommit
}

// give asks for what former evaluations have missed.
func (f *rows) give() {
	f.given, f.misses = f.given.with(f.misses), missing{}
	for key := range f.given.keys {
		_ = f.needKey(key) // missKey has checked it
	}
}
