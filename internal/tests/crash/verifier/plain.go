package verifier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Plain is a fold that owes nothing to package projection, of the rows of one projection.
type Plain struct {
	Projection string // its name
	// Fold folds events in the order in which they take effect. It says of each row that there ever was what it is.
	Fold func(events []Effect) ([]PlainRow, error)
}

// Effect is an event, and where it takes effect: at its own place or, retried, after another.
type Effect struct {
	At    driver.Position
	Event eventlog.Event
}

// PlainRow is what a row must be: its record, nil where there is none, and how many links say what it refers to.
type PlainRow struct {
	Model    *querydb.Model
	ID       string // as answers name it; rows of a history have that of the row that it is of
	Row      querydb.Row
	Links    int
	Versions []PlainVersion // what it was before, and is now
}

// PlainVersion is what an event has made of a row, without the copies that follow later: nil for none.
type PlainVersion struct {
	At     driver.Position
	Record record.Record
}

// plain compares rows and links with what a plain fold makes of the events.
func (c *comparison) plain(ctx context.Context, p *Plain, file string) error {
	events, err := c.effective(ctx, p.Projection, file)
	if err != nil {
		return err
	}
	want, err := p.Fold(events)
	if err != nil {
		return err
	}
	c.verdict.Plain = len(want)
	c.plainHistory = plainHistory(want)
	byModel := map[*querydb.Model][]PlainRow{}
	for _, row := range want {
		byModel[row.Model] = append(byModel[row.Model], row)
	}
	for m, rows := range byModel {
		if m.HistoryOf != "" {
			if err := c.plainEvents(ctx, m, rows); err != nil {
				return err
			}
			continue
		}
		for some := range slices.Chunk(rows, querydb.MaxPageRows) {
			if err := c.plainRows(ctx, m, some); err != nil {
				return err
			}
		}
	}
	return c.plainLinks(ctx, p.Projection, want)
}

func (c *comparison) plainRows(ctx context.Context, m *querydb.Model, want []PlainRow) error {
	ks := make([]keys.Key, len(want))
	for i := range want {
		ks[i] = want[i].Row.Key
	}
	got, err := c.got.Get(ctx, m, ks, true)
	if err != nil {
		return err
	}
	for i := range want {
		w := &want[i].Row
		switch {
		case w.Record == nil && got[i].Record == nil:
		case w.Record == nil:
			c.differ("%s has a row that is gone by a plain fold: %s", m.Name, show(m, nil, &got[i]))
		case got[i].Record == nil:
			c.differ("%s lacks a row of a plain fold: %s", m.Name, show(m, nil, w))
		case show(m, nil, w) != show(m, nil, &got[i]):
			c.differ("%s: the row differs from that of a plain fold:\n  want %s\n  got  %s", m.Name, show(m, nil, w),
				show(m, nil, &got[i]))
		}
	}
	return nil
}

// plainLinks compares how many links lead to each row.
func (c *comparison) plainLinks(ctx context.Context, projection string, want []PlainRow) error {
	kind, err := about(ctx, c.got, "link", projection)
	if kind == "" || err != nil {
		return err
	}
	notes, err := readNotes(ctx, c.got, kind)
	if err != nil {
		return err
	}
	got := map[keys.Key]int{}
	for _, n := range notes {
		key, ok := linked(n.ID)
		if !ok {
			c.differ("%s has a link that leads to no row: %q", projection, n.ID)
			continue
		}
		got[key]++
	}
	for _, w := range want {
		got[w.Row.Key] -= w.Links
	}
	for key, n := range got {
		if n != 0 {
			c.differ("there are %+d links too many that lead to the row %q, by a plain fold", n, key)
		}
	}
	return nil
}

// linked is the key of the row that a link leads to, in the form that the ledger's keys have in IDs: a digest of what
// the row refers to and by which field, "=", the key's halves with a NUL after each, and the size of the first.
func linked(id string) (key keys.Key, ok bool) {
	const digest = 32
	parts := strings.Split(id[min(digest, len(id)):], "\x00")
	if len(parts) != 3 || !strings.HasPrefix(parts[0], "=") || strconv.Itoa(len(parts[0])-1) != parts[2] {
		return keys.Key{}, false
	}
	return keys.Key{PK: parts[0][1:], SK: parts[1]}, true
}

// effective are the events of a file that can be read, in the order in which they take effect by what was decided about
// those that a projection could not fold at first. Where they come in several partitions, an event that had to wait has
// had those of its subject wait behind it, and nothing else minds.
func (c *comparison) effective(ctx context.Context, projection, file string) (all []Effect, err error) {
	var decisions []decision
	if c.parted == 0 {
		if decisions, err = readDecisions(ctx, c.got, projection); err != nil {
			return nil, err
		}
	}
	source, err := filesource.Open(filesource.Options{Path: file})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	log, err := appendEvents(ctx, nil, source, filesource.Partition)
	if err != nil {
		return nil, err
	}
	events := map[string]eventlog.Event{} // by the ID of notes about them
	var order []string
	for _, e := range log {
		id := fmt.Sprintf("%s@%020d", e.Partition, e.Offset)
		events[id], order = e, append(order, id)
	}
	moved := movesOf(decisions)
	for _, id := range order {
		e := events[id]
		at := driver.Position{Partition: e.Partition, Offset: e.Offset}
		if e.Malformed == nil && !moved.about[id] {
			all = append(all, Effect{at, e})
		}
		for _, d := range moved.after[e.Offset] {
			at.Step++
			if e := events[d.note.ID]; e.Malformed == nil {
				all = append(all, Effect{at, e})
			}
		}
	}
	return all, nil
}

// moves are decisions: the events that they are about have no effect at their own place.
type moves struct {
	about map[string]bool
	after map[uint64][]decision // by the offset of the event after which the one that is retried takes effect, in order
}

func movesOf(all []decision) moves {
	m := moves{map[string]bool{}, map[uint64][]decision{}}
	for _, d := range all {
		m.about[d.note.ID] = true
		if !d.Skip {
			m.after[d.Moment] = append(m.after[d.Moment], d)
		}
	}
	for _, list := range m.after {
		slices.SortFunc(list, func(a, b decision) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	return m
}
