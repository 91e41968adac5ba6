package entity

import (
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
)

// indexUses collects the indexes of shared tables from the entities that use them.
type indexUses struct{ *draft.Project }

// mostIndexes is how many indexes DynamoDB gives a table.
const mostIndexes = 20

// readPhysicalIndexes collects the indexes of a table from its entities.
func (l *indexUses) readPhysicalIndexes(t *schema.Table) {
	for _, m := range t.Entities {
		for _, x := range m.StoredIndexes() {
			l.useIndex(t, m, x)
		}
	}
	for _, p := range t.Indexes {
		l.nameAttributes(p)
		p.SetProjection()
	}
}

func (l *indexUses) useIndex(t *schema.Table, m *schema.ReadModel, x *schema.Index) {
	d := l.DraftOf(m)
	p := t.IndexNamed(x.Name)
	if p == nil {
		p = &schema.PhysicalIndex{Name: x.Name, Pos: x.Pos}
		t.Indexes = append(t.Indexes, p)
		if len(t.Indexes) == mostIndexes+1 {
			d.Report(rule.TooManyIndexes, d.UsePos(x, "name"), nil, x.Name, strconv.Itoa(len(t.Indexes)), t.Name,
				strconv.Itoa(mostIndexes))
		}
	}
	for _, other := range p.Uses {
		if other.Model == m {
			d.Report(rule.IndexUsedTwice, d.UsePos(x, "name"), nil, x.Name, other.Index.As, x.As)
			return
		}
	}
	if first := p.FirstUse(); first != nil && first.Index.SK.Exists() != x.SK.Exists() {
		d.Report(rule.IndexSortHalf, x.Pos, nil, x.Name, has(x.SK), first.Model.Name, has(first.Index.SK))
	}
	p.Uses = append(p.Uses, schema.IndexUse{Model: m, Index: x})
}

func has(h schema.Half) string {
	if h.Exists() {
		return "a sort key"
	}
	return "none"
}
