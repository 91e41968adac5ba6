package read

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// ByIDs answers a query of kind QueryMany.
type ByIDs struct {
	*Reader
	Query *catalog.Query
}

// Found is the answer to a query of kind QueryMany.
type Found struct {
	Rows   []record.Record // distinct; nil where there is none that the viewer may see
	Places []int           // which of them each id names
}

// Records are the rows in the order of the ids.
func (f Found) Records() []record.Record {
	recs := make([]record.Record, len(f.Places))
	for i, at := range f.Places {
		recs[i] = f.Rows[at]
	}
	return recs
}

// Read reads the rows that ids name, in one batch and each once.
func (rd ByIDs) Read(ctx context.Context, r *Request) (found Found, err error) {
	q, v := rd.Query, rd.Viewer(ctx)
	t := rd.Catalog.Types[q.Type]
	allowed := v.LevelOf(t.Rule)
	if allowed == access.Refused {
		return found, v.Refusal(t.Name)
	}
	if err := checkIDs(q, len(r.IDs), rd.Config.MaxFanout); err != nil {
		return found, err
	}
	key, err := rd.served.key(ctx, t.Model, driver.Primary)
	if err == nil {
		err = rd.served.knowsOwner(ctx, t, allowed)
	}
	if err != nil {
		return found, rd.Errors().Read(ctx, err, t.Name)
	}
	var ids []JoinKey
	if ids, found.Places, err = rd.distinctKeys(t, key, r.IDs); err != nil {
		return found, rd.served.asked(ctx, t.Model, err)
	}
	found.Rows = make([]record.Record, len(ids))
	err = batches{rd.Reader, r.Consistent}.fetch(ctx, allowed, Target{Type: t, Index: driver.Primary}, ids, found.Rows)
	return found, rd.Errors().Read(ctx, err, t.Name)
}

// checkIDs fails where a query is given more ids than it may be.
func checkIDs(q *catalog.Query, given, most int) error {
	if given <= most {
		return nil
	}
	return graphqlerr.New(graphqlerr.LimitExceeded, "%s: %d ids are given, and %d may be: ask for the others in another "+
		"query", q.Name, given, most)
}

// distinct are the keys of rows that are asked for, each once.
type distinct struct {
	keys  []JoinKey
	known map[keys.Key]int
}

// place is where a key is among them; it is added where it is new.
func (d *distinct) place(key keys.Key) int {
	place, there := d.known[key]
	if there {
		return place
	}
	if d.known == nil {
		d.known = map[keys.Key]int{}
	}
	place = len(d.keys)
	d.known[key], d.keys = place, append(d.keys, JoinKey{Key: key})
	return place
}

// distinctKeys composes the keys of ids, each once, and says which of them each id has.
func (rd ByIDs) distinctKeys(t *catalog.Type, by *querydb.Key, ids []keys.Value) (rows []JoinKey, places []int,
	err error) {
	d := distinct{known: make(map[keys.Key]int, len(ids))}
	places = make([]int, len(ids))
	for i, id := range ids {
		at, err := rd.keyOf(t, by, id)
		if err != nil { // of a list, it must be told which
			return nil, nil, badArgument(rd.Query, fmt.Errorf("%s[%d]: %w", rd.Query.PK[0].Name, i, err))
		}
		places[i] = d.place(at)
	}
	return d.keys, places, nil
}

// keyOf composes the whole key of a row from the one value that names it.
func (rd ByIDs) keyOf(t *catalog.Type, by *querydb.Key, id keys.Value) (key keys.Key, err error) {
	if IsEntity(t) {
		key, err = Target{Type: t, Index: driver.Primary}.compose(by, id)
	} else {
		key.PK, err = compose(&by.PK, rd.Query.PK, []keys.Value{id})
	}
	if err != nil {
		return key, err
	}
	if err := rd.db.Validate(t.Model, &querydb.Row{Key: key}); err != nil {
		return key, noKey(t.Name)
	}
	return key, nil
}
