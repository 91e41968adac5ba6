package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// nameAttributes finds the names that one or all of the uses give the key attributes.
func (l *indexUses) nameAttributes(p *PhysicalIndex) {
	p.PK = l.attribute(p, "pkAttribute", p.Name+"pk")
	if p.first().Index.SK.Exists() {
		p.SK = l.attribute(p, "skAttribute", p.Name+"sk")
	}
	for _, u := range p.Uses {
		u.Index.PKAttribute, u.Index.SKAttribute = p.PK, p.SK
		if _, given := l.draftOf(u.Model).settingOf(u.Index, "skAttribute"); given && !u.Index.SK.Exists() {
			d := l.draftOf(u.Model)
			d.report(attributeOfNothing, d.usePos(u.Index, "skAttribute"), nil, u.Index.As)
		}
	}
}

func (l *indexUses) attribute(p *PhysicalIndex, argument, name string) string {
	var first *ReadModel
	for _, u := range p.Uses {
		d := l.draftOf(u.Model)
		m, given := d.settingOf(u.Index, argument)
		if !given {
			continue
		}
		text, _ := textOf(m.dir, argument)
		switch {
		case first == nil:
			name, first = text, u.Model
		case text != name:
			d.report(indexAttributes, d.usePos(u.Index, argument), nil, p.Name, argument, text, first.Name, name)
		}
	}
	return name
}

var attributePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,254}$`)

// bookkeeping are the attributes that rows carry beside fields and keys; those of positions begin with "_pos.".
var bookkeeping = []string{"_own", "_by", "_rev", "_deleted", "_ttl", "_expires", "_pos"}

// checkAttributes finds attributes of a table that would get one name.
func (l *indexUses) checkAttributes(t *Table) {
	taken := map[string]string{}
	take := func(name, what, argument string, pos Pos) {
		other := taken[name]
		switch {
		case !attributePattern.MatchString(name):
			l.add(attributeName.broken(pos, "", "", t.Name, what, strconv.Quote(name)))
		case slices.Contains(bookkeeping, name) || strings.HasPrefix(name, "_pos."):
			l.add(attributeReserved.broken(pos, "", "", t.Name, what, name))
		case other != "":
			l.add(attributeTaken.broken(pos, "", "", t.Name, what, name, other, argument))
		default:
			taken[name] = what
		}
	}
	for _, a := range []struct{ name, what, argument string }{
		{t.PK, "partition key", "pk"}, {t.SK, "sort key", "sk"}, {t.Discriminator, "discriminator", "discriminator"},
	} {
		take(a.name, a.what, a.argument, argumentPos(l.tableDirs[t], a.argument))
	}
	for _, p := range t.Indexes {
		if p.PK == t.PK {
			l.checkLocal(p)
		} else {
			take(p.PK, "partition key of index "+p.Name, "pkAttribute", l.attributePos(p, "pkAttribute"))
		}
		if p.SK != "" {
			take(p.SK, "sort key of index "+p.Name, "skAttribute", l.attributePos(p, "skAttribute"))
		}
	}
	for _, m := range t.Entities {
		for _, f := range m.Fields {
			if what, ok := taken[f.Name]; ok {
				l.draftOf(m).report(attributeField, f.Pos, f, what, t.Name)
			}
		}
	}
}

// checkLocal holds an index to what one must be whose partition key is the table's own attribute, as that of a local secondary
// index is: the rows of a partition of the table, in another order.
func (l *indexUses) checkLocal(p *PhysicalIndex) {
	for _, u := range p.Uses {
		d := l.draftOf(u.Model)
		switch {
		case !sameKeys(u.Index.PK, u.Model.PK):
			d.report(localKey, d.usePos(u.Index, "pkAttribute"), nil, p.Name, p.PK)
		case !u.Index.SK.Exists():
			d.report(localUnsorted, d.usePos(u.Index, "pkAttribute"), nil, p.Name, p.PK)
		}
	}
}

// sameKeys reports whether two halves are composed of the same fields in the same way.
func sameKeys(a, b Half) bool {
	x, y := a.Layout, b.Layout
	return x.Head == y.Head && x.Tail == y.Tail && x.Casing == y.Casing && x.Escape == y.Escape &&
		slices.Equal(x.Segments, y.Segments)
}

// attributePos is where the attribute is named, or the index first used.
func (l *indexUses) attributePos(p *PhysicalIndex, argument string) Pos {
	for _, u := range p.Uses {
		d := l.draftOf(u.Model)
		if m, given := d.settingOf(u.Index, argument); given {
			return argumentPos(m.dir, argument)
		}
	}
	return p.Pos
}
