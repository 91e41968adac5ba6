package checkpoint

import (
	"context"

	"github.com/foldql/foldql/querydb"
)

// A model may have another table than the one that its rows were folded into. What is on record leads to these rows:
// they go on serving from the former table, while others are built in the model's own.

// elsewhere is where rows of a model are that serve, in another table than the model has by now.
type elsewhere struct {
	generation int
	layout     *querydb.Layout
}

// findElsewhere finds the rows that serve from former tables of the models.
func (p *location) findElsewhere(ctx context.Context, db *querydb.DB) error {
	if p.slot != serves || p.Disowned {
		return nil
	}
	for i := range p.tables {
		t := &p.tables[i]
		if !t.was.isElsewhere(t.model) {
			continue
		}
		layout, found, err := querydb.FormerTable(ctx, db, t.model, t.was.Table, t.was.Generation)
		if err != nil {
			return err
		}
		if layout != nil && found == (querydb.Identity{ID: t.was.TableID, Provenance: querydb.ProvenanceRecorded}) {
			t.elsewhere = &elsewhere{t.was.Generation, layout}
		}
	}
	return nil
}

// isElsewhere reports whether the record is of rows in another table than the model has.
func (t *TableRecord) isElsewhere(m *querydb.Model) bool { return t.Table != "" && t.Table != m.Table }

// isElsewhere reports whether the record is of rows of any of the projection's models in another table than the model
// has.
func (h *Header) isElsewhere(p Projection) bool {
	recorded := h.tables()
	for i, m := range p.Models {
		if was := p.recordOf(i, recorded); was.isElsewhere(m) {
			return true
		}
	}
	return false
}

// left reports whether the rows that were kept when those elsewhere came to serve are of the projection, and still the
// ones in its tables.
func (p *location) left(kept *Header, of Projection) bool {
	recorded := kept.tables()
	left := len(recorded) == len(p.tables)
	for i := range p.tables {
		t, was := &p.tables[i], of.recordOf(i, recorded)
		left = left && t.elsewhere != nil && t.serving.Begun && was.Table == t.model.Table &&
			was.Version == t.model.Version && was.Generation == t.serving.Number
	}
	return left
}

// ServesElsewhere are the rows of the projection's models that serve from tables which the models had before.
func (s *Survey) ServesElsewhere() (all []querydb.Served) {
	for i := range s.standing.tables {
		if t := &s.standing.tables[i]; t.elsewhere != nil {
			all = append(all, querydb.Served{Model: t.model, Generation: t.elsewhere.generation, Layout: t.elsewhere.layout})
		}
	}
	return all
}

// isOfOthers reports whether the record is of rows in none of the tables.
func (r *rearrangement) isOfOthers(b *Record) bool {
	return b.Table != "" && !b.concerns(r.isOf)
}
