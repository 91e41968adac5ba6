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
func (r *rows) missKey(key keys.Key) error {
	if err := r.db.Validate(r.desc, &querydb.Row{Key: key}); err != nil {
		return err
	}
	if !r.given.keys[key] {
		if r.misses.keys == nil {
			r.misses.keys = map[keys.Key]bool{}
		}
		r.misses.keys[key] = true
	}
	return r.nextCommit()
}

// missLatest notes that the latest row of the partition is not there for the event in hand, and which was the latest
// before is not known. It is ErrNextCommit, or nil in a survey: then the op is passed over.
func (ps *partitions) missLatest(pk string) error {
	if ps.misses.latest == nil {
		ps.misses.latest = map[string]int{}
	}
	ps.misses.latest[pk] = max(fewLatest, moreLatest*ps.given.latest[pk])
	return ps.nextCommit()
}

// missLinks notes that the event in hand has to know links that were not read: see missKey.
func (ws *followers) missLinks(q linkQuery) error {
	if ws.of.misses.links == nil {
		ws.of.misses.links = map[linkQuery]bool{}
	}
	ws.of.misses.links[q] = ws.of.misses.links[q] || ws.of.bounds.urgent
	return ws.of.nextCommit()
}

// nextCommit is ErrNextCommit, or nil in a survey.
func (r *rows) nextCommit() error {
	if r.bounds.surveying {
		return nil
	}
	return ErrNextCommit
}

// give asks for what former evaluations have missed.
func (r *rows) give() {
	r.given, r.misses = r.given.with(r.misses), missing{}
	for key := range r.given.keys {
		_ = r.needKey(key) // missKey has checked it
	}
}
