package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// repetition puts questions again, while rows change.
type repetition struct {
	*trial
	asked [8]question // lately
	away  *stored     // that was changed, as it was; nil where none is
}

// question is an operation of a caller.
type question struct {
	query  string
	vars   map[string]any
	caller context.Context
}

// put puts a question to both executors.
func (t *trial) put(q *question) (answer []byte, err error) {
	fast, slow := ask(t.plans, q.caller, q.query, q.vars), ask(t.slow, q.caller, q.query, q.vars)
	if !bytes.Equal(fast, slow) {
		err = fmt.Errorf("%s\n%v\nplans:     %s\nresolvers: %s", q.query, q.vars, fast, slow)
	}
	return fast, err
}

// ask puts some of the last questions again and again, and changes a row between them: answers are kept, and must
// not be given any more where what they were read from has changed.
func (t *repetition) ask() error {
	for range 3 {
		for range 3 {
			if q := &t.asked[t.rng.IntN(len(t.asked))]; q.caller != nil {
				for range 3 {
					if _, err := t.put(q); err != nil {
						return err
					}
				}
			}
		}
		if err := t.change(); err != nil {
			return err
		}
	}
	if t.away == nil {
		return nil
	}
	return t.change() // others know the rows as they were
}

// change changes a row of any model, or deletes it, and the next time makes that undone.
func (t *repetition) change() error {
	if was := t.away; was != nil {
		t.away = nil
		return t.write(querydb.Write{Model: t.Catalog.Types[was.typ].Model, Row: was.at})
	}
	names := slices.DeleteFunc(t.typeNames(), func(name string) bool {
		return len(t.rows[name]) == 0 || t.Catalog.Types[name].Model.Aggregate != nil
	})
	if len(names) == 0 {
		return nil
	}
	name := names[t.rng.IntN(len(names))]
	was, m := &t.rows[name][t.rng.IntN(len(t.rows[name]))], t.Catalog.Types[name].Model
	write := querydb.Write{Model: m, Row: querydb.Row{Key: was.at.Key}}
	if t.rng.IntN(3) > 0 {
		changed, other := maps.Clone(was.row), t.row(name)
		field := m.Fields[t.rng.IntN(len(m.Fields))].Name
		changed[field] = other[field]
		var b record.Builder
		encoded, err := querydb.Encode(codec(m), &b, &changed)
		if err != nil || encoded.Key != was.at.Key {
			return err // another row, as it may be
		}
		write = querydb.Write{Model: m, Row: encoded}
	}
	t.away = was
	return t.write(write)
}

func (t *repetition) write(w querydb.Write) error {
	err := t.db.Apply(t.ctx, querydb.Batch{Writes: []querydb.Write{w}})
	if errors.Is(err, querydb.ErrConflict) || errors.Is(err, querydb.ErrInvalid) {
		t.away = nil // a unique key that another row has, or an empty one: it stays as it was
		return nil
	}
	if err != nil {
		return fmt.Errorf("change a row of %s: %w", w.Model.Name, err)
	}
	return nil
}
