package schema

import (
	"regexp"
	"strconv"
)

// indexUses collects the indexes of shared tables from the entities that use them.
type indexUses struct{ *Project }

var physicalIndexPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// mostIndexes is how many indexes DynamoDB gives a table.
const mostIndexes = 20

// readPhysicalIndexes collects the indexes of a table from its entities.
func (l *indexUses) readPhysicalIndexes(t *Table) {
	for _, m := range t.Entities {
		for _, x := range m.Indexes {
			l.useIndex(t, m, x)
		}
	}
	for _, p := range t.Indexes {
		l.nameAttributes(p)
		p.project()
	}
}

func (l *indexUses) useIndex(t *Table, m *ReadModel, x *Index) {
	d := l.draftOf(m)
	p := t.index(x.Name)
	if p == nil {
		p = &PhysicalIndex{Name: x.Name, Pos: x.Pos}
		t.Indexes = append(t.Indexes, p)
		if len(t.Indexes) == mostIndexes+1 {
			d.report(tooManyIndexes, d.usePos(x, "name"), nil, x.Name, strconv.Itoa(len(t.Indexes)), t.Name, strconv.Itoa(mostIndexes))
		}
	}
	for _, other := range p.Uses {
		if other.Model == m {
			d.report(indexUsedTwice, d.usePos(x, "name"), nil, x.Name, other.Index.As, x.As)
			return
		}
	}
	if first := p.first(); first != nil && first.Index.SK.Exists() != x.SK.Exists() {
		d.report(indexSortHalf, x.Pos, nil, x.Name, has(x.SK), first.Model.Name, has(first.Index.SK))
	}
	p.Uses = append(p.Uses, IndexUse{m, x})
}

func has(h Half) string {
	if h.Exists() {
		return "a sort key"
	}
	return "none"
}
