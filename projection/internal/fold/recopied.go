package fold

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/recopy"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Recopies reports whether Recopy can have the copies that rows hold by the reference follow their row, as the task
// says. Else each takes a Refresh: because other processes or projections write the rows, or because they are kept as
// several items, hold the copies in objects or lists, or are chosen by what they hold; or because rows have unique keys
// and expire, so that which of them has a key hangs on what else is in the commit.
func (t Tracked) Recopies(ref cascade.Reference, task *cascade.Task) bool {
	return t.of(ref.Model).recopies(ref.Field, task)
}

// recopyBytes is how many bytes of rows Stored reads, and about how many one commit of Recopy writes.
const recopyBytes = 8 << 20

// Stored reads rows of the keys for Recopy: the first of them, as many as fit into memory at once.
func (t Tracked) Stored(ctx context.Context, ref cascade.Reference, held []keys.Key) (rows []querydb.Row, err error) {
	m := t.of(ref.Model)
	for n := len(held); ; {
		var read allowance
		rows, err = m.stored(driver.WithBudget(ctx, &read), held[:n])
		if n <= 1 || !errors.Is(err, driver.ErrOverBudget) {
			return rows, err
		}
		n = max(1, min(n-1, int(read.rows.Load())))
	}
}

// allowance is the driver.Budget of rows that fit into memory at once.
type allowance struct{ rows, bytes atomic.Int64 }

var errSpent = errors.New("there are too many rows for one commit")

// Take implements driver.Budget.
func (a *allowance) Take(bytes int) error {
	if a.bytes.Add(int64(bytes)) > recopyBytes {
		return errSpent
	}
	a.rows.Add(1)
	return nil
}

// Recopied is what Recopy makes: the writes of so many of the rows as one commit holds. None are done where each of
// them takes a Refresh.
type Recopied struct {
	Writes []querydb.Write
	Done   int
}

// Recopy has the copies that stored rows hold by the reference follow the row that they are of, as the task says. It
// evaluates no op, and takes a fraction of the time of Refresh, which makes the same of the rows. Where one of them
// cannot be read or cannot hold the copy, it leaves all of them to Refresh, which says why. It wants a Reset before.
func (t Tracked) Recopy(ctx context.Context, ref cascade.Reference, stored []querydb.Row, task *cascade.Task) (
	Recopied, error,
) {
	return t.of(ref.Model).recopy(ctx, ref.Field, stored, task)
}

// at finds the reference by which rows hold copies at the path.
func (rf *references) at(path string) int {
	return slices.IndexFunc(rf.all, func(r querydb.AnyReference) bool { return r.Path == path })
}

func (rf *references) recopies(path string, t *cascade.Task) bool {
	m := rf.of.desc
	filters, all, _ := t.Filters(m.Name)
	others := rf.of.bounds.shared || len(m.Writers) > 1
	return !others && (all || len(filters) == 0) && (rf.of.traits.unique == nil || m.TTL < 0) &&
		recopy.Suits(m, &rf.all[rf.at(path)])
}

func (rf *references) stored(ctx context.Context, held []keys.Key) ([]querydb.Row, error) {
	return rf.of.db.Get(ctx, rf.of.desc, held, true)
}

func (rf *references) recopy(ctx context.Context, path string, stored []querydb.Row, t *cascade.Task) (
	Recopied, error,
) {
	i := rf.at(path)
	ref := &rf.all[i]
	key, err := querydb.KeyByIdentifier(ref.Source, t.Identifier)
	if err == nil {
		err = rf.sources[i].needKey(key)
	}
	if err == nil {
		err = rf.sources[i].load(ctx)
	}
	if err != nil {
		return Recopied{}, err
	}
	source, err := rf.sources[i].sourceRow(key, t.Identifier, t, ApplyPoint{Event: 1})
	if err != nil || source == nil && (t.Existed || !ref.NullIfMissing) {
		return Recopied{Done: len(stored)}, err
	}
	_, all, _ := t.Filters(rf.of.desc.Name)
	return rf.recopied(&recopy.Recopier{
		Codec: rf.of.codec, Reference: ref, Identifier: t.Identifier, Source: source,
		OnlyAbsent: source != nil && !ref.Cascade && !all,
	}, stored), nil
}

// recopied makes the writes of as many rows as one commit holds.
func (rf *references) recopied(r *recopy.Recopier, stored []querydb.Row) Recopied {
	out := Recopied{Writes: make([]querydb.Write, 0, len(stored))}
	bytes, most := 0, rf.of.bounds.mostOfEvent
	for i := range stored {
		row, follows, err := r.Row(&stored[i])
		if err == nil && follows {
			err = rf.of.db.Validate(rf.of.desc, &row)
		}
		size := rowSize(&row)
		if err != nil || size > most {
			return Recopied{}
		}
		if bytes += size; bytes > min(recopyBytes, most) && len(out.Writes) > 0 {
			break
		}
		if out.Done++; follows {
			out.Writes = append(out.Writes, querydb.Write{Model: rf.of.desc, Row: row})
		}
	}
	return out
}
