package verify

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// A page of rows that are compared at once.
const (
	pageRows  = 500
	pageBytes = 4 << 20
)

// comparison is of what two folds have made.
type comparison struct {
	a, b *fold
	now  time.Time // rows that have expired by then are left out: they may have been removed already
	tell func()    // is called for each page of rows
	*Result
}

func (c *comparison) all(ctx context.Context) error {
	for _, m := range c.a.models {
		ours, others := tables(c.a.db, m), tables(c.b.db, m)
		for i := range ours {
			if err := c.table(ctx, m.Name, ours[i], others[i]); err != nil {
				return err
			}
		}
	}
	compareLetters(c.Result, c.a.letters, c.b.letters)
	return nil
}

func (c *comparison) table(ctx context.Context, model string, first, second *driver.Table) error {
	err := c.eachRow(ctx, c.a, c.b, first, second, func(row, other *driver.Row) {
		c.Rows++
		if what := differs(row, other, first.Fields); what != "" {
			c.add(Difference{model, driver.PrintableKey(row.Key), what})
		}
	})
	if err != nil {
		return err
	}
	return c.eachRow(ctx, c.b, c.a, second, first, func(row, other *driver.Row) {
		if other.Record == nil {
			c.add(Difference{model, driver.PrintableKey(row.Key), "only the second fold has the row"})
		}
	})
}

// tables are those of the model's rows, and of the items where its rows are kept as several.
func tables(db *querydb.DB, m *querydb.Model) []*driver.Table {
	generation := db.Generations().InUse(m)
	if m.Aggregate == nil {
		return []*driver.Table{m.DriverTable(generation)}
	}
	var all []*driver.Table
	for _, t := range m.ItemPlan().Tables {
		of := *t
		of.Generation = generation
		all = append(all, &of)
	}
	return all
}

// eachRow visits the rows of a table that a fold has made, each with that of another fold under the same key.
func (c *comparison) eachRow(ctx context.Context, of, other *fold, table, others *driver.Table,
	visit func(row, other *driver.Row)) error {
	q := driver.Scan{Table: table, Limit: pageRows, Bytes: pageBytes}
	for {
		if c.tell(); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rows, more, err := of.drv.Scan(ctx, q)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			ks := make([]keys.Key, len(rows))
			for i := range rows {
				ks[i] = rows[i].Key
			}
			found, err := other.drv.Get(ctx, driver.Get{Table: others, Keys: ks, NoCache: true})
			if err != nil {
				return err
			}
			for i := range rows {
				if !rows[i].Expired(c.now) {
					visit(&rows[i], &found[i])
				}
			}
			q.After = &ks[len(ks)-1]
		}
		if !more {
			return nil
		}
	}
}

// differs says in what two rows under the same key differ, "" where they are the same.
func differs(a, b *driver.Row, fields []driver.Field) string {
	switch {
	case b.Record == nil:
		return "only the first fold has the row"
	case !bytes.Equal(a.Record, b.Record):
		return "its fields differ" + namesOf(a, b, fields)
	case !slices.Equal(a.Indexes, b.Indexes):
		return "its index keys differ"
	case !a.Expires.Equal(b.Expires):
		return "the times at which it expires differ"
	case a.Kind != b.Kind:
		return "the models that it is of differ"
	case a.Position != b.Position:
		return "the events that have changed it last differ"
	}
	return ""
}

// namesOf names the fields in which two rows differ.
func namesOf(a, b *driver.Row, fields []driver.Field) string {
	var names []string
	for i := range fields {
		if !bytes.Equal(a.Record.JSON(i), b.Record.JSON(i)) {
			names = append(names, fields[i].Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

func compareLetters(r *Result, a, b map[string]string) {
	r.DeadLetters = len(a)
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, event := range slices.Sorted(maps.Keys(both)) {
		_, first := a[event]
		if _, second := b[event]; first != second {
			r.add(Difference{Key: event, What: "it is a dead letter of one fold alone: " + both[event]})
		}
	}
}
