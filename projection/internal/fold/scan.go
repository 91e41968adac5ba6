package fold

import (
	"context"
	"slices"
	"sync"

	"github.com/foldql/foldql/querydb"
)

// scan reads a partition to its end, page by page. It keeps all rows of one that is to be known whole, the latest of
// another, and none of one that is watched.
type scan struct {
	of   *partitions
	pk   string
	rows *sync.Mutex // held by whoever adds to the fold
	into *partition  // nil where it is watched

	most    int           // how many of the latest rows are looked for
	latest  []querydb.Row // the last one first
	expired bool          // rows that have expired were passed over
}

func (ps *partitions) scanOf(pk string, rows *sync.Mutex) *scan {
	s := &scan{of: ps, pk: pk, rows: rows, into: ps.all[pk]}
	if s.into != nil {
		s.most = max(1, s.into.most)
	}
	return s
}

func (s *scan) load(ctx context.Context) error {
	visit := s.visit
	if s.into != nil && s.into.whole {
		visit = s.keep
	}
	err := s.of.eachPage(ctx, s.pk, func(page []querydb.Row) error {
		s.rows.Lock()
		defer s.rows.Unlock()
		return visit(page)
	})
	if err != nil || s.into == nil || s.into.whole {
		return err
	}
	s.rows.Lock()
	defer s.rows.Unlock()
	return s.found()
}

// keep takes all rows.
func (s *scan) keep(page []querydb.Row) error {
	for i := range page {
		e := s.of.entryOf(page[i].Key)
		if err := s.of.loaded(e, &page[i]); err != nil {
			return err
		}
		if s.into.keys && !e.wanted {
			s.of.strip(e)
		}
	}
	return nil
}

// visit takes the rows among the latest that an event can follow, and notes whether any is ahead.
func (s *scan) visit(page []querydb.Row) error {
	for i := range page {
		row, b := &page[i], s.of.bounds
		b.stateOf(row, s.of.traits.writer)
		ours := row.Position.Partition == b.first.Partition
		if row.Record == nil || !ours || sentinel(row.Key.SK) {
			continue
		}
		if row.Expired(b.since) {
			s.expired = true
			continue
		}
		now := latestRow{row.Key, row.Position}
		at := len(s.latest)
		for at > 0 && now.after(&latestRow{s.latest[at-1].Key, s.latest[at-1].Position}) {
			at--
		}
		if at < s.most {
			s.latest = slices.Insert(s.latest[:min(len(s.latest), s.most-1)], at, *row)
		}
	}
	return nil
}

// found has the partition hold the latest rows.
func (s *scan) found() error {
	p := s.into
	p.last = &latestRow{}
	for i := range s.latest {
		row := &s.latest[i]
		if i == s.most-1 {
			p.last = &latestRow{row.Key, row.Position}
		}
		if err := s.of.loaded(s.of.entryOf(row.Key), row); err != nil {
			return err
		}
	}
	if !s.expired { // else another may be the latest for an event of another time
		p.found = &latestRow{}
		if len(s.latest) > 0 {
			p.found = &latestRow{s.latest[0].Key, s.latest[0].Position}
		}
	}
	return nil
}

// strip forgets of a row that was read what is not needed to delete it.
func (ps *partitions) strip(e *entry) {
	if ps.tracking.tracks() {
		return // its links are to be deleted too
	}
	e.read = false
	if !e.present {
		return
	}
	none := ps.codec.New()
	if t := ps.desc.TTL; t >= 0 {
		if end := ps.codec.Time(e.row, t); !end.IsZero() {
			ps.codec.SetTime(none, t, end)
		}
	}
	e.row = none
}
