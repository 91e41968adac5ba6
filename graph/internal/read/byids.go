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
	Places []int           // which of them each id or key names
}

// Records are the rows in the order of the ids or keys.
func (f Found) Records() []record.Record {
	recs := make([]record.Record, len(f.Places))
	for i, at := range f.Places {
		recs[i] = f.Rows[at]
	}
	return recs
}

// Asked counts the rows that a request of the query names.
func (rd ByIDs) Asked(r *Request) int { return len(r.IDs) / rd.width() }

// width is how many values name a row.
func (rd ByIDs) width() int { return max(1, len(rd.Query.KeyFields)) }

// Read reads the rows that ids or keys name, in one batch and each once.
func (rd ByIDs) Read(ctx context.Context, r *Request) (found Found, err error) {
	q, v := rd.Query, rd.Viewer(ctx)
	t := rd.Catalog.Types[q.Type]
	allowed := v.LevelOf(t.Rule)
	if allowed == access.Refused {
		return found, v.Refusal(t.Name)
	}
	if err := CheckIDs(q, rd.Asked(r), rd.Config.MaxFanout); err != nil {
		return found, err
	}
	key, err := rd.served.key(ctx, t.Model, driver.Primary)
	if err == nil {
		err = rd.served.knowsOwner(ctx, t, allowed)
	}
	if err != nil {
		return found, rd.Errors().Read(ctx, err, t.Name)
	}
	var ks []keys.Key
	if ks, found.Places, err = rd.distinctKeys(t, key, r); err != nil {
		return found, rd.served.asked(ctx, t.Model, err)
	}
	found.Rows = make([]record.Record, len(ks))
	err = batches{rd.Reader, r.Consistent, true}.fetch(ctx, allowed, rd.target(t), ks, found.Rows)
	return found, rd.Errors().Read(ctx, err, t.Name)
}

// target is where ids or keys lead: to a row each.
func (rd ByIDs) target(t *catalog.Type) Target {
	return Target{Type: t, Index: driver.Primary, Whole: len(rd.Query.KeyFields) > 0 && t.Model.SK.Layout.Exists()}
}

// CheckIDs fails where a query is given more ids or keys than it may be.
func CheckIDs(q *catalog.Query, given, most int) error {
	if given <= most {
		return nil
	}
	return graphqlerr.New(graphqlerr.LimitExceeded, "%s: %d %s are given, and %d may be: ask for the others in another "+
		"query", q.Name, given, q.PK[0].Name, most)
}

// distinct are the keys of rows that are asked for, each once.
type distinct struct {
	keys  []keys.Key
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
	d.known[key], d.keys = place, append(d.keys, key)
	return place
}

// distinctKeys composes the keys of rows, each once, and says which of them each id or key of the request is.
func (rd ByIDs) distinctKeys(t *catalog.Type, by *querydb.Key, r *Request) (rows []keys.Key, places []int,
	err error) {
	places = make([]int, rd.Asked(r))
	d := distinct{known: make(map[keys.Key]int, len(places))}
	for i, width := 0, rd.width(); i < len(places); i++ {
		at, err := rd.keyOf(t, by, r.IDs[i*width:(i+1)*width])
		if err != nil { // of a list, it must be told which
			return nil, nil, badArgument(rd.Query, fmt.Errorf("%s[%d]: %w", rd.Query.PK[0].Name, i, err))
		}
		places[i] = d.place(at)
	}
	return d.keys, places, nil
}

// keyOf composes the whole key of a row from the values that name it.
func (rd ByIDs) keyOf(t *catalog.Type, by *querydb.Key, vals []keys.Value) (key keys.Key, err error) {
	if len(vals) > 1 || IsEntity(t) {
		key, err = rd.target(t).compose(by, vals...)
	} else {
		key.PK, err = compose(&by.PK, rd.Query.PK, vals)
	}
	if err != nil {
		return key, err
	}
	if err := rd.db.Validate(t.Model, &querydb.Row{Key: key}); err != nil {
		return key, noKey(t.Name)
	}
	return key, nil
}
