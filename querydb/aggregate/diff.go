package aggregate

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
)

// Split makes the write of a whole row that of its root's item, and adds the writes of the other items: those that
// differ from what they were, and the deletes of those that are gone. They rest on the root, which always changes, and
// so have neither a position nor a condition of their own.
func (p *Plan) Split(w *driver.Write, former []driver.Row, all *[]driver.Write) {
	items := w.Row.Items
	root := *w
	if root.Row.Items = nil; len(items) > 0 {
		root.Row.Record, root.Row.Indexes = items[0].Record, items[0].Indexes
	}
	*w = root
	Changes(former, items, func(item *driver.Row, kind driver.WriteKind) {
		one := driver.Write{Table: p.TableOf(item.Kind), Kind: kind, Row: driver.Row{Key: item.Key}}
		if kind == driver.Put {
			one.Row.Record, one.Row.Indexes = item.Record, item.Indexes
		}
		*all = append(*all, one)
	})
}

// Changes calls each with the items beside the root that are to be put, and those that are to be deleted. Both lists
// begin with the root, and have the others in the order of their keys.
func Changes(former, now []driver.Row, each func(item *driver.Row, kind driver.WriteKind)) {
	was, is := withoutRoot(former), withoutRoot(now)
	for len(was) > 0 || len(is) > 0 {
		order := 0
		switch {
		case len(was) == 0:
			order = 1
		case len(is) == 0:
			order = -1
		default:
			order = strings.Compare(was[0].Key.SK, is[0].Key.SK)
		}
		switch {
		case order < 0:
			each(&was[0], driver.Delete)
		case order > 0 || !same(&was[0], &is[0]):
			each(&is[0], driver.Put)
		}
		if order <= 0 {
			was = was[1:]
		}
		if order >= 0 {
			is = is[1:]
		}
	}
}

func withoutRoot(items []driver.Row) []driver.Row {
	if len(items) == 0 {
		return nil
	}
	return items[1:]
}

func same(a, b *driver.Row) bool {
	return a.Kind == b.Kind && slices.Equal(a.Record, b.Record) && slices.Equal(a.Indexes, b.Indexes)
}

// TableOf is the table of the items of a kind; nil for a kind that the object has none of.
func (p *Plan) TableOf(kind string) *driver.Table {
	i := slices.IndexFunc(p.Tables, func(t *driver.Table) bool { return t.Kind == kind })
	if i < 0 {
		return nil
	}
	return p.Tables[i]
}
