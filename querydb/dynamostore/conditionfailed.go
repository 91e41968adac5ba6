package dynamostore

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb/driver"
)

// conditionFailed says what follows from the failed condition of a change, by the item that it met, which is nil where
// there was none: nothing, because the change was applied before; another change instead, because it was made for an
// item in another state; or an error. again says that an earlier attempt may have been carried out.
//
// Without a kind and without parts only one thing can have failed, and the item need not be known.
func (c *change) conditionFailed(old item, again bool) (instead *change, err error) {
	switch {
	case c.claim != nil:
		return nil, c.claim.conditionFailed(c)
	case c.shape.other(old):
		kind, _ := stringOf(old[c.shape.kind])
		return nil, strange(kind, c.shape.table.Kind)
	case c.read && again && c.ours(old):
		return nil, nil
	case c.read && !(c.asks() && c.current(old)):
		return nil, fmt.Errorf("%w: it is not at revision %d any more", c.stale(), c.revision)
	case !c.read && (!c.asks() || c.reached(old)):
		return nil, nil
	case c.part == nil || c.state == stateOf(old, c.writer):
		return nil, fmt.Errorf("%w: it changes too often", c.stale())
	}
	return c.inState(stateOf(old, c.writer))
}

// asks reports whether the item tells why the condition failed.
func (c *change) asks() bool { return c.claim == nil && (c.part != nil || c.shape.kind != "") }

// stale is the error of a change that was made of a row as it no longer is.
func (c *change) stale() error {
	if c.reread {
		return errMoved
	}
	return driver.ErrStale
}

// current reports whether the item is at the revision that was read.
func (c *change) current(old item) bool {
	revision, err := countOf(old[attrRev])
	return err == nil && revision == c.revision
}

// reached reports whether the item has come to the position of the change.
func (c *change) reached(old item) bool {
	digits, there := numberOf(old[attrPos+c.slot])
	if !there || c.slot == "" {
		return false
	}
	is, err := parsePosition(digits, "")
	at, wrong := parsePosition(c.position, "")
	return err == nil && wrong == nil && !is.Before(at)
}

// kindConflicts fails where one of the rows that changes are about is of another kind. It asks for none that was read:
// at its revision it is of the kind that it was.
func (s *Store) kindConflicts(ctx context.Context, list []*change) error {
	asked := map[*driver.Table]*driver.Get{}
	for _, c := range list {
		if c.shape.kind == "" || c.read && c.revision > 0 {
			continue
		}
		t := c.write.Table
		if asked[t] == nil {
			asked[t] = &driver.Get{Table: t, Consistent: true}
		}
		asked[t].Keys = append(asked[t].Keys, c.write.Row.Key)
	}
	for t, g := range asked {
		kinds := make([]string, len(g.Keys))
		if _, err := s.getKinds(ctx, g, kinds, nil); err != nil {
			return err
		}
		for i, kind := range kinds {
			if kind != "" {
				return fmt.Errorf("dynamostore: write row %s of %s: %w", driver.PrintableKey(g.Keys[i]), t.Name,
					strange(kind, t.Kind))
			}
		}
	}
	return nil
}

func strange(is, written string) error {
	return fmt.Errorf("%w: the row is of kind %q, and is written as one of kind %q", driver.ErrConflict, is, written)
}

// other reports whether the item is a row of another kind. Other programs may tell kinds apart by their keys alone: an
// item that says nothing is of the one kind that is asked for.
func (s *shape) other(it item) bool {
	if s.kind == "" {
		return false
	}
	kind, said := stringOf(it[s.kind])
	return said && kind != s.table.Kind
}
