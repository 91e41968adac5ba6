package verifier

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// comparison goes through two stores side by side.
type comparison struct {
	got, want *querydb.DB
	recorded  *recorder
	// parted is how many events there are where they come in several partitions, 0 where in one.
	parted uint64
	// plainHistory is what rows were by a plain fold.
	plainHistory map[plainKey][]version

	mu      sync.Mutex
	verdict Verdict
}

// mostDifferences are in words.
const mostDifferences = 12

func (c *comparison) differ(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.verdict.Differences) == mostDifferences {
		c.verdict.More++
		return
	}
	c.verdict.Differences = append(c.verdict.Differences, fmt.Sprintf(format, args...))
}

func (c *comparison) count(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.verdict.Counts[what] += n
}

// model compares the table of a model and its indexes, in every partition that there ever was.
func (c *comparison) model(ctx context.Context, m *querydb.Model) error {
	generation, err := c.got.Generations().Recorded(ctx, m)
	if err != nil {
		return err
	}
	name := tableName(m.Table, generation.Number)
	if err := c.partitions(ctx, m, driver.Primary, name); err != nil {
		return err
	}
	shape := m.DriverTable(generation.Number)
	for i := range m.Indexes {
		if err := c.partitions(ctx, m, i, name+"/"+shape.Indexes[m.PhysicalIndex(i)].Name); err != nil {
			return fmt.Errorf("index %s: %w", m.Indexes[i].Name, err)
		}
	}
	return nil
}

// atOnce is how many partitions are read at the same time.
const atOnce = 8

func (c *comparison) partitions(ctx context.Context, m *querydb.Model, index int, name string) error {
	c.count(name, 0)
	all := make(chan string)
	var working sync.WaitGroup
	errs := make([]error, atOnce)
	for i := range errs {
		working.Go(func() {
			for pk := range all {
				if errs[i] == nil {
					errs[i] = c.partition(ctx, m, index, name, pk)
				}
			}
		})
	}
	at := index
	if at != driver.Primary {
		at = m.PhysicalIndex(at)
	}
	for _, pk := range c.recorded.partitions(m.Table, at) {
		all <- pk
	}
	close(all)
	working.Wait()
	return errors.Join(errs...)
}

// partition compares the rows of one partition: those of the table as they are, those of an index by what it projects.
func (c *comparison) partition(ctx context.Context, m *querydb.Model, index int, name, pk string) error {
	want, err := rows(ctx, c.want, m, index, pk)
	if err != nil {
		return err
	}
	got, err := rows(ctx, c.got, m, index, pk)
	if err != nil {
		return err
	}
	if index != driver.Primary {
		c.count(name, len(want))
		return c.entries(ctx, m, index, name, want, got)
	}
	for i := range want {
		c.count(name, max(1, len(want[i].Items))) // those of an aggregate
	}
	if c.parted > 0 && m.HistoryOf != "" {
		c.histories(m, name, want, got)
		return nil
	}
	c.rows(m, name, want, got)
	return nil
}

// rows reads a partition to its end, without what is known of deleted rows. That of an aggregate has one row, at the
// key of its root.
func rows(ctx context.Context, db *querydb.DB, m *querydb.Model, index int, pk string) (all []querydb.Row, err error) {
	q := querydb.Query{Index: index, PK: pk, Limit: querydb.MaxPageRows, Consistent: index == driver.Primary}
	if index != driver.Primary {
		q.Fields = m.Indexes[index].Projected // no more than that, so that entries are not completed from the table
	}
	if m.Aggregate != nil && index == driver.Primary {
		sk, err := m.SK.Layout.Compose()
		if err != nil {
			return nil, err
		}
		found, err := db.Get(ctx, m, []keys.Key{{PK: pk, SK: sk}}, true)
		return slices.DeleteFunc(found, func(row querydb.Row) bool { return row.Record == nil }), err
	}
	for {
		page, err := db.Query(ctx, m, q)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Rows {
			if row.Record != nil && !Removable(row.Expires, time.Now()) {
				all = append(all, row)
			}
		}
		if page.Next == nil {
			return all, nil
		}
		q.Start = page.Next
	}
}

// Removable reports whether a row that ended then may have been removed by now, and an hour later: stores remove rows
// two days after their end, sooner or later. Such rows are not compared.
func Removable(end, now time.Time) bool { return !end.IsZero() && end.Before(now.Add(-47*time.Hour)) }

// rows compares rows that are in the same order.
func (c *comparison) rows(m *querydb.Model, name string, want, got []querydb.Row) {
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i == len(want) || j < len(got) && compareKeys(got[j].Key, want[i].Key) < 0:
			c.differ("%s has a row that the events do not have: %s", name, show(m, nil, &got[j]))
			j++
		case j == len(got) || compareKeys(want[i].Key, got[j].Key) < 0:
			c.differ("%s lacks a row: %s", name, show(m, nil, &want[i]))
			i++
		default:
			if why := c.different(m, &want[i], &got[j]); why != "" {
				c.differ("%s: %s differs:\n  want %s\n  got  %s", name, why, show(m, nil, &want[i]), show(m, nil, &got[j]))
			}
			i, j = i+1, j+1
		}
	}
}

// different names what of two rows differs, "" for nothing. Which of several writers came last is of no account.
func (c *comparison) different(m *querydb.Model, want, got *querydb.Row) string {
	switch {
	case !bytes.Equal(want.Record, got.Record):
		return "the row"
	case !slices.EqualFunc(want.Items, got.Items, sameItem):
		return fmt.Sprintf("an item (%v, want %v)", got.Items, want.Items)
	case !want.Expires.Equal(got.Expires):
		return fmt.Sprintf("the end (%s, want %s)", got.Expires, want.Expires)
	case !slices.Equal(want.Writers, got.Writers):
		return fmt.Sprintf("who writes it (%q, want %q)", got.Writers, want.Writers)
	case c.parted == 0 && len(m.Writers) < 2 && (want.Position.Partition != partition(got.Position) ||
		want.Position.Offset != got.Position.Offset):
		return fmt.Sprintf("the position (%v, want %v)", got.Position, want.Position)
	case !slices.Equal(want.Indexes, got.Indexes):
		return fmt.Sprintf("the index keys (%v, want %v)", got.Indexes, want.Indexes)
	}
	return ""
}

// sameItem reports whether two items of aggregates are the same, with what they repeat of their root.
func sameItem(want, got querydb.Row) bool {
	return want.Key == got.Key && want.Kind == got.Kind && bytes.Equal(want.Record, got.Record) &&
		slices.Equal(want.Indexes, got.Indexes)
}

// partition is that of a position, without the incarnation of the log.
func partition(p querydb.Position) string {
	name, _, _ := strings.Cut(p.Partition, "~")
	return name
}

// entries compares entries of an index: the same rows, with the fields that the index carries, in an order of the sort
// key.
func (c *comparison) entries(ctx context.Context, m *querydb.Model, index int, name string,
	want, got []querydb.Row) error {
	fields := m.Indexes[index].Projected
	order, err := c.order(ctx, m, index, want)
	if err != nil {
		return err
	}
	if !slices.IsSortedFunc(got, func(a, b querydb.Row) int { return cmp.Compare(order[a.Key], order[b.Key]) }) {
		c.differ("%s is not in the order of its sort key", name)
	}
	byKey := func(a, b querydb.Row) int { return compareKeys(a.Key, b.Key) }
	slices.SortFunc(want, byKey)
	slices.SortFunc(got, byKey)
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i == len(want) || j < len(got) && byKey(got[j], want[i]) < 0:
			c.differ("%s has an entry that the events do not have: %s", name, show(m, fields, &got[j]))
			j++
		case j == len(got) || byKey(want[i], got[j]) < 0:
			c.differ("%s lacks an entry: %s", name, show(m, fields, &want[i]))
			i++
		default:
			if w, g := show(m, fields, &want[i]), show(m, fields, &got[j]); w != g {
				c.differ("%s: an entry differs:\n  want %s\n  got  %s", name, w, g)
			}
			i, j = i+1, j+1
		}
	}
	return nil
}

// order is the sort key, in an index, of each of the rows.
func (c *comparison) order(ctx context.Context, m *querydb.Model, index int, rows []querydb.Row) (map[keys.Key]string,
	error) {
	ks := make([]keys.Key, len(rows))
	for i := range rows {
		ks[i] = rows[i].Key
	}
	whole, err := c.want.Get(ctx, m, ks, true)
	if err != nil {
		return nil, err
	}
	of := map[keys.Key]string{}
	for i := range whole {
		of[ks[i]] = whole[i].Indexes[m.PhysicalIndex(index)].SK
	}
	return of, nil
}

func compareKeys(a, b keys.Key) int {
	return cmp.Or(strings.Compare(a.PK, b.PK), strings.Compare(a.SK, b.SK))
}

// show is a row in words, or some fields of it; nil means all.
func show(m *querydb.Model, fields []int, row *querydb.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q {", row.Key.PK, row.Key.SK)
	for i := range m.Fields {
		if (fields == nil || slices.Contains(fields, i)) && i < row.Record.Len() {
			fmt.Fprintf(&b, " %s: %s", m.Fields[i].Name, row.Record.JSON(i))
		}
	}
	b.WriteString(" }")
	return b.String()
}
