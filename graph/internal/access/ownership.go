package access

import (
	"context"
	"slices"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// A caller whom a rule admits to own rows only must not learn which rows of others there are. So
//   - a row under a whole key, of the table or of a unique index, is as closed to them where it is missing as where
//     it is another's;
//   - what begins at part of a key, as every range does, is read only in a partition that is theirs before anything
//     is read: its key has their subject in the place of the owner, or the rule of the index has found them to own
//     it. Elsewhere the answer would change with the rows of others, by an error, an order or a page token;
//   - in a partition that is theirs by the rule of the index, which may hold rows of others all the same, those are as
//     missing: pages are what they would be without them, full and with tokens that tell of own rows alone;
//   - a row that is judged by its owner is charged to the budget of the request when it is found to be theirs: what is
//     left of the budget, and the error where it is nothing, would tell of the rows of others, and how large they are.
//     In place of the budget, few rows are in memory at a time that are not judged yet, and a limited number of keys
//     may lead to no row of theirs: to a row of another's, or to none.

// Keep returns what a viewer who is admitted to own rows only gets of a row that was read uncharged: nil where it is
// another's. A row that they get is charged here.
func (v Viewer) Keep(ctx context.Context, t *catalog.Type, rec record.Record) (record.Record, error) {
	if !v.Owns(t, rec) {
		return nil, nil
	}
	if err := driver.Charge(driver.BudgetOf(ctx), len(rec)); err != nil {
		return nil, err
	}
	return rec, nil
}

// KeepOwn keeps the viewer's own rows of a partition.
func (v Viewer) KeepOwn(t *catalog.Type) func(*querydb.Row) bool {
	return func(row *querydb.Row) bool { return v.Owns(t, row.Record) }
}

// OwnsPartition reports whether all rows of a partition are the viewer's: its key says so. vals are the values that the
// key was composed of, where they are known: one for each field of the half, or the text of all of it.
func (v Viewer) OwnsPartition(t *catalog.Type, half *querydb.Half, vals []keys.Value, partition string) bool {
	at := ownerAt(t, half)
	if at < 0 || v.Subject == "" {
		return false
	}
	if len(vals) == len(half.Fields) {
		return vals[at] == keys.String(v.Subject)
	}
	stored := keys.Composer{Layout: half.Layout}
	if vals, err := stored.ParseKeyValues("id", partition); err == nil {
		return vals[at] == keys.String(v.Subject)
	}
	return v.standsIn(&half.Layout, at, partition)
}

// ownerAt is where the owner stands among the fields of a half whose text has one owner; -1 where it does not.
func ownerAt(t *catalog.Type, half *querydb.Half) int {
	// In a casing of keys, "Ann" and "ann" have one partition; where nothing is escaped, so have values with separators.
	l := &half.Layout
	if l.Casing != keys.CasingNone || l.Escape != keys.EscapePercent && len(half.Fields) > 1 {
		return -1
	}
	return slices.Index(half.Fields, t.Owner)
}

// OwnerIn returns whose all rows are whose keys have a half of these values, where those say it.
func OwnerIn(t *catalog.Type, half *querydb.Half, vals []keys.Value) (owner string, says bool) {
	at := ownerAt(t, half)
	if at < 0 {
		return "", false
	}
	return vals[at].AsString(), true
}

// standsIn reports whether the viewer's subject is one of the values in the text of a half that is nothing but values.
func (v Viewer) standsIn(l *keys.Layout, at int, text string) bool {
	if l.Head != "" || l.Tail != "" || l.Segments[at].Before != "" {
		return false
	}
	alone := keys.Layout{Head: " ", Sep: l.Sep, Segments: l.Segments[at : at+1], Casing: l.Casing, Escape: l.Escape}
	own, err := alone.Compose(keys.String(v.Subject))
	parts := strings.Split(text, l.Sep)
	return err == nil && len(parts) == len(l.Segments) && " "+l.Sep+parts[at] == own
}

// OwnsHalf reports whether a half of a key is composed of the owner alone, and names the viewer.
func (v Viewer) OwnsHalf(t *catalog.Type, half *querydb.Half, stored *keys.Composer, text string) bool {
	if len(half.Fields) != 1 || half.Fields[0] != t.Owner || v.Subject == "" || half.Layout.Casing != keys.CasingNone {
		return false
	}
	own, err := stored.Compose(keys.String(v.Subject))
	return err == nil && own == text
}
