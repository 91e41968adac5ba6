package verifier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// What is decided about a dead letter in rows that are being built is done to those that serve wherever these stand: at
// once by whoever folds them, or never where nobody does any more. No record says where that was, and they serve until
// the switch. So an answer may be what the events make with such decisions at a later place, or without them.

// never is no place of the log.
const never = math.MaxUint64

// elsewhere are the decisions of which those that rows beside have come to at another place are done there, or never.
func elsewhere(place uint64, all []decision) (moved []decision, err error) {
	seq := 0 // of the next that comes to the place
	for _, d := range all {
		if !d.Skip && d.Moment == place && len(d.Beside) == 0 {
			seq = max(seq, d.Seq+1)
		}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b decision) int {
		return cmp.Or(cmp.Compare(a.Moment, b.Moment), cmp.Compare(a.Seq, b.Seq))
	})
	for _, d := range all {
		if len(d.Beside) > 0 && place == never {
			continue
		}
		if len(d.Beside) > 0 && !d.Skip && d.Moment <= place {
			if d.note.Value, err = movedTo(place, seq, d.note.Value); err != nil {
				return nil, err
			}
			seq++
		}
		moved = append(moved, d)
	}
	return moved, nil
}

// movedTo is the record of a decision, done at another place.
func movedTo(place uint64, seq int, value []byte) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(value, &all); err != nil {
		return nil, err
	}
	all["moment"], all["seq"] = strconv.AppendUint(nil, place, 10), strconv.AppendInt(nil, int64(seq), 10)
	delete(all, "after") // is the event of the former place
	return json.Marshal(all)
}

// besides are those of the answers that are none of rows beside those in which something was decided.
func (c *comparison) besides(ctx context.Context, p Project, events string, m *querydb.Model, doubtful []*Answer) (
	left []*Answer, err error) {
	var groups []projection.Projection
	var all []decision
	for _, one := range projection.Group(p.Projections) {
		if !slices.Contains(one.Models(), m) {
			continue
		}
		groups = append(groups, one)
		decisions, err := readDecisions(ctx, c.got, one.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, decisions...)
	}
	if !slices.ContainsFunc(all, func(d decision) bool { return len(d.Beside) > 0 }) {
		return doubtful, nil
	}
	first, last, err := places(ctx, events, all)
	if err != nil {
		return nil, err
	}
	for place := uint64(never); ; place++ { // which first of all is 0 then
		if place == 0 {
			place = first
		}
		if place != never && place > last || len(doubtful) == 0 {
			return doubtful, nil
		}
		h, err := p.historyOf(ctx, events, m, groups, place, all)
		if err != nil {
			return nil, err
		}
		doubtful = slices.DeleteFunc(doubtful, func(a *Answer) bool { return h.wrong(a) == "" })
	}
}

// places are the first and the last where what was decided beside other rows may have been done to these.
func places(ctx context.Context, events string, all []decision) (first, last uint64, err error) {
	source, err := filesource.Open(filesource.Options{Path: events})
	if err != nil {
		return 0, 0, err
	}
	last, err = source.Head(ctx, filesource.Partition)
	first = last
	for _, d := range all {
		if len(d.Beside) > 0 && !d.Skip {
			first = min(first, d.Moment)
		}
	}
	return first, last, errors.Join(err, source.Close())
}

// historyOf is what the rows of a model were if what was decided beside other rows was done at the place.
func (p Project) historyOf(ctx context.Context, events string, m *querydb.Model, groups []projection.Projection,
	place uint64, all []decision) (h *history, err error) {
	moved, err := elsewhere(place, all)
	if err != nil {
		return nil, err
	}
	memory := newRecorder()
	db, err := openQuietly(ctx, memory, p.Models)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := putOnRecord(ctx, db, moved); err != nil {
		return nil, err
	}
	if err := fold(ctx, events, db, groups); err != nil {
		return nil, err
	}
	return newHistory(m, memory.writes(m.Table)), nil
}
